"""Reads and writes the files of scripts, the user's own and shipped ones; the only module that does.

A script is read once for each decision on it. Views may use a cached text while its file is unchanged; a file written
a
moment ago is read again, because the clock may be too coarse to distinguish two writes.
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
"""A file written more recently is not cached, because another write might not change its timestamp."""

_NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*")
_Fingerprint = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class _CachedText:
    mark: _Fingerprint
    text: ScriptText


class ScriptFiles:
    """Scripts by name. Thread-safe.

    Args:
        folder: The folder of the user's scripts; they override shipped ones.
        shipped: The folder of the shipped scripts.
    """

    def __init__(self, folder: Path, shipped: Path) -> None:
        self.folder = folder
        self._shipped = shipped
        self._known: dict[Path, _CachedText] = {}

    def list_names(self) -> list[str]:
        """Return the sorted names of all scripts; other files are ignored."""
        return sorted({name for folder in (self.folder, self._shipped) for name in _iter_names(folder)})

    def read(self, name: str) -> ScriptText | None:
        """Read a script from the disk; return None if there is none.

        Raises:
            InvalidInputError: Its file is a link, not a regular file, or too large.
            UnavailableError: It cannot be read.
        """
        for path, is_shipped in self._candidate_paths(name):
            text = _read_file(path)
            if text is not None:
                return ScriptText(name=name, content=text, digest=digest_of(text), is_shipped=is_shipped)
        return None

    def contains(self, name: str) -> bool:
        """Return whether a script has a file."""
        return any(_stat_fingerprint(path) is not None for path, _ in self._candidate_paths(name))

    def read_cached(self, name: str, approved_digest: str | None = None) -> ScriptText | None:  # noqa: ARG002 (as find_approved)
        """Read a script, from the cache if its file is unchanged.

        Args:
            approved_digest: That of its approved text, if the caller knows it; "" if none is approved.
        """
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

    def find_approved(self, name: str, digest: str | None = None) -> ScriptText | None:  # noqa: ARG002 (only a database of several machines has any)
        """Return the approved text of a script, if it is not in its file; the caller may know its digest."""
        return None

    def read_bundled(self, name: str) -> ScriptText | None:
        """Return the shipped script with a name."""
        content = _read_file(self._shipped / f"{name}{SUFFIX}")
        return ScriptText(name=name, content=content, digest=digest_of(content), is_shipped=True) if content else None

    def is_bundled(self, name: str) -> bool:
        """Return whether there is a shipped script with a name."""
        return bool(_NAME_PATTERN.fullmatch(name)) and (self._shipped / f"{name}{SUFFIX}").is_file()

    def path(self, name: str) -> Path:
        """Return the path of the user's script with a name."""
        return self.folder / f"{name}{SUFFIX}"

    def write(self, name: str, content: bytes) -> ScriptText:
        """Write the user's script atomically.

        Raises:
            InvalidInputError: It is too large, or its path is not a regular file.
            UnavailableError: It cannot be written.
        """
        if len(content) > TEXT_BYTES:
            raise _too_large_error(name, len(content))
        path = self.path(validate_script_name(name))
        _read_file(path)  # rejects a link at its path
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
                f"The script {name} cannot be written: {error.strerror}.", hint=f"Check {self.folder}."
            ) from error
        return ScriptText(name=name, content=content, digest=digest_of(content))

    def remove(self, name: str) -> None:
        """Delete the user's script.

        Raises:
            InvalidInputError: Its path is not a regular file.
            UnavailableError: It cannot be removed.
        """
        path = self.path(validate_script_name(name))
        _read_file(path)  # rejects a link at its path
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UnavailableError(
                f"The script {name} cannot be removed: {error.strerror}.", hint=f"Check {self.folder}."
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
    """Return the content of a regular file, None if there is none; links are never followed."""
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
        raise InvalidInputError(f"The script {path.stem} is not a regular file.", hint="Put a Python file there.")
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
        f"The script {name} has {size:,} bytes; the limit is {TEXT_BYTES:,}.", hint="Split it, or keep data in files."
    )


def _unreadable_error(path: Path, error: OSError) -> UnavailableError:
    return UnavailableError(f"The script {path.stem} cannot be read: {error.strerror}.", hint=f"Check {path}.")
