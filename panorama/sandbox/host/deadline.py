"""Ends a run from outside: at its deadline or memory limit, or when cancelled."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from panorama.domain.scripts.scripts import Limits, Reason
from panorama.sandbox.host.process_usage import ProcessUsage
from panorama.sandbox.host.worker_handle import WorkerHandle
from panorama.sandbox.protocol.control import DUMP_STACK, STOP
from panorama.sandbox.worker.watchdog import TimerHandle, Watchdog

DUMP_SECONDS = 0.012
"""After that, a worker that does not end is asked for its stack; this works also during long C calls."""

KILL_SECONDS = 0.025
"""After that it is killed."""

_HAS_LIMITS = sys.platform == "linux"
"""Whether the system limits the memory of a process; elsewhere the host polls it."""

POLL_SECONDS = 0.1 if _HAS_LIMITS else 0.05
"""How often the host checks for cancellation."""


def is_memory_polled() -> bool:
    """Return whether the host itself watches a worker's memory."""
    return not _HAS_LIMITS


class RunDeadline:
    """Ends one run at its deadline, when it is cancelled, or when the runner closes.

    It watches from `start` on; the time of the run counts from its creation.
    """

    def __init__(self, worker: WorkerHandle, limits: Limits, stopped: Callable[[], bool], watchdog: Watchdog) -> None:
        self.cause: Reason | None = None
        """Why the run was ended, None if it was not."""

        self.used = ProcessUsage()
        """What the worker had used when it was killed."""

        self._worker = worker
        self._limits = limits
        self._is_cancelled = stopped
        self._watchdog = watchdog
        self._max_bytes = 0
        self._end = time.monotonic() + limits.wall.total_seconds()
        self._deadline: TimerHandle | None = None
        self._next_check: TimerHandle | None = None

    @property
    def is_ended(self) -> bool:
        """Whether the run was stopped."""
        return self.cause is not None

    @contextmanager
    def pause(self) -> Generator[None]:
        """Stop the clock of a watched run inside the block; it can still be cancelled. One thread pauses at a time."""
        paused_at = time.monotonic()
        self._cancel(self._deadline)
        try:
            yield
        finally:
            self._end += time.monotonic() - paused_at
            if self.cause is None:
                self._deadline = self._watchdog.call_at(self._end, lambda: self.stop("time"))

    def start(self) -> None:
        """Watch the worker from now on. Idempotent.

        Raises:
            WorkerGoneError: There is no worker.
        """
        if self._deadline is None:
            self._worker.resolve()
            self._max_bytes = 0 if _HAS_LIMITS else self._worker.measure_usage().peak_bytes + self._limits.memory_bytes
            self._deadline = self._watchdog.call_at(self._end, lambda: self.stop("time"))
            self._next_check = self._schedule(POLL_SECONDS, self._poll)

    def close(self) -> None:
        """Stop watching the worker."""
        self._cancel(self._deadline)
        self._cancel(self._next_check)

    def stop(self, cause: Reason) -> None:
        """Ask the worker to end; kill it some milliseconds later."""
        if self.cause is None:
            self.cause = cause
            self._cancel(self._next_check)
            self._worker.send_signal(STOP)
            self._next_check = self._schedule(DUMP_SECONDS, self._request_stack)

    def kill(self, cause: Reason) -> None:
        """Kill the worker now."""
        self.cause = self.cause or cause
        self.used = self._worker.measure_usage()
        self._worker.kill()

    def _request_stack(self) -> None:
        self._worker.send_signal(DUMP_STACK)
        self._next_check = self._schedule(KILL_SECONDS - DUMP_SECONDS, lambda: self.kill("time"))

    def _poll(self) -> None:
        if self._is_cancelled():
            self.stop("cancelled")
        elif self._max_bytes and self._worker.measure_usage().peak_bytes > self._max_bytes:
            self.kill("memory")
        else:
            self._next_check = self._schedule(POLL_SECONDS, self._poll)

    def _cancel(self, alarm: TimerHandle | None) -> None:
        if alarm is not None:
            self._watchdog.cancel(alarm)

    def _schedule(self, seconds: float, act: Callable[[], None]) -> TimerHandle:
        return self._watchdog.call_at(time.monotonic() + seconds, act)
