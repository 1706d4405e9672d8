"""Opens regular files in a folder from an untrusted source: symbolic links and pipes are rejected."""

import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags to open an untrusted path: links are rejected, and opening a pipe does not block."""

_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class UnreadableError(Exception):
    """A file cannot be read; the message is the predicate of a sentence about it."""


@contextmanager
def open_plain_file(path: Path, below: Path | None = None) -> Generator[Callable[[int], bytes]]:
    """Open a regular file for reading; rejects links, pipes, and paths through links below the folder.

    Raises:
        UnreadableError: It is missing, not a regular file, or unreadable.
    """
    with _translate_errors():
        folder = below or path.parent
        descriptor = _open_below(folder, path.relative_to(folder).parts)
        try:
            file = open(descriptor, "rb", buffering=0)  # noqa: SIM115 (`with file` below closes it)
        except OSError:  # a folder
            os.close(descriptor)
            raise

    def read_(count: int) -> bytes:
        with _translate_errors():
            return file.read(count)

    with file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnreadableError("is not a regular file")
        yield read_


def _open_below(folder: Path, parts: Sequence[str]) -> int:
    """Open a file one path component at a time, so that a link created meanwhile is not followed."""
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
        raise UnreadableError("has an invalid file name") from error
