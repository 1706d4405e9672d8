"""Progress: how a long operation tells how far it is, hears that it should stop, and keeps where it was."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

Progress = Callable[[int, int, str], None]
"""Is told how far a long operation is: done, total, what it is at; what it raises ends the operation."""


class StoppedError(Exception):
    """A long operation is to end before its next step; what it finished stays."""


def silent(current: int, total: int, message: str) -> None:
    """Tell nobody."""


PROGRESS: ContextVar[Progress] = ContextVar("progress", default=silent)


def _stays() -> bool:
    """Tell that somebody waits."""
    return False


LEFT: ContextVar[Callable[[], bool]] = ContextVar("left", default=_stays)
"""Tells whether nobody waits any more for the call that runs."""


class Checkpoints(Protocol):
    """Where a job keeps what it needs to go on when its process died."""

    def kept(self) -> Mapping[str, Any]:
        """Return what was kept last, {} at the first beginning."""
        ...

    def keep(self, checkpoint: Mapping[str, Any]) -> None:
        """Keep something instead; in the transaction that is open, if there is one."""
        ...


class _Nowhere:
    """What a call has that is no job: it begins anew each time."""

    def kept(self) -> Mapping[str, Any]:
        return {}

    def keep(self, checkpoint: Mapping[str, Any]) -> None:
        del checkpoint


_NOWHERE = _Nowhere()
CHECKPOINTS: ContextVar[Checkpoints] = ContextVar("checkpoints", default=_NOWHERE)


@contextmanager
def progressing(
    progress: Progress, left: Callable[[], bool] = _stays, checkpoints: Checkpoints | None = None
) -> Generator[None]:
    """Tell somebody of the progress of the call that is made inside, and ask whether it is still wanted."""
    tokens = PROGRESS.set(progress), LEFT.set(left), CHECKPOINTS.set(checkpoints or CHECKPOINTS.get())
    try:
        yield
    finally:
        PROGRESS.reset(tokens[0])
        LEFT.reset(tokens[1])
        CHECKPOINTS.reset(tokens[2])


def told_to_the_door(current: int, total: int, message: str) -> None:
    """Tell the door in whose call this runs."""
    PROGRESS.get()(current, total, message)


def kept() -> Mapping[str, Any]:
    """Return what the job that runs kept when it ran before, {} if it begins or is none."""
    return CHECKPOINTS.get().kept()


def keep(checkpoint: Mapping[str, Any]) -> None:
    """Keep what the job that runs needs to go on; does nothing if it is none."""
    CHECKPOINTS.get().keep(checkpoint)


def asked_by_a_schedule() -> bool:
    """Tell whether what runs is a job that nobody asked for but the clock."""
    job = getattr(CHECKPOINTS.get(), "job", None)
    return job is not None and job.asker.actor == "schedule"


def is_job() -> bool:
    """Tell whether what runs is a job, for which nobody waits."""
    return CHECKPOINTS.get() is not _NOWHERE
