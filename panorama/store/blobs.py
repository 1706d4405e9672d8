"""Contents of files, kept by their digest beside the database: the only module that knows where they lie.

A content is never changed and never written twice. It is on the disk before a row names it, so a crash leaves at most
a content that nothing names, which is harmless.
"""

import errno
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path

from panorama.errors import UnavailableError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Blobs:
    """Contents by their sha256, as `ab/cdef…` in a folder that only its owner can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._aside: ContextVar[Path | None] = ContextVar("blobs", default=None)

    @contextmanager
    def aside(self, folder: Path) -> Generator[None]:
        """Let contents that are put inside go to another folder, where they are looked for first."""
        token = self._aside.set(folder)
        try:
            yield
        finally:
            self._aside.reset(token)

    def put(self, content: bytes) -> str:
        """Keep a content and return its digest; once this returns it survives a power cut.

        One that is there already is left alone, unless it is damaged: then it is written again.

        Raises:
            UnavailableError: The disk is full, or the folder cannot be written.
        """
        name = sha256(content).hexdigest()
        with _translated():
            if not self._holds(name, content):
                _write(_place(self._aside.get() or self._folder, name), content)
        return name

    def get(self, name: str) -> bytes:
        """Return the content with a digest.

        Raises:
            UnavailableError: It is missing, damaged, or cannot be read.
        """
        with _translated(name):
            content = self.path(name).read_bytes()
        if sha256(content).hexdigest() != name:
            raise UnavailableError(
                f"The content of the file is damaged: files/{name[:2]}/{name[2:]} in the data directory is not what "
                "was written.",
                hint="Write the file again, or put that one back from a copy of the data directory.",
            )
        return content

    def part(self, name: str, start: int, size: int) -> bytes:
        """Return some bytes of a content, unchecked: whoever joins them compares the digest.

        Raises:
            UnavailableError: It is missing, or cannot be read.
        """
        with _translated(name), self.path(name).open("rb") as file:
            file.seek(start)
            return file.read(size)

    def has(self, name: str) -> bool:
        """Tell whether a content is there, damaged or not."""
        return self.path(name).is_file()

    def path(self, name: str) -> Path:
        """Return where a content lies, or would lie."""
        other = self._aside.get()
        there = [_place(folder, name) for folder in (other, self._folder) if folder]
        return next((path for path in there if path.is_file()), there[-1])

    def _holds(self, name: str, content: bytes) -> bool:
        return self.has(name) and self.path(name).read_bytes() == content


def _place(folder: Path, name: str) -> Path:
    return folder / name[:2] / name[2:]


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: beside its place first, then in its place (mode 0600 by mkstemp)."""
    _make(path.parent.parent)
    _make(path.parent)
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
    _sync(path.parent)


def _make(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sync(folder.parent)


def _sync(folder: Path) -> None:
    """Let the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translated(name: str = "") -> Generator[None]:
    """Say what is wrong with the disk in the words of its owner; `name` is the content that is read."""
    try:
        yield
    except FileNotFoundError as error:
        if not name:
            raise _unwritable() from error
        raise UnavailableError(
            f"The content of the file is missing: there is no files/{name[:2]}/{name[2:]} in the data directory.",
            hint="Write the file again, or put that one back from a copy of the data directory.",
        ) from error
    except OSError as error:
        if error.errno in _FULL:
            raise UnavailableError(
                "The disk is full; nothing was changed.", hint="Free some space, then send the same call again."
            ) from error
        raise (_unreadable() if name else _unwritable()) from error


def _unwritable() -> UnavailableError:
    return UnavailableError(
        "The folder of files cannot be written; nothing was changed.",
        hint="Give this user the right to write the folder `files` of the data directory.",
    )


def _unreadable() -> UnavailableError:
    return UnavailableError(
        "The content of the file cannot be read.",
        hint="Give this user the right to read the folder `files` of the data directory.",
    )
