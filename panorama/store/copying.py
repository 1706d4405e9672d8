"""Copies of the database: how SQLite copies itself while others write, and how a copy is looked over."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from panorama.niceness import give_way

Told = Callable[[int, int], None]
"""Is told how many bytes of how many are done; what it raises ends the work."""

PAGES = 256
"""Pages that are copied in one step: 1 MB, a thousandth of a second."""

REST = 0.5
"""How long it rests after a portion was written to the disk, as a share of how long that took.

Who writes waits for the disk, too: 16 MB at once, without a rest, double what one write in a hundred waits (measured).
"""

ASK_SECONDS = 0.1
FINDINGS = 5


def silent(_done: int, _total: int) -> None:
    """Tell nobody."""


def copied(connection: Connection, target: Path, told: Told = silent, *, portion: int = PAGES) -> None:
    """Write what a transaction sees to a new file, in steps; others write meanwhile.

    Each portion, in pages, is written to the disk before the next is begun: whoever writes waits for the disk too.

    SQLite's online backup begins anew whenever somebody else writes between two of its steps. Inside a transaction
    it does not: what is copied is what the transaction saw first. The log grows meanwhile by what is written.
    """
    source: Any = connection.connection.dbapi_connection
    source.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on the transaction sees one state
    page_bytes = source.execute("PRAGMA page_size").fetchone()[0]
    with _descriptor(target) as written, closing(sqlite3.connect(target)) as copy:
        unwritten = 0

        def moved(_status: int, remaining: int, total: int) -> None:
            nonlocal unwritten
            unwritten += PAGES
            if unwritten >= portion:
                unwritten = 0
                sync(written)
            told((total - remaining) * page_bytes, total * page_bytes)

        source.backup(copy, pages=PAGES, progress=moved)


def sync(descriptor: int) -> None:
    """Write a file to the disk, and let others have their turn there."""
    begun = time.perf_counter()
    os.fsync(descriptor)
    time.sleep(REST * (time.perf_counter() - begun))


@contextmanager
def _descriptor(path: Path) -> Generator[int]:
    """Make a file for its owner alone; it stays open until SQLite has closed it: closing one drops SQLite's locks."""
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield number
    finally:
        os.close(number)


def found_wrong(path: Path, asked: Callable[[], None]) -> str:
    """Return what SQLite finds wrong with a copy that nobody writes: damage, or references to nothing; "" if nothing.

    Args:
        asked: Is called ten times a second; what it raises ends the look, at the next page.
    """
    with closing(opened(path)) as copy:
        return _beside(lambda: _looked(copy), copy, asked)


def opened(path: Path) -> sqlite3.Connection:
    """Open a copy that nobody writes, without leaving a log beside it."""
    return sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def revision(path: Path) -> str:
    """Return the revision of a copy's schema, "" if it is no database of ours."""
    try:
        with closing(opened(path)) as copy:
            row = copy.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return ""
    return str(row[0]) if row else ""


def _looked(copy: sqlite3.Connection) -> str:
    try:
        found = [str(row[0]) for row in copy.execute(f"PRAGMA integrity_check({FINDINGS})")]
        if found != ["ok"]:
            return "; ".join(found).replace("\n", " ")
        loose = copy.execute("PRAGMA foreign_key_check").fetchone()
        return f"{loose[0]} has a row that refers to a missing one" if loose else ""
    except sqlite3.DatabaseError as error:
        return str(error)


def _beside(work: Callable[[], str], copy: sqlite3.Connection, asked: Callable[[], None]) -> str:
    """Let a thread do what may take seconds, so that this one can be stopped meanwhile."""
    found: list[str] = []

    def look() -> None:
        give_way()
        found.append(work())

    thread = threading.Thread(target=look, name="looking over a copy")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(ASK_SECONDS)
            asked()
    except BaseException:
        copy.interrupt()
        raise
    finally:
        thread.join()
    return found[0]
