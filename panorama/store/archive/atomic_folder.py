"""Folders that appear completely or not at all, with a manifest of their files.

A folder is written beside its destination under a name that begins with `.panorama-part-`, and renamed when complete.
The writer holds a lock on it; a part without a lock was left by a killed process and is deleted by the next writer.
"""

import errno
import json
import os
import secrets
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath

from panorama.errors import ConflictError, UnavailableError
from panorama.store.archive import manifests
from panorama.store.archive.manifests import MANIFEST, Entry, Manifest
from panorama.store.archive.safe_files import OPEN_FLAGS, UnreadableError, open_plain_file
from panorama.store.disk import sync, sync_folder

PART_PREFIX = ".panorama-part-"
CHUNK_BYTES = 1 << 20
SYNC_BYTES = 1 << 20
BytesCallback = Callable[[int], None]
"""Called with the number of further bytes done; an exception that it raises ends the work."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def noop(_count: int) -> None:
    """Do nothing."""


class AtomicFolder:
    """A folder being written; every file added to it is listed with its digest.

    With `is_durable`, files are flushed to disk before they are listed, in portions so that others can write too.
    Nothing is ever written outside the folder: a path that leads elsewhere raises ValueError.
    """

    def __init__(self, folder: Path, *, is_durable: bool = True) -> None:
        self.folder = folder
        self._is_durable = is_durable
        self.files: dict[str, Entry] = {}

    def write(self, path: str, content: bytes) -> None:
        """Write a file into it."""
        with self.open_file(path) as write:
            write(content)

    @contextmanager
    def open_file(self, path: str) -> Generator[Callable[[bytes], None]]:
        """Open a new file and yield a function that appends to it."""
        digest, size, synced = sha256(), 0, 0
        with open(self._target_path(path), "xb", opener=_open_private) as file:

            def write(content: bytes) -> None:
                nonlocal size, synced
                file.write(content)
                digest.update(content)
                size += len(content)
                if size - synced > SYNC_BYTES:
                    sync(file.fileno())
                    synced = size

            yield write
            file.flush()
            if self._is_durable:
                sync(file.fileno())
        self.files[path] = Entry(size, digest.hexdigest())

    def copy(self, source: Path, path: str, moved: BytesCallback = noop, *, below: Path | None = None) -> Entry:
        """Copy a file into it and return the bytes read; symbolic links to files or folders are not followed.

        Raises:
            UnreadableError: The file cannot be read; nothing of it is in the folder.
        """
        with open_plain_file(source, below) as read_:
            return self.write_parts(iter(partial(read_, CHUNK_BYTES), b""), path, moved)

    def write_parts(self, parts: Iterable[bytes], path: str, moved: BytesCallback = noop) -> Entry:
        """Write a file from its parts and return what was written.

        Raises:
            UnreadableError: The parts cannot be read; nothing of the file is in the folder.
        """
        try:
            with self.open_file(path) as write:
                for part in parts:
                    write(part)
                    moved(len(part))
        except UnreadableError:
            self.remove(path)
            raise
        return self.files[path]

    def link(self, source: Path, path: str) -> bool:
        """Hard-link a file of another folder, which takes no space; return whether the file system supports it."""
        place = self._target_path(path)
        try:
            os.link(source, place, follow_symlinks=False)
        except OSError:
            return False
        return True

    def add_existing(self, path: str, entry: Entry) -> None:
        """List a file that exists already."""
        self.files[manifests.validate_path(path)] = entry

    def remove(self, path: str) -> None:
        """Remove a file again."""
        self.files.pop(path, None)
        with suppress(ValueError):  # a path that leads elsewhere was never written
            (self.folder / manifests.validate_path(path)).unlink(missing_ok=True)

    def _target_path(self, path: str) -> Path:
        """Return the path for a file and create its folder; nothing below this folder is a link."""
        place = self.folder / manifests.validate_path(path)
        _make_folders(place.parent, [])
        if place.parent.resolve() != self.folder.resolve() / PurePosixPath(path).parent:
            raise ValueError(f"a path that leads elsewhere: {path}")
        return place

    def write_manifest(self, manifest: Manifest, key: bytes) -> None:
        """Write the manifest, sealed with a key, and read it back to verify it."""
        data = json.dumps(manifests.with_seal(asdict(manifest), key), ensure_ascii=False, indent=1).encode()
        listed, self.files = self.files, {}
        self.write(MANIFEST, data)
        self.files = listed
        manifests.read(self.folder)


@contextmanager
def create(place: Path, content: str, *, is_durable: bool = True) -> Generator[AtomicFolder]:
    """Yield a new folder that is moved to its destination unless an error occurs; then it is deleted.

    Args:
        content: The name of the result for error messages, such as "backup".

    Raises:
        ConflictError: The destination exists.
        UnavailableError: The disk is full, or the folder cannot be written.
    """
    created: list[Path] = []
    with _translate_errors(place, content):
        try:
            _make_folders(place.parent, created)
            clean_stale(place.parent)
            with _create_locked_part(place.parent) as part:
                try:
                    yield AtomicFolder(part, is_durable=is_durable)
                    _rename_into_place(part, place)
                except BaseException:
                    shutil.rmtree(part, ignore_errors=True)
                    raise
        except BaseException:
            for folder in reversed(created):
                with suppress(OSError):
                    folder.rmdir()
            raise


def clean_stale(folder: Path) -> None:
    """Delete unfinished folders of killed processes."""
    for path in folder.glob(f"{PART_PREFIX}*"):
        with suppress(OSError), _lock_folder(path) as is_ours:
            if is_ours:
                shutil.rmtree(path, ignore_errors=True)


def remove(folder: Path) -> None:
    """Delete a folder so that a partial one never has its final name."""
    going = folder.with_name(f"{PART_PREFIX}{secrets.token_hex(6)}")
    folder.rename(going)
    shutil.rmtree(going, ignore_errors=True)


def find_mismatch(folder: Path, manifest: Manifest, moved: BytesCallback = noop) -> str:
    """Return the first file that differs from its manifest; "" if none does."""
    for path, entry in manifest.files.items():
        if why := find_file_mismatch(folder / path, entry, moved, below=folder):
            return f"{path} {why}"
    return ""


def find_file_mismatch(path: Path, entry: Entry, moved: BytesCallback = noop, *, below: Path | None = None) -> str:
    """Return how a file differs from its entry; "" if it does not."""
    digest, size = sha256(), 0
    try:
        with open_plain_file(path, below) as read_:
            while chunk := read_(CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
                moved(len(chunk))
    except UnreadableError as error:
        return str(error)
    return "" if (size, digest.hexdigest()) == (entry.size, entry.sha256) else "differs from what was written"


def iter_files(folder: Path) -> Iterator[str]:
    """Yield the sorted paths of the regular files in a folder, without links and unreadable folders."""
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(folder).as_posix()


def require_space(near: Path, needed: int, content: str) -> None:
    """Check that there is enough free disk space.

    Raises:
        UnavailableError: There is not enough space.
    """
    there = next((parent for parent in (near, *near.parents) if parent.is_dir()), Path("/"))
    free = shutil.disk_usage(there).free
    if free < needed:
        raise UnavailableError(
            f"The {content} needs {needed / 1e6:,.0f} MB; {free / 1e6:,.0f} MB are free on the disk of {there}.",
            hint="Free some space, or choose another folder.",
        )


def _make_folders(folder: Path, created: list[Path]) -> None:
    """Create a folder with its parents, and record which were missing."""
    if not folder.is_dir():
        _make_folders(folder.parent, created)
        folder.mkdir(mode=0o700)
        created.append(folder)


@contextmanager
def _create_locked_part(folder: Path) -> Generator[Path]:
    while True:
        part = folder / f"{PART_PREFIX}{secrets.token_hex(6)}"
        part.mkdir(mode=0o700)
        with _lock_folder(part) as is_ours:
            if is_ours:  # else another process deleted it before it was locked
                yield part
                return


@contextmanager
def _lock_folder(folder: Path) -> Generator[bool]:
    """Lock a folder; yield False if another process holds the lock, or the folder is gone."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | OPEN_FLAGS)
    except FileNotFoundError:
        yield False
        return
    try:
        yield _try_lock(folder, descriptor)
    finally:
        os.close(descriptor)


def _try_lock(folder: Path, descriptor: int) -> bool:
    import fcntl  # not on Windows

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), os.stat(folder))
    except (BlockingIOError, FileNotFoundError):
        return False


def _rename_into_place(part: Path, place: Path) -> None:
    for root, _, _ in os.walk(part):
        sync_folder(Path(root))
    try:
        part.rename(place)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise ConflictError(f"{place} already exists.", hint="Choose another folder.") from error
        raise
    sync_folder(place.parent)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextmanager
def _translate_errors(place: Path, content: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise UnavailableError(
                f"The disk is full; no {content} was made.", hint="Free some space, or choose another folder."
            ) from error
        at = error.filename or place
        raise UnavailableError(
            f"No {content} was made: {at} cannot be written ({error.strerror}).",
            hint="Choose another folder, or allow this user to write there.",
        ) from error
