"""Reads the header of the database file: whether it is a database, whether it is ours, and its size."""

import sqlite3
from contextlib import closing
from pathlib import Path

from panorama.store.sqlite.errors import translate_errors, unavailable_error

APPLICATION_ID = 0x50414E4F
"""Marks the file as ours (`PRAGMA application_id`): "PANO" in ASCII."""

_MAGIC, _HEAD_BYTES, _APPLICATION_ID_SLICE = b"SQLite format 3\0", 100, slice(68, 72)
"""SQLite's header (sqlite.org/fileformat2.html)."""


def is_ours(path: Path) -> bool:
    """Return whether a database is ours or has no tables yet, without changing a file of another program.

    After an interrupted first start, the first pages are in the log or missing; such a file is opened to decide.

    Raises:
        UnavailableError: It cannot be read, or is not a database.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise unavailable_error(sqlite3.SQLITE_CANTOPEN) from error
    if not head.startswith(_MAGIC):
        raise unavailable_error(sqlite3.SQLITE_NOTADB)
    owner = int.from_bytes(head[_APPLICATION_ID_SLICE])
    if owner:
        return owner == APPLICATION_ID
    mode = "mode=rw" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    with translate_errors(), closing(sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True)) as opened:
        is_empty = opened.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        return is_empty or opened.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID


def database_size_bytes(path: Path) -> int:
    """Return the size of a database file and its log."""
    return _file_size_bytes(path) + _file_size_bytes(path.with_name(f"{path.name}-wal"))


def _file_size_bytes(file: Path) -> int:
    """Return the size of a file, 0 if it does not exist, as the write-ahead log at times."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
