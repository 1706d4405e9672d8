"""Stores the contents of files by their digest, beside the database.

A content is never changed or written twice. It is on the disk before a row names it, so a crash leaves at most an
unreferenced content, which is harmless.
"""

import errno
import os
import re
import tempfile
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path

from panorama.errors import UnavailableError

DIGEST_CHARS = 64
INVALID_NAME = "none"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Blobs:
    """Contents by sha256, as `ab/cdef…` in a folder that only its owner can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._aside: ContextVar[Path | None] = ContextVar("blobs", default=None)

    @contextmanager
    def use_scratch(self, folder: Path) -> Generator[None]:
        """Store new contents in another folder, which is also searched first."""
        token = self._aside.set(folder)
        try:
            yield
        finally:
            self._aside.reset(token)

    def put(self, content: bytes) -> str:
        """Store a content durably and return its digest.

        An existing content is only rewritten if it is damaged. Its timestamp is updated, so that it is not deleted
        before a row names it.

        Raises:
            UnavailableError: The disk is full, or the folder cannot be written.
        """
        name = sha256(content).hexdigest()
        with _translate_errors():
            if not self._refresh(name, content):
                _write(_blob_path(self._aside.get() or self._folder, name), content)
        return name

    def get(self, name: str) -> bytes:
        """Return the content with a digest.

        Raises:
            UnavailableError: It is missing, damaged, or cannot be read.
        """
        with _translate_errors(name):
            content = self.path(name).read_bytes()
        if sha256(content).hexdigest() != name:
            raise UnavailableError(
                f"The content of the file is damaged: files/{name[:2]}/{name[2:]} in the data directory is not what "
                "was written.",
                hint="Write the file again, or restore it from a copy of the data directory.",
            )
        return content

    def read_range(self, name: str, start: int, size: int) -> bytes:
        """Return a range of a content without verifying it; the caller compares the digest of the whole.

        Raises:
            UnavailableError: It is missing, or cannot be read.
        """
        with _translate_errors(name), self.path(name).open("rb") as file:
            file.seek(start)
            return file.read(size)

    def has(self, name: str) -> bool:
        """Return whether a content exists, damaged or not."""
        return self.path(name).is_file()

    def path(self, name: str) -> Path:
        """Return the path of a content, whether it exists or not."""
        other = self._aside.get()
        there = [_blob_path(folder, name) for folder in (other, self._folder) if folder]
        return next((path for path in there if path.is_file()), there[-1])

    def iter_sizes(self) -> Iterator[tuple[str, int]]:
        """Yield the digests of the existing contents, and their sizes in bytes."""
        for folder in sorted(self._folder.glob("[0-9a-f][0-9a-f]")):
            for path in sorted(folder.iterdir()):
                if len(path.name) == DIGEST_CHARS - 2 and path.is_file():
                    yield folder.name + path.name, path.stat().st_size

    @contextmanager
    def retain(self) -> Generator[None]:
        """Prevent the deletion of contents inside the block."""
        with self._hold_lock(alone=False):
            yield

    def delete(self, names: Collection[str], *, before: float) -> tuple[int, int]:
        """Delete contents last written before a time (seconds since 1970); return their number and bytes.

        Nothing is deleted while contents are being copied.

        Raises:
            UnavailableError: They are being copied.
        """
        count = size = 0
        for name in names:
            with self._hold_lock(alone=True), suppress(FileNotFoundError):
                path = _blob_path(self._folder, name)
                stat = path.stat()
                if stat.st_mtime < before:
                    path.unlink()
                    count, size = count + 1, size + stat.st_size
        return count, size

    def _refresh(self, name: str, content: bytes) -> bool:
        """Return whether a content exists and is intact, and if so update its timestamp."""
        if not self.has(name):
            return False
        with self._hold_lock(alone=False), suppress(FileNotFoundError):
            path = self.path(name)
            os.utime(path)
            return path.read_bytes() == content
        return False

    @contextmanager
    def _hold_lock(self, *, alone: bool) -> Generator[None]:
        """Lock the folder, shared or exclusive; deletion takes the exclusive lock for one content at a time."""
        if not self._folder.is_dir():
            yield
            return
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            _lock(descriptor, alone=alone)
            yield
        finally:
            os.close(descriptor)


def _lock(descriptor: int, *, alone: bool) -> None:
    try:
        import fcntl  # not on Windows
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)
    except BlockingIOError as error:
        raise UnavailableError(
            "The contents of files are being copied.", hint="Try again when that is done."
        ) from error


def _blob_path(folder: Path, name: str) -> Path:
    """Return the path of a content, None if its name is not a digest, as in a forged database."""
    return folder / name[:2] / name[2:] if _DIGEST.fullmatch(name) else folder / INVALID_NAME


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically: to a temporary file (mode 0600 by mkstemp), then rename it."""
    _make_folder(path.parent.parent)
    _make_folder(path.parent)
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
    _sync_folder(path.parent)


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """Flush a folder to disk, so that its file names survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translate_errors(name: str = "") -> Generator[None]:
    """Translate an OSError to an error for the user; `name` is the content being read."""
    try:
        yield
    except FileNotFoundError as error:
        if not name:
            raise _unwritable_error() from error
        raise UnavailableError(
            f"The content of the file is missing: there is no files/{name[:2]}/{name[2:]} in the data directory.",
            hint="Write the file again, or restore it from a copy of the data directory.",
        ) from error
    except OSError as error:
        if error.errno in _FULL:
            raise UnavailableError(
                "The disk is full; nothing was changed.", hint="Free some space, then send the same call again."
            ) from error
        raise (_unreadable_error() if name else _unwritable_error()) from error


def _unwritable_error() -> UnavailableError:
    return UnavailableError(
        "The folder of files cannot be written; nothing was changed.",
        hint="Allow this user to write to the folder `files` of the data directory.",
    )


def _unreadable_error() -> UnavailableError:
    return UnavailableError(
        "The content of the file cannot be read.",
        hint="Allow this user to read the folder `files` of the data directory.",
    )
