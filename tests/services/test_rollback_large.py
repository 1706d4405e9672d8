"""Atomic runs of many changes: they are taken back in short transactions, whoever does it and whatever ends them."""

import threading
from contextlib import suppress

import pytest

from panorama.app import App
from panorama.services.history import history, undo_portions
from panorama.services.jobs import pace
from panorama.services.jobs.portions import LARGE_UNIT
from panorama.services.jobs.progress import StoppedError, report_progress_to
from panorama.store.items import rows
from tests.services.queued import Call
from tests.services.test_runs_left import gone as gone
from tests.services.test_runs_left import leave_run, show_run
from tests.services.test_undo_large import ASSISTANT, SIZE, Sizes, count
from tests.services.test_undo_large import sizes as sizes
from tests.stored_rows import read_rows
from tests.working import at_work, until

WRITING = f"for number in range({SIZE}): sdk.tasks.create(f'Task {{number}}')"
TAKEN_BACK = f"All its changes were undone ({SIZE} changes)."


def leave_atomic_run(app: App, call: Call, worker: str) -> str:
    """Return an atomic run of many changes whose process was killed."""
    return leave_run(app, str(call("run_code", code=WRITING).data["run_id"]), worker, atomic=True)


def count_living(app: App) -> int:
    """Count tasks without a call, which would be refused if it came too often."""
    with app.context.database.reading() as session:
        return len(rows.list_living(session, "task"))


def test_an_atomic_run_that_was_left_is_taken_back_in_short_transactions(
    app: App, call: Call, gone: str, sizes: Sizes
) -> None:
    run = leave_atomic_run(app, call, gone)
    sizes.clear()

    app.recover_orphans()

    assert (count(call), sum(sizes), max(sizes) <= LARGE_UNIT) == (0, SIZE, True)
    assert show_run(call, run)["error"]["message"] == f"Panorama ended while it ran. {TAKEN_BACK}"


def test_taking_back_a_run_that_was_left_stops_with_the_process_and_goes_on_with_the_next(
    app: App, call: Call, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_portions, "PORTION_SECONDS", 0.0)
    monkeypatch.setattr(pace, "REPORT_INTERVAL_SECONDS", 0.0)
    run = leave_atomic_run(app, call, gone)

    def stop_once_begun(current: int, total: int, message: str) -> None:
        del total, message
        if current:
            raise StoppedError

    with report_progress_to(stop_once_begun):
        app.recover_orphans()
    between = (count(call), show_run(call, run)["status"])
    app.recover_orphans()

    assert 0 < between[0] < SIZE
    assert between[1] == "running"
    assert (count(call), show_run(call, run)["status"]) == (0, "failed")


def test_a_run_that_one_process_takes_back_is_left_to_it_by_another(app: App, call: Call, gone: str) -> None:
    run = leave_atomic_run(app, call, gone)
    taken: list[str] = []

    def look(_: object) -> None:
        taken.append(read_rows(app, "SELECT worker FROM runs WHERE id = :run", run=run)[0][0])

    stop = app.context.database.subscribe(look)
    app.recover_orphans()
    stop()

    assert set(taken) == {app.orphaned_runs.worker.name}


def test_a_failed_atomic_run_of_very_many_changes_is_taken_back_before_the_answer(
    app: App, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    monkeypatch.setattr(history, "LONG_UNIT", SIZE // 2)

    with at_work(app):
        ran = app.calls.call("run_code", {"code": WRITING + "\n1 / 0", "atomic": True}, ASSISTANT)

    assert count(call) == 0
    assert TAKEN_BACK in str(ran.data)


def test_an_atomic_run_whose_client_leaves_is_taken_back(app: App, call: Call) -> None:
    class LeftError(Exception):
        pass

    has_left = threading.Event()

    def report(current: int, total: int, message: str) -> None:
        del current, total, message
        if has_left.is_set():
            raise LeftError

    def run() -> None:
        with report_progress_to(report, has_left.is_set), suppress(LeftError):
            app.calls.call("run_code", {"code": WRITING + "\nimport time\ntime.sleep(60)", "atomic": True}, ASSISTANT)

    client = threading.Thread(target=run)
    client.start()
    until(lambda: count_living(app) == SIZE)
    has_left.set()
    client.join()

    assert count(call) == 0
