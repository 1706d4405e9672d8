"""The rows of an SQLite database as they are stored, table by table, for a database of another kind."""

import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Table

from panorama.store.tables import metadata, search_parts


class StoredPart(NamedTuple):
    """A part of the full text, with the words of its title and of its body."""

    id: int
    item: str
    kind: str
    digest: str
    title: str
    body: str


class StoredRows:
    """Reads rows through one connection, without converting them."""

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file

    def count(self) -> int:
        """Return how many rows all tables have together."""
        return sum(int(self._file.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in metadata.tables)

    def iter_table(self, table: Table) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table."""
        names = ", ".join(f'"{column.name}"' for column in table.c)
        return self._file.execute(f'SELECT {names} FROM "{table.name}"')

    def iter_parts(self) -> Iterator[StoredPart]:
        """Yield the parts of the full text in the order of their numbers."""
        rows = self._file.execute(
            f"SELECT p.id, p.item, p.kind, p.digest, w.title, w.body FROM {search_parts.name} AS p "
            "JOIN search_words AS w ON w.rowid = p.id ORDER BY p.id"
        )
        return map(StoredPart._make, rows)

    def read_sequences(self) -> dict[str, int]:
        """Return the last number that each table with generated numbers gave."""
        return dict(self._file.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
