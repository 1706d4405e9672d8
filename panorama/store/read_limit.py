"""Limits how long the reads of a call may take."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from panorama.errors import InvalidInputError
from panorama.store.backend import READ_SECONDS

_limit: ContextVar[Callable[[], bool] | None] = ContextVar("read_limit", default=None)
"""Returns whether the reads of this context should stop; a scratch copy shares the limit of the real store."""


@contextmanager
def limit_reads(should_stop: Callable[[], bool], seconds: float) -> Generator[None]:
    """Stop statements inside after some seconds, or as soon as `should_stop` returns true; outer limits stay."""
    end, outer = time.monotonic() + seconds, _limit.get()
    token = _limit.set(lambda: time.monotonic() > end or should_stop() or bool(outer and outer()))
    try:
        yield
    finally:
        _limit.reset(token)


def current_limit() -> Callable[[], bool] | None:
    """Return the function that tells whether the statements of this context should stop; None without a limit."""
    return _limit.get()


def is_beyond_limit() -> bool:
    """Return whether the statements of this context should stop."""
    limit = _limit.get()
    return limit is not None and limit()


def check_limit() -> None:
    """Raise an error if the reads of this context should stop, for work between two statements.

    Raises:
        InvalidInputError: The time is up, or the caller stopped.
    """
    if is_beyond_limit():
        raise stopped_error()


def stopped_error() -> InvalidInputError:
    """Return the error for a statement that was stopped by its limit."""
    return InvalidInputError(
        f"Reading took longer than {READ_SECONDS:.0f} s and was stopped.",
        hint="Ask for less at a time: fewer conditions, fewer fields, one project or a shorter period.",
    )
