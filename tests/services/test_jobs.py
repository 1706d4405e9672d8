"""Jobs in the real store, run by the real queue: each is run once, stops when it should, and tells the truth."""

from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Conversation
from panorama.domain.changes import CLI_ACTOR
from panorama.errors import ConflictError, InvalidInputError, UnavailableError
from panorama.store.log import jobs as rows
from tests.conftest import StandingClock
from tests.services.queued import Call, ended, job, working, works
from tests.working import JobActivity, until

__all__ = ["working", "works"]


def test_a_job_runs_and_tells_what_came_of_it(working: None, call: Call, app: App) -> None:
    begun = call("test.much", size=20, background=True)

    found = ended(app, begun.data["id"])

    assert (found.state, found.result, found.attempts) == ("succeeded", {"text": "x" * 20}, 1)


def test_who_asks_is_told_what_to_call_next_and_a_person_at_a_terminal_what_to_type(
    working: None, call: Call, app: App
) -> None:
    person = Conversation(id="v_person", actor=CLI_ACTOR, client="panorama")

    summary = call("test.nothing", background=True).summary
    typed = app.calls.call("test.nothing", {"background": True}, person)

    assert summary.endswith("was started; get_job shows its progress, cancel_job cancels it")
    shows, stops = (f"`panorama jobs {word} {typed.data['id']}`" for word in ("show", "cancel"))
    assert typed.summary.endswith(f"was started; {shows} shows its progress, {stops} cancels it")


def test_two_run_at_a_time_in_the_order_they_were_asked_for(
    working: None, call: Call, app: App, works: JobActivity
) -> None:
    ids = [call("test.steps", name=str(number), background=True).data["id"] for number in range(5)]
    until(lambda: len(works.begun) == 2)

    states = [job(app, id_).state for id_ in ids]
    works.go.set()

    assert [ended(app, id_).state for id_ in ids] == ["succeeded"] * 5
    assert states == ["running", "running", "queued", "queued", "queued"]
    assert (works.most, sorted(works.begun[:2]), len(works.begun)) == (2, ["0", "1"], 5)


def test_of_a_kind_that_is_alone_one_runs_and_others_pass_by(
    working: None, call: Call, app: App, works: JobActivity
) -> None:
    first, second = (call("test.lonely", name="lonely", background=True).data["id"] for _ in range(2))
    until(lambda: works.begun == ["lonely"])

    other = call("test.nothing", background=True).data["id"]

    assert ended(app, other).state == "succeeded"
    assert job(app, second).state == "queued"
    works.go.set()
    assert [ended(app, id_).state for id_ in (first, second)] == ["succeeded"] * 2
    assert works.most == 1


def test_progress_is_seen_while_it_runs(working: None, call: Call, app: App, works: JobActivity) -> None:
    id_ = call("test.steps", background=True).data["id"]

    until(lambda: job(app, id_).current > 3)

    shown = call("get_job", job=id_).data
    assert (shown["state"], shown["total"]) == ("running", 1_000_000)
    assert shown["message"].startswith("step ")


def test_progress_is_written_for_those_who_look_from_outside(
    working: None, call: Call, app: App, works: JobActivity
) -> None:
    id_ = call("test.steps", background=True).data["id"]

    def written() -> int:
        with app.context.database.reading() as session:
            found = rows.find(session, id_)
            return found.current if found else 0

    until(lambda: written() > 3, "the row's progress")


def test_a_cancelled_job_stops_at_its_next_step_and_says_how_far_it_came(
    working: None, call: Call, app: App, works: JobActivity
) -> None:
    id_ = call("test.steps", background=True).data["id"]
    until(lambda: job(app, id_).current > 3)

    answer = call("cancel_job", job=id_)

    assert answer.data["state"] == "cancelled"
    assert "of 1,000,000 (step " in answer.data["summary"]
    assert "finished steps remain" in answer.summary


def test_a_job_that_waits_is_cancelled_before_it_begins(
    working: None, call: Call, app: App, works: JobActivity
) -> None:
    for _ in range(2):
        call("test.steps", background=True)
    waits = call("test.steps", name="never", background=True).data["id"]

    answer = call("cancel_job", job=waits)
    works.go.set()

    assert answer.data["state"] == "cancelled"
    until(lambda: not app.jobs.is_busy)
    assert "never" not in works.begun


def test_what_has_ended_cannot_be_cancelled(working: None, call: Call, app: App) -> None:
    id_ = call("test.nothing", background=True).data["id"]
    before = ended(app, id_)

    with pytest.raises(ConflictError, match="has succeeded already; nothing was changed"):
        call("cancel_job", job=id_)
    assert job(app, id_) == before


def test_a_job_that_is_refused_has_failed_and_says_why_and_what_to_do(working: None, call: Call, app: App) -> None:
    found = ended(app, call("test.raises", what="ours", background=True).data["id"])

    assert found.state == "failed"
    assert found.error["message"] == "The disk is full; nothing was changed."
    assert found.error["hint"] == "Free some space."
    assert "3 of 10" in found.summary


@pytest.mark.filterwarnings("ignore")
def test_a_bug_in_a_job_ends_that_job_and_no_other(working: None, call: Call, app: App) -> None:
    broken = ended(app, call("test.raises", what="bug", background=True).data["id"])
    next_ = ended(app, call("test.nothing", background=True).data["id"])

    assert (broken.state, broken.error["code"], next_.state) == ("failed", "internal", "succeeded")
    assert "ZeroDivisionError" in broken.error["message"]
    assert "daemon logs" in broken.error["hint"]


def test_a_large_result_becomes_a_file_that_an_undo_of_the_job_takes_back(working: None, call: Call, app: App) -> None:
    found = ended(app, call("test.much", background=True).data["id"])

    file = call("get_file", file=found.result_file).data
    assert (found.state, found.result, file["name"]) == ("succeeded", None, f"{found.id}.json")
    assert found.result_file in found.summary
    call("undo", unit=found.id)
    assert call("list_files").data == []


def test_what_a_job_wrote_is_one_unit(working: None, call: Call, app: App) -> None:
    code = "for number in range(3): sdk.tasks.create(f'Task {number}')"
    id_ = call("run_code", code=code, background=True).data["id"]
    found = ended(app, id_)

    undone = call("undo", unit=id_)

    assert (found.state, undone.data["count"]) == ("succeeded", 3)
    assert call("list_tasks").data == []


def test_the_last_write_is_the_jobs_that_this_client_asked_for(working: None, call: Call, app: App) -> None:
    ended(app, call("run_code", code="sdk.tasks.create('Tea')", background=True).data["id"])

    call("undo")

    assert call("list_tasks").data == []


def test_what_a_job_still_writes_cannot_be_undone(working: None, call: Call, app: App) -> None:
    code = "sdk.tasks.create('Tea')\nwhile True: sdk.progress(1, 2, 'written')"
    id_ = call("run_code", code=code, background=True).data["id"]
    until(lambda: job(app, id_).current)

    with pytest.raises(ConflictError, match=f"The job {id_} .run_code. still writes this"):
        call("undo", unit=id_)
    with pytest.raises(ConflictError, match="still writes this"):
        call("undo")
    call("cancel_job", job=id_)
    call("undo", unit=id_)
    assert call("list_tasks").data == []


def test_a_script_that_fails_has_failed_as_a_job_and_says_where(working: None, call: Call, app: App) -> None:
    found = ended(app, call("run_code", code="sdk.tasks.create('Tea')\n1 / 0", background=True).data["id"])

    assert (found.state, found.result["error"]["line"]) == ("failed", 2)
    assert "division by zero" in found.error["message"]
    assert "undo" in found.result["note"]


def test_a_script_that_is_cancelled_tells_what_it_had_done(working: None, call: Call, app: App) -> None:
    code = "sdk.tasks.create('Tea')\nwhile True: sdk.progress(1, 2, 'going on')"
    id_ = call("run_code", code=code, background=True).data["id"]
    until(lambda: job(app, id_).current)

    call("cancel_job", job=id_)

    found = ended(app, id_)
    assert (found.state, found.result["changes"]) == ("cancelled", {"created": 1})


def test_a_script_in_the_background_may_take_an_hour(working: None, call: Call, app: App) -> None:
    found = ended(app, call("run_code", code="1", timeout=3600, background=True).data["id"])

    assert found.state == "succeeded"
    with pytest.raises(InvalidInputError, match="not 3601"):
        call("run_code", code="1", timeout=3601, background=True)
    with pytest.raises(InvalidInputError, match="not 61"):
        call("run_code", code="1", timeout=61)


@pytest.mark.parametrize(
    ("operation", "arguments", "text"),
    [
        ("run_code", {"code": "  "}, "code is empty"),
        ("import.markdown", {"folder": "/nowhere/at/all"}, "There is no folder"),
        ("reindex", {}, "Search by meaning is off"),
        ("reindex", {"scope": "tomorrow"}, "scope must be one of"),
    ],
)
def test_what_can_be_refused_at_once_never_becomes_a_job(
    working: None, call: Call, operation: str, arguments: dict[str, Any], text: str
) -> None:
    with pytest.raises((InvalidInputError, UnavailableError), match=text):
        call(operation, **arguments, background=True)

    assert call("list_jobs").data == []


def test_an_unknown_kind_is_refused_with_those_there_are(working: None, app: App) -> None:
    with pytest.raises(InvalidInputError, match="There is no kind of job 'dance'") as refused:
        app.jobs.submit("dance", {}, "a schedule")

    assert "reindex" in refused.value.hint


def test_arguments_that_a_kind_does_not_take_are_refused(working: None, app: App) -> None:
    with pytest.raises(InvalidInputError, match="speed is not one of its parameters"):
        app.jobs.submit("reindex", {"speed": 3}, "a schedule")


def test_the_same_key_asks_once(working: None, call: Call, app: App) -> None:
    first, again = (call("test.nothing", background=True, idempotency_key="k") for _ in range(2))

    assert first.data["id"] == again.data["id"]
    assert again.metadata["repeated"]


def test_lists_are_short_however_much_jobs_have_to_say(working: None, call: Call, app: App) -> None:
    for _ in range(3):
        ended(app, call("test.raises", what="x" * 5000, background=True).data["id"])
        ended(app, call("run_code", code="raise ValueError('q' * 6000)", background=True).data["id"])

    listed = call("list_jobs", state="ended")

    assert len(listed.text) < 6_000
    assert all(len(row["error"]["message"]) <= 200 for row in listed.data)


def test_of_a_kind_that_is_not_known_nothing_is_listed(call: Call, works: JobActivity) -> None:
    with pytest.raises(InvalidInputError) as refused:
        call("list_jobs", kind="nope")

    assert "reindex" in refused.value.hint


def test_only_what_was_written_can_be_undone(working: None, call: Call, app: App) -> None:
    wrote = ended(app, call("run_code", code="sdk.notes.create('Tea')", background=True).data["id"])
    read = ended(app, call("run_code", code="sdk.notes.list()", background=True).data["id"])

    assert call("get_job", job=wrote.id).data["undo"] == wrote.unit
    assert "undo" not in call("get_job", job=read.id).data


def test_a_job_that_took_back_what_it_wrote_offers_no_undo(working: None, call: Call, app: App) -> None:
    code = "sdk.notes.create('Tea')\n1 / 0"
    found = ended(app, call("run_code", code=code, atomic=True, background=True).data["id"])

    assert found.state == "failed"
    assert "undo" not in call("get_job", job=found.id).data


def test_a_cancelled_script_says_what_stands_and_is_not_stopping_any_more(working: None, call: Call, app: App) -> None:
    id_ = call("run_code", code="sdk.notes.create('Tea')\nwhile True: pass", background=True).data["id"]
    until(lambda: call("status").data["counts"]["note"], "its note")

    answer = call("cancel_job", job=id_)

    until(lambda: job(app, id_).has_ended)
    shown = call("get_job", job=id_).data
    assert answer.data["id"] == id_
    assert (shown["state"], shown["is_stopping"]) == ("cancelled", False)
    assert shown["summary"].startswith("Cancelled. ")
    assert "nobody waits" not in shown["summary"]


def test_what_succeeded_has_come_to_its_end(working: None, call: Call, app: App, works: JobActivity) -> None:
    id_ = call("test.steps", background=True).data["id"]
    until(lambda: job(app, id_).current > 3)
    works.go.set()

    found = ended(app, id_)

    assert (found.current, found.total) == (1_000_000, 1_000_000)


def test_old_jobs_are_forgotten_and_open_ones_kept(working: None, call: Call, app: App, clock: StandingClock) -> None:
    old = call("test.nothing", background=True).data["id"]
    ended(app, old)
    runs = call("test.steps", background=True).data["id"]
    clock.advance(days=31)

    app.jobs.delete_old(app.settings.log_age)

    assert [row["id"] for row in call("list_jobs").data] == [runs]


def test_status_counts_what_runs_and_waits(working: None, call: Call, works: JobActivity) -> None:
    for _ in range(3):
        call("test.steps", background=True)
    until(lambda: len(works.begun) == 2)

    assert call("status").data["jobs"] == {"running": 2, "queued": 1}
