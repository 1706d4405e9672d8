"""Progress: how a long operation tells how far it is, hears that it should stop, and keeps where it was."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

Progress = Callable[[int, int, str], None]
"""Is told how far a long operation is: done, total, what it is at; what it raises ends the operation."""


class StoppedError(Exception):
    """A long operation is to end before its next step; what it finished stays."""


def ignore_progress(current: int, total: int, message: str) -> None:
    """Do nothing."""


PROGRESS: ContextVar[Progress] = ContextVar("progress", default=ignore_progress)


def _never_stop() -> bool:
    """Tell that somebody waits."""
    return False


SHOULD_STOP: ContextVar[Callable[[], bool]] = ContextVar("left", default=_never_stop)
"""Tells whether nobody waits any more for the call that runs."""


class Checkpoints(Protocol):
    """Where a job keeps what it needs to go on when its process died."""

    def load_checkpoint(self) -> Mapping[str, Any]:
        """Return what was kept last, {} at the first beginning."""
        ...

    def save_checkpoint(self, checkpoint: Mapping[str, Any]) -> None:
        """Keep something instead; in the transaction that is open, if there is one."""
        ...


class _NoCheckpoints:
    """What a call has that is no job: it begins anew each time."""

    def load_checkpoint(self) -> Mapping[str, Any]:
        return {}

    def save_checkpoint(self, checkpoint: Mapping[str, Any]) -> None:
        del checkpoint


_NO_CHECKPOINTS = _NoCheckpoints()
CHECKPOINTS: ContextVar[Checkpoints] = ContextVar("checkpoints", default=_NO_CHECKPOINTS)


@contextmanager
def report_progress_to(
    progress: Progress, left: Callable[[], bool] = _never_stop, checkpoints: Checkpoints | None = None
) -> Generator[None]:
    """Tell somebody of the progress of the call that is made inside, and ask whether it is still wanted."""
    tokens = PROGRESS.set(progress), SHOULD_STOP.set(left), CHECKPOINTS.set(checkpoints or CHECKPOINTS.get())
    try:
        yield
    finally:
        PROGRESS.reset(tokens[0])
        SHOULD_STOP.reset(tokens[1])
        CHECKPOINTS.reset(tokens[2])


def report_progress(current: int, total: int, message: str) -> None:
    """Tell the door in whose call this runs."""
    PROGRESS.get()(current, total, message)


def load_checkpoint() -> Mapping[str, Any]:
    """Return what the job that runs kept when it ran before, {} if it begins or is none."""
    return CHECKPOINTS.get().load_checkpoint()


def save_checkpoint(checkpoint: Mapping[str, Any]) -> None:
    """Keep what the job that runs needs to go on; does nothing if it is none."""
    CHECKPOINTS.get().save_checkpoint(checkpoint)


def is_scheduled() -> bool:
    """Return whether what runs is a job that nobody asked for but the clock."""
    job = getattr(CHECKPOINTS.get(), "job", None)
    return job is not None and job.asker.actor == "schedule"


def is_job() -> bool:
    """Return whether what runs is a job, for which nobody waits."""
    return CHECKPOINTS.get() is not _NO_CHECKPOINTS
