"""The time limit of a run and its source calls, paused while the user is asked."""

import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from panorama.ports import RunTimer
from panorama.sources.source import Deadline

END_SECONDS = 1.0
"""The runner ends a run; calls of sources have a deadline of their own only in case it does not."""


class RunTime:
    """The time limit of a run, and the timers of its process and of those of nested scripts."""

    def __init__(self) -> None:
        self._ends_at = 0.0
        self._timers: list[RunTimer] = []

    def start(self, seconds: float) -> None:
        """Start the clock."""
        self._ends_at = time.monotonic() + seconds

    def add(self, timer: RunTimer) -> None:
        """Add the timer of a process that starts."""
        self._timers.append(timer)

    @contextmanager
    def discard_new_timers(self) -> Generator[None]:
        """Discard the timers that are added inside the block, at its end."""
        outer = tuple(self._timers)
        try:
            yield
        finally:
            self._timers[:] = outer

    @property
    def is_ended(self) -> bool:
        """Whether one of the processes was stopped."""
        return any(timer.is_ended for timer in self._timers)

    @property
    def seconds_left(self) -> float:
        """The seconds until the run ends, 0 if it is over."""
        return max(0.0, self._ends_at - time.monotonic())

    @property
    def deadline(self) -> Deadline:
        """The deadline of a source call that starts now."""
        timers = tuple(self._timers)
        return Deadline(self._ends_at + END_SECONDS, lambda: any(timer.is_ended for timer in timers))

    @contextmanager
    def pause(self) -> Generator[None]:
        """Stop the clock inside the block. One thread pauses at a time."""
        paused_at = time.monotonic()
        with ExitStack() as pauses:
            for timer in self._timers:
                pauses.enter_context(timer.pause())
            try:
                yield
            finally:
                self._ends_at += time.monotonic() - paused_at
