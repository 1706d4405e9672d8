"""A script, its worker or its server is killed: what was written stands whole, is logged, and can be taken back."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from .files import is_sound, one
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
        before, family = tasks(home), children(server)
        time.sleep(0.3)  # the log is some 50 ms behind
        server.kill()
    psutil.wait_procs(family, timeout=PATIENCE)

    assert [
        relative for relative in family if relative.is_running() and relative.status() != psutil.STATUS_ZOMBIE
    ] == []
    run = one(home, "SELECT id FROM runs")
    assert one(home, "SELECT count(*) FROM changes WHERE unit = ?", run) == tasks(home)
    assert one(home, "SELECT count(*) FROM calls WHERE unit = ? AND success", run) >= before
    with Server(home) as again:
        answer = again.call("undo", unit=run, confirm=True)
        shown = again.call("run_code", code="return sdk.tasks.list()")
    assert "error" not in answer
    assert shown["data"]["result"] == []


def status(home: Path) -> str:
    return str(one(home, "SELECT status FROM runs ORDER BY number DESC LIMIT 1"))


def killed_while_writing(home: Path, folder: Path | None = None, **wishes: bool) -> str:
    """Kill a server while a script writes; return the run's id."""
    with Server(home) as server:
        server.call("create_task", title="Good")
        server.send("run_code", {"code": WRITING, **wishes})
        until(lambda: folder.exists() if folder else tasks(home) > 30, "the writing")
        time.sleep(0.2)
        server.kill()
    assert status(home) == "running"
    return str(one(home, "SELECT id FROM runs"))


def test_a_run_of_a_server_that_was_killed_is_ended_by_the_next(home: Path) -> None:
    id_ = killed_while_writing(home)
    wrote = tasks(home) - 1

    with Server(home):
        until(lambda: status(home) == "failed", "the run's end")

    assert f"{wrote} changes made before it stand; undo {id_}" in one(home, "SELECT error FROM runs")
    assert tasks(home) == wrote + 1


def test_an_atomic_run_of_a_server_that_was_killed_is_taken_back_by_the_next(home: Path) -> None:
    killed_while_writing(home, atomic=True)

    with Server(home) as server:
        until(lambda: status(home) == "failed", "the run's end")
        left = server.call("list_tasks")

    assert [row["title"] for row in left["data"]] == ["Good"]
    assert "All its changes were undone" in one(home, "SELECT error FROM runs")
    assert is_sound(home)


def test_the_copy_of_a_dry_run_does_not_outlive_its_server_for_long(home: Path) -> None:
    copies = home / "dry-runs"
    killed_while_writing(home, copies, dry_run=True)
    assert list(copies.iterdir())

    with Server(home):
        until(lambda: not list(copies.iterdir()), "the end of the copy")

    assert tasks(home) == 1


def test_a_server_that_starts_beside_another_leaves_its_runs_alone(home: Path) -> None:
    writing = "import time\nfor n in range(40):\n    sdk.tasks.create(f'Task {n}')\n    time.sleep(0.1)\nreturn n"
    with Server(home) as first:
        number = first.send("run_code", {"code": writing, "atomic": True})
        until(lambda: tasks(home), "the writing")
        with Server(home) as second:
            second.call("run_code", code="1")
            until(lambda: tasks(home) > 38, "most of it")
        answered, result = first.next_answer()

    assert (answered, result["structuredContent"]["data"]["result"]) == (number, 39)
    assert (tasks(home), one(home, "SELECT count(*) FROM runs WHERE status = 'succeeded'")) == (40, 2)


def test_a_worker_that_is_killed_ends_its_run_and_all_it_called_is_logged(home: Path) -> None:
    with Server(home) as server:
        server.call("run_code", code="1")
        number = server.send("run_code", {"code": WRITING})
        until(lambda: tasks(home) > 30, "the writing")
        for process in children(server):
            if process.children() == [] and process.parent() != psutil.Process(server.process.pid):
                process.kill()  # workers are the template's children

        answered, result = server.next_answer()
        answer = result["structuredContent"]["data"]
        assert answered == number
        assert answer["error"]["kind"] == "crashed"
        assert answer["changes"] == {"created": tasks(home)}
        assert one(
            home, "SELECT count(*) FROM calls WHERE unit = ? AND success AND position > 0", answer["run_id"]
        ) == (tasks(home))
        assert server.call("run_code", code="return 'well'")["data"]["result"] == "well"


def test_a_script_meets_a_locked_store_as_an_error_that_it_can_catch(home: Path) -> None:
    code = "try:\n    sdk.tasks.create('Tea')\nexcept sdk.UnavailableError as error:\n    return error.code"
    with Server(home, busy_seconds="0.2") as server:
        server.call("run_code", code="1")
        with closing(sqlite3.connect(home / "panorama.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            answer = server.call("run_code", code=code)
            other.execute("ROLLBACK")

        assert answer["data"]["result"] == "unavailable"
        assert server.call("run_code", code="sdk.tasks.create('Tea').title")["data"]["result"] == "Tea"


def test_a_script_that_ran_never_answers_as_failed_because_its_state_cannot_be_kept(home: Path) -> None:
    with Server(home) as server:
        server.call("run_code", code="1")
        with closing(sqlite3.connect(home / "panorama.db")) as file:
            file.execute("CREATE TRIGGER no_state BEFORE INSERT ON script_states BEGIN SELECT RAISE(ABORT, 'no'); END")
            file.commit()
        answer = server.call("run_code", code="sdk.tasks.create('Tea')\nsdk.state['n'] = 1\nreturn 'done'")

        assert answer["data"]["result"] == "done"
        assert "sdk.state was not saved" in answer["data"]["note"]
        assert tasks(home) == 1
