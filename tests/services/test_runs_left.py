"""Runs whose process was killed: each is ended and says what stands, an atomic one is taken back, no copy stays."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.errors import ConflictError
from panorama.services.jobs.progress import report_progress_to
from panorama.services.jobs.queue import QUEUE
from panorama.services.jobs.worker_id import WorkerId
from panorama.services.scripts.orphaned_runs import GRACE_PERIOD
from panorama.store.backend import Session
from panorama.store.log import jobs as job_rows
from panorama.store.log import runs
from panorama.store.log.runs import Run as Row
from tests.conftest import ON_POSTGRES, StandingClock
from tests.services.coding import Call, Run, run, titles
from tests.services.queued import ended
from tests.services.test_jobs_left import left_behind
from tests.working import at_work, until

__all__ = ["run"]

WRITING = 'sdk.tasks.create("Tea")\nsdk.tasks.update("Tea", urgent=True)'


@pytest.fixture(scope="module")
def gone() -> str:
    """The name of a process of this machine that has ended."""
    ended_ = subprocess.Popen([sys.executable, "-c", ""])
    ended_.wait()
    here = WorkerId.for_this_process()
    return f"{here.machine} {ended_.pid} {here.key}"


def leave_run(app: App, run_id: str, worker: str, **options: bool) -> str:
    """Make of a run that has ended one as a process leaves it that is killed."""
    with app.context.database.transaction(QUEUE) as session:
        found = row(session, run_id)
        values: dict[str, Any] = {name: getattr(found, name) for name in ("id", "at", "client", "conversation")}
        was = {**found.options, **options}
        runs.save(session, [Row(**values, status="running", source="…", inputs={}, options=was, worker=worker)])
    return run_id


def row(session: Session, run_id: str) -> Row:
    found = runs.find(session, run_id)
    assert found
    return found


def show_run(call: Call, run_id: str) -> dict[str, Any]:
    return dict(call("runs.get", run=run_id).data)


def copied(app: App, run_id: str) -> Path:
    """Leave the copy of a dry run."""
    folder = app.settings.home / "dry-runs" / run_id
    folder.mkdir(parents=True)
    (folder / "panorama.db").write_text("what was purged since")
    return folder


def test_a_run_whose_process_is_gone_is_ended_and_says_what_stands(app: App, run: Run, call: Call, gone: str) -> None:
    id_ = leave_run(app, run(WRITING)["run_id"], gone)

    app.recover_orphans()

    found = show_run(call, id_)
    stands = f"2 changes made before it stand; undo {id_} takes them back."
    assert (found["status"], found["error"]["kind"]) == ("failed", "interrupted")
    assert found["error"]["message"] == f"Panorama ended while it ran. {stands}"
    assert (found["changes"], found["called"]) == ({"created": 1, "updated": 1}, 2)
    assert [run_["id"] for run_ in call("runs.list", failed=True).data] == [id_]


def test_what_such_a_run_wrote_is_undone_as_one(app: App, run: Run, call: Call, gone: str) -> None:
    id_ = leave_run(app, run(WRITING)["run_id"], gone)
    app.recover_orphans()

    call("undo", unit=id_)

    assert titles(call) == []


def test_an_atomic_run_whose_process_is_gone_is_taken_back(app: App, run: Run, call: Call, gone: str) -> None:
    call("create_task", title="Good")
    id_ = leave_run(app, run(WRITING)["run_id"], gone, atomic=True)

    app.recover_orphans()

    found = show_run(call, id_)
    assert titles(call) == ["Good"]
    assert found["error"]["message"] == "Panorama ended while it ran. All its changes were undone (2 changes)."
    assert found["changes"] == {}
    with pytest.raises(ConflictError, match="Nothing remains"):
        call("undo", unit=id_)
    call("undo")
    assert titles(call) == []


def test_of_an_atomic_run_what_others_changed_stays_and_is_named(app: App, run: Run, call: Call, gone: str) -> None:
    id_ = leave_run(app, run(WRITING + '\nsdk.tasks.create("Coffee")')["run_id"], gone, atomic=True)
    call("update_task", task="Tea", notes="mine")

    app.recover_orphans()

    assert "All but 1 of its 3 changes were taken back" in show_run(call, id_)["error"]["message"]
    assert "“Tea” (" in show_run(call, id_)["error"]["message"]
    assert titles(call) == ["Tea"]


def test_a_dry_run_whose_process_is_gone_changed_nothing_and_leaves_no_copy(
    app: App, run: Run, call: Call, gone: str
) -> None:
    id_ = leave_run(app, run(WRITING, dry_run=True)["run_id"], gone)
    folder = copied(app, id_)

    app.recover_orphans()

    assert show_run(call, id_)["error"]["message"] == "Panorama ended while it ran. Nothing was changed."
    assert not folder.exists()


@pytest.mark.skipif(ON_POSTGRES, reason="a space knows its daemons by their rows: tests/postgres/test_sharing.py")
def test_a_run_of_a_process_that_lives_is_left_to_it(app: App, run: Run, call: Call, clock: StandingClock) -> None:
    parent = f"{WorkerId.for_this_process().machine} {os.getppid()} x"
    id_ = leave_run(app, run(WRITING, dry_run=True)["run_id"], parent)
    folder = copied(app, id_)

    app.recover_orphans()
    before = show_run(call, id_)["status"], folder.exists()
    clock.advance(seconds=(GRACE_PERIOD + timedelta(seconds=61)).total_seconds())
    app.recover_orphans()

    assert before == ("running", True)
    assert (show_run(call, id_)["status"], folder.exists()) == ("failed", False)


@pytest.mark.skipif(ON_POSTGRES, reason="a space knows its daemons by their rows: tests/postgres/test_sharing.py")
@pytest.mark.parametrize("worker", ["", "elsewhere 1 x"])
def test_of_a_process_nobody_here_knows_a_run_is_given_its_time(
    app: App, run: Run, call: Call, clock: StandingClock, worker: str
) -> None:
    id_ = leave_run(app, run(WRITING)["run_id"], worker)

    app.recover_orphans()
    before = show_run(call, id_)["status"]
    clock.advance(hours=2)
    app.recover_orphans()

    assert (before, show_run(call, id_)["status"]) == ("running", "failed")


def test_a_run_under_way_here_is_left_alone(app: App, call: Call, run: Run) -> None:
    code = 'sdk.tasks.create("Tea")\nsdk.progress(1, 2)\nreturn [task.title for task in sdk.tasks.list()]'

    with looking(app) as looked:
        received = [run(code, dry_run=True), run(code, atomic=True)]

    assert [(item["result"], "error" in item) for item in received] == [(["Tea"], False)] * 2
    assert looked == ["running", "running"]


@contextmanager
def looking(app: App) -> Iterator[list[str]]:
    """Look for runs that were left while a script tells how far it is; tells what became of it."""
    found: list[str] = []

    def look(current: int, total: int, message: str) -> None:
        if current:
            app.recover_orphans()
            with app.context.database.reading() as session:
                found.extend(job.status for job in runs.list_running(session))

    with report_progress_to(look):
        yield found


def test_a_run_that_is_to_be_taken_back_is_known_before_it_writes(app: App, run: Run) -> None:
    with looking(app) as looked:
        run("sdk.progress(1, 2)", atomic=True)

    assert looked == ["running"]


def test_the_job_of_an_atomic_script_says_that_nothing_is_left(app: App, run: Run, call: Call, gone: str) -> None:
    id_ = left_behind(app, "run_code", current=1, total=2, heartbeat=None)
    result = leave_run(app, run(WRITING)["run_id"], gone, atomic=True)
    with app.context.database.transaction(QUEUE) as session:
        old = job_rows.find(session, id_)
        assert old
        job_rows.save(session, old, replace(old, unit=result, arguments={"code": WRITING, "atomic": True}))

    app.recover_orphans()

    assert ended(app, id_).error["message"] == "Panorama ended while it ran. It had done 1 of 2; nothing of it remains."
    assert titles(call) == []


def test_the_queue_looks_for_runs_and_copies_that_were_left(app: App, run: Run, call: Call, gone: str) -> None:
    id_ = leave_run(app, run(WRITING, dry_run=True)["run_id"], gone)
    folder = copied(app, id_)

    with at_work(app):
        until(lambda: not folder.exists(), "the end of the copy")

    assert show_run(call, id_)["status"] == "failed"


def test_where_no_queue_works_the_first_script_looks(home: Path, gone: str) -> None:
    talk = Conversation(id="v_test", actor="tool", client="test")
    with open_app(read_settings(home=home)) as app:
        result = app.calls.call("run_code", {"code": WRITING, "dry_run": True}, talk).data
        id_ = leave_run(app, result["run_id"], gone)
        folder = copied(app, id_)

    with open_app(read_settings(home=home)) as app:
        before = folder.exists()
        app.calls.call("run_code", {"code": "1"}, talk)
        found = app.calls.call("runs.get", {"run": id_}, talk).data

    assert (before, folder.exists(), found["status"]) == (True, False, "failed")


def test_a_copy_that_no_log_knows_of_is_given_an_hour(app: App) -> None:
    young, old = copied(app, "x_young"), copied(app, "x_old")
    os.utime(old, (0, 0))

    app.recover_orphans()

    assert (young.exists(), old.exists()) == (True, False)
