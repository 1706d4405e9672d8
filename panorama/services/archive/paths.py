"""Where backups and exports go: what lies in the data directory, and which folder a person means."""

import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from panorama.domain.retention import Retention
from panorama.domain.text.visible_text import quote_name
from panorama.errors import InvalidInputError
from panorama.store.items.blobs import Blobs

MAX_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class ArchivePaths:
    """Where everything lies that is kept beside the database, and how long backups stay."""

    home: Path
    blobs: Blobs
    retention: Retention

    @property
    def backups(self) -> Path:
        """The folder of backups in the data directory."""
        return self.home / "backups"

    @property
    def origin(self) -> str:
        """The name of this machine and data directory; only backups of the same origin replace each other."""
        return f"{platform.node()}:{self.home.resolve()}"

    def resolve_target(self, folder: str, *, default: Path, what: str) -> Path:
        """Return the folder that a person means; in the data directory it is its folder of backups or none.

        Raises:
            InvalidInputError: It is no absolute path, a file, or it lies in the data directory.
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
            raise InvalidInputError(f"{target} is not a folder.", hint="Give the folder that is to hold it.")
        return target

    def question(self, folder: str, *, default: Path, what: str) -> str:
        """Return what to ask before everything is written to a folder outside the data directory."""
        target = self.resolve_target(folder, default=default, what=what)
        return "" if target == default else f"Write {what} of all your data into {quote_path(target)}?"


def quote_path(path: Path) -> str:
    """Return a path in quotation marks, with hidden signs shown; of a long one the beginning and the end."""
    text, half = str(path), MAX_SHOWN_CHARS // 2
    shown = text if len(text) <= MAX_SHOWN_CHARS else f"{text[:half]}…{text[-half:]}"
    return quote_name(shown, most=2 * MAX_SHOWN_CHARS)


def parse_path(text: str, name: str) -> Path:
    """Return the place that a path means, whether anything is there or not.

    A path from where somebody stands means nothing here: whoever asks may stand elsewhere than the daemon.

    Args:
        name: The argument it was given as.

    Raises:
        InvalidInputError: It is empty, is not absolute, or can be the path of nothing.
    """
    if not text.strip():
        raise InvalidInputError(f"{name} is empty.", hint="Give the path of a folder, such as ~/Backups.")
    shown = repr(text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…")
    try:
        path = Path(text).expanduser()
        if not path.is_absolute():
            raise InvalidInputError(
                f"{name} is {shown}, which depends on where one stands.",
                hint="Give an absolute path, or one that begins with ~.",
            )
        resolved = path.resolve()
        with suppress(FileNotFoundError, NotADirectoryError):
            os.stat(resolved)
    except PermissionError as error:
        raise InvalidInputError(f"{shown} cannot be looked at.", hint="Check its owner and rights.") from error
    except (OSError, ValueError, RuntimeError) as error:
        why = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
        raise InvalidInputError(
            f"{shown} cannot be the path of a folder{why}.", hint="Give one as ~/Backups."
        ) from error
    return resolved
