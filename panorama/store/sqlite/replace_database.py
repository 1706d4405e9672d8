"""Replaces the database file by a copy; the present file is moved to the backups."""

import os
import shutil
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from panorama.domain.withdrawal import Replacement
from panorama.errors import InvalidInputError, UnavailableError
from panorama.store.migrate import HEAD
from panorama.store.sqlite import foreign_rows
from panorama.store.sqlite.engine import SUFFIXES, SqliteDatabase
from panorama.store.sqlite.snapshots import make_replacement

_OTHER = "Look for another copy in the folder backups."


def validate_copy(copy: Path) -> None:
    """Check that a file can replace the database.

    Raises:
        InvalidInputError: It is missing, damaged, another program's, or newer than this program.
    """
    if not copy.is_file():
        raise InvalidInputError(f"There is no file {copy}.", hint=_OTHER)
    try:
        with closing(SqliteDatabase(copy)) as database:
            revision, problem = database.revision() or "", database.check()
    except UnavailableError as error:
        raise InvalidInputError(f"{copy} cannot be restored: {error.message}", hint=_OTHER) from error
    if problem != "ok" or not revision:
        raise InvalidInputError(f"{copy} is damaged or empty: {problem}.", hint=_OTHER)
    if revision > HEAD:
        raise InvalidInputError(f"{copy} was written by a newer Panorama ({revision}).", hint="Upgrade Panorama first.")
    if wrong := foreign_rows.find_invalid(copy.resolve()):
        raise InvalidInputError(f"{copy} is damaged: {wrong}.", hint=_OTHER)


def replace_database(copy: Path, database: Path, now: datetime, *, is_own: bool) -> Replacement:
    """Replace the database by a copy while it is not open.

    Args:
        is_own: Whether this data directory made the copy; otherwise what was approved in it is withdrawn.

    Raises:
        UnavailableError: The disk is full or the folder cannot be written; the present file is where it was.
    """
    fresh = database.with_name("restored.db")
    try:
        with closing(SqliteDatabase(copy)) as source:
            source.copy_to(fresh)
        withdrawn = make_replacement(fresh, now, is_own=is_own)
        aside = _move_aside(database, now)
        os.replace(fresh, database)
    except OSError as error:
        raise UnavailableError(
            f"{copy} cannot be put in place: {error.strerror}.", hint="Free some space, and check the folder's owner."
        ) from error
    finally:
        for ending in SUFFIXES:
            with suppress(OSError):
                fresh.with_name(fresh.name + ending).unlink(missing_ok=True)
    return Replacement(str(aside or ""), withdrawn)


def _move_aside(database: Path, now: datetime) -> Path | None:
    """Move the present file and its log to the backups, in any state."""
    if not database.exists():
        return None
    folder = database.parent / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    aside = folder / f"replaced-{now:%Y%m%dT%H%M%SZ}.db"
    for ending in reversed(SUFFIXES):
        present = database.with_name(database.name + ending)
        if present.exists():
            shutil.move(present, aside.with_name(aside.name + ending))
    return aside
