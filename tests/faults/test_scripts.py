"""A script, its worker or its server is killed: what was written stands whole, is logged, and can be taken back."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from .files import one
from .servers import Server

pytestmark = pytest.mark.slow

PATIENCE = 20.0
WRITING = "n = 0\nwhile True:\n    n += 1\n    sdk.tasks.create(f'Task {n}')"


def until(so: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline, f"{what} did not come about within {PATIENCE:g} s"
        time.sleep(0.01)


def tasks(home: Path) -> int:
    return int(one(home, "SELECT count(*) FROM tasks WHERE deleted_at IS NULL"))


def children(server: Server) -> list[psutil.Process]:
    return psutil.Process(server.process.pid).children(recursive=True)


def test_a_server_that_is_killed_leaves_whole_writes_a_log_and_no_process(home: Path) -> None:
    with Server(home) as server:
        server.send("run_code", {"code": WRITING})
        until(lambda: tasks(home) > 30, "the writing")
        time.sleep(0.1)  # the log is at most 50 ms behind
        before, family = tasks(home), children(server)
        server.kill()
    psutil.wait_procs(family, timeout=PATIENCE)

    assert [each for each in family if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []
    run = one(home, "SELECT id FROM runs")
    assert one(home, "SELECT count(*) FROM changes WHERE unit = ?", run) == tasks(home)
    assert one(home, "SELECT count(*) FROM calls WHERE unit = ? AND success", run) >= before - 30
    with Server(home) as again:
        told = again.call("undo", unit=run, confirm=True)
        shown = again.call("run_code", code="return sdk.tasks.list()")
    assert "error" not in told
    assert shown["data"]["result"] == []


def test_a_worker_that_is_killed_ends_its_run_and_all_it_called_is_logged(home: Path) -> None:
    with Server(home) as server:
        server.call("run_code", code="1")
        number = server.send("run_code", {"code": WRITING})
        until(lambda: tasks(home) > 30, "the writing")
        for each in children(server):
            if each.children() == [] and each.parent() != psutil.Process(server.process.pid):
                each.kill()  # workers are the template's children

        answered, result = server.next_answer()
        told = result["structuredContent"]["data"]
        assert answered == number
        assert told["error"]["kind"] == "crashed"
        assert told["changes"] == {"created": tasks(home)}
        assert one(home, "SELECT count(*) FROM calls WHERE unit = ? AND success AND position > 0", told["run_id"]) == (
            tasks(home)
        )
        assert server.call("run_code", code="return 'well'")["data"]["result"] == "well"


def test_a_script_meets_a_locked_store_as_an_error_that_it_can_catch(home: Path) -> None:
    code = "try:\n    sdk.tasks.create('Tea')\nexcept sdk.UnavailableError as error:\n    return error.code"
    with Server(home, busy_seconds="0.2") as server:
        server.call("run_code", code="1")
        with closing(sqlite3.connect(home / "panorama.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            told = server.call("run_code", code=code)
            other.execute("ROLLBACK")

        assert told["data"]["result"] == "unavailable"
        assert server.call("run_code", code="sdk.tasks.create('Tea').title")["data"]["result"] == "Tea"


def test_a_script_that_ran_never_answers_as_failed_because_its_state_cannot_be_kept(home: Path) -> None:
    with Server(home) as server:
        server.call("run_code", code="1")
        with closing(sqlite3.connect(home / "panorama.db")) as file:
            file.execute("CREATE TRIGGER no_state BEFORE INSERT ON script_states BEGIN SELECT RAISE(ABORT, 'no'); END")
            file.commit()
        told = server.call("run_code", code="sdk.tasks.create('Tea')\nsdk.state['n'] = 1\nreturn 'done'")

        assert told["data"]["result"] == "done"
        assert "sdk.state was not kept" in told["data"]["note"]
        assert tasks(home) == 1
