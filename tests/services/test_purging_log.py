"""What the log of calls and jobs keeps of what was purged: that it was, but not what it said."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from panorama.app import App
from panorama.domain.jobs import Job, Requester
from panorama.services.jobs.progress import report_progress_to
from panorama.services.jobs.queue import QUEUE
from panorama.store.log import jobs as store_jobs
from tests.conftest import StandingClock
from tests.services.forgetting import SECRET, Call, purge
from tests.stored_rows import read_rows, read_texts
from tests.working import at_work

pytestmark = pytest.mark.slow  # they wait for the log to be written

__all__ = ["purge"]


def test_the_old_log_goes_and_the_younger_stays(call: Call, app: App, clock: StandingClock) -> None:
    call("create_note", title="Old")
    app.recorder.flush()
    clock.advance(days=31)
    call("create_note", title="New")
    app.recorder.flush()

    call("purge")

    kept = [row[0] for row in read_rows(app, "SELECT CAST(arguments AS TEXT) FROM calls WHERE name = 'create_note'")]
    assert kept == ['{"title":"New"}']


def test_the_log_keeps_that_a_call_was_made_but_not_what_it_said(call: Call, app: App, clock: StandingClock) -> None:
    note = call("create_note", title=SECRET).data["id"]
    call("delete_item", item=note)
    app.recorder.flush()

    answer = call("purge", days=0, confirm=True) if clock.advance(minutes=1) is None else None

    assert answer is not None
    assert answer.data["calls"] == 2
    logged = read_rows(app, "SELECT name, CAST(arguments AS TEXT) FROM calls WHERE name != 'purge' ORDER BY number")
    assert logged == [("create_note", '{"forgotten":true}'), ("delete_item", '{"forgotten":true}')]


def kept_job(app: App, message: str, *, ended: bool) -> str:
    """Keep a job that was given a text and, if it has ended, answers it."""
    new = Job(id=app.context.new_id("w"), kind="run_script", arguments={"code": message}, asker=Requester(),
              created_at=app.context.now(), unit="w_unit")  # fmt: skip
    if ended:
        new = new.start("me", app.context.now()).finish(
            "succeeded", app.context.now(), summary=message, result={"text": message}
        )
    with app.context.database.transaction(QUEUE) as session:
        store_jobs.add(session, new)
    return new.id


def test_ended_jobs_stay_without_what_they_told_of_what_was_forgotten(
    call: Call, app: App, clock: StandingClock
) -> None:
    note = call("create_note", title=SECRET).data["id"]
    call("delete_item", item=note)
    telling, waiting, other = (
        kept_job(app, f"sdk.notes.get({note!r})", ended=True),
        kept_job(app, f"sdk.notes.get({note!r})", ended=False),
        kept_job(app, "sdk.notes.list()", ended=True),
    )
    clock.advance(minutes=1)

    answer = call("purge", days=0, confirm=True)

    assert answer.data["jobs"] == 1
    emptied = app.jobs.get_job(telling)
    assert (emptied.state, emptied.arguments, emptied.summary, emptied.result) == ("succeeded", {}, "", None)
    assert app.jobs.get_job(waiting).arguments["code"].endswith(f"({note!r})")
    assert app.jobs.get_job(other).result == {"text": "sdk.notes.list()"}


SHORT_SCRIPT = f"sdk.notes.create(title='About {SECRET} and tea')"
HIDING_SCRIPT = f"password = 'hunter22 {SECRET}'\n{SHORT_SCRIPT}"
SCRIPTS = {
    "short": SHORT_SCRIPT,
    "long": f"{SHORT_SCRIPT}\n" + "# nothing else\n" * 100,
    "with something that is hidden": HIDING_SCRIPT,
    "long, with something that is hidden": HIDING_SCRIPT + "\n# nothing else" * 100,
}


@pytest.mark.parametrize("code", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.parametrize("background", [False, True])
def test_the_call_that_asked_for_a_script_tells_no_more_of_what_was_forgotten_than_its_run(
    call: Call, app: App, clock: StandingClock, code: str, background: bool
) -> None:
    other = "sdk.notes.list()"
    with at_work(app):
        call("run_code", code=code, dry_run=True)
        call("run_code", code=other)
        done = call("run_code", code=code, background=background)
        if background:
            assert call("get_job", job=done.data["id"], wait=30).data["state"] == "succeeded"
    call("delete_item", item=read_rows(app, "SELECT id FROM notes")[0][0])
    app.recorder.flush()
    clock.advance(minutes=1)

    call("purge", days=0, confirm=True)

    app.recorder.flush()
    assert SECRET.lower() not in read_texts(app).lower()
    assert [row for row in read_rows(app, "SELECT source FROM runs") if row[0]] == [(other,)]
    kept = [row[0] for row in read_rows(app, "SELECT CAST(arguments AS TEXT) FROM calls WHERE name = 'run_code'")]
    assert len([item for item in kept if other in item]) == 1


def test_a_purge_that_is_stopped_among_the_log_finds_the_calls_of_scripts_again(
    call: Call, app: App, clock: StandingClock
) -> None:
    with at_work(app):
        call("get_job", job=call("run_code", code=SHORT_SCRIPT, background=True).data["id"], wait=30)
    call("delete_item", item=read_rows(app, "SELECT id FROM notes")[0][0])
    app.recorder.flush()
    clock.advance(minutes=1)

    for moment in range(4):
        with suppress(StoppedError), report_progress_to(stopping_after(moment)):
            call("purge", days=0, confirm=True)
    call("purge", days=0, confirm=True)

    app.recorder.flush()
    assert SECRET.lower() not in read_texts(app).lower()


class StoppedError(Exception):
    """Somebody stopped it."""


def stopping_after(times: int) -> Callable[[int, int, str], None]:
    """Return what stops a purge the next time it asks after so many."""
    left = iter(range(times))

    def told(done: int, total: int, at: str) -> None:
        if next(left, None) is None:
            raise StoppedError

    return told
