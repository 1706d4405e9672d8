"""Changes many items in several short transactions, so that other writes never wait long."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
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

LARGE_CHARS = 8 << 20
"""Characters of the items changed in one transaction: writing a megabyte takes some 10 ms."""

MAX_BATCH, MAX_BATCH_CHARS = 32, 1 << 20
"""The maximum number of items, and characters of more than one, that are written by the same statements."""


def is_large_unit(count: int, chars: int) -> bool:
    """Return whether so many items, with texts of so many characters together, are too large for one transaction."""
    return count > LARGE_UNIT or (count > 1 and chars > LARGE_CHARS)


def apply_in_portions(
    open_transaction: Callable[[], AbstractContextManager[Session]],
    entries: Iterable[T],
    act: Callable[[Session, Sequence[T]], None],
    message: str,
    measure_chars: Callable[[T], int] = lambda _: 0,
) -> None:
    """Apply a function to batches of the entries, in transactions that share the unit of the call.

    Args:
        message: The current step, for progress reports.
        measure_chars: Returns how many characters of text an entry has.
    """
    left, pace, size = deque(entries), ProgressTracker(report_progress), BatchSize()
    pace.set_total(len(left))
    pace.start(message)
    while left:
        before, end = len(left), time.monotonic() + PORTION_SECONDS
        with open_transaction() as session:
            while True:
                with size.measure() as count:
                    act(session, take_batch(left, count, measure_chars))
                if not left or time.monotonic() >= end:
                    break
        pace.advance(before - len(left))


def take_batch(left: deque[T], count: int, measure_chars: Callable[[T], int]) -> list[T]:
    """Remove the first entries, up to a number, and up to some characters if they are more than one."""
    batch = [left.popleft()]
    chars = measure_chars(batch[0])
    while left and len(batch) < count and (chars := chars + measure_chars(left[0])) <= MAX_BATCH_CHARS:
        batch.append(left.popleft())
    return batch


class BatchSize:
    """How many items are written by the same statements: the next batch depends on how long the last one took."""

    def __init__(self) -> None:
        self._count = 1

    @contextmanager
    def measure(self) -> Generator[int]:
        """Give the size of the next batch, which is written inside the block."""
        begun = time.monotonic()
        yield self._count
        if time.monotonic() - begun < PORTION_SECONDS / 4:
            self._count = min(MAX_BATCH, self._count * 2)
        else:
            self._count = max(1, self._count // 2)
