"""`panorama runs` and `panorama jobs show`: what a script wrote reaches no terminal as more than words."""

from collections.abc import Callable
from typing import Any

from panorama.app import opened
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

    assert not any(each in shown for each in STEERS)
    assert "red [31m" in shown
    assert "\n\tindented" in shown


def test_a_program_gets_all_that_a_script_printed(run: Command, given: Callable[..., Any]) -> None:
    made = given("run_code", code=SLY)["run_id"]

    told = run("runs", "show", made, "--json").answer

    assert all(each in told["data"]["output"] for each in STEERS)


def test_what_a_job_answers_cannot_steer_a_terminal_either(run: Command) -> None:
    with opened(read_settings()) as app, at_work(app):
        begun = app.jobs.submit("run_code", {"code": 'return "\\x9b2J tea"'})
        until(lambda: app.jobs.loaded(begun).has_ended)

    shown = run("jobs", "show", begun).out

    assert not any(each in shown for each in STEERS)
    assert "tea" in shown
