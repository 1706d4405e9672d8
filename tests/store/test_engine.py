"""Transactions: nested ones join, a failed one takes all back, and writers of one process never lose a write."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from panorama.domain.changes import Origin
from panorama.domain.items.notes import Note
from panorama.errors import UnavailableError
from panorama.store.items import rows
from panorama.store.migrate import migrate
from panorama.store.sqlite.engine import SqliteDatabase

ORIGIN = Origin(actor="tool", client="tests", conversation="v_tests", operation="tests", call="c_tests", unit="c_tests")
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    """An empty store without the services above it."""
    database = SqliteDatabase(tmp_path / "panorama.db", busy_seconds=5)
    migrate(database, backups=tmp_path / "backups", now=NOW)
    yield database
    database.close()


def note(number: int = 1, content: str = "") -> Note:
    return Note(id=f"n_{number:010}", created_at=NOW, updated_at=NOW, title=f"Note {number}", content=content)


def stored(database: SqliteDatabase) -> list[str]:
    with database.reading() as session:
        return [row[0] for row in session.connection.exec_driver_sql("SELECT id FROM notes ORDER BY id")]


def counted(database: SqliteDatabase, table: str) -> int:
    with database.reading() as session:
        return session.connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()


def test_a_transaction_inside_another_is_part_of_it(database: SqliteDatabase) -> None:
    with database.transaction(ORIGIN) as outer:
        rows.add(outer, note(1))
        with database.transaction(ORIGIN) as inner:
            rows.add(inner, note(2))
        assert inner is outer

    assert stored(database) == [note(1).id, note(2).id]


def test_a_failed_inner_transaction_takes_everything_back(database: SqliteDatabase) -> None:
    with suppress(KeyError), database.transaction(ORIGIN) as outer:
        rows.add(outer, note(1))
        with database.transaction(ORIGIN) as inner:
            rows.add(inner, note(2))
            raise KeyError

    assert stored(database) == []
    assert counted(database, "changes") == counted(database, "search_parts") == 0


def test_a_reading_inside_a_transaction_sees_what_it_wrote(database: SqliteDatabase) -> None:
    with database.transaction(ORIGIN) as session:
        rows.add(session, note(1))

        assert stored(database) == [note(1).id]


def test_a_write_inside_a_reading_is_a_mistake_of_ours(database: SqliteDatabase) -> None:
    with database.reading(), pytest.raises(RuntimeError, match="a write inside a read"), database.transaction(ORIGIN):
        pass


def test_a_reading_sees_one_state_whatever_is_written_meanwhile(database: SqliteDatabase) -> None:
    def write() -> None:
        with database.transaction(ORIGIN) as session:
            rows.add(session, note(1))

    with database.reading():
        assert stored(database) == []
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        assert stored(database) == []

    assert stored(database) == [note(1).id]


@pytest.mark.parametrize("connections", [1, 2], ids=["one process", "two connections as two processes have them"])
def test_two_threads_that_read_and_then_write_lose_nothing(database: SqliteDatabase, connections: int) -> None:
    databases = [database, database if connections == 1 else SqliteDatabase(database.path, busy_seconds=20)]
    with database.transaction(ORIGIN) as session:
        rows.add(session, note(1))

    def count_up(mine: SqliteDatabase) -> None:
        for _ in range(300):
            with mine.transaction(ORIGIN) as session:
                old: Note = rows.load(session, "note", note(1).id)
                rows.save(session, old, old.with_changes(NOW, content=old.content + "x"))

    threads = [threading.Thread(target=count_up, args=(database_,)) for database_ in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    databases[1].close()

    with database.reading() as session:
        kept: Note = rows.load(session, "note", note(1).id)
    assert (len(kept.content), kept.version) == (600, 601)
    assert counted(database, "changes") == 601


def test_a_writer_that_waits_too_long_for_another_thread_is_told(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "panorama.db", busy_seconds=0.1)
    migrate(database, backups=tmp_path / "backups", now=NOW)
    refused: list[UnavailableError] = []

    def write() -> None:
        try:
            with database.transaction(ORIGIN):
                pass
        except UnavailableError as error:
            refused.append(error)

    with database.transaction(ORIGIN):
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    database.close()

    assert [error.code for error in refused] == ["unavailable"]


def test_steps_of_one_unit_are_kept_each_for_itself(database: SqliteDatabase) -> None:
    unit = Origin(actor="job", client="tests", conversation="", operation="import", call="c_import", unit="c_import")
    with suppress(KeyError), database.write_scope(unit) as acting:
        with database.transaction(ORIGIN) as session:
            rows.add(session, note(1))
        raise KeyError

    assert (stored(database), acting.wrote) == ([note(1).id], 1)
    with database.reading() as session:
        assert session.connection.exec_driver_sql("SELECT unit FROM changes").scalar_one() == "c_import"


def test_a_copy_is_whole_while_others_write(database: SqliteDatabase, tmp_path: Path) -> None:
    with database.transaction(ORIGIN) as session:
        for number in range(50):
            rows.add(session, note(number, "words " * 500))

    database.copy_to(tmp_path / "copy.db")

    copy = SqliteDatabase(tmp_path / "copy.db")
    assert (stored(copy), copy.check()) == (stored(database), "ok")
    copy.close()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("how", ["reading", "transaction"])
def test_an_error_that_means_nothing_to_the_owner_stays_as_it_is(database: SqliteDatabase, how: str) -> None:
    opened = database.reading() if how == "reading" else database.transaction(ORIGIN)

    with pytest.raises(OperationalError) as raised, opened as session:
        session.connection.exec_driver_sql("SELECT 1 FROM nowhere")

    assert raised.value.__cause__ is raised.value.orig


def test_moments_come_back_with_their_zone(database: SqliteDatabase) -> None:
    with database.transaction(ORIGIN) as session:
        rows.add(session, note(1))
        kept: Note = rows.load(session, "note", note(1).id)

    assert (kept.created_at, kept.created_at.tzinfo) == (NOW, UTC)


@pytest.mark.parametrize(("pragma", "value"), [("journal_mode", "wal"), ("foreign_keys", 1), ("synchronous", 2)])
def test_every_connection_is_safe(database: SqliteDatabase, pragma: str, value: object) -> None:
    with database.reading() as session:
        assert session.connection.exec_driver_sql(f"PRAGMA {pragma}").scalar_one() == value


def test_a_database_that_was_removed_is_not_made_anew_by_those_who_had_it_open(database: SqliteDatabase) -> None:
    assert stored(database) == []
    for ending in ("", "-wal", "-shm"):
        database.path.with_name(database.path.name + ending).unlink(missing_ok=True)

    with pytest.raises(UnavailableError), database.transaction(ORIGIN) as session:
        rows.add(session, note(1))
    with pytest.raises(UnavailableError):  # a connection of its own
        database.copy_to(database.path.with_name("copy.db"))

    assert not database.path.exists()
