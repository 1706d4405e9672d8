"""`panorama runs` and `panorama jobs show`: what scripts did, and that their words do no more than words do."""

from collections.abc import Callable
from typing import Any

from panorama.app import open_app
from panorama.config import read_settings
from tests.working import at_work, until

from .conftest import Command

SLY = 'print("red \\x1b[31m, \\x9b2J and \\x1b]0;title\\x07 end\\n\\tindented"); return "\\x1b[2J"'
STEERS = ("\x1b", "\x9b", "\x07")


def test_what_a_script_printed_cannot_steer_the_terminal_at_the_end_of_a_pipe(
    run: Command, given: Callable[..., Any]
) -> None:
    made = given("run_code", code=SLY)["run_id"]

    shown = run("runs", "show", made).out

    assert not any(control in shown for control in STEERS)
    assert "red [31m" in shown
    assert "\n\tindented" in shown


def test_a_program_gets_all_that_a_script_printed(run: Command, given: Callable[..., Any]) -> None:
    made = given("run_code", code=SLY)["run_id"]

    result = run("runs", "show", made, "--json").answer

    assert all(control in result["data"]["output"] for control in STEERS)


def test_what_a_job_answers_cannot_steer_a_terminal_either(run: Command) -> None:
    with open_app(read_settings()) as app, at_work(app):
        begun = app.jobs.submit("run_code", {"code": 'return "\\x9b2J tea"'})
        until(lambda: app.jobs.get_job(begun).has_ended)

    shown = run("jobs", "show", begun).out

    assert not any(control in shown for control in STEERS)
    assert "tea" in shown


def test_a_run_of_many_calls_says_how_all_of_them_are_shown(run: Command, given: Callable[..., Any]) -> None:
    made = given("run_code", code="for _ in range(385): sdk.projects.list()")["run_id"]

    some, every = run("runs", "show", made), run("runs", "show", made, "--all")

    assert some.err.splitlines()[-1] == f"and 185 more; `panorama runs show {made} --all` shows them"
    assert some.lines[-1].startswith("200")
    assert every.lines[-1].startswith("385")
    assert "more" not in every.err
    assert len(run("runs", "show", made, "--all", "--json").answer["data"]["calls"]) == 385


def test_a_run_is_shown_without_secrets(run: Command, given: Callable[..., Any]) -> None:
    made = given("run_code", code='password = "hunter2"\nprint("api_key=hunter" + "2")')["run_id"]

    shown = [run("runs", "show", made).out, run("runs", "show", made, "--json").out, run("runs").out]

    assert not any("hunter2" in item for item in shown)
    assert shown[0].splitlines()[2] == "password = •••"


def test_the_standing_job_is_told_apart_from_work(run: Command) -> None:
    with open_app(read_settings()) as app, at_work(app), app.jobs.standing_job("catch_up"):
        work = app.jobs.submit("run_code", {"code": "return 1"})
        until(lambda: app.jobs.get_job(work).has_ended)

        listed, counted = run("jobs"), run("status", "--json").answer["data"]["jobs"]

    assert [line.split()[0] for line in listed.lines] == ["id", work]
    assert listed.err.startswith("1 job\nSearch index: ")
    assert counted == {}
