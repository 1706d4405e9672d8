"""Progress of a long operation: reports, cancellation and checkpoints."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

Progress = Callable[[int, int, str], None]
"""Called with done, total and the current step; an exception that it raises ends the operation."""


class StoppedError(Exception):
    """A long operation must stop before its next step; finished steps are kept."""


def ignore_progress(current: int, total: int, message: str) -> None:
    """Do nothing."""


PROGRESS: ContextVar[Progress] = ContextVar("progress", default=ignore_progress)


def _never_stop() -> bool:
    """Return that the caller is still waiting."""
    return False


SHOULD_STOP: ContextVar[Callable[[], bool]] = ContextVar("left", default=_never_stop)
"""Returns whether the caller of the running call has gone."""


class Checkpoints(Protocol):
    """Stores what a job needs to resume after its process died."""

    def load_checkpoint(self) -> Mapping[str, Any]:
        """Return the last checkpoint, {} at the first start."""
        ...

    def save_checkpoint(self, checkpoint: Mapping[str, Any]) -> None:
        """Replace the checkpoint, in the open transaction if there is one."""
        ...


class _NoCheckpoints:
    """The checkpoints of a call that is not a job: it always starts from the beginning."""

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
    """Report the progress of the call inside the block, and check whether it is cancelled."""
    tokens = PROGRESS.set(progress), SHOULD_STOP.set(left), CHECKPOINTS.set(checkpoints or CHECKPOINTS.get())
    try:
        yield
    finally:
        PROGRESS.reset(tokens[0])
        SHOULD_STOP.reset(tokens[1])
        CHECKPOINTS.reset(tokens[2])


def report_progress(current: int, total: int, message: str) -> None:
    """Report progress to the interface of the running call.

    Raises:
        StoppedError: Its caller has gone, which an interface without progress does not tell.
    """
    if SHOULD_STOP.get()():
        raise StoppedError
    PROGRESS.get()(current, total, message)


def load_checkpoint() -> Mapping[str, Any]:
    """Return the checkpoint of the running job; {} at the first start or outside a job."""
    return CHECKPOINTS.get().load_checkpoint()


def save_checkpoint(checkpoint: Mapping[str, Any]) -> None:
    """Store the checkpoint of the running job; does nothing outside a job."""
    CHECKPOINTS.get().save_checkpoint(checkpoint)


def is_scheduled() -> bool:
    """Return whether a schedule started the running job."""
    job = getattr(CHECKPOINTS.get(), "job", None)
    return job is not None and job.asker.actor == "schedule"


def is_job() -> bool:
    """Return whether the running call is a background job."""
    return CHECKPOINTS.get() is not _NO_CHECKPOINTS
