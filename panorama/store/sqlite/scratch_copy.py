"""The copy of the file that a dry run writes."""

import shutil
from collections.abc import Callable
from pathlib import Path

from panorama.errors import UnavailableError
from panorama.store.backend import Database

SPARE_BYTES = 64 << 20
"""The disk space that must stay free besides the copy."""


def copy_for_scratch(database: Database, folder: Path, check_cancel: Callable[[], None]) -> Path:
    """Copy the database to a file in a temporary folder, and return its path.

    Args:
        check_cancel: Called for every MB copied; an exception that it raises ends the copying and deletes the copy.

    Raises:
        UnavailableError: There is too little space.
    """
    _require_space(database, folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "panorama.db"
    database.copy_to(path, lambda _done, _total: check_cancel())
    return path


def _require_space(database: Database, folder: Path) -> None:
    needed = database.size_bytes()
    free = shutil.disk_usage(next(path for path in folder.parents if path.is_dir())).free
    if free < needed + SPARE_BYTES:
        raise UnavailableError(
            f"A dry run that writes needs {(needed + SPARE_BYTES) >> 20:,} MB for a copy of the database; "
            f"{free >> 20:,} MB are free.",
            hint="Free some space, or run it for real with atomic=true and take it back with undo.",
        )
