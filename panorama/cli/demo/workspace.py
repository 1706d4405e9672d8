"""Where the demo lives: a folder of its own that is gone afterwards, however it ends."""

import shlex
import signal
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from panorama.errors import InvalidInputError

WORKSPACE, HOME = "workspace", "home"
_NEW_FOLDER_HINT = "Give --keep a folder that is new or empty."


@contextmanager
def open_workspace(keep: Path | None) -> Generator[Path]:
    """Give a folder for the workspace and the data; it is removed at the end unless it is to be kept.

    Raises:
        InvalidInputError: The folder to keep is not empty, or cannot be made.
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
    """Let a request to end (SIGTERM, a closed terminal) interrupt as Ctrl-C does, so that all is cleaned up."""

    def interrupt(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    # A shell starts its background jobs deaf to SIGINT.
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
    """Return what is left of a room, and how to look around in it."""
    if kept:
        home = shlex.quote(str(folder / HOME))
        return {
            "Notes": str(folder / WORKSPACE),
            "Data": str(folder / HOME),
            "Try": f"PANORAMA_HOME={home} panorama tasks",
        }
    return {"Not removed" if left else "Removed": f"{folder}; the server has ended"}
