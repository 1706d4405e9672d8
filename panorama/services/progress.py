"""Progress: how a long operation tells the door that called it how far it is."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[int, int, str], None]
"""Is told how far a long operation is: done, total, what it is at; what it raises ends the operation."""


def silent(current: int, total: int, message: str) -> None:
    """Tell nobody."""


PROGRESS: ContextVar[Progress] = ContextVar("progress", default=silent)


def _stays() -> bool:
    """Tell that somebody waits."""
    return False


LEFT: ContextVar[Callable[[], bool]] = ContextVar("left", default=_stays)
"""Tells whether nobody waits any more for the call that runs."""


@contextmanager
def progressing(progress: Progress, left: Callable[[], bool] = _stays) -> Generator[None]:
    """Tell a door of the progress of the call that it makes inside, and ask it whether somebody still waits."""
    tokens = PROGRESS.set(progress), LEFT.set(left)
    try:
        yield
    finally:
        PROGRESS.reset(tokens[0])
        LEFT.reset(tokens[1])


def told_to_the_door(current: int, total: int, message: str) -> None:
    """Tell the door in whose call this runs."""
    PROGRESS.get()(current, total, message)
