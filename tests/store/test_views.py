"""Views: each shows the data as they are when it is opened, and none is left open, whatever happens in it."""

import contextvars
import os
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import ProgrammingError

from panorama.domain.changes import Origin
from panorama.errors import InvalidInputError
from panorama.store.sqlite.engine import SqliteDatabase

ORIGIN = Origin(actor="tool", client="tests", conversation="v_tests", operation="tests", call="c_tests", unit="c_tests")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    """A file with a table of five numbers."""
    database = SqliteDatabase(tmp_path / "panorama.db", busy_seconds=1)
    with database.transaction(ORIGIN) as session:
        session.connection.exec_driver_sql("CREATE TABLE numbers (number INTEGER)")
        for number in range(5):
            session.connection.exec_driver_sql("INSERT INTO numbers VALUES (?)", (number,))
    yield database
    database.close()


def write(database: SqliteDatabase) -> None:
    with database.transaction(ORIGIN) as session:
        session.connection.exec_driver_sql("INSERT INTO numbers VALUES (5)")


def counted(database: SqliteDatabase) -> int:
    with database.reading() as session:
        return session.connection.exec_driver_sql("SELECT count(*) FROM numbers").scalar_one()


def open_files(database: SqliteDatabase) -> int:
    paths = (Path(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd"))
    return sum(path.is_symlink() and os.readlink(path) == str(database.path) for path in paths)


def fail_halfway(opened: Callable[[], Any]) -> InvalidInputError:
    """Read a result to its half, fail there, and return the error, which holds on to the result."""
    try:
        with opened() as session:
            result = session.connection.exec_driver_sql("SELECT number FROM numbers")
            result.fetchone()
            raise InvalidInputError("No.")
    except InvalidInputError as error:
        return error


def test_what_failed_halfway_shows_the_next_reader_nothing_old(database: SqliteDatabase) -> None:
    kept = fail_halfway(database.reading)
    write(database)

    assert counted(database) == 6
    assert kept.__traceback__


def test_a_result_that_is_kept_shows_the_next_reader_nothing_old(database: SqliteDatabase) -> None:
    with database.reading() as session:
        kept = session.connection.exec_driver_sql("SELECT number FROM numbers")
        kept.fetchone()
    write(database)

    assert counted(database) == 6
    with pytest.raises(ProgrammingError, match="closed cursor"):
        kept.fetchone()


def test_a_refusal_costs_no_connection(database: SqliteDatabase) -> None:
    counted(database)
    (idle,) = database._views._idle

    fail_halfway(database.reading)

    assert database._views._idle == [idle]


def test_what_failed_halfway_does_not_keep_the_next_writer_from_writing(database: SqliteDatabase) -> None:
    kept = fail_halfway(lambda: database.transaction(ORIGIN))
    with sqlite3.connect(database.path) as other:
        other.execute("INSERT INTO numbers VALUES (6)")
    other.close()

    write(database)

    assert counted(database) == 7
    assert kept.__traceback__


class SlowList(list[Any]):
    """Lets something happen before anything is put into it."""

    meanwhile: Callable[[], None]

    def append(self, item: Any) -> None:
        """Put something in, after something else happened."""
        self.meanwhile()
        super().append(item)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads the list of open files in /proc")
def test_a_view_that_is_left_while_the_store_closes_is_closed(database: SqliteDatabase) -> None:
    closer = threading.Thread(target=database.close)
    idle = SlowList()
    idle.meanwhile = lambda: (closer.start(), closer.join(), None)[-1]
    database.close()
    database._views._closed = False
    database._views._idle = idle

    assert counted(database) == 5

    assert open_files(database) == 0


def test_a_view_that_is_left_in_another_context_is_given_back(database: SqliteDatabase) -> None:
    def read() -> Generator[None]:
        with database.reading() as session:
            session.connection.exec_driver_sql("SELECT 1").all()
            yield

    counted(database)
    reading = read()
    contextvars.copy_context().run(next, reading)

    with pytest.raises(ValueError, match="different Context"):
        reading.close()

    assert database._engine.pool.checkedout() == len(database._views._idle)


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


@pytest.mark.parametrize(("leaves", "seconds"), [(True, 60.0), (False, 0.0)], ids=["nobody waits", "takes too long"])
def test_a_read_that_takes_too_long_or_that_nobody_waits_for_is_stopped(
    database: SqliteDatabase, leaves: bool, seconds: float
) -> None:
    with (
        database.limit_reads(lambda: leaves, seconds),
        pytest.raises(InvalidInputError, match="longer than 10 s"),
        database.reading() as session,
    ):
        session.connection.exec_driver_sql(ENDLESS)


def test_a_write_that_nobody_waits_for_is_stopped_and_leaves_nothing(database: SqliteDatabase) -> None:
    def write() -> None:
        with database.transaction(ORIGIN) as session:
            session.connection.exec_driver_sql("CREATE TABLE half (n)")
            session.connection.exec_driver_sql(ENDLESS)

    with database.limit_reads(lambda: True, 60.0), pytest.raises(InvalidInputError, match="was stopped"):
        write()

    with database.reading() as session:
        assert session.connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE name = 'half'").all() == []


def test_a_limit_inside_another_one_adds_to_it(database: SqliteDatabase) -> None:
    with (
        database.limit_reads(lambda: True, 60.0),
        database.limit_reads(lambda: False, 60.0),
        pytest.raises(InvalidInputError, match="was stopped"),
        database.reading() as session,
    ):
        session.connection.exec_driver_sql(ENDLESS)


def test_a_connection_has_no_limit_after_the_call_that_had_one(database: SqliteDatabase) -> None:
    with database.limit_reads(lambda: False, 60.0), database.reading() as session:
        session.connection.exec_driver_sql("SELECT 1").all()
    counted = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 99999) SELECT count(*) FROM n"

    with database.limit_reads(lambda: True, 60.0):
        pass
    with database.reading() as session:
        assert session.connection.exec_driver_sql(counted).scalar_one() == 99_999
