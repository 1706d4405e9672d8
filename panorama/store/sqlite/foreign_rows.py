"""Validates a database from an untrusted source: no triggers or views, and every value fits its column."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any, get_args
from zoneinfo import ZoneInfo

from sqlalchemy import JSON, Boolean, Column, Date, Float, Integer, LargeBinary, Table
from sqlalchemy.dialects import sqlite

from panorama.domain.items.choices import ProjectStatus, RepeatFrom, TaskStatus
from panorama.domain.items.events import EventStatus
from panorama.domain.items.files import validate_file_name
from panorama.domain.items.sessions import SessionKind
from panorama.domain.text.json_types import is_nested_deeper, is_object
from panorama.domain.time.recurrence import validate_stored_rule
from panorama.errors import InvalidInputError
from panorama.store.column_types import DeadlineText, Utc
from panorama.store.tables import HEAD, marks, metadata

MAX_INTEGER = 1 << 53
"""The largest number in a copy that this data directory made."""

MAX_FOREIGN_INTEGER = 1 << 52
"""The largest number in any other copy, so that those in copies of the restored data have room to grow."""

MAX_JSON_DEPTH = 200
"""How deep JSON may be nested; that of calls may be half as deep."""

MAX_TEXT_CHARS = 64 << 20
YEARS = range(1000, 9000)
"""The years that every time zone can show."""

_CHOICES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("projects", "status"): get_args(ProjectStatus),
    ("tasks", "status"): get_args(TaskStatus),
    ("tasks", "repeat_from"): get_args(RepeatFrom),
    ("events", "status"): get_args(EventStatus),
    ("sessions", "kind"): get_args(SessionKind),
}
_CHAINS = (("tasks", "parent"), ("people", "manager"))
"""Columns that name another row of the same table, without circles."""

_RANKS = (("projects", "rank"), ("tasks", "rank"))
"""Columns of numbers that users choose: any of 64 bits, because nothing is added to them."""

_OBJECTS = frozenset({"before", "after", "properties"})
"""Columns of JSON that are objects."""

_VIRTUAL_TABLES = frozenset({"search_words", "search_words_vocabulary", "search_words_places"})
_DIGEST_CHARS = 64
_LONG_NUMBER = re.compile(r"[0-9]{4000}")


def find_invalid(path: Path, *, is_own: bool = False) -> str:
    """Return the first thing in a database that Panorama would not create; "" if there is none.

    Args:
        is_own: Whether the present data directory made it.
    """
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
        copy.execute("PRAGMA trusted_schema=OFF")
        try:
            most = MAX_INTEGER if is_own else MAX_FOREIGN_INTEGER
            return find_foreign_object(copy) or next(_iter_invalid(copy, most), "")
        except (sqlite3.Error, ValueError) as error:
            return str(error)
        except RecursionError:
            return "a value is nested too deep"


def find_foreign_object(copy: sqlite3.Connection) -> str:
    """Return a trigger, view or virtual table that Panorama does not create; "" if there is none."""
    for kind, name, sql in copy.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name"):
        is_virtual = "VIRTUAL" in str(sql).upper().split("(")[0]
        if kind in ("trigger", "view") or (is_virtual and name not in _VIRTUAL_TABLES):
            return f"it holds the {'virtual table' if is_virtual else kind} {name}, which Panorama does not create"
        if kind == "table" and not is_virtual and (column := _find_generated_column(copy, name)):
            return f"the column {column} of the table {name} is computed, which Panorama does not create"
    return ""


def _find_generated_column(copy: sqlite3.Connection, table: str) -> str:
    """Return a column whose values SQLite computes when it is read, however long they are; "" if there is none."""
    rows = copy.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden IN (2, 3)", (table,))
    return str((rows.fetchone() or ("",))[0])


def find_invalid_value(copy: sqlite3.Connection, most: int = MAX_INTEGER) -> str:
    """Return the first sequence or column with a value that does not fit; "" if there is none.

    SQLite compares the values, in about the time of an integrity check.

    Args:
        most: The largest number of a row.
    """
    copy.create_function("is_python_json", 2, _is_python_json, deterministic=True)
    return next(_iter_invalid_values(copy, most), "")


def _iter_invalid(copy: sqlite3.Connection, most: int) -> Iterator[str]:
    tables = _list_tables(copy)
    if _is_current(copy):  # older ones have fewer
        yield from (f"it lacks the table {name}" for name in metadata.tables if metadata.tables[name] not in tables)
    if wrong := find_invalid_value(copy, most):
        yield wrong
    for table in tables:
        yield from _iter_undecodable_columns(copy, table)
        yield from _iter_deep_columns(copy, table)
        yield from _iter_unreadable_columns(copy, table)
    if any(table.name == "files" for table in tables):
        yield from _iter_invalid_names(copy)
    yield from _iter_circles(copy)


def _is_current(copy: sqlite3.Connection) -> bool:
    return copy.execute("SELECT max(version_num) FROM alembic_version").fetchone() == (HEAD,)


def _list_tables(copy: sqlite3.Connection) -> list[Table]:
    """Return the tables that exist; an older database has fewer."""
    present = {str(row[0]) for row in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return [table for table in metadata.sorted_tables if table.name in present]


def _list_columns(copy: sqlite3.Connection, table: Table) -> list[Column[Any]]:
    present = {str(row[1]) for row in copy.execute(f'PRAGMA table_info("{table.name}")')}
    return [column for column in table.c if column.name in present]


def _iter_invalid_values(copy: sqlite3.Connection, most: int) -> Iterator[str]:
    for name, last in copy.execute("SELECT name, seq FROM sqlite_sequence"):
        if not isinstance(last, int) or not 0 <= last <= most:
            yield f"the sequence of {name} is {last}"
    for table in _list_tables(copy):
        columns = _list_columns(copy, table)
        if _has_invalid_value(copy, columns, most):  # reads the table once, not once for each column
            invalid = (column.name for column in columns if _has_invalid_value(copy, [column], most))
            yield from (f"the table {table.name} has an invalid value in {name}" for name in invalid)


def _has_invalid_value(copy: sqlite3.Connection, columns: Sequence[Column[Any]], most: int) -> bool:
    """Return whether a row has an invalid value in one of some columns of a table."""
    wrong = " OR ".join(f'("{column.name}" IS NOT NULL AND NOT ({_condition(column, most)}))' for column in columns)
    if not columns:
        return False
    return copy.execute(f'SELECT 1 FROM "{columns[0].table.name}" WHERE {wrong} LIMIT 1').fetchone() is not None


def _iter_undecodable_columns(copy: sqlite3.Connection, table: Table) -> Iterator[str]:
    """Yield the columns with a text that is not UTF-8, which SQLite itself does not check."""
    texts = [
        column
        for column in _list_columns(copy, table)
        if not isinstance(column.type, Boolean | Integer | Float | LargeBinary)
    ]
    if not _are_decodable(copy, texts):
        wrong = (column.name for column in texts if not _are_decodable(copy, [column]))
        yield from (f"the table {table.name} has an invalid value in {name}" for name in wrong)


def _are_decodable(copy: sqlite3.Connection, columns: Sequence[Column[Any]]) -> bool:
    if not columns:
        return True
    names = ", ".join(f'"{column.name}"' for column in columns)
    try:
        for _ in copy.execute(f'SELECT {names} FROM "{columns[0].table.name}"'):
            pass
    except sqlite3.OperationalError:
        return False
    return True


def _condition(column: Column[Any], most: int) -> str:
    """Return the condition for the valid values of a column, whose numbers are at most `most`."""
    name, kind = f'"{column.name}"', column.type
    if isinstance(kind, Boolean):
        return f"{name} IN (0, 1)"
    if choices := _CHOICES.get((column.table.name, column.name)):
        return f"{name} IN ({', '.join(map(repr, choices))})"
    if column.table is marks:  # derived; the number of a store is random
        return f"typeof({name}) = '{'integer' if isinstance(kind, Integer) else 'text'}'"
    if (column.table.name, column.name) in _RANKS:
        return f"typeof({name}) = 'integer'"
    if isinstance(kind, Integer):
        return f"typeof({name}) = 'integer' AND {name} BETWEEN -{most} AND {most}"
    if isinstance(kind, Float):
        return f"typeof({name}) IN ('integer', 'real') AND abs({name}) < 1e300"
    if isinstance(kind, LargeBinary):
        return f"typeof({name}) = 'blob'"
    text = f"typeof({name}) = 'text' AND length({name}) <= {MAX_TEXT_CHARS}"
    if isinstance(kind, JSON):
        is_wanted = f"json_type({name}) = 'object'" if column.name in _OBJECTS else "1"
        is_other = f"is_python_json({name}, {int(column.name in _OBJECTS)})"
        return f"{text} AND CASE WHEN json_valid({name}) THEN {is_wanted} ELSE {is_other} END"
    if column.name == "sha256":
        return f"{text} AND length({name}) = {_DIGEST_CHARS} AND {name} NOT GLOB '*[^0-9a-f]*'"
    if column.name == "id" or (column.name == "name" and column.table.name in ("scripts", "reviews")):
        return f"{text} AND {name} NOT GLOB '*[^a-z0-9_]*'"
    return text


def _is_python_json(value: str | bytes, must_be_object: int) -> bool:
    """Return whether a value is JSON with the numbers NaN and Infinity, which older notes may have in properties."""
    try:
        parsed: object = json.loads(value)
    except (ValueError, RecursionError):
        return False
    return is_object(parsed) or not must_be_object


def _iter_deep_columns(copy: sqlite3.Connection, table: Table) -> Iterator[str]:
    """Yield the columns with JSON that cannot be read or written again."""
    for column in _list_columns(copy, table):
        if isinstance(column.type, JSON):
            long = f'length("{column.name}") > {2 * MAX_JSON_DEPTH}'
            rows = copy.execute(f'SELECT "{column.name}" FROM "{table.name}" WHERE {long}')
            if any(_is_too_deep_or_long(row[0]) for row in rows):
                yield f"the table {table.name} has a value in {column.name} with too deep nesting or too many digits"


def _is_too_deep_or_long(text: str) -> bool:
    """Return whether JSON is nested too deep, or has a number with more digits than Python reads."""
    if text.count("[") + text.count("{") <= MAX_JSON_DEPTH and not _LONG_NUMBER.search(text):
        return False  # parsing takes five times as long
    try:
        return is_nested_deeper(json.loads(text), MAX_JSON_DEPTH)
    except (ValueError, RecursionError):
        return True


def _iter_unreadable_columns(copy: sqlite3.Connection, table: Table) -> Iterator[str]:
    """Yield the columns with an unreadable value: times, days, zones and rules."""
    for column in _list_columns(copy, table):
        read = _READERS.get(column.name) or _find_reader(column)
        if read is None:
            continue
        for (value,) in copy.execute(f'SELECT DISTINCT "{column.name}" FROM "{table.name}"'):
            if value and not _is_readable(value, read):
                yield f"the table {table.name} has an invalid value in {column.name}"


def _find_reader(column: Column[Any]) -> Callable[[Any], object] | None:
    """Return the parser for a column of times or days; None for other columns."""
    if isinstance(column.type, Utc | DeadlineText | Date):
        return column.type.dialect_impl(_DIALECT).result_processor(_DIALECT, None)
    return None


def _is_readable(value: Any, read: Callable[[Any], object]) -> bool:
    try:
        parsed = read(value)
    except (ValueError, TypeError, LookupError, OSError, OverflowError, InvalidInputError):
        return False
    return not isinstance(parsed, date) or parsed.year in YEARS


_DIALECT = sqlite.dialect()
_READERS: Mapping[str, Callable[[Any], object]] = {"zone": ZoneInfo, "recurrence": validate_stored_rule}
_PAST_NAMES = """
SELECT name, 'text' FROM files UNION
SELECT part.value, part.type FROM (
  SELECT "before" AS fields FROM changes WHERE kind = 'file' OR item GLOB 'f_*' UNION ALL
  SELECT "after" FROM changes WHERE kind = 'file' OR item GLOB 'f_*'
) AS history, json_each(history.fields) AS part WHERE part.key = 'name'
"""
"""The names of files, including those that an undo would restore; an object may hold a name twice."""


def _iter_circles(copy: sqlite3.Connection) -> Iterator[str]:
    for table, column in _CHAINS:
        try:
            above = dict(copy.execute(f"SELECT id, {column} FROM {table} WHERE {column} IS NOT NULL"))
        except sqlite3.OperationalError:
            continue  # older databases have no such column
        while above:
            way, at = set[str](), next(iter(above))
            while at in above:
                way.add(at)
                at = above.pop(at)
            if at in way:
                yield f"the {column} of a row of {table} is the row itself, or one below it"


def _iter_invalid_names(copy: sqlite3.Connection) -> Iterator[str]:
    for name, kind in copy.execute(_PAST_NAMES):
        if kind != "text":
            yield "the history of a file has a name that is not text"
            continue
        try:
            validate_file_name(name)
        except InvalidInputError as error:
            yield f"a file has a name that is a path or hides its type: {error.message}"
