"""The alarm scheduler: one thread that runs what is due, and notices a changed system clock within seconds.

APScheduler with its memory store wakes the thread at the next due time. That alone is not enough: its clock stops while
the machine sleeps, and it does not notice that the time of day was changed. So the thread also checks every few
seconds, and computes the next due time again.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

from panorama.domain.changes import ItemChange
from panorama.errors import PanoramaError
from panorama.services.reminders.alerts import Notify
from panorama.services.schedules.due import DueWork

POLL_SECONDS = 5.0
"""How often it looks without being called: for a clock that was set, a sleep, and writes of other programs."""

START_SECONDS = 0.5
"""How long it lets the first client be answered before it begins."""

CLOCK_TOLERANCE = timedelta(seconds=2)
"""A clock that lost more than this against the machine's own was set back."""

_log = logging.getLogger(__name__)
ChangesListener = Callable[[Sequence[ItemChange]], None]


class DueWorkRunner:
    """Runs due work at the right times, in its own thread."""

    def __init__(
        self,
        timing: DueWork,
        listen: Callable[[ChangesListener], Callable[[], None]],
        tell: Notify,
        *,
        stays: bool = True,
    ) -> None:
        self._timing = timing
        self._tell = tell
        self._woken = threading.Event()
        self._leaving = threading.Event()
        self._next: datetime | None = None
        self._failed = False
        self._open = ExitStack()
        self._open.enter_context(timing.ringing.mark_running(stays=stays))
        self._open.callback(listen(self._on_changes))
        self._open.callback(timing.subscribe(self._woken.set))
        self._thread = threading.Thread(target=self._run, name="ticker", daemon=True)
        self._thread.start()

    def is_due_within(self, span: timedelta) -> bool:
        """Return whether something is due within a duration."""
        return self._next is not None and self._next - self._timing.now() <= span

    def close(self) -> None:
        """Stop after the current round."""
        self._open.close()
        self._leaving.set()
        self._woken.set()
        self._thread.join()

    def _on_changes(self, touches: Sequence[ItemChange]) -> None:
        if any(touch.kind == "reminder" for touch in touches):
            self._woken.set()

    def _run(self) -> None:
        self._leaving.wait(START_SECONDS)
        clock = _start_timer(self._woken.set)
        try:
            was_set, seen, at = True, self._timing.now(), time.monotonic()
            while not self._leaving.is_set():
                self._woken.clear()
                if self._run_due(was_set=was_set):
                    clock.schedule_after(self._next and self._next - self._timing.now())
                    was_set = False
                self._woken.wait(POLL_SECONDS)
                passed = timedelta(seconds=time.monotonic() - at)
                was_set = was_set or self._timing.now() - seen < passed - CLOCK_TOLERANCE
                seen, at = self._timing.now(), time.monotonic()
        finally:
            clock.close()

    def _run_due(self, *, was_set: bool) -> bool:
        """Run what is due; return whether all of it succeeded."""
        try:
            self._next = self._timing.run_due(self._tell, was_set=was_set)
        except PanoramaError as error:  # such as a locked database; the next look tries again
            if not self._failed:
                _log.warning("due work is delayed: %s", error.message)
            self._failed = True
        except Exception:  # a bug of ours: it is logged, and the next check tries again
            if not self._failed:
                _log.exception("due work failed")
            self._failed = True
        else:
            self._failed = False
        return not self._failed


class _Timer:
    """APScheduler as a timer for one time."""

    def __init__(self, scheduler: Any, tick: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self._tick = tick

    def schedule_after(self, ahead: timedelta | None) -> None:
        """Set the timer to a duration from now, replacing the previous time; None for never."""
        self._scheduler.remove_all_jobs()
        if ahead is not None:
            at = datetime.now(UTC) + max(ahead, timedelta())
            self._scheduler.add_job(self._tick, "date", run_date=at, misfire_grace_time=None)

    def close(self) -> None:
        """Stop the timer."""
        self._scheduler.pause()
        self._scheduler.get_jobs()  # waits for a tick that has begun: it would be missed, which is said with a trace
        self._scheduler.shutdown()


def _start_timer(tick: Callable[[], None]) -> _Timer:
    """Start a timer, which needs no further threads."""
    background: Any = import_module("apscheduler.schedulers.background")  # 40 ms, and not before somebody waits
    executors: Any = import_module("apscheduler.executors.debug")
    logging.getLogger("apscheduler").setLevel(logging.ERROR)  # it tells of every tick
    scheduler = background.BackgroundScheduler(executors={"default": executors.DebugExecutor()}, timezone=UTC)
    scheduler.start()
    return _Timer(scheduler, tick)
