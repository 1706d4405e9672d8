"""Table rows as JSON lines: which tables hold user data, and how their values are encoded and decoded.

Values are exported exactly as the database stores them, so a row that was exported and imported again is identical.
The
manifest says how each column is encoded, so every later version can read an export.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from sqlalchemy import JSON, Boolean, Column, LargeBinary, func, select

from panorama.domain.text.json_types import is_object
from panorama.store.backend import Session
from panorama.store.column_types import TagList, Utc
from panorama.store.tables import metadata

DERIVED_TABLES = frozenset({"edges", "search_parts", "passages", "vectors", "marks", "daemons"})
"""Tables that are not exported, because they are rebuilt when the data is opened."""

FOREIGN_TABLES = frozenset({"alembic_version"})
MAX_LINE_BYTES = 256 << 20
"""The longest row: 10 MB of text with every character escaped."""

BATCH_ROWS = 500
"""Rows read or written at once."""

STORED_KEY = "$stored"
"""Marks a value that the encoding of its column would not restore exactly."""

Line = Mapping[str, Any]


def list_tables() -> list[str]:
    """Return the names of the tables with user data, referenced tables first."""
    return [table.name for table in metadata.sorted_tables if table.name not in DERIVED_TABLES]


def list_column_forms(name: str) -> dict[str, str]:
    """Return the encoding of each column: plain, flag, moment, words, json or bytes."""
    return {column.name: _form(column) for column in metadata.tables[name].c}


def _form(column: Column[Any]) -> str:
    forms = {Utc: "moment", TagList: "words", Boolean: "flag", JSON: "json", LargeBinary: "bytes"}
    return next((form for kind, form in forms.items() if isinstance(column.type, kind)), "plain")


def count_rows(session: Session) -> dict[str, int]:
    """Count the rows of each table."""
    sizes = ((name, select(func.count()).select_from(metadata.tables[name])) for name in list_tables())
    return {name: session.connection.execute(size).scalar_one() for name, size in sizes}


def find_unlisted_table(tables: Iterable[str], names: Collection[str]) -> str:
    """Return a table that is neither exported nor derived; "" if there is none."""
    known = {*names, *DERIVED_TABLES, *FOREIGN_TABLES}
    return next((table for table in tables if table not in known), "")


def list_sequences(session: Session) -> dict[str, int]:
    """Return the last generated number of each table that has them."""
    numbers = session.dialect.list_sequences(session)
    return {name: last for name, last in numbers.items() if name not in DERIVED_TABLES}


def iter_rows(session: Session, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as plain values, in key order."""
    forms = list_column_forms(name)
    for row in session.dialect.iter_stored_rows(session, metadata.tables[name]):
        yield {column: encode(form, value) for (column, form), value in zip(forms.items(), row, strict=True)}


def iter_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file.

    Raises:
        ValueError: A line is longer than any row.
    """
    while line := file.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            raise ValueError(f"{MAX_LINE_BYTES >> 20} MB without an end of line")
        yield line


def encode_line(row: Line) -> bytes:
    """Return a row as a line."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def encode(form: str, stored: Any) -> Any:
    """Encode a stored value for an export."""
    if stored is None or form == "plain":
        return stored
    value = _ENCODERS[form](stored)
    return value if _DECODERS[form](value) == stored else {STORED_KEY: stored}


def decode(form: str, value: Any) -> Any:
    """Decode an exported value to its stored form."""
    if value is None or form == "plain":
        return value
    if is_object(value) and set(value) == {STORED_KEY}:
        return value[STORED_KEY]
    return _DECODERS[form](value)


def _parse_json(stored: Any) -> Any:
    try:
        return json.loads(stored)
    except (TypeError, ValueError):
        return None


_ENCODERS: Mapping[str, Callable[[Any], Any]] = {
    "flag": bool,
    "moment": lambda stored: f"{str(stored).replace(' ', 'T')}Z",
    "words": lambda stored: str(stored).strip("\n").split("\n") if stored else [],
    "json": _parse_json,
    "bytes": lambda stored: b64encode(stored).decode(),
}
_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "flag": int,
    "moment": lambda value: str(value).removesuffix("Z").replace("T", " "),
    "words": lambda value: "\n" + "\n".join(value) + "\n" if value else "",
    "json": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    "bytes": b64decode,
}


def decode_row(forms: Mapping[str, str], row: Line) -> list[Any]:
    """Decode the values of a row to their stored form."""
    return [decode(form, row[name]) for name, form in forms.items()]
