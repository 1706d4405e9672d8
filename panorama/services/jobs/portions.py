"""Changes many items in several short transactions, so that other writes never wait long."""

import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TypeVar

from panorama.services.jobs.pace import ProgressTracker
from panorama.services.jobs.progress import report_progress
from panorama.store.backend import Session

T = TypeVar("T")

LARGE_UNIT = 50
"""Items changed in one transaction: each takes about 3 ms, during which other writes wait."""

LONG_UNIT = 2_000
"""So many are changed while a client waits, some six seconds; more become a job."""

PORTION_SECONDS = 0.06
"""A transaction takes no further item after this time."""


def apply_in_portions(
    open_transaction: Callable[[], AbstractContextManager[Session]],
    entries: Iterable[T],
    act: Callable[[Session, T], None],
    message: str,
) -> None:
    """Apply a function to each entry, in transactions that share the unit of the call.

    Args:
        message: The current step, for progress reports.
    """
    left, pace = deque(entries), ProgressTracker(report_progress)
    pace.set_total(len(left))
    pace.start(message)
    while left:
        before = len(left)
        with open_transaction() as session:
            end = time.monotonic() + PORTION_SECONDS
            act(session, left.popleft())
            while left and time.monotonic() < end:
                act(session, left.popleft())
        pace.advance(before - len(left))
