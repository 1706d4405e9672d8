"""Files below one folder: nothing outside it can be reached, whatever is in it and whatever is asked for.

Each part of a path is opened relative to the folder before it, and no link is followed. Resolving a path first and
opening it then would leak files when somebody exchanges a folder for a link in between.
"""

import errno
import fnmatch
import os
import secrets
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError, UnavailableError

MAX_FILE_BYTES = 10 << 20
MAX_DEPTH = 32
HIDDEN_PATTERNS = (".*",)
PRIVATE_PATTERNS = (
    ".env*", ".ssh", ".gnupg", ".netrc", ".git-credentials", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "id_rsa*",
    "id_dsa*", "id_ecdsa*", "id_ed25519*", "credentials*",
)  # fmt: skip
"""Names of keys and credentials, which no option shows."""

_OPEN_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_OPEN_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_CREATE_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file below the folder: `path` is relative, `modified_at` is in seconds since the epoch."""

    path: str
    size_bytes: int
    modified_at: float


class FolderTree:
    """The files below a folder, without hidden ones, keys, links and special files."""

    def __init__(self, root: Path, *, shows_hidden: bool = False) -> None:
        self._root = root
        self._excluded = PRIVATE_PATTERNS if shows_hidden else HIDDEN_PATTERNS + PRIVATE_PATTERNS

    def iter_files(self, folder: str = "") -> Iterator[FileEntry]:
        """Yield the files below a folder of the tree, by path.

        Raises:
            NotFoundError: There is no such folder.
            InvalidInputError: The path leads elsewhere.
        """
        parts = self._split(folder) if folder else []
        with self._open_folder(parts) as handle:
            yield from self._walk(handle, folder, len(parts))

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            NotFoundError: There is no such file.
            InvalidInputError: The path leads elsewhere, or the file is too large or no plain file.
        """
        *folders, name = self._split(path)
        with self._open_folder(folders) as parent:
            handle = os.open(name, _OPEN_FILE, dir_fd=parent)
            try:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise InvalidInputError(f"{path} is not a regular file.", hint="Choose a file from the list.")
                with os.fdopen(handle, "rb", closefd=False) as file:
                    content = file.read(MAX_FILE_BYTES + 1)
            finally:
                os.close(handle)
        if len(content) > MAX_FILE_BYTES:
            raise InvalidInputError(
                f"{path} has more than {MAX_FILE_BYTES >> 20} MB.", hint="Choose a smaller file, or import it by hand."
            )
        return content

    def write(self, path: str, content: bytes, *, replaces: bool) -> None:
        """Write a file whole or not at all; missing folders are made.

        Raises:
            ConflictError: The file exists, and `replaces` is false.
            InvalidInputError: The path leads elsewhere.
        """
        *folders, name = self._split(path)
        with self._open_folder(folders, makes=True) as parent:
            temporary = f".{secrets.token_hex(8)}.tmp"
            handle = os.open(temporary, _CREATE_FILE, 0o644, dir_fd=parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(handle)
                if replaces:
                    os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
                else:
                    os.link(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except FileExistsError as error:
                raise ConflictError(f"{path} already exists.", hint="Pass replace=True to replace it.") from error
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=parent)

    def _split(self, path: str) -> list[str]:
        parts = path.split("/")
        if not path.isprintable() or "\\" in path or len(parts) > MAX_DEPTH:
            raise InvalidInputError(
                f"{path[:100]!r} is not a valid path.", hint="Use a path from the list, with slashes."
            )
        for part in parts:
            if part in ("", ".", "..") or self._is_excluded(part):
                raise InvalidInputError(
                    f"{path[:100]!r} cannot be reached: it is absolute, leads outside, or is hidden.",
                    hint="Use a path from the list.",
                )
        return parts

    def _is_excluded(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in self._excluded)

    @contextmanager
    def _open_folder(self, folders: Sequence[str], *, makes: bool = False) -> Generator[int]:
        """Yield a handle of a folder below the root, opened part by part."""
        path = "/".join(folders)
        handle = self._open_root()
        try:
            for part in folders:
                if makes:
                    _make_folder(part, handle)
                below = os.open(part, _OPEN_FOLDER, dir_fd=handle)
                os.close(handle)
                handle = below
            yield handle
        except OSError as error:
            raise _translate_error(error, path) from error
        finally:
            os.close(handle)

    def _open_root(self) -> int:
        if os.open not in os.supports_dir_fd:  # Windows
            raise UnavailableError("Folders can be sources on Linux and macOS only.", hint="Import the folder instead.")
        try:
            return os.open(self._root, _OPEN_FOLDER)
        except OSError as error:
            raise UnavailableError(f"The folder {self._root} cannot be opened.", hint="Check its path.") from error

    def _walk(self, handle: int, folder: str, depth: int) -> Iterator[FileEntry]:
        with os.scandir(handle) as entries:
            names = sorted(entry.name for entry in entries if not self._is_excluded(entry.name))
        for name in names:
            path = f"{folder}/{name}" if folder else name
            try:
                status = os.stat(name, dir_fd=handle, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield FileEntry(path=path, size_bytes=status.st_size, modified_at=status.st_mtime)
                if not stat.S_ISDIR(status.st_mode) or depth >= MAX_DEPTH:
                    continue
                below = os.open(name, _OPEN_FOLDER, dir_fd=handle)
            except OSError:  # it disappeared, became a link, or cannot be read
                continue
            try:
                yield from self._walk(below, path, depth + 1)
            finally:
                os.close(below)


def _make_folder(name: str, parent: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
    except FileExistsError:
        return


def _translate_error(error: OSError, path: str) -> PanoramaError:
    if error.errno == errno.ENOENT:
        return NotFoundError(f"There is no such file in {path or 'the folder'}.", hint="List the files first.")
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return InvalidInputError("The file is a link.", hint="Links are not followed; use a path from the list.")
    if error.errno == errno.ENOTDIR:  # also the error for a link to a folder
        return InvalidInputError(
            f"{path or 'A part of the path'} is not a folder, or a link to one.", hint="Links are not followed."
        )
    return UnavailableError(f"The file cannot be used: {error.strerror}.", hint="Check its permissions.")
