"""Checks copies of the database, and makes them independent stores."""

import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path

from panorama.domain.withdrawal import Withdrawn
from panorama.store.archive.withdrawing import delete_answers, withdraw_approvals
from panorama.store.backend import Session
from panorama.store.items.passages import INDEXER
from panorama.store.log import jobs, marks
from panorama.store.sqlite import foreign_rows
from panorama.store.sqlite.engine import SqliteDatabase
from panorama.store.sqlite.row_loader import RowLoader
from panorama.thread_priority import lower_thread_priority

ASK_SECONDS = 0.1
MAX_FINDINGS = 5
WORDS_PREFIX = "search_words"
"""The name prefix of the full-text tables."""


def create(path: Path) -> SqliteDatabase:
    """Open a file, perhaps a new one, without waiting for the disk: it is discarded if anything fails."""
    return SqliteDatabase(path, is_durable=False)


def open_loader(path: Path) -> RowLoader:
    """Open a new file to fill its tables."""
    return RowLoader(path)


def find_damage(path: Path, check_cancel: Callable[[], None]) -> str:
    """Return the damage or dangling references that SQLite finds in a copy; "" if there is none.

    Args:
        check_cancel: Called ten times a second; an exception that it raises ends the check at the next page.
    """
    with closing(open_readonly(path)) as copy:
        return _run_in_thread(lambda: _check_integrity(copy), copy, check_cancel)


def find_invalid(path: Path, *, is_own: bool = False) -> str:
    """Return the first thing in an untrusted copy that Panorama would not create; "" if there is none."""
    return foreign_rows.find_invalid(path, is_own=is_own)


def find_invalid_value(path: Path, check_cancel: Callable[[], None]) -> str:
    """Return the first value in a copy that a restore would refuse, among those that SQL finds; "" if there is none.

    Args:
        check_cancel: Called ten times a second; an exception that it raises ends the check.
    """
    with closing(open_readonly(path)) as copy:
        return _run_in_thread(lambda: _check_values(copy), copy, check_cancel)


def open_readonly(path: Path) -> sqlite3.Connection:
    """Open a copy for reading, without leaving a log beside it."""
    return sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def read_revision(path: Path) -> str:
    """Return the revision of a copy's schema, "" if it is not one of our databases."""
    try:
        with closing(open_readonly(path)) as copy:
            row = copy.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return ""
    return str(row[0]) if row else ""


def list_tables(path: Path) -> list[str]:
    """Return the tables of a copy, without SQLite's internal and full-text tables."""
    with closing(open_readonly(path)) as copy:
        names = [str(row[0]) for row in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
    return [name for name in names if not name.startswith(("sqlite_", WORDS_PREFIX))]


def count_rows(path: Path, names: Iterable[str]) -> dict[str, int]:
    """Return how many rows tables of a copy have; -1 for a missing one."""
    with closing(open_readonly(path)) as copy:
        return {name: _count_rows(copy, name) for name in names}


def _count_rows(copy: sqlite3.Connection, name: str) -> int:
    try:
        return int(copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])
    except sqlite3.Error:
        return -1


def _check_integrity(copy: sqlite3.Connection) -> str:
    try:
        results = [str(row[0]) for row in copy.execute(f"PRAGMA integrity_check({MAX_FINDINGS})")]
        if results != ["ok"]:
            return "; ".join(results).replace("\n", " ")
        loose = copy.execute("PRAGMA foreign_key_check").fetchone()
        return f"{loose[0]} has a row that refers to a missing one" if loose else ""
    except sqlite3.DatabaseError as error:
        return str(error)


def _check_values(copy: sqlite3.Connection) -> str:
    try:
        return foreign_rows.find_invalid_value(copy)
    except sqlite3.DatabaseError as error:
        return str(error)


def _run_in_thread(work: Callable[[], str], copy: sqlite3.Connection, check_cancel: Callable[[], None]) -> str:
    """Run slow work in a thread, so that this one can check for cancellation."""
    results: list[str] = []

    def look() -> None:
        lower_thread_priority()
        results.append(work())

    thread = threading.Thread(target=look, name="checking a copy")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(ASK_SECONDS)
            check_cancel()
    except BaseException:
        copy.interrupt()
        raise
    finally:
        thread.join()
    return results[0]


def make_replacement(path: Path, now: datetime, *, is_own: bool) -> Withdrawn:
    """Make a copy ready to replace the database: the original ran its jobs and answered its calls.

    Args:
        is_own: Whether this data directory made it; otherwise what was approved in it is withdrawn.
    """
    with closing(SqliteDatabase(path)) as database, database.transaction(INDEXER) as session:
        return _detach(session, now, is_own=is_own)


def make_independent(path: Path, now: datetime, *, is_own: bool) -> Withdrawn:
    """Make a copy an independent store: it resumes no jobs of the original and gets its own search index.

    On a Qdrant server a store is known by its number; two stores with one number would overwrite each other's vectors.

    Args:
        is_own: Whether this data directory made it; otherwise what was approved in it is withdrawn.
    """
    with closing(SqliteDatabase(path)) as database, database.transaction(INDEXER) as session:
        marks.reset_indexes(session)
        return _detach(session, now, is_own=is_own)


def _detach(session: Session, now: datetime, *, is_own: bool) -> Withdrawn:
    jobs.cancel_all(session, now)
    delete_answers(session)
    return Withdrawn() if is_own else withdraw_approvals(session)
