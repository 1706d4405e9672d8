"""Progress: how a long operation tells the door that called it how far it is."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[int, int, str], None]
"""Is told how far a long operation is: done, total, what it is at; what it raises ends the operation."""


def _silent(current: int, total: int, message: str) -> None:
    """Tell nobody."""


PROGRESS: ContextVar[Progress] = ContextVar("progress", default=_silent)


@contextmanager
def progressing(progress: Progress) -> Generator[None]:
    """Tell a door of the progress of the call that it makes inside."""
    token = PROGRESS.set(progress)
    try:
        yield
    finally:
        PROGRESS.reset(token)


def told_to_the_door(current: int, total: int, message: str) -> None:
    """Tell the door in whose call this runs."""
    PROGRESS.get()(current, total, message)
