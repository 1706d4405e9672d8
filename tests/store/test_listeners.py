"""Listeners: told once what each transaction touched, after it is kept, and never able to harm it."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from panorama.domain.changes import ItemChange, Origin
from panorama.domain.items.notes import Note
from panorama.domain.items.projects import Project
from panorama.domain.items.tasks import Task
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


@pytest.fixture
def told(database: SqliteDatabase) -> list[list[ItemChange]]:
    """What a listener was told, transaction by transaction."""
    received: list[list[ItemChange]] = []
    database.subscribe(lambda touched: received.append(list(touched)))
    return received


def note(number: int = 1, **fields: object) -> Note:
    return Note(id=f"n_{number:010}", created_at=NOW, updated_at=NOW, **{"title": f"Note {number}", **fields})


def ids(message: list[list[ItemChange]]) -> list[list[str]]:
    return [[touch.id for touch in touched] for touched in message]


def test_a_listener_is_told_what_a_transaction_touched(database: SqliteDatabase, told: list[list[ItemChange]]) -> None:
    with database.transaction(ORIGIN) as session:
        rows.add(session, note(1))
        rows.add(session, note(2))

    assert ids(told) == [[note(1).id, note(2).id]]


def test_it_is_told_after_the_commit_and_outside_the_lock(database: SqliteDatabase) -> None:
    found: list[int] = []

    def look(_: Sequence[ItemChange]) -> None:
        with database.transaction(ORIGIN) as session:
            found.append(session.connection.exec_driver_sql("SELECT count(*) FROM notes").scalar_one())

    database.subscribe(look)
    with database.transaction(ORIGIN) as session:
        rows.add(session, note())
        assert found == []

    assert found == [1]


def test_what_is_taken_back_is_not_told(database: SqliteDatabase, told: list[list[ItemChange]]) -> None:
    with suppress(KeyError), database.transaction(ORIGIN) as session:
        rows.add(session, note())
        raise KeyError

    assert told == []


def test_transactions_that_join_are_told_as_one(database: SqliteDatabase, told: list[list[ItemChange]]) -> None:
    with database.transaction(ORIGIN) as outer:
        rows.add(outer, note(1))
        with database.transaction(ORIGIN) as inner:
            rows.add(inner, note(2))
        assert told == []

    assert ids(told) == [[note(1).id, note(2).id]]


def test_transactions_of_one_unit_are_told_one_by_one(database: SqliteDatabase, told: list[list[ItemChange]]) -> None:
    with database.write_scope(ORIGIN):
        for number in (1, 2):
            with database.transaction(ORIGIN) as session:
                rows.add(session, note(number))

    assert ids(told) == [[note(1).id], [note(2).id]]


def test_a_transaction_that_touches_no_item_is_not_told(database: SqliteDatabase, told: list[list[ItemChange]]) -> None:
    with database.transaction(ORIGIN) as session:
        session.connection.exec_driver_sql("DELETE FROM calls")

    with database.reading():
        pass

    assert told == []


def test_an_error_of_a_listener_is_logged_and_harms_nothing(
    database: SqliteDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    received: list[Sequence[ItemChange]] = []

    def fail(_: Sequence[ItemChange]) -> None:
        raise RuntimeError("deaf")

    database.subscribe(fail)
    database.subscribe(received.append)
    with caplog.at_level(logging.ERROR), database.transaction(ORIGIN) as session:
        rows.add(session, note())

    assert "deaf" in caplog.text
    assert len(received) == 1
    with database.reading() as session:
        assert rows.exists(session, "note", note().id)


def test_an_error_of_what_is_done_later_is_logged_and_harms_nothing(
    database: SqliteDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[bool] = []

    def fail() -> None:
        raise RuntimeError("deaf")

    with caplog.at_level(logging.ERROR), database.transaction(ORIGIN) as session:
        session.later += [fail, lambda: done.append(True)]

    assert "deaf" in caplog.text
    assert done == [True]


def test_who_stops_is_told_no_more(database: SqliteDatabase) -> None:
    received: list[Sequence[ItemChange]] = []
    stop = database.subscribe(received.append)

    stop()
    stop()
    with database.transaction(ORIGIN) as session:
        rows.add(session, note())

    assert received == []


def test_a_touch_names_what_changed_and_both_projects(database: SqliteDatabase, told: list[list[ItemChange]]) -> None:
    homes = [Project(id=f"p_{n:010}", created_at=NOW, updated_at=NOW, name=f"Home {n}") for n in (1, 2)]
    task = Task(id="t_0000000001", created_at=NOW, updated_at=NOW, title="Tea", project=homes[0].id)
    with database.transaction(ORIGIN) as session:
        for item in (*homes, task):
            rows.add(session, item)

    with database.transaction(ORIGIN) as session:
        rows.save(session, task, task.with_changes(NOW, project=homes[1].id))

    moved = ItemChange("task", task.id, "update", ("project",), (homes[0].id, homes[1].id), marked=False)
    assert told[-1] == [moved]


def test_a_touch_tells_that_an_item_was_or_is_kept_at_hand(
    database: SqliteDatabase, told: list[list[ItemChange]]
) -> None:
    loose, pinned = note(1), note(2, pinned=True)
    with database.transaction(ORIGIN) as session:
        rows.add(session, loose)
        rows.add(session, pinned)

    with database.transaction(ORIGIN) as session:
        rows.save(session, pinned, replace(pinned, pinned=False, version=2))
        rows.save(session, loose, loose.with_changes(NOW, deleted_at=NOW))

    assert [touch.marked for touched in told for touch in touched] == [False, True, True, False]
    assert [touch.action for touch in told[-1]] == ["update", "delete"]
