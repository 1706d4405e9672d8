"""Plain files of a folder that may come from anywhere: links and pipes are not followed, nor folders that are links."""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""With what a file is opened that may be something else: links are refused, and nobody waits for a pipe."""


class UnreadableError(Exception):
    """A file that is to be read cannot be; the message says why, as the end of a sentence about it."""


@contextmanager
def reading(path: Path, below: Path | None = None) -> Generator[Callable[[int], bytes]]:
    """Open a plain file for reading; links and pipes are none, nor is what lies behind a link below a folder.

    Raises:
        UnreadableError: It is missing, is none, or cannot be read.
    """
    with _unreadable():
        if below and any(each.is_symlink() for each in path.parents if each.is_relative_to(below) and each != below):
            raise UnreadableError("lies behind a link")
        file = open(os.open(path, os.O_RDONLY | PLAIN), "rb", buffering=0)  # noqa: SIM115 (`with file` below closes it)

    def read_(count: int) -> bytes:
        with _unreadable():
            return file.read(count)

    with file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnreadableError("is no plain file")
        yield read_


@contextmanager
def _unreadable() -> Generator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UnreadableError("is missing") from error
    except OSError as error:
        raise UnreadableError(f"cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise UnreadableError("has a name that no file can have") from error
