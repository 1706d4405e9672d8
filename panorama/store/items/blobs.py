"""Stores the contents of files by their digest, beside the database.

A content is never changed and never written twice. It is on the disk before a row names it, so a crash leaves at most
a content that nothing names, which is harmless.
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
    """Contents by their sha256, as `ab/cdef…` in a folder that only its owner can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._aside: ContextVar[Path | None] = ContextVar("blobs", default=None)

    @contextmanager
    def use_scratch(self, folder: Path) -> Generator[None]:
        """Let contents that are put inside go to another folder, where they are looked for first."""
        token = self._aside.set(folder)
        try:
            yield
        finally:
            self._aside.reset(token)

    def put(self, content: bytes) -> str:
        """Keep a content and return its digest; once this returns it survives a power cut.

        One that is there already is left alone, unless it is damaged: then it is written again. It counts as new from
        now on, so that nobody forgets it before the row that names it is there.

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
                hint="Write the file again, or put that one back from a copy of the data directory.",
            )
        return content

    def read_range(self, name: str, start: int, size: int) -> bytes:
        """Return some bytes of a content, unchecked: whoever joins them compares the digest.

        Raises:
            UnavailableError: It is missing, or cannot be read.
        """
        with _translate_errors(name), self.path(name).open("rb") as file:
            file.seek(start)
            return file.read(size)

    def has(self, name: str) -> bool:
        """Tell whether a content is there, damaged or not."""
        return self.path(name).is_file()

    def path(self, name: str) -> Path:
        """Return where a content lies, or would lie."""
        other = self._aside.get()
        there = [_blob_path(folder, name) for folder in (other, self._folder) if folder]
        return next((path for path in there if path.is_file()), there[-1])

    def iter_sizes(self) -> Iterator[tuple[str, int]]:
        """Give the digests of the contents that are there, and their sizes in bytes."""
        for folder in sorted(self._folder.glob("[0-9a-f][0-9a-f]")):
            for path in sorted(folder.iterdir()):
                if len(path.name) == DIGEST_CHARS - 2 and path.is_file():
                    yield folder.name + path.name, path.stat().st_size

    @contextmanager
    def retain(self) -> Generator[None]:
        """Let nobody forget a content meanwhile."""
        with self._hold_lock(alone=False):
            yield

    def delete(self, names: Collection[str], *, before: float) -> tuple[int, int]:
        """Remove contents that were last put before a moment (seconds since 1970); return how many, and their bytes.

        Nothing is removed while somebody copies them.

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
        """Tell whether a content is there, and sound; then it is new again."""
        if not self.has(name):
            return False
        with self._hold_lock(alone=False), suppress(FileNotFoundError):
            path = self.path(name)
            os.utime(path)
            return path.read_bytes() == content
        return False

    @contextmanager
    def _hold_lock(self, *, alone: bool) -> Generator[None]:
        """Hold the folder's lock, alone or together with others; who removes holds it alone, for one content."""
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
    """Return where a content lies; one whose name is no digest, in a database that somebody made up, lies nowhere."""
    return folder / name[:2] / name[2:] if _DIGEST.fullmatch(name) else folder / INVALID_NAME


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: beside its place first, then in its place (mode 0600 by mkstemp)."""
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
    """Let the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translate_errors(name: str = "") -> Generator[None]:
    """Say what is wrong with the disk in the words of its owner; `name` is the content that is read."""
    try:
        yield
    except FileNotFoundError as error:
        if not name:
            raise _unwritable_error() from error
        raise UnavailableError(
            f"The content of the file is missing: there is no files/{name[:2]}/{name[2:]} in the data directory.",
            hint="Write the file again, or put that one back from a copy of the data directory.",
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
        hint="Give this user the right to write the folder `files` of the data directory.",
    )


def _unreadable_error() -> UnavailableError:
    return UnavailableError(
        "The content of the file cannot be read.",
        hint="Give this user the right to read the folder `files` of the data directory.",
    )
