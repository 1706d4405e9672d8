"""Fills the tables of a new SQLite file from lines of JSON."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from panorama.store.archive.jsonl import BATCH_ROWS, decode_row
from panorama.store.sqlite.errors import translate_errors

_OWN_PREFIXES = ("sqlite_", "search_words")
"""The name prefixes of SQLite's internal and full-text tables."""

_DISK_ERRORS = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


class RowLoader:
    """Fills the tables of a new database that is not open elsewhere."""

    def __init__(self, path: Path) -> None:
        self._file = sqlite3.connect(path.as_uri(), isolation_level=None, uri=True)
        self._file.execute("PRAGMA synchronous=OFF")  # the file is discarded on any error
        self._file.execute("PRAGMA foreign_keys=OFF")  # checked after loading

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def load(self, name: str, forms: Mapping[str, str], lines: Iterable[bytes], progress: Callable[[int], None]) -> int:
        """Fill a table from its lines and return how many there were.

        Raises:
            ValueError: A line or a column does not fit the table.
            UnavailableError: The disk is full, or cannot be written.
        """
        if not all(word.isidentifier() for word in (name, *forms)):
            raise ValueError(f"{name!r} is not a table of an export")
        names = ", ".join(f'"{column}"' for column in forms)
        statement = f'INSERT INTO "{name}" ({names}) VALUES ({", ".join("?" * len(forms))})'
        rest, count = iter(lines), 0
        try:
            while batch := list(islice(rest, BATCH_ROWS)):
                self._file.execute("BEGIN")
                self._file.executemany(statement, [decode_row(forms, json.loads(line)) for line in batch])
                self._file.execute("COMMIT")
                count += len(batch)
                progress(sum(map(len, batch)))
        except (sqlite3.Error, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            _raise_disk_error(error)
            raise ValueError(f"{name}: {error}") from error
        return count

    def insert(self, table: Table, rows: Iterable[Sequence[Any]]) -> None:
        """Fill a table with rows in stored form, given as the values of all columns.

        Raises:
            UnavailableError: The disk is full, or cannot be written.
        """
        names = ", ".join(f'"{column.name}"' for column in table.c)
        statement = f'INSERT INTO "{table.name}" ({names}) VALUES ({", ".join("?" * len(table.c))})'
        with translate_errors():
            self._file.execute("BEGIN")
            self._file.executemany(statement, rows)
            self._file.execute("COMMIT")

    def copy_tables(self, source: Path, *, without: Collection[str]) -> None:
        """Fill all tables but some with the rows that another database has in them; its schema is not taken.

        Raises:
            ValueError: A table is missing there or is none, or a row does not fit.
            UnavailableError: The disk is full, or cannot be written.
        """
        self._file.execute("PRAGMA trusted_schema=OFF")
        self._file.execute("ATTACH ? AS source", (f"{source.as_uri()}?mode=ro&immutable=1",))
        listed = self._file.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall()
        for name in (row[0] for row in listed if row[0] not in without and not row[0].startswith(_OWN_PREFIXES)):
            columns = ", ".join(f'"{row[1]}"' for row in self._file.execute(f'PRAGMA main.table_info("{name}")'))
            try:
                self._require_plain_table(name)
                self._file.execute(f'INSERT INTO main."{name}" ({columns}) SELECT {columns} FROM source."{name}"')
            except sqlite3.Error as error:
                _raise_disk_error(error)
                raise ValueError(f"{name}: {error}") from error
        self._file.execute("DETACH source")

    def _require_plain_table(self, name: str) -> None:
        query = "SELECT type, sql FROM source.sqlite_master WHERE name = ?"
        row = self._file.execute(query, (name,)).fetchone()
        if row is None or row[0] != "table" or "VIRTUAL" in str(row[1]).upper().split("(")[0]:
            raise ValueError(f"{name} is not a table")

    def set_sequences(self, numbers: Mapping[str, int]) -> None:
        """Set the last number of each table with generated numbers."""
        for name, last in numbers.items():
            self._file.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            self._file.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))


def _raise_disk_error(error: Exception) -> None:
    """Translate disk errors to errors for the user."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DISK_ERRORS:
        with translate_errors():
            raise error
