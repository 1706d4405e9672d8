"""Reports the progress of a long operation a few times a second, and lets it be cancelled."""

import time
from collections.abc import Callable

from panorama.services.jobs.progress import Progress

REPORT_INTERVAL_SECONDS = 0.25
"""The interval of progress reports, at which the operation can be cancelled."""

YIELD_AFTER_SECONDS, YIELD_SECONDS = 0.02, 0.001
"""After working this long it pauses briefly, so that other calls can run."""


class ProgressTracker:
    """Counts progress towards a total; both are divided by `unit` before they are reported."""

    def __init__(self, progress: Progress, *, unit: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress = progress
        self._unit = unit
        self._clock = clock
        self._begun = clock()
        self._reported_at = self._rested = 0.0
        self._total = self._done = 0
        self._what = ""

    @property
    def elapsed_seconds(self) -> float:
        """How long it has been running."""
        return self._clock() - self._begun

    def set_total(self, total: int) -> None:
        """Set the total."""
        self._total = total

    def start(self, what: str) -> None:
        """Report the current step."""
        self._what = what
        self._report(at_once=True)

    def advance(self, count: int = 0) -> None:
        """Add to the finished amount."""
        self._done = min(self._done + count, self._total)
        if self._clock() - self._rested > YIELD_AFTER_SECONDS:
            time.sleep(YIELD_SECONDS)
            self._rested = self._clock()
        self._report()

    def check_cancel(self) -> None:
        """Check for cancellation."""
        self._report()

    def _report(self, *, at_once: bool = False) -> None:
        if at_once or self._clock() - self._reported_at >= REPORT_INTERVAL_SECONDS:
            self._reported_at = self._clock()
            self._progress(self._done // self._unit, -(-self._total // self._unit), self._what)
