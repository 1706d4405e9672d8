"""The watchdog: runs timed callbacks in its own thread."""

import heapq
import logging
import time
from collections.abc import Callable
from threading import Condition, Thread

_log = logging.getLogger(__name__)


class TimerHandle:
    """Something that is to be done at a moment, unless it is cancelled."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback


class Watchdog:
    """One thread for all runs, started by the first alarm; callbacks must be quick."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._alarms: list[tuple[float, int, TimerHandle]] = []
        self._numbers = 0
        self._thread: Thread | None = None
        self._closed = False

    def call_at(self, when: float, callback: Callable[[], None]) -> TimerHandle:
        """Do something at a moment of `time.monotonic`; after `close` it is not done."""
        alarm = TimerHandle(callback)
        with self._changed:
            self._numbers += 1
            heapq.heappush(self._alarms, (when, self._numbers, alarm))
            if self._alarms[0][2] is alarm:
                self._changed.notify()
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="panorama-watchdog", daemon=True)
                self._thread.start()
        return alarm

    def cancel(self, alarm: TimerHandle) -> None:
        """See to it that something is not done; if it is just being done, it is done."""
        alarm.callback = None

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread:
            thread.join()

    def _run(self) -> None:
        while (alarm := self._wait_for_next()) is not None:
            callback = alarm.callback
            if callback is not None:
                try:
                    callback()
                except Exception:  # a failure in one run must not stop the alarms of others
                    _log.exception("an alarm failed")

    def _wait_for_next(self) -> TimerHandle | None:
        with self._changed:
            while not self._closed:
                remaining = self._alarms[0][0] - time.monotonic() if self._alarms else None
                if remaining is not None and remaining <= 0:
                    return heapq.heappop(self._alarms)[2]
                self._changed.wait(remaining)
        return None
