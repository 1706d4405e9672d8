"""Stores the contents of files in a folder beside the database."""

import errno
import os
import re
import tempfile
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from panorama.errors import UnavailableError
from panorama.store.archive.safe_files import open_plain_file
from panorama.store.contents.parts import PART_BYTES, copying_error, damaged_error, iter_verified, missing_error
from panorama.store.disk import sync_folder

DIGEST_CHARS = 64
INVALID_NAME = "none"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class FolderContents:
    """Contents by sha256, as `ab/cdef…` in a folder that only its owner can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def describe(self, name: str) -> str:
        """Return the path of a content below the data directory."""
        return f"files/{name[:2]}/{name[2:]} in the data directory"

    def put(self, content: bytes) -> str:
        """Store a content durably and return its digest; see `ContentStore`.

        Raises:
            UnavailableError: The disk is full, or the folder cannot be written.
        """
        name = sha256(content).hexdigest()
        if not self._refresh(name, content):
            with _translate_errors():
                _write(self.path(name), [content])
        return name

    def put_parts(self, name: str, parts: Iterable[bytes]) -> None:
        """Store the content with a digest from its parts.

        Raises:
            UnreadableError: The parts have another digest; none of them is stored.
            UnavailableError: The disk is full, or the folder cannot be written.
        """
        with _translate_errors():
            _write(self.path(name), iter_verified(name, parts))

    def move_from(self, folder: Path) -> None:
        """Move the contents of another folder of the same disk, which are intact, into this one.

        Raises:
            UnavailableError: The folder cannot be written.
        """
        with _translate_errors():
            for name, _ in FolderContents(folder).iter_sizes():
                path = self.path(name)
                _make_folder(self._folder)
                _make_folder(path.parent)
                _content_path(folder, name).replace(path)

    def get(self, name: str) -> bytes:
        """Return the content with a digest.

        Raises:
            UnavailableError: It is missing, damaged, or cannot be read.
        """
        with _translate_errors(self.describe(name)):
            content = self.path(name).read_bytes()
        if sha256(content).hexdigest() != name:
            raise damaged_error(self.describe(name))
        return content

    def read_range(self, name: str, start: int, size: int) -> bytes:
        """Return a range of a content without verifying it; the caller compares the digest of the whole.

        Raises:
            UnavailableError: It is missing, or cannot be read.
        """
        with _translate_errors(self.describe(name)), self.path(name).open("rb") as file:
            file.seek(start)
            return file.read(size)

    def iter_parts(self, name: str) -> Generator[bytes]:
        """Yield a content in parts; links are not followed.

        Raises:
            UnreadableError: It is missing, not a regular file, or cannot be read.
        """
        with open_plain_file(self.path(name)) as read:
            while part := read(PART_BYTES):
                yield part

    def has(self, name: str) -> bool:
        """Return whether a content exists, damaged or not."""
        return self.path(name).is_file()

    def path(self, name: str) -> Path:
        """Return the path of a content, whether it exists or not."""
        return _content_path(self._folder, name)

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

    @contextmanager
    def exclude(self) -> Generator[None]:
        """Prevent contents from being retained inside the block.

        Raises:
            UnavailableError: They are being copied.
        """
        with self._hold_lock(alone=True):
            yield

    def delete(self, names: Collection[str], *, before: float) -> tuple[int, int]:
        """Delete contents last written before a time (seconds since 1970); return their number and bytes.

        Nothing is deleted while contents are being copied.

        Raises:
            UnavailableError: They are being copied.
        """
        count = size = 0
        for name in names:
            with self.exclude(), suppress(FileNotFoundError):
                path = self.path(name)
                stat = path.stat()
                if stat.st_mtime < before:
                    path.unlink()
                    count, size = count + 1, size + stat.st_size
        return count, size

    def _refresh(self, name: str, content: bytes) -> bool:
        """Return whether a content exists and is intact, and if so update its timestamp."""
        path = self.path(name)
        with _translate_errors(), suppress(FileNotFoundError):
            if path.is_file():
                with self._hold_lock(alone=False):
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
        raise copying_error() from error


def _content_path(folder: Path, name: str) -> Path:
    """Return the path of a content, None if its name is not a digest, as in a forged database."""
    return folder / name[:2] / name[2:] if _DIGEST.fullmatch(name) else folder / INVALID_NAME


def _write(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file atomically: to a temporary file (mode 0600 by mkstemp), then rename it."""
    _make_folder(path.parent.parent)
    _make_folder(path.parent)
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
    sync_folder(path.parent)


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_folder(folder.parent)


@contextmanager
def _translate_errors(place: str = "") -> Generator[None]:
    """Translate an OSError to an error for the user; `place` says where the content is that is being read."""
    try:
        yield
    except FileNotFoundError as error:
        if not place:
            raise _unwritable_error() from error
        raise missing_error(place) from error
    except OSError as error:
        if error.errno in _FULL:
            raise UnavailableError(
                "The disk is full; nothing was changed.", hint="Free some space, then send the same call again."
            ) from error
        raise (_unreadable_error() if place else _unwritable_error()) from error


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
