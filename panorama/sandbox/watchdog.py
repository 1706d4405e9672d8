"""The watchdog: the only place that does things when their time has come, whatever all other threads do."""

import heapq
import logging
import time
from collections.abc import Callable
from threading import Condition, Thread

_log = logging.getLogger(__name__)


class Alarm:
    """Something that is to be done at a moment, unless it is cancelled."""

    def __init__(self, act: Callable[[], None]) -> None:
        self.act: Callable[[], None] | None = act


class Watchdog:
    """One thread for all runs; it is started by the first alarm, and what it does must be quick."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._numbers = 0
        self._thread: Thread | None = None
        self._closed = False

    def at(self, when: float, act: Callable[[], None]) -> Alarm:
        """Do something at a moment of `time.monotonic`; after `close` it is not done."""
        alarm = Alarm(act)
        with self._changed:
            self._numbers += 1
            heapq.heappush(self._alarms, (when, self._numbers, alarm))
            if self._alarms[0][2] is alarm:
                self._changed.notify()
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="panorama-watchdog", daemon=True)
                self._thread.start()
        return alarm

    def cancel(self, alarm: Alarm) -> None:
        """See to it that something is not done; if it is just being done, it is done."""
        alarm.act = None

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread:
            thread.join()

    def _run(self) -> None:
        while (alarm := self._next()) is not None:
            act = alarm.act
            if act is not None:
                try:
                    act()
                except Exception:  # nothing that goes wrong for one run may hold up the others
                    _log.exception("an alarm failed")

    def _next(self) -> Alarm | None:
        with self._changed:
            while not self._closed:
                left = self._alarms[0][0] - time.monotonic() if self._alarms else None
                if left is not None and left <= 0:
                    return heapq.heappop(self._alarms)[2]
                self._changed.wait(left)
        return None
