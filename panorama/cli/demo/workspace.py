"""The demo's workspace: a temporary folder that is deleted at the end."""

import shlex
import signal
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from panorama.errors import InvalidInputError

WORKSPACE, HOME = "workspace", "home"
_NEW_FOLDER_HINT = "Give a new or empty folder to --keep."


@contextmanager
def open_workspace(keep: Path | None) -> Generator[Path]:
    """Yield a folder for the workspace and the data; it is deleted at the end unless it is kept.

    Raises:
        InvalidInputError: The folder to keep is not empty, or cannot be created.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="panorama-demo-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)
        return
    folder = keep.expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_used = any(folder.iterdir())
    except OSError as error:
        raise InvalidInputError(f"{folder} cannot be used: {error.strerror}.", hint=_NEW_FOLDER_HINT) from error
    if is_used:
        raise InvalidInputError(f"{folder} is not empty.", hint=_NEW_FOLDER_HINT)
    yield folder


@contextmanager
def interrupt_on_signals() -> Generator[None]:
    """Convert SIGTERM and SIGHUP to an interrupt like Ctrl-C, so that everything is cleaned up."""

    def interrupt(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    # A shell starts background jobs with SIGINT ignored.
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler)}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def describe_leftovers(folder: Path, *, left: bool, kept: bool) -> Mapping[str, str]:
    """Describe what is left of a workspace, and how to explore it."""
    if kept:
        home = shlex.quote(str(folder / HOME))
        return {
            "Notes": str(folder / WORKSPACE),
            "Data": str(folder / HOME),
            "Try": f"PANORAMA_HOME={home} panorama tasks",
        }
    return {"Not removed" if left else "Removed": f"{folder}; the server has ended"}
