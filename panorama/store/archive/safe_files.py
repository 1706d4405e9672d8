"""Plain files of a folder that may come from anywhere: links and pipes are not followed, nor folders that are links."""

import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""With what a file is opened that may be something else: links are refused, and nobody waits for a pipe."""

_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class UnreadableError(Exception):
    """A file that is to be read cannot be; the message says why, as the end of a sentence about it."""


@contextmanager
def open_plain_file(path: Path, below: Path | None = None) -> Generator[Callable[[int], bytes]]:
    """Open a plain file for reading; links and pipes are none, nor is what lies behind a link below a folder.

    Raises:
        UnreadableError: It is missing, is none, or cannot be read.
    """
    with _translate_errors():
        folder = below or path.parent
        descriptor = _open_below(folder, path.relative_to(folder).parts)
        file = open(descriptor, "rb", buffering=0)  # noqa: SIM115 (`with file` below closes it)

    def read_(count: int) -> bytes:
        with _translate_errors():
            return file.read(count)

    with file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnreadableError("is no plain file")
        yield read_


def _open_below(folder: Path, parts: Sequence[str]) -> int:
    """Open a file step by step below a folder: a link that is put there meanwhile leads nowhere."""
    here = os.open(folder, _FOLDER_FLAGS)
    try:
        for name in parts[:-1]:
            inner = _open_folder(name, here)
            os.close(here)
            here = inner
        return os.open(parts[-1], os.O_RDONLY | OPEN_FLAGS, dir_fd=here)
    finally:
        os.close(here)


def _open_folder(name: str, parent: int) -> int:
    try:
        return os.open(name, _FOLDER_FLAGS | OPEN_FLAGS, dir_fd=parent)
    except OSError as error:
        if stat.S_ISLNK(os.lstat(name, dir_fd=parent).st_mode):
            raise UnreadableError("lies behind a link") from error
        raise


@contextmanager
def _translate_errors() -> Generator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UnreadableError("is missing") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnreadableError("is a link, which is not followed") from error
        raise UnreadableError(f"cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise UnreadableError("has a name that no file can have") from error
