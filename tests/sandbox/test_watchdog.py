"""The watchdog does what is due, in its order, whatever goes wrong."""

import logging
import threading
import time
from collections.abc import Iterator

import pytest

from panorama.sandbox.worker.watchdog import Watchdog


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    """A watchdog."""
    made = Watchdog()
    yield made
    made.close()


def test_what_is_due_is_done_in_the_order_of_its_time(watchdog: Watchdog):
    done: list[int] = []
    last = threading.Event()
    now = time.monotonic()

    watchdog.call_at(now + 0.03, last.set)
    for number in (3, 1, 2):
        watchdog.call_at(now + number / 1000, lambda number=number: done.append(number))

    assert last.wait(5)
    assert done == [1, 2, 3]


def test_what_was_cancelled_is_not_done(watchdog: Watchdog):
    done: list[int] = []
    last = threading.Event()

    alarm = watchdog.call_at(time.monotonic() + 0.01, lambda: done.append(1))
    watchdog.cancel(alarm)
    watchdog.call_at(time.monotonic() + 0.02, last.set)

    assert last.wait(5)
    assert done == []


def test_what_goes_wrong_holds_up_nothing(watchdog: Watchdog, caplog: pytest.LogCaptureFixture):
    last = threading.Event()

    with caplog.at_level(logging.CRITICAL):
        watchdog.call_at(0, lambda: [][0])
        watchdog.call_at(0, last.set)

        assert last.wait(5)


def test_an_alarm_may_set_another(watchdog: Watchdog):
    last = threading.Event()

    watchdog.call_at(0, lambda: watchdog.call_at(0, last.set) and None)

    assert last.wait(5)


def test_after_closing_nothing_is_done():
    watchdog = Watchdog()
    done: list[int] = []
    watchdog.call_at(time.monotonic() + 100, lambda: done.append(1))

    watchdog.close()
    watchdog.call_at(0, lambda: done.append(2))

    assert done == []
