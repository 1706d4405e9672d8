"""Memory that the host looks at, as it does where the system holds no process to a limit."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from panorama.domain.scripts.scripts import Limits
from panorama.sandbox import runner
from panorama.sandbox.host import deadline
from panorama.sandbox.host.deadline import RunDeadline
from panorama.sandbox.host.worker_handle import WorkerHandle
from panorama.sandbox.worker.watchdog import Watchdog
from tests.sandbox.runs import Runs, limits, nothing_is_left, runs

__all__ = ["nothing_is_left", "runs"]

pytestmark = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="only Linux and macOS report memory")

GROWING = "import sys, time; print(flush=True); sys.stdin.readline(); x = b'x' * int(sys.argv[1]); time.sleep(60)"
LIMIT = 64 << 20


@pytest.fixture(autouse=True)
def no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that holds no process to its memory, as far as the host knows."""
    monkeypatch.setattr(deadline, "_HAS_LIMITS", False)


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    """A watchdog."""
    made = Watchdog()
    yield made
    made.close()


@contextmanager
def grown(watchdog: Watchdog, bytes_more: int) -> Iterator[tuple[RunDeadline, subprocess.Popen[bytes]]]:
    """Watch a process that takes more memory once it is watched."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-I", "-S", "-c", GROWING, str(bytes_more)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process, theirs:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        worker = WorkerHandle(ours, lambda: process.pid)
        watched = RunDeadline(worker, replace(Limits(), memory_bytes=LIMIT), lambda: False, watchdog)
        watched.start()
        process.stdin.write(b"\n")
        process.stdin.flush()
        yield watched, process
        watched.close()
        worker.close()


def test_a_process_that_takes_more_than_its_memory_is_killed(watchdog: Watchdog):
    with grown(watchdog, 2 * LIMIT) as (watched, process):
        ended = process.wait(10)

    assert (watched.cause, ended) == ("memory", -signal.SIGKILL)
    assert watched.used.peak_bytes > LIMIT  # it may be seen while it is growing


def test_a_process_that_takes_less_goes_on(watchdog: Watchdog):
    looked = threading.Event()

    with grown(watchdog, LIMIT // 2) as (watched, process):
        watchdog.call_at(time.monotonic() + 5 * deadline.POLL_SECONDS, looked.set)
        assert looked.wait(10)

        assert (watched.cause, process.poll()) == (None, None)


def test_a_script_that_the_host_finds_too_large_is_told_its_limit(runs: Runs, monkeypatch: pytest.MonkeyPatch):
    def stricter(worker: WorkerHandle, given: Limits, *more: Any) -> RunDeadline:
        return RunDeadline(worker, replace(given, memory_bytes=given.memory_bytes // 4), *more)

    monkeypatch.setattr(runner, "RunDeadline", stricter)  # on Linux the system's own limit would come first

    failure = runs.failure("x = 'x' * 200_000_000\nwhile True: pass", limits=limits(memory_bytes=512 << 20))

    assert failure.reason == "memory"
    assert "512 MB" in failure.message
    assert runs.result("1") == 1


class Late(RunDeadline):
    """Begins late, as on a machine that is busy with others: a script could have taken its memory by then."""

    def begin(self) -> None:
        """Begin after a while."""
        if self._deadline is None:
            time.sleep(0.3)
        super().start()


def test_memory_is_counted_from_before_the_script_begins(runs: Runs, monkeypatch: pytest.MonkeyPatch):
    def stricter(worker: WorkerHandle, given: Limits, *more: Any) -> RunDeadline:
        return Late(worker, replace(given, memory_bytes=given.memory_bytes // 4), *more)

    monkeypatch.setattr(runner, "RunDeadline", stricter)

    failure = runs.failure("x = 'x' * 200_000_000\nwhile True: pass", limits=limits(seconds=3, memory_bytes=512 << 20))

    assert failure.reason == "memory"


def test_a_script_within_its_memory_is_left_alone(runs: Runs):
    assert runs.result("import time\nx = 'x' * 20_000_000\ntime.sleep(0.3)\nlen(x)") == 20_000_000
