"""Jobs whose process died, was taken over or closes: each goes on somewhere, or says how far it came."""

from dataclasses import replace
from typing import Any

import pytest

from panorama.app import App
from panorama.domain.jobs import LEASE, Job, Requester
from panorama.errors import UnavailableError
from panorama.services.jobs.queue import QUEUE
from panorama.store.log import jobs as rows
from tests.conftest import ON_POSTGRES, StandingClock
from tests.services.queued import Call, ended, job, working, works
from tests.working import JobActivity, at_work, until

__all__ = ["working", "works"]


def left_behind(app: App, kind: str, worker: str = "elsewhere 1 x", **fields: Any) -> str:
    """Put a job into the table as a process that died has left it."""
    made = Job(
        id=app.context.new_id("w"),
        kind=kind,
        arguments={},
        asker=Requester(),
        created_at=app.context.now(),
        unit="w_unit",
    )
    with app.context.database.transaction(QUEUE) as session:
        rows.add(session, replace(made.start(worker, app.context.now()), **fields))
    return made.id


def test_a_job_whose_process_died_goes_on_from_its_checkpoint(app: App, works: JobActivity) -> None:
    id_ = left_behind(app, "steps", checkpoint={"done": 40}, current=40, heartbeat=app.context.now() - 2 * LEASE)

    with at_work(app):
        until(lambda: works.begun)
        works.go.set()
        found = ended(app, id_)

    assert (works.found, found.state, found.attempts) == ([{"done": 40}], "succeeded", 2)


@pytest.mark.skipif(ON_POSTGRES, reason="a space knows its daemons by their rows: tests/postgres/test_sharing.py")
def test_a_job_of_a_process_that_lives_is_left_to_it_until_its_lease_is_over(
    app: App, works: JobActivity, clock: StandingClock
) -> None:
    id_ = left_behind(app, "steps")
    works.go.set()

    app.recover_orphans()
    before = job(app, id_).state
    clock.advance(seconds=LEASE.total_seconds() + 1)
    app.recover_orphans()

    assert (before, job(app, id_).state) == ("running", "queued")


def test_a_job_that_cannot_go_on_is_interrupted_with_what_is_known(app: App, works: JobActivity) -> None:
    id_ = left_behind(app, "once", current=7, total=9, heartbeat=None)

    app.recover_orphans()

    found = job(app, id_)
    assert (found.state, found.worker) == ("interrupted", "")
    assert "7 of 9" in found.error["message"]


def test_a_job_that_was_taken_over_stops_here_and_changes_nothing_more(
    working: None, call: Call, app: App, works: JobActivity
) -> None:
    id_ = call("test.steps", background=True).data["id"]
    until(lambda: job(app, id_).current > 3)
    with app.context.database.transaction(QUEUE) as session:
        mine = rows.find(session, id_)
        assert mine
        rows.save(session, mine, replace(mine, worker="another"))

    until(lambda: not app.jobs.is_busy, "its end here")

    with app.context.database.reading() as session:
        found = rows.find(session, id_)
    assert found
    assert (found.worker, found.state) == ("another", "running")


def test_a_queue_that_closes_puts_back_what_can_go_on(app: App, call: Call, works: JobActivity) -> None:
    with at_work(app):
        id_ = call("test.steps", background=True).data["id"]
        until(lambda: job(app, id_).current > 3)

    found = job(app, id_)
    assert (found.state, found.worker, found.futile) == ("queued", "", 0)
    assert found.checkpoint["done"] >= 3


def test_where_nobody_runs_jobs_none_is_taken(app: App, call: Call, works: JobActivity) -> None:
    with pytest.raises(UnavailableError, match="No background worker is running here"):
        call("test.nothing", background=True)

    assert call("list_jobs").data == []
