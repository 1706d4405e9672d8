"""Rows as lines of JSON: which tables are a person's own, how their values are written, and how they come back.

Values are read and written as the database holds them, so that a row that went out and came back is the same, byte by
byte. How each column is written stands in the manifest; so an export is read the same by every later version.
"""

import json
import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Boolean, Column, LargeBinary, func, select, text

from panorama.domain.plain import is_object
from panorama.store.causes import translated
from panorama.store.column_types import Utc, Words
from panorama.store.engine import Session
from panorama.store.tables import metadata

DERIVED = frozenset({"search_parts", "passages", "vectors", "marks"})
"""Tables that are made again from the others; no export holds them."""

OF_OTHERS = frozenset({"alembic_version"})
WORDS = "search_words"
"""How the tables of the index of words begin; SQLite makes them."""

ROWS = 500
"""Rows that are read or written at once."""

AS_STORED = "$stored"
"""Marks a value that its column's own form would not bring back exactly."""

Line = Mapping[str, Any]

_OF_THE_DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def tables() -> list[str]:
    """Return the names of the tables that are a person's own, those that others refer to first."""
    return [table.name for table in metadata.sorted_tables if table.name not in DERIVED]


def columns(name: str) -> dict[str, str]:
    """Return how the value of each column of a table is written: plain, flag, moment, words, json or bytes."""
    return {column.name: _form(column) for column in metadata.tables[name].c}


def _form(column: Column[Any]) -> str:
    forms = {Utc: "moment", Words: "words", Boolean: "flag", JSON: "json", LargeBinary: "bytes"}
    return next((form for kind, form in forms.items() if isinstance(column.type, kind)), "plain")


def counts(session: Session) -> dict[str, int]:
    """Return how many rows each of these tables has."""
    sizes = ((name, select(func.count()).select_from(metadata.tables[name])) for name in tables())
    return {name: session.connection.execute(size).scalar_one() for name, size in sizes}


def counted(path: Path, names: Iterable[str]) -> dict[str, int]:
    """Return how many rows some tables of a database that nobody writes have; -1 for one that is not there."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as file:
        return {name: _size(file, name) for name in names}


def uncounted(path: Path, names: Collection[str]) -> str:
    """Return a table of a database, other than those that are made again, that is not among some; "" if all are."""
    known = {*names, *DERIVED, *OF_OTHERS}
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as file:
        found = [str(row[0]) for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
    return next((each for each in found if each not in known and not each.startswith(("sqlite_", WORDS))), "")


def _size(file: sqlite3.Connection, name: str) -> int:
    try:
        return int(file.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])
    except sqlite3.Error:
        return -1


def sequences(session: Session) -> dict[str, int]:
    """Return the last number that each table with numbers of its own gave."""
    found = session.connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence").all()
    return {row[0]: row[1] for row in found if row[0] not in DERIVED}


def each(session: Session, name: str) -> Iterator[dict[str, Any]]:
    """Give the rows of a table as plain values, in the order of their keys."""
    forms = columns(name)
    key = ", ".join(f'"{column.name}"' for column in metadata.tables[name].primary_key.columns)
    names = ", ".join(f'"{column}"' for column in forms)
    statement = text(f'SELECT {names} FROM "{name}" ORDER BY {key}').execution_options(yield_per=ROWS)
    for row in session.connection.execute(statement):
        yield {column: plain(form, value) for (column, form), value in zip(forms.items(), row, strict=True)}


def line(row: Line) -> bytes:
    """Return a row as a line."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def plain(form: str, stored: Any) -> Any:
    """Return a stored value as an export writes it."""
    if stored is None or form == "plain":
        return stored
    told = _TOLD[form](stored)
    return told if _STORED[form](told) == stored else {AS_STORED: stored}


def stored(form: str, told: Any) -> Any:
    """Return the value that an export tells, as the database holds it."""
    if told is None or form == "plain":
        return told
    if is_object(told) and set(told) == {AS_STORED}:
        return told[AS_STORED]
    return _STORED[form](told)


def _json(stored: Any) -> Any:
    try:
        return json.loads(stored)
    except (TypeError, ValueError):
        return None


_TOLD: Mapping[str, Callable[[Any], Any]] = {
    "flag": bool,
    "moment": lambda stored: f"{str(stored).replace(' ', 'T')}Z",
    "words": lambda stored: str(stored).strip("\n").split("\n") if stored else [],
    "json": _json,
    "bytes": lambda stored: b64encode(stored).decode(),
}
_STORED: Mapping[str, Callable[[Any], Any]] = {
    "flag": int,
    "moment": lambda told: str(told).removesuffix("Z").replace("T", " "),
    "words": lambda told: "\n" + "\n".join(told) + "\n" if told else "",
    "json": lambda told: json.dumps(told, ensure_ascii=False, separators=(",", ":")),
    "bytes": b64decode,
}


class Loading:
    """Fills the tables of a new database that nobody else has open."""

    def __init__(self, path: Path) -> None:
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute("PRAGMA synchronous=OFF")  # it is thrown away if anything fails
        self._file.execute("PRAGMA foreign_keys=OFF")  # checked when all is there

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def load(self, name: str, forms: Mapping[str, str], told: Iterable[bytes], moved: Callable[[int], None]) -> int:
        """Fill a table from its lines and return how many there were.

        Raises:
            ValueError: A line or a column is not what the table takes.
            UnavailableError: The disk is full, or cannot be written.
        """
        if not all(each.isidentifier() for each in (name, *forms)):
            raise ValueError(f"{name!r} is no table that an export has")
        names = ", ".join(f'"{column}"' for column in forms)
        statement = f'INSERT INTO "{name}" ({names}) VALUES ({", ".join("?" * len(forms))})'
        lines, count = iter(told), 0
        try:
            while some := list(islice(lines, ROWS)):
                self._file.execute("BEGIN")
                self._file.executemany(statement, [_values(forms, json.loads(each)) for each in some])
                self._file.execute("COMMIT")
                count += len(some)
                moved(sum(map(len, some)))
        except (sqlite3.Error, KeyError, TypeError, AttributeError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_DISK:
                with translated():
                    raise
            raise ValueError(f"{name}: {error}") from error
        return count

    def continue_(self, numbers: Mapping[str, int]) -> None:
        """Let tables give their next number where they were."""
        for name, last in numbers.items():
            self._file.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            self._file.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))


def _values(forms: Mapping[str, str], told: Line) -> list[Any]:
    return [stored(form, told[name]) for name, form in forms.items()]
