"""Callbacks of long index work: cancellation and progress."""

from collections.abc import Callable

ShouldStop = Callable[[], bool]
OnEmbedded = Callable[[int], None]
"""Receives how many texts were embedded since the last time."""

StepCallback = Callable[[], None]


def never_stop() -> bool:
    """Go on."""
    return False


def ignore_count(_: int) -> None:
    """Do nothing with a number of embedded texts."""


def ignore_step() -> None:
    """Do nothing after a step."""
