"""Many rows at once: they stand in the database just as SQLAlchemy's own insert writes them."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import JSON, Boolean, Column, Connection, Float, Integer, LargeBinary, MetaData, Table, Text, insert
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError

from panorama.domain.changes import Origin
from panorama.store import bulk_writes
from panorama.store.column_types import DeadlineText, TagList, Utc
from panorama.store.sqlite.engine import SqliteDatabase

ORIGIN = Origin(actor="tool", client="tests", conversation="v_tests", operation="tests", call="c_tests", unit="c_tests")
METADATA = MetaData()
TYPES = (
    Integer(),
    Text(),
    Boolean(),
    JSON(),
    JSON(none_as_null=True),
    Utc(),
    DeadlineText(),
    TagList(),
    LargeBinary(),
    Float(),
)
NAMES = tuple(f"column_{number}" for number in range(len(TYPES)))


def table(name: str) -> Table:
    """Return a table with a column of each type, in which a number is unique."""
    columns = [Column(item, kind, nullable=True) for item, kind in zip(NAMES, TYPES, strict=True)]
    return Table(name, METADATA, Column("key", Integer, unique=True), *columns)


OURS, THEIRS = table("ours"), table("theirs")
NOON = datetime(2026, 5, 20, 12, 0, 0, 123, timezone(timedelta(hours=2)))
ROWS: list[tuple[Any, ...]] = [
    (1, 7, "Tea\n花", True, {"a": [1, None, "ä"]}, [], NOON, date(2026, 5, 31), ("tea", "jam"), b"\x00\xff", 1.5),
    (2, 0, "", False, None, None, NOON.astimezone(UTC), NOON.astimezone(UTC), (), b"", 0.0),
    (3, *[None] * len(TYPES)),
]


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A file with both tables, in a transaction."""
    database = SqliteDatabase(tmp_path / "panorama.db")
    with database.transaction(ORIGIN) as session:
        METADATA.create_all(session.connection)
        yield session.connection
    database.close()


def read_stored(connection: Connection, name: str) -> list[tuple[Any, ...]]:
    """Return what stands in a table, as it is in the file, with its types there."""
    types = ", ".join(f"typeof({item}), {item}" for item in NAMES)
    return [tuple(row) for row in connection.exec_driver_sql(f'SELECT "key", {types} FROM {name} ORDER BY "key"')]


def test_rows_are_as_if_each_were_inserted_by_sqlalchemy(connection: Connection) -> None:
    bulk_writes.insert_rows(connection, OURS, ("key", *NAMES), ROWS)

    connection.execute(insert(THEIRS), [dict(zip(("key", *NAMES), row, strict=True)) for row in ROWS])
    assert read_stored(connection, "ours") == read_stored(connection, "theirs")
    assert len(read_stored(connection, "ours")) == len(ROWS)


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 200])
def test_any_number_of_rows_is_written_whole_and_in_order(connection: Connection, count: int) -> None:
    rows = [(number, f"Tea {number}") for number in range(count, 0, -1)]

    bulk_writes.insert_rows(connection, OURS, ("key", "column_1"), rows)

    found = connection.exec_driver_sql('SELECT "key", column_1 FROM ours ORDER BY rowid').all()
    assert [tuple(row) for row in found] == rows


def test_columns_come_in_any_order_and_those_that_are_not_named_stay_empty(connection: Connection) -> None:
    bulk_writes.insert_rows(connection, OURS, ("column_1", "key"), [("Tea", 1), ("Jam", 2)])

    found = connection.exec_driver_sql('SELECT "key", column_1, column_2 FROM ours ORDER BY "key"').all()
    assert [tuple(row) for row in found] == [(1, "Tea", None), (2, "Jam", None)]


def test_a_row_that_is_there_is_refused_or_passed_over_as_is_asked(connection: Connection) -> None:
    bulk_writes.insert_rows(connection, OURS, ("key", "column_1"), [(1, "Tea")])

    bulk_writes.insert_rows(connection, OURS, ("key", "column_1"), [(1, "Jam"), (2, "Plum")], skip_existing=True)

    with pytest.raises(DBAPIError, match="UNIQUE"):
        bulk_writes.insert_rows(connection, OURS, ("key", "column_1"), [(1, "Jam")])
    found = connection.exec_driver_sql('SELECT column_1 FROM ours ORDER BY "key"').scalars()
    assert list(found) == ["Tea", "Plum"]


def test_no_rows_are_nothing(connection: Connection) -> None:
    bulk_writes.insert_rows(connection, OURS, ("key",), [])

    assert read_stored(connection, "ours") == []


def test_a_driver_that_takes_names_is_refused() -> None:
    class Asked:
        """A connection whose driver has names for its parameters."""

        dialect = sqlite.dialect(paramstyle="named")

    with pytest.raises(ValueError, match="does not take parameters by their places"):
        bulk_writes.insert_rows(cast("Any", Asked()), OURS, ("key",), [(1,)])
