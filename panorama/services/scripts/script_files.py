"""The shelf: the only module that reads and writes the files of scripts, a person's own and those that ship.

A script is read once for whatever is decided on it. What is only shown may come from memory as long as its file has
not moved; a file that was written a moment ago is read again, for a clock may be too coarse to tell two writes apart.
"""

import errno
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from panorama.domain.scripts.library import TEXT_BYTES, ScriptText, digest_of, validate_script_name
from panorama.errors import InvalidInputError, UnavailableError

SUFFIX = ".py"
MIN_CACHE_AGE_SECONDS = 2.0
"""A file that was written so lately is not remembered: it could change without a sign of it."""

_NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*")
_Fingerprint = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class _CachedText:
    mark: _Fingerprint
    text: ScriptText


class ScriptFiles:
    """Scripts by their names. Safe to use from several threads.

    Args:
        folder: Where a person's own are; they stand above the shipped ones.
        shipped: Where those are that came with the program.
    """

    def __init__(self, folder: Path, shipped: Path) -> None:
        self.folder = folder
        self._shipped = shipped
        self._known: dict[Path, _CachedText] = {}

    def list_names(self) -> list[str]:
        """Return the names of all scripts, in order; what is called otherwise is no script."""
        return sorted({name for folder in (self.folder, self._shipped) for name in _iter_names(folder)})

    def read(self, name: str) -> ScriptText | None:
        """Return a script as it is on the disk now, None if there is none.

        Raises:
            InvalidInputError: Its file is a link, no plain file, or too large.
            UnavailableError: It cannot be read.
        """
        for path, is_shipped in self._candidate_paths(name):
            text = _read_file(path)
            if text is not None:
                return ScriptText(name=name, content=text, digest=digest_of(text), is_shipped=is_shipped)
        return None

    def contains(self, name: str) -> bool:
        """Return whether there is a file of a script."""
        return any(_stat_fingerprint(path) is not None for path, _ in self._candidate_paths(name))

    def read_cached(self, name: str) -> ScriptText | None:
        """Return a script as `read` does, from memory if its file has not moved since."""
        for path, is_shipped in self._candidate_paths(name):
            mark = _stat_fingerprint(path)
            if mark is None:
                continue
            known = self._known.get(path)
            if known and known.mark == mark:
                return known.text
            content = _read_file(path)
            if content is None:
                continue
            text = ScriptText(name=name, content=content, digest=digest_of(content), is_shipped=is_shipped)
            if mark == _stat_fingerprint(path) and time.time_ns() - max(mark[0], mark[1]) > MIN_CACHE_AGE_SECONDS * 1e9:
                self._known[path] = _CachedText(mark, text)
            return text
        return None

    def read_bundled(self, name: str) -> ScriptText | None:
        """Return the script of this name that came with the program."""
        content = _read_file(self._shipped / f"{name}{SUFFIX}")
        return ScriptText(name=name, content=content, digest=digest_of(content), is_shipped=True) if content else None

    def is_bundled(self, name: str) -> bool:
        """Return whether a script of this name came with the program."""
        return bool(_NAME_PATTERN.fullmatch(name)) and (self._shipped / f"{name}{SUFFIX}").is_file()

    def path(self, name: str) -> Path:
        """Return where a person's own script of a name is, or would be."""
        return self.folder / f"{name}{SUFFIX}"

    def write(self, name: str, content: bytes) -> ScriptText:
        """Write a person's own script, whole or not at all.

        Raises:
            InvalidInputError: It is too large, or something stands in its place that is no plain file.
            UnavailableError: It cannot be written.
        """
        if len(content) > TEXT_BYTES:
            raise _too_large_error(name, len(content))
        path = self.path(validate_script_name(name))
        _read_file(path)  # refuses a link in its place
        temporary = ""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            number, temporary = tempfile.mkstemp(prefix=f".{name}-", dir=self.folder)  # mode 0600
            with os.fdopen(number, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:
            with suppress(OSError):
                os.unlink(temporary)
            raise UnavailableError(
                f"The script {name} cannot be written: {error.strerror}.", hint=f"Look at {self.folder}."
            ) from error
        return ScriptText(name=name, content=content, digest=digest_of(content))

    def remove(self, name: str) -> None:
        """Remove a person's own script.

        Raises:
            InvalidInputError: Something stands in its place that is no plain file.
            UnavailableError: It cannot be removed.
        """
        path = self.path(validate_script_name(name))
        _read_file(path)  # refuses a link in its place
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UnavailableError(
                f"The script {name} cannot be removed: {error.strerror}.", hint=f"Look at {self.folder}."
            ) from error

    def _candidate_paths(self, name: str) -> tuple[tuple[Path, bool], ...]:
        file = f"{validate_script_name(name)}{SUFFIX}"
        return (self.folder / file, False), (self._shipped / file, True)


def _iter_names(folder: Path) -> Iterator[str]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name.removesuffix(SUFFIX)
            if name != entry.name:
                with suppress(InvalidInputError):
                    yield validate_script_name(name)


def _stat_fingerprint(path: Path) -> _Fingerprint | None:
    try:
        stat = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable_error(path, error) from error
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino, stat.st_mode


def _read_file(path: Path) -> bytes | None:
    """Return what a plain file holds, None if there is none; a link is never followed."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InvalidInputError(
                f"The script {path.stem} is a symbolic link, which is not followed.", hint="Put the file itself there."
            ) from error
        raise _unreadable_error(path, error) from error
    found = os.fstat(number)
    if not stat.S_ISREG(found.st_mode):
        os.close(number)
        raise InvalidInputError(f"The script {path.stem} is no plain file.", hint="Put a file of Python there.")
    with os.fdopen(number, "rb") as file:
        try:
            content = file.read(TEXT_BYTES + 1)
        except OSError as error:
            raise _unreadable_error(path, error) from error
    if len(content) > TEXT_BYTES:
        raise _too_large_error(path.stem, found.st_size)
    return content


def _too_large_error(name: str, size: int) -> InvalidInputError:
    return InvalidInputError(
        f"The script {name} has {size:,} bytes; {TEXT_BYTES:,} are the most.", hint="Split it, or keep data in files."
    )


def _unreadable_error(path: Path, error: OSError) -> UnavailableError:
    return UnavailableError(f"The script {path.stem} cannot be read: {error.strerror}.", hint=f"Look at {path}.")
