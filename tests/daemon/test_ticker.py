"""The ticker: it comes at the moment, and notices by itself that the clock was set, or that the machine slept."""

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.daemon import alarm_scheduler
from panorama.daemon.alarm_scheduler import POLL_SECONDS, DueWorkRunner
from panorama.domain.items.reminders import ReminderEvent
from panorama.errors import UnavailableError
from tests.conftest import StandingClock
from tests.doors.conftest import wait
from tests.queues import StandInQueue

pytestmark = pytest.mark.slow  # they wait for the clock

Call = Callable[..., Answer]


@pytest.fixture
def rang() -> list[ReminderEvent]:
    """What was told."""
    return []


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks often, and begins at once."""
    monkeypatch.setattr(alarm_scheduler, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(alarm_scheduler, "START_SECONDS", 0.0)


def test_a_sleep_or_a_clock_that_was_set_is_noticed_within_ten_seconds() -> None:
    assert POLL_SECONDS <= 10


def test_a_clock_that_leaps_forward_is_noticed(
    app: App, call: Call, clock: StandingClock, rang: list[ReminderEvent], quick: None
) -> None:
    call("create_reminder", title="Tea", at="2026-05-20T15:00")
    ticking = DueWorkRunner(app.timing, app.context.database.subscribe, rang.append)
    try:
        wait(lambda: ticking.is_due_within(timedelta(hours=5)))
        assert not ticking.is_due_within(timedelta(hours=4))

        clock.advance(hours=6)
        wait(lambda: rang)
    finally:
        ticking.close()

    assert [(alert.reminder.title, alert.late) for alert in rang] == [("Tea", timedelta(hours=1))]


def test_while_it_ticks_a_reminder_that_is_set_will_ring(app: App, call: Call, quick: None) -> None:
    ticking = DueWorkRunner(app.timing, app.context.database.subscribe, lambda _: None)
    try:
        hint = call("create_reminder", title="Tea", at="2026-05-20T15:00").metadata.get("hint", "")
    finally:
        ticking.close()

    assert hint == ""
    assert "daemon" in call("create_reminder", title="Jam", at="2026-05-20T15:00").metadata["hint"]


def test_a_clock_that_is_set_back_makes_it_reckon_anew(
    app: App, clock: StandingClock, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def round_(tell: object, *, was_set: bool) -> datetime | None:
        seen.append(was_set)
        return None

    monkeypatch.setattr(app.timing, "run_due", round_)
    ticking = DueWorkRunner(app.timing, app.context.database.subscribe, lambda _: None)
    try:
        wait(lambda: False in seen)
        clock.advance(hours=-3)
        wait(lambda: seen.count(True) > 1)
    finally:
        ticking.close()

    assert seen[0]


def test_a_reminder_that_is_set_now_is_known_at_once(
    app: App, call: Call, clock: StandingClock, rang: list[ReminderEvent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alarm_scheduler, "START_SECONDS", 0.0)
    monkeypatch.setattr(alarm_scheduler, "POLL_SECONDS", 60.0)
    ticking = DueWorkRunner(app.timing, app.context.database.subscribe, rang.append)
    try:
        call("create_reminder", title="Tea", at="2026-05-20T10:00")
        wait(lambda: rang)
    finally:
        ticking.close()


def test_the_clock_ticks_at_the_moment_not_at_the_next_look(
    app: App, rang: list[ReminderEvent], monkeypatch: pytest.MonkeyPatch, call: Call, clock: StandingClock
) -> None:
    monkeypatch.setattr(alarm_scheduler, "START_SECONDS", 0.0)
    monkeypatch.setattr(alarm_scheduler, "POLL_SECONDS", 60.0)
    begun, first = time.monotonic(), clock()
    monkeypatch.setattr(type(clock), "__call__", lambda _: first + timedelta(seconds=time.monotonic() - begun))
    call("create_reminder", title="Tea", at=(first + timedelta(seconds=1)).isoformat())
    ticking = DueWorkRunner(app.timing, app.context.database.subscribe, rang.append)
    try:
        wait(lambda: rang)
    finally:
        ticking.close()

    assert rang[0].late < timedelta(seconds=30)


def test_what_fails_is_tried_again_and_holds_up_no_reminder(
    app: App, call: Call, clock: StandingClock, rang: list[ReminderEvent], queue: StandInQueue, quick: None
) -> None:
    call("add_schedule", kind="backup", every="1h")
    call("create_reminder", title="Tea", at="2026-05-20T11:00")
    queue.fails = UnavailableError("The disk is full.", hint="Free some.")
    clock.advance(hours=1)
    ticking = DueWorkRunner(app.timing, app.context.database.subscribe, rang.append)
    try:
        wait(lambda: rang)
        queue.fails = None
        wait(lambda: queue.submitted)
    finally:
        ticking.close()


def test_nothing_of_the_ticker_is_imported_before_it_runs() -> None:
    import subprocess
    import sys

    code = "import sys, panorama.daemon.serve; print([name for name in sys.modules if name.startswith('apscheduler')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_no_thread_is_left(app: App, quick: None) -> None:
    before = threading.active_count()
    ticking = DueWorkRunner(app.timing, app.context.database.subscribe, lambda _: None)
    wait(lambda: threading.active_count() >= before + 2)

    ticking.close()

    wait(lambda: threading.active_count() == before)
