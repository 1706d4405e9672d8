"""Copies of the database: one is put in the place of the present file, which is kept beside it."""

import os
import shutil
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from panorama.errors import InvalidInputError, UnavailableError
from panorama.store import jobs, passages
from panorama.store.engine import Database
from panorama.store.migrate import HEAD
from panorama.store.passages import INDEXER

ENDINGS = ("", "-wal", "-shm")
_OTHER = "Look into the folder backups for another copy."


def check(copy: Path) -> None:
    """Look whether a file can be the database.

    Raises:
        InvalidInputError: It is not there, damaged, another program's, or newer than this program.
    """
    if not copy.is_file():
        raise InvalidInputError(f"There is no file {copy}.", hint=_OTHER)
    try:
        with closing(Database(copy)) as database:
            revision, found = database.revision() or "", database.check()
    except UnavailableError as error:
        raise InvalidInputError(f"{copy} cannot be restored: {error.message}", hint=_OTHER) from error
    if found != "ok" or not revision:
        raise InvalidInputError(f"{copy} is damaged or empty: {found}.", hint=_OTHER)
    if revision > HEAD:
        raise InvalidInputError(f"{copy} was written by a newer Panorama ({revision}).", hint="Upgrade Panorama first.")


def put_in_place(copy: Path, database: Path, now: datetime) -> Path | None:
    """Make a copy the database, while nothing has it open; return where the present file was moved, if there was one.

    Raises:
        UnavailableError: The disk is full or the folder cannot be written; the present file is where it was.
    """
    fresh = database.with_name("restored.db")
    try:
        with closing(Database(copy)) as source:
            source.copy_to(fresh)
        settle(fresh, now)
        kept = _moved_aside(database, now)
        os.replace(fresh, database)
    except OSError as error:
        raise UnavailableError(
            f"{copy} cannot be put in place: {error.strerror}.", hint="Free some space, and check the folder's owner."
        ) from error
    finally:
        for ending in ENDINGS:
            with suppress(OSError):
                fresh.with_name(fresh.name + ending).unlink(missing_ok=True)
    return kept


def _moved_aside(database: Path, now: datetime) -> Path | None:
    """Move the present file with its log to the backups, whatever state it is in."""
    if not database.exists():
        return None
    folder = database.parent / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    kept = folder / f"replaced-{now:%Y%m%dT%H%M%SZ}.db"
    for ending in reversed(ENDINGS):
        present = database.with_name(database.name + ending)
        if present.exists():
            shutil.move(present, kept.with_name(kept.name + ending))
    return kept


def settle(copy: Path, now: datetime) -> None:
    """Let a copy that takes the place of the database not go on with the jobs of the original."""
    with closing(Database(copy)) as database, database.transaction(INDEXER) as session:
        jobs.leave_behind(session, now)


def part(copy: Path, now: datetime) -> None:
    """Let a copy be a store of its own beside the original.

    It goes on with none of its jobs, and forgets which index it was searched by, so that it gets one of its own: on a
    Qdrant server a store is known by its number; two stores with one number would write each other's vectors.
    """
    with closing(Database(copy)) as database, database.transaction(INDEXER) as session:
        passages.forget_indexes(session)
        jobs.leave_behind(session, now)
