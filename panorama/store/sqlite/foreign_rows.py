"""Checks a database that may come from anywhere: nothing in it runs, and every value is of its column's type."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Boolean, Column, Float, Integer, LargeBinary, Table

from panorama.domain.items.files import validate_file_name
from panorama.errors import InvalidInputError
from panorama.store.tables import metadata

MAX_INTEGER = 1 << 53
"""The largest number of a row or a sequence: beyond, a table would have none left for its next row."""

MAX_TEXT_CHARS = 64 << 20
_DIGEST_CHARS = 64


def find_invalid(path: Path) -> str:
    """Return what in a database is not as Panorama makes it; "" if nothing is."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
        copy.execute("PRAGMA trusted_schema=OFF")
        try:
            return find_foreign_object(copy) or next(_iter_invalid(copy), "")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            return str(error)


def find_foreign_object(copy: sqlite3.Connection) -> str:
    """Return a trigger, a view or a virtual table that Panorama does not make; "" if there is none."""
    for kind, name, sql in copy.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name"):
        is_virtual = "VIRTUAL" in str(sql).upper().split("(")[0]
        if kind in ("trigger", "view") or (is_virtual and not str(name).startswith("search_")):
            return f"it holds the {'virtual table' if is_virtual else kind} {name}, which Panorama does not make"
    return ""


def _iter_invalid(copy: sqlite3.Connection) -> Iterator[str]:
    present = {str(row[0]) for row in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for name, last in copy.execute("SELECT name, seq FROM sqlite_sequence"):
        if not isinstance(last, int) or not 0 <= last <= MAX_INTEGER:
            yield f"the sequence of {name} is {last}"
    for table in metadata.sorted_tables:
        if table.name in present:
            yield from _iter_invalid_columns(copy, table)
    if "files" in present:
        yield from _iter_invalid_names(copy)


def _iter_invalid_columns(copy: sqlite3.Connection, table: Table) -> Iterator[str]:
    present = {str(row[1]) for row in copy.execute(f'PRAGMA table_info("{table.name}")')}
    for column in table.c:
        if column.name in present:
            wrong = f'"{column.name}" IS NOT NULL AND NOT ({_condition(column)})'
            row = copy.execute(f'SELECT 1 FROM "{table.name}" WHERE {wrong} LIMIT 1').fetchone()
            if row:
                yield f"the table {table.name} has a value in {column.name} that it cannot have"


def _condition(column: Column[Any]) -> str:
    """Return the condition that a column's values meet."""
    name, kind = f'"{column.name}"', column.type
    if isinstance(kind, Boolean):
        return f"{name} IN (0, 1)"
    if isinstance(kind, Integer):
        return f"typeof({name}) = 'integer' AND {name} BETWEEN -{MAX_INTEGER} AND {MAX_INTEGER}"
    if isinstance(kind, Float):
        return f"typeof({name}) IN ('integer', 'real')"
    if isinstance(kind, LargeBinary):
        return f"typeof({name}) = 'blob'"
    text = f"typeof({name}) = 'text' AND length({name}) <= {MAX_TEXT_CHARS}"
    if isinstance(kind, JSON):
        return f"{text} AND json_valid({name})"
    if column.name == "sha256":
        return f"{text} AND length({name}) = {_DIGEST_CHARS} AND {name} NOT GLOB '*[^0-9a-f]*'"
    if column.name == "id" or (column.name == "name" and column.table.name in ("scripts", "reviews")):
        return f"{text} AND {name} NOT GLOB '*[^a-z0-9_]*'"
    return text


def _iter_invalid_names(copy: sqlite3.Connection) -> Iterator[str]:
    for (name,) in copy.execute("SELECT name FROM files"):
        try:
            validate_file_name(name)
        except InvalidInputError as error:
            yield f"a file has a name that leads elsewhere or hides what it is: {error.message}"
