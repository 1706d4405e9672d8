"""The private view of a dry run in PostgreSQL: copies of the tables that only its own connection sees."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy.exc import DBAPIError

from panorama.domain.changes import Origin
from panorama.domain.items.notes import Note
from panorama.errors import ScriptError, UnavailableError
from panorama.store.backend.scratch import Scratch
from panorama.store.items import rows

if TYPE_CHECKING:
    from panorama.store.postgres.engine import PostgresDatabase

pytestmark = pytest.mark.postgres

ORIGIN = Origin(actor="script", client="tests", conversation="v_tests", operation="tests", call="c_1", unit="x_1")
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)
TEMPORARY_TABLES = (
    "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname LIKE 'pg_temp%' AND c.relkind = 'r'"
)


@pytest.fixture(scope="module")
def opened_space(postgres_url: str) -> "Iterator[PostgresDatabase]":
    """A migrated space."""
    from tests.postgres.space import open_space

    with closing(open_space(postgres_url, "scratch_tables")) as opened:
        yield opened


@pytest.fixture
def database(opened_space: "PostgresDatabase") -> "Iterator[PostgresDatabase]":
    """A space with one note."""
    from tests.postgres.space import empty_space

    empty_space(opened_space)
    write(opened_space, 1)
    yield opened_space
    opened_space.close()


@pytest.fixture
def scratch(database: "PostgresDatabase", tmp_path: Path) -> Iterator[Scratch]:
    """A private view."""
    while count_temporary_tables(database):  # those of the test before, until the server notices its end
        time.sleep(0.01)
    created = database.create_scratch(tmp_path / "dry-runs" / "x_1")
    yield created
    created.close()


def write(database: "PostgresDatabase", number: int, **fields: Any) -> None:
    with database.transaction(ORIGIN) as session:
        rows.add(session, Note(id=f"n_{number:010}", created_at=NOW, updated_at=NOW, title=f"Note {number}", **fields))


def read(database: "PostgresDatabase", statement: str) -> list[Any]:
    with database.reading() as session:
        return [row[0] for row in session.connection.exec_driver_sql(statement)]


def list_titles(database: "PostgresDatabase") -> list[str]:
    return read(database, "SELECT title FROM notes ORDER BY id")


def count_temporary_tables(database: "PostgresDatabase") -> int:
    return read(database, TEMPORARY_TABLES.replace("%", "%%"))[0]


def test_a_dry_run_sees_its_own_writes_and_others_see_theirs(database: "PostgresDatabase", scratch: Scratch) -> None:
    with scratch.activate():
        write(database, 2)
    write(database, 3)

    with scratch.activate():
        inside = list_titles(database)
    assert (inside, list_titles(database)) == (["Note 1", "Note 2"], ["Note 1", "Note 3"])


def test_a_dry_run_that_only_reads_makes_no_copy(database: "PostgresDatabase", scratch: Scratch) -> None:
    with scratch.activate():
        titles = list_titles(database)

    assert (titles, scratch.is_written, count_temporary_tables(database)) == (["Note 1"], False, 0)


def test_the_copies_are_gone_when_the_run_ends(database: "PostgresDatabase", scratch: Scratch) -> None:
    with scratch.activate():
        write(database, 2)
        during = count_temporary_tables(database)

    scratch.close()

    assert during > 20
    while count_temporary_tables(database):  # the server drops them when it notices the end of the connection
        pass


def test_the_copies_have_the_keys_and_indexes_of_the_tables(database: "PostgresDatabase", scratch: Scratch) -> None:
    counted = (
        "SELECT (SELECT count(*) FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid WHERE t.relnamespace = {0} "
        "AND t.relname NOT IN ('contents', 'content_parts')) || ' indexes, ' || (SELECT count(*) "
        "FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid WHERE connamespace = {0} "
        "AND t.relname NOT IN ('contents', 'content_parts')) || ' constraints'"
    )

    with scratch.activate():
        write(database, 2)
        [copied] = read(database, counted.format("pg_my_temp_schema()"))

    assert [copied] == read(database, counted.format(f"'{database.schema}'::regnamespace"))


def test_a_copied_row_may_not_refer_to_a_missing_one(database: "PostgresDatabase", scratch: Scratch) -> None:
    with scratch.activate(), pytest.raises(DBAPIError, match="foreign key"):
        write(database, 2, project="p_0000000009")


def test_a_dry_run_goes_on_after_a_statement_that_failed(database: "PostgresDatabase", scratch: Scratch) -> None:
    with scratch.activate():
        write(database, 2)
        with pytest.raises(DBAPIError):
            write(database, 3, project="p_0000000009")
        write(database, 4)

        assert list_titles(database) == ["Note 1", "Note 2", "Note 4"]


def test_numbers_come_from_the_real_sequences(database: "PostgresDatabase", scratch: Scratch) -> None:
    with scratch.activate():
        write(database, 2)
        inside = read(database, "SELECT max(id) FROM changes")
    write(database, 3)

    assert read(database, "SELECT max(id) FROM changes") == [inside[0] + 1]


def test_a_lost_connection_ends_the_dry_run_and_writes_nothing(database: "PostgresDatabase", scratch: Scratch) -> None:
    with scratch.activate():
        write(database, 2)
        [number] = read(database, "SELECT pg_backend_pid()")
    with database.connect() as driver:
        driver.execute("SELECT pg_terminate_backend(%s, 5000)", (number,))

    with scratch.activate(), pytest.raises(UnavailableError, match="dry run"):
        write(database, 3)

    assert list_titles(database) == ["Note 1"]


def test_the_threads_of_a_dry_run_take_turns(database: "PostgresDatabase", scratch: Scratch) -> None:
    with scratch.activate(), ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(copy_context().run, write, database, number) for number in range(2, 12)]:
            done.result()
        inside = list_titles(database)

    assert (len(inside), list_titles(database)) == (11, ["Note 1"])


def test_a_copy_that_is_cancelled_leaves_nothing(database: "PostgresDatabase", tmp_path: Path) -> None:
    def stop() -> None:
        raise ScriptError("Nobody waits.")

    with closing(database.create_scratch(tmp_path / "x_1", stop)) as scratch:
        with scratch.activate(), pytest.raises(ScriptError, match="Nobody waits"):
            write(database, 2)

        assert (scratch.is_written, count_temporary_tables(database)) == (False, 0)
