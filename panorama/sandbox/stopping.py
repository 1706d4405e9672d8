"""Stopping: the only place that ends a run from outside, and knows why."""

import sys
import time
from collections.abc import Callable

from panorama.domain.scripts import Limits, Reason
from panorama.sandbox.control import STOP, TELL
from panorama.sandbox.memory import Use
from panorama.sandbox.watchdog import Alarm, Watchdog
from panorama.sandbox.workers import Worker

TELL_SECONDS = 0.012
"""After that, a worker that does not end is asked where it is; one in a long call of C code can still answer this."""

KILL_SECONDS = 0.025
"""After that it is killed, whatever it does."""

_HAS_LIMITS = sys.platform == "linux"
"""Whether the system itself holds a process to its memory; elsewhere it is looked at."""

ASK_SECONDS = 0.1 if _HAS_LIMITS else 0.05
"""How often it is asked whether somebody still waits."""


def counts_memory() -> bool:
    """Tell whether what a worker uses is compared with what it used before: it is watched before the script begins."""
    return not _HAS_LIMITS


class Stopping:
    """Ends one run at its deadline, when nobody waits for it any more, or when the runner closes.

    It watches from `begin` on; the time of the run counts from when this was made.
    """

    def __init__(self, worker: Worker, limits: Limits, stopped: Callable[[], bool], watchdog: Watchdog) -> None:
        self.cause: Reason | None = None
        """Why the run was told to end, None if it was not."""

        self.used = Use()
        """What it had used when it was killed."""

        self._worker = worker
        self._limits = limits
        self._stopped = stopped
        self._watchdog = watchdog
        self._most_bytes = 0
        self._end = time.monotonic() + limits.wall.total_seconds()
        self._deadline: Alarm | None = None
        self._next: Alarm | None = None

    def begin(self) -> None:
        """Watch the worker from now on; a second time is harmless.

        Raises:
            GoneError: There is none.
        """
        if self._deadline is None:
            self._worker.meet()
            self._most_bytes = 0 if _HAS_LIMITS else self._worker.used().peak_bytes + self._limits.memory_bytes
            self._deadline = self._watchdog.at(self._end, lambda: self.stop("time"))
            self._next = self._after(ASK_SECONDS, self._ask)

    def end(self) -> None:
        """Leave the worker alone."""
        self._cancel(self._deadline)
        self._cancel(self._next)

    def stop(self, cause: Reason) -> None:
        """Tell the worker to end; some milliseconds later it is killed."""
        if self.cause is None:
            self.cause = cause
            self._cancel(self._next)
            self._worker.signal(STOP)
            self._next = self._after(TELL_SECONDS, self._tell)

    def kill(self, cause: Reason) -> None:
        """Kill the worker now."""
        self.cause = self.cause or cause
        self.used = self._worker.used()
        self._worker.kill()

    def _tell(self) -> None:
        self._worker.signal(TELL)
        self._next = self._after(KILL_SECONDS - TELL_SECONDS, lambda: self.kill("time"))

    def _ask(self) -> None:
        if self._stopped():
            self.stop("cancelled")
        elif self._most_bytes and self._worker.used().peak_bytes > self._most_bytes:
            self.kill("memory")
        else:
            self._next = self._after(ASK_SECONDS, self._ask)

    def _cancel(self, alarm: Alarm | None) -> None:
        if alarm is not None:
            self._watchdog.cancel(alarm)

    def _after(self, seconds: float, act: Callable[[], None]) -> Alarm:
        return self._watchdog.at(time.monotonic() + seconds, act)
