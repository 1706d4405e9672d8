"""Jobs that a caller waits for: progress, the end, and a long operation as a job."""

import threading
import time
from itertools import pairwise
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Conversation
from panorama.domain.jobs import Requester
from panorama.domain.paging import PageRequest
from panorama.errors import ConflictError
from panorama.services.jobs.jobs import PROGRESS_INTERVAL_SECONDS
from panorama.services.jobs.progress import report_progress_to
from tests.conftest import StandingClock
from tests.services.queued import Call, ended, working, works
from tests.working import JobActivity, at_work

__all__ = ["working", "works"]


def test_a_conversation_is_told_once_that_its_job_has_ended(
    working: None, works: JobActivity, call: Call, app: App
) -> None:
    id_ = call("test.steps", background=True).data["id"]
    works.go.set()  # only now, or the first answer could tell of it
    ended(app, id_)
    other = app.calls.call("status", {}, Conversation("v_other", "tool", "other"))

    hints = [call("list_tasks").metadata.get("hint", "") for _ in range(2)]

    assert (id_ in hints[0], "is done" in hints[0], hints[1]) == (True, True, "")
    assert "hint" not in other.metadata


def test_a_program_that_comes_back_is_told_of_what_it_asked_for_before(
    works: JobActivity, app: App, clock: StandingClock
) -> None:
    before, after, other = (Conversation(f"v_{name}", "tool", name.rstrip("2")) for name in ("one", "one2", "other"))
    with at_work(app):
        id_ = app.calls.call("test.steps", {"background": True}, before).data["id"]
        works.go.set()
        ended(app, id_)
    at_once = app.calls.call("status", {}, after)
    clock.advance(minutes=6)

    result = [app.calls.call("status", {}, talk).metadata.get("hint", "") for talk in (other, after, before)]

    assert "hint" not in at_once.metadata
    assert [id_ in hint for hint in result] == [False, True, False]


def test_who_waits_is_told_of_what_moved_and_seldom(works: JobActivity, app: App) -> None:
    reports: list[tuple[int, int, str]] = []
    times: list[float] = []

    def note(*report: Any) -> None:
        reports.append(report)
        times.append(time.monotonic())
        if len(reports) == 3:
            works.go.set()

    with at_work(app):
        id_ = app.calls.call("test.steps", {"background": True}, Conversation("v", "tool", "one")).data["id"]
        app.jobs.wait_for(id_, 60, note)

    assert len(set(reports)) == len(reports) >= 3
    assert min(later - earlier for earlier, later in pairwise(times)) >= PROGRESS_INTERVAL_SECONDS


def test_a_conversation_that_saw_the_end_is_not_told_of_it(working: None, call: Call, app: App) -> None:
    id_ = call("test.nothing", background=True).data["id"]

    seen = call("get_job", job=id_, wait=20)

    assert seen.data["state"] == "succeeded"
    assert "hint" not in seen.metadata
    assert "hint" not in call("list_tasks").metadata


def test_who_waits_for_a_job_gets_its_end_at_once(working: None, call: Call, app: App, works: JobActivity) -> None:
    id_ = call("test.steps", steps=20, background=True).data["id"]

    assert call("get_job", job=id_, wait=30).data["result"] == {"done": 20}


def test_a_long_operation_that_somebody_waits_for_is_a_job_that_others_see(
    working: None, call: Call, app: App, works: JobActivity
) -> None:
    seen = []

    def look(current: int, total: int, message: str) -> None:
        seen.extend(call("list_jobs", state="running", kind="lonely").data)
        works.go.set()

    with report_progress_to(look):
        answer = call("test.lonely", name="inline", steps=9)

    (row,) = call("list_jobs", kind="lonely").data
    assert seen[0]["id"] == row["id"]
    assert (row["state"], row["summary"]) == ("succeeded", answer.summary)
    assert "hint" not in call("status").metadata


def test_who_waits_for_a_long_operation_hears_that_its_job_was_cancelled(
    working: None, call: Call, app: App, works: JobActivity
) -> None:
    def cancel(current: int, total: int, message: str) -> None:
        (row,) = call("list_jobs", state="running", kind="lonely").data
        app.jobs.cancel(row["id"])

    with report_progress_to(cancel), pytest.raises(ConflictError, match="lonely was cancelled as the job w_"):
        call("test.lonely", name="inline")

    assert [row["state"] for row in call("list_jobs", kind="lonely").data] == ["cancelled"]


def test_a_long_operation_whose_caller_leaves_is_a_cancelled_job(working: None, call: Call) -> None:
    has_left = threading.Event()

    def leave(current: int, total: int, message: str) -> None:
        has_left.set()
        raise ConnectionError

    with report_progress_to(leave, has_left.is_set), pytest.raises(ConnectionError):
        call("test.lonely", name="inline")

    assert [row["state"] for row in call("list_jobs", kind="lonely").data] == ["cancelled"]


def test_a_call_that_dies_with_its_process_is_not_begun_again(working: None, app: App) -> None:
    running = app.jobs.adopt("lonely", {}, Requester(), "c_1", is_waited_for=True)

    ended = running.job.recover(running.kind, app.jobs.now())

    assert (ended.state, running.kind.resumable) == ("interrupted", True)
    app.jobs.forget(running)


def test_a_process_that_leaves_lets_what_somebody_waits_for_end(working: None, call: Call, app: App) -> None:
    def leave(current: int, total: int, message: str) -> None:
        app.jobs.begin_shutdown()

    with report_progress_to(leave):
        call("test.lonely", name="inline", steps=3)

    assert [item.state for item in app.jobs.list(PageRequest(9), kind="lonely").items] == ["succeeded"]
