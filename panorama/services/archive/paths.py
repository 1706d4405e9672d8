"""Paths of backups and exports: the data directory, and the folders that users name."""

import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from panorama.domain.retention import Retention
from panorama.domain.text.visible_text import quote_name
from panorama.errors import InvalidInputError
from panorama.store.backend import ContentStore
from panorama.store.key_files import load_key

MAX_SHOWN_CHARS = 200
SEAL_KEY = "backup.key"
"""The file with the key that seals backups and exports; they never contain it."""


@dataclass(frozen=True, slots=True)
class ArchivePaths:
    """The paths beside the database, and the retention of backups."""

    home: Path
    contents: ContentStore
    retention: Retention

    @property
    def backups(self) -> Path:
        """The folder of backups in the data directory."""
        return self.home / "backups"

    @property
    def origin(self) -> str:
        """The name of this machine and data directory; only backups of the same origin replace each other."""
        return f"{platform.node()}:{self.home.resolve()}"

    @property
    def seal_key(self) -> bytes:
        """The key that seals backups and exports of this data directory."""
        return load_key(self.home / SEAL_KEY)

    def resolve_target(self, folder: str, *, default: Path, what: str) -> Path:
        """Resolve the target folder; inside the data directory only the default folder is allowed.

        Raises:
            InvalidInputError: It is not an absolute path, is a file, or is inside the data directory.
        """
        if not folder.strip():
            return default
        target = parse_path(folder, "folder")
        home = self.home.resolve()
        if target.is_relative_to(home) and target != default.resolve():
            raise InvalidInputError(
                f"{target} lies in the data directory, where Panorama keeps its own files.",
                hint=f"Leave the folder out for {default}, or choose one elsewhere, such as ~/{what}s.",
            )
        if target.exists() and not target.is_dir():
            raise InvalidInputError(f"{target} is not a folder.", hint="Give the folder to put it in.")
        return target

    def question(self, folder: str, *, default: Path, what: str) -> str:
        """Return the question before all data is written outside the data directory."""
        target = self.resolve_target(folder, default=default, what=what)
        return "" if target == default else f"Write {what} of all your data into {quote_path(target)}?"


def quote_path(path: Path) -> str:
    """Return a path in quotation marks, with hidden characters shown; a long one is shortened in the middle."""
    return quote_long_text(str(path))


def quote_long_text(text: str) -> str:
    """Return a text in quotation marks, with hidden characters shown; a long one is shortened in the middle."""
    half = MAX_SHOWN_CHARS // 2
    shown = text if len(text) <= MAX_SHOWN_CHARS else f"{text[:half]}…{text[-half:]}"
    return quote_name(shown, limit=2 * MAX_SHOWN_CHARS)


def parse_path(text: str, name: str) -> Path:
    """Resolve a path, whether it exists or not.

    Relative paths are rejected, because the caller's working directory may differ from the daemon's.

    Args:
        name: The name of the argument.

    Raises:
        InvalidInputError: It is empty, relative, or not a valid path.
    """
    if not text.strip():
        raise InvalidInputError(f"{name} is empty.", hint="Give the path of a folder, such as ~/Backups.")
    shown = repr(text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…")
    try:
        path = Path(text).expanduser()
        if not path.is_absolute():
            raise InvalidInputError(
                f"{name} is {shown}, which is a relative path.",
                hint="Give an absolute path, or one that begins with ~.",
            )
        resolved = path.resolve()
        with suppress(FileNotFoundError, NotADirectoryError):
            os.stat(resolved)
    except PermissionError as error:
        raise InvalidInputError(f"{shown} cannot be accessed.", hint="Check its owner and permissions.") from error
    except (OSError, ValueError, RuntimeError) as error:
        why = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
        raise InvalidInputError(
            f"{shown} is not a valid folder path{why}.", hint="Give a path such as ~/Backups."
        ) from error
    return resolved
