"""Rows in the form in which SQLite stores them: read from PostgreSQL's tables, and written to them.

SQLite's stored forms are input forms of PostgreSQL too: 0 and 1 for a flag, ISO text for a time in UTC. JSON is read as
text, so that it stays the same byte by byte.
"""

import json
import marshal
import math
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier
from sqlalchemy import JSON, Boolean, Column, Date, Table

from panorama.domain.text.wording import pluralize
from panorama.store.column_types import Utc

BATCH_ROWS = 1000
"""Rows that are fetched at once."""

StoredRow = tuple[Any, ...]


def select_stored(driver: Connection[Any], table: Table, *, is_ordered: bool = False) -> Iterator[StoredRow]:
    """Yield the rows of a table in SQLite's stored form; needs an open transaction.

    Args:
        is_ordered: Whether in the order of the key; otherwise in any.
    """
    query = SQL("SELECT {} FROM {}").format(SQL(", ").join(map(_stored_form, table.c)), Identifier(table.name))
    if is_ordered:
        query += SQL(" ORDER BY ") + SQL(", ").join(Identifier(table.name, column.name) for column in table.primary_key)
    with driver.cursor(name=f"stored_{table.name}", binary=True) as cursor:
        cursor.itersize = BATCH_ROWS
        cursor.execute(query)
        yield from cursor


def _stored_form(column: Column[Any]) -> Composable:
    """Return the expression of a column's value in SQLite's stored form."""
    name, kind = Identifier(column.name), column.type
    if isinstance(kind, Utc):
        return SQL("to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')").format(name)
    if isinstance(kind, Date):
        return SQL("to_char({}, 'YYYY-MM-DD')").format(name)
    if isinstance(kind, JSON):
        return SQL("{}::text").format(name)
    return SQL("{}::integer").format(name) if isinstance(kind, Boolean) else name


def insert_stored(driver: Connection[Any], table: Table, rows: Iterable[StoredRow]) -> None:
    """Write rows in SQLite's stored form to a table by one COPY; the session's time zone must be UTC."""
    columns = SQL(", ").join(Identifier(column.name) for column in table.c)
    statement = SQL("COPY {} ({}) FROM STDIN").format(Identifier(table.name), columns)
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


class FiniteNumbers:
    """Replaces NaN and infinite numbers in JSON by null.

    Notes once accepted them as properties, and the history keeps them. SQLite stores any text, PostgreSQL JSON alone.
    """

    def __init__(self) -> None:
        self._count = 0
        """The number of values that were changed."""

    def replace(self, table: Table, rows: Iterable[StoredRow]) -> Iterable[StoredRow]:
        """Return the rows of a table in SQLite's stored form with finite numbers only."""
        places = [place for place, column in enumerate(table.c) if isinstance(column.type, JSON)]
        return (self._replace_in_row(row, places) for row in rows) if places else rows

    def describe(self) -> tuple[str, ...]:
        """Return a remark on what was changed, none if nothing was."""
        if not self._count:
            return ()
        values = pluralize(self._count, "value", "values")
        return (f"In {values}, NaN or infinite numbers became null: PostgreSQL cannot store them.",)

    def _replace_in_row(self, row: StoredRow, places: Iterable[int]) -> StoredRow:
        for place in places:
            text = row[place]
            if isinstance(text, str) and ("NaN" in text or "Infinity" in text):
                row = (*row[:place], self._replace_in_text(text), *row[place + 1 :])
        return row

    def _replace_in_text(self, text: str) -> str:
        constants: list[str] = []
        try:
            value = json.loads(text, parse_constant=constants.append, parse_float=_parse_finite)
        except (ValueError, RecursionError):
            return text  # the server refuses it
        if not constants:
            return text
        self._count += 1
        return json.dumps(value)


def _parse_finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


class RowDigest:
    """The number of some rows, and a digest of them that does not depend on their order."""

    def __init__(self) -> None:
        self._count = 0
        self._sum = 0

    def add_each(self, rows: Iterable[StoredRow]) -> Iterator[StoredRow]:
        """Yield rows in SQLite's stored form, and add each."""
        for row in rows:
            # marshal's format 0 depends on the values alone, and is written ten times as fast as a text
            self._sum += int.from_bytes(blake2b(marshal.dumps(row, 0), digest_size=16).digest())
            self._count += 1
            yield row

    @property
    def value(self) -> tuple[int, int]:
        """The number and the digest."""
        return self._count, self._sum % (1 << 128)
