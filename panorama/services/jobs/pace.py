"""Pace: how far a long operation is, told a few times a second; and where it can be stopped."""

import time
from collections.abc import Callable

from panorama.services.jobs.progress import Progress

REPORT_INTERVAL_SECONDS = 0.25
"""How often progress is told at most; whoever is told may stop the operation then."""

YIELD_AFTER_SECONDS, YIELD_SECONDS = 0.02, 0.001
"""After so long a turn it rests a little, so that other calls have theirs."""


class ProgressTracker:
    """Counts what is done of a total; `unit` is by how much both are divided before they are told."""

    def __init__(self, progress: Progress, *, unit: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress = progress
        self._unit = unit
        self._clock = clock
        self._begun = clock()
        self._told = self._rested = 0.0
        self._total = self._done = 0
        self._what = ""

    @property
    def elapsed_seconds(self) -> float:
        """How long it has been running."""
        return self._clock() - self._begun

    def set_total(self, total: int) -> None:
        """Say how much there is to do in all."""
        self._total = total

    def start(self, what: str) -> None:
        """Say what it is at."""
        self._what = what
        self._report(at_once=True)

    def advance(self, count: int = 0) -> None:
        """Count what is done."""
        self._done = min(self._done + count, self._total)
        if self._clock() - self._rested > YIELD_AFTER_SECONDS:
            time.sleep(YIELD_SECONDS)
            self._rested = self._clock()
        self._report()

    def check_cancel(self) -> None:
        """Give whoever waits a chance to stop it."""
        self._report()

    def _report(self, *, at_once: bool = False) -> None:
        if at_once or self._clock() - self._told >= REPORT_INTERVAL_SECONDS:
            self._told = self._clock()
            self._progress(self._done // self._unit, -(-self._total // self._unit), self._what)
