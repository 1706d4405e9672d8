"""Schedules and the real queue: what is due becomes a job, and what a job would refuse is refused at once."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.daemon.job_scheduler import run_jobs
from panorama.errors import (
    ConfirmationError,
    InvalidInputError,
    PanoramaError,
)
from tests.working import until

pytestmark = pytest.mark.slow  # they wait for jobs to run


def soon() -> str:
    """Return a moment that is just to come."""
    return (datetime.now(UTC) + timedelta(seconds=2)).isoformat(timespec="seconds")


def ended(app: App, talk: Conversation) -> Any:
    """Do what is due, and return the jobs that have ended."""
    app.timing.run_due(lambda _: None)
    return app.calls.call("jobs.list", {"state": "ended"}, talk).data


def test_a_due_schedule_becomes_a_job_of_the_real_queue(home: Path) -> None:
    with open_app(read_settings(home=home)) as alone, run_jobs(alone):
        talk = Conversation("v_schedules", actor="cli", client="tests")
        alone.calls.call("schedules.add", {"kind": "backup", "at": soon()}, talk)
        until(lambda: ended(alone, talk), "the backup")
        (job,) = alone.calls.call("jobs.list", {"state": "ended"}, talk).data

    assert (job["kind"], job["state"]) == ("backup", "succeeded")


def test_arguments_that_the_job_does_not_take_are_refused_when_the_schedule_is_added(home: Path) -> None:
    talk = Conversation("v_schedules", actor="cli", client="tests")
    with open_app(read_settings(home=home)) as alone, pytest.raises(InvalidInputError) as refused:
        alone.calls.call("schedules.add", {"kind": "backup", "every": "1d", "arguments": {"keep": 3}}, talk)

    assert "keep" in refused.value.message


@pytest.mark.parametrize(
    ("actor", "kind", "arguments"),
    [
        ("cli", "purge", {"days": 0}),
        ("cli", "import", {"folder": "."}),
        ("tool", "backup", {"folder": "/elsewhere"}),
        ("tool", "backup", {"with_secrets": True}),
        ("tool", "export", {"folder": "/elsewhere"}),
    ],
)
def test_the_person_agrees_to_what_will_ask_nobody_when_it_runs(
    home: Path, tmp_path: Path, actor: str, kind: str, arguments: dict[str, Any]
) -> None:
    if arguments == {"folder": "."}:
        (tmp_path / "notes").mkdir()
        arguments = {"folder": str(tmp_path / "notes")}
    with open_app(read_settings(home=home)) as alone:
        talk = Conversation("v_schedules", actor=actor, client="tests")
        expected = {"kind": kind, "every": "1d", "arguments": arguments}
        with pytest.raises(ConfirmationError) as asked:
            alone.calls.call("add_schedule", expected, talk)
        assert alone.calls.call("list_schedules", {}, talk).data == []

        alone.calls.call("add_schedule", expected, talk, agreed=asked.value.agreement)

        assert "automatically every 1d? It will not ask again." in asked.value.question
        assert len(alone.calls.call("list_schedules", {}, talk).data) == 1


@pytest.mark.parametrize("kind", ["purge", "import", "restore"])
def test_an_assistant_cannot_schedule_what_is_for_the_terminal(home: Path, kind: str) -> None:
    talk = Conversation("v_schedules", actor="tool", client="tests")
    expected = {"kind": kind, "every": "1d", "confirm": True}
    with open_app(read_settings(home=home)) as alone:
        with pytest.raises(InvalidInputError) as refused:
            alone.calls.call("add_schedule", expected, talk)
        with pytest.raises(PanoramaError):
            alone.calls.call("batch", {"operations": [{"tool": "add_schedule", "args": expected}]}, talk)

        assert "at a terminal" in refused.value.message
        assert alone.calls.call("list_schedules", {}, talk).data == []


@pytest.mark.parametrize(
    ("kind", "arguments", "why"),
    [
        ("reindex", {"project": "nope"}, "nope"),
        ("reindex", {"scope": "all of it"}, "scope"),
        ("run_script", {"script": "nope"}, "nope"),
        ("run_code", {"code": "return 1"}, "cannot call run_code"),
        ("import", {"folder": "/nowhere"}, "/nowhere"),
    ],
)
def test_what_the_job_would_refuse_is_refused_when_the_schedule_is_added(
    home: Path, kind: str, arguments: dict[str, Any], why: str
) -> None:
    talk = Conversation("v_schedules", actor="cli", client="tests")
    expected = {"kind": kind, "every": "1d", "arguments": arguments, "confirm": True}
    with open_app(read_settings(home=home)) as alone, pytest.raises(PanoramaError) as refused:
        alone.calls.call("schedules.add", expected, talk)

    assert why in refused.value.message


def test_a_schedule_says_what_went_wrong_with_its_last_job(home: Path, tmp_path: Path) -> None:
    (folder := tmp_path / "notes").mkdir()
    with open_app(read_settings(home=home)) as alone, run_jobs(alone):
        talk = Conversation("v_schedules", actor="cli", client="tests")
        expected = {"kind": "import", "at": soon(), "arguments": {"folder": str(folder)}, "confirm": True}
        alone.calls.call("schedules.add", expected, talk)
        folder.rmdir()
        until(lambda: ended(alone, talk), "its end")
        (schedule,) = alone.calls.call("list_schedules", {"detail": "full"}, talk).data

    assert schedule["problem"].startswith("The last job failed: ")
    assert str(folder) in schedule["problem"]


@pytest.mark.parametrize("name", ["confirm", "background", "idempotency_key"])
def test_a_schedule_cannot_agree_in_the_person_s_place(home: Path, name: str) -> None:
    talk = Conversation("v_schedules", actor="tool", client="tests")
    with open_app(read_settings(home=home)) as alone, pytest.raises(InvalidInputError) as refused:
        alone.calls.call("add_schedule", {"kind": "backup", "every": "1d", "arguments": {name: True}}, talk)

    assert name in refused.value.message


def test_what_the_person_agreed_to_runs_without_asking_again(home: Path) -> None:
    with open_app(read_settings(home=home)) as alone, run_jobs(alone):
        talk = Conversation("v_schedules", actor="cli", client="tests")
        gone = alone.calls.call("create_note", {"title": "Gone"}, talk).data["id"]
        alone.calls.call("delete_item", {"item": gone}, talk)
        expected = {"kind": "purge", "at": soon(), "arguments": {"days": 0}, "confirm": True}
        alone.calls.call("add_schedule", expected, talk)
        until(lambda: ended(alone, talk), "the purge")
        job = alone.calls.call("jobs.get", {"job": ended(alone, talk)[0]["id"]}, talk).data

    assert (job["state"], job["result"]["items"]) == ("succeeded", {"note": 1})
