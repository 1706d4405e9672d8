"""Copies the database by SQLite's online backup while others write."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from panorama.store.backend import ProgressCallback, noop
from panorama.store.disk import sync

PAGES = 256
"""Pages that are copied in one step: 1 MB, a thousandth of a second."""


def copy_database(
    connection: Connection, target: Path, progress: ProgressCallback = noop, *, portion: int = PAGES
) -> None:
    """Write what a transaction sees to a new file, in steps; others write meanwhile.

    Each portion, in pages, is written to the disk before the next is begun: whoever writes waits for the disk too.

    SQLite's online backup begins anew whenever somebody else writes between two of its steps. Inside a transaction
    it does not: what is copied is what the transaction saw first. The log grows meanwhile by what is written.
    """
    source: Any = connection.connection.dbapi_connection
    source.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on the transaction sees one state
    page_bytes = source.execute("PRAGMA page_size").fetchone()[0]
    with _create_file(target) as written, closing(sqlite3.connect(target)) as copy:
        unwritten = 0

        def report(_status: int, remaining: int, total: int) -> None:
            nonlocal unwritten
            unwritten += PAGES
            if unwritten >= portion:
                unwritten = 0
                sync(written)
            progress((total - remaining) * page_bytes, total * page_bytes)

        source.backup(copy, pages=PAGES, progress=report)


@contextmanager
def _create_file(path: Path) -> Generator[int]:
    """Make a file for its owner alone; it stays open until SQLite has closed it: closing one drops SQLite's locks."""
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield number
    finally:
        os.close(number)
