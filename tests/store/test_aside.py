"""The private view of a dry run: it sees its own writes, and nobody else ever does."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from panorama.domain.changes import Origin
from panorama.domain.items.notes import Note
from panorama.errors import ScriptError, UnavailableError
from panorama.store.backend.scratch import Scratch
from panorama.store.items import rows
from panorama.store.migrate import migrate
from panorama.store.sqlite import scratch_copy as aside_module
from panorama.store.sqlite.engine import SqliteDatabase

ORIGIN = Origin(actor="script", client="tests", conversation="v_tests", operation="tests", call="c_1", unit="x_1")
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    """A store with one note."""
    database = SqliteDatabase(tmp_path / "panorama.db", busy_seconds=5)
    migrate(database, backups=tmp_path / "backups", now=NOW)
    write(database, 1)
    yield database
    database.close()


@pytest.fixture
def aside(database: SqliteDatabase, tmp_path: Path) -> Iterator[Scratch]:
    """A view aside."""
    made = database.create_scratch(tmp_path / "dry-runs" / "x_1")
    yield made
    made.close()


def write(database: SqliteDatabase, number: int) -> None:
    with database.transaction(ORIGIN) as session:
        rows.add(session, Note(id=f"n_{number:010}", created_at=NOW, updated_at=NOW, title=f"Note {number}"))


def stored(database: SqliteDatabase) -> list[str]:
    with database.reading() as session:
        return [row[0] for row in session.connection.exec_driver_sql("SELECT title FROM notes ORDER BY id")]


def test_what_is_written_aside_is_read_aside_and_nowhere_else(database: SqliteDatabase, aside: Scratch) -> None:
    with aside.activate():
        write(database, 2)
        inside = stored(database)

    assert inside == ["Note 1", "Note 2"]
    assert stored(database) == ["Note 1"]


def test_several_entries_are_one_view(database: SqliteDatabase, aside: Scratch) -> None:
    for number in (2, 3):
        with aside.activate():
            write(database, number)

    with aside.activate():
        assert stored(database) == ["Note 1", "Note 2", "Note 3"]


def test_who_only_reads_aside_needs_no_copy(database: SqliteDatabase, aside: Scratch, tmp_path: Path) -> None:
    with aside.activate():
        read = stored(database)

    assert (read, aside.is_written, (tmp_path / "dry-runs").exists()) == (["Note 1"], False, False)


def test_others_write_the_real_store_meanwhile(database: SqliteDatabase, aside: Scratch) -> None:
    with aside.activate():
        write(database, 2)
    write(database, 3)

    with aside.activate():
        inside = stored(database)
    assert (inside, stored(database)) == (["Note 1", "Note 2"], ["Note 1", "Note 3"])


def test_listeners_hear_nothing_of_what_is_written_aside(database: SqliteDatabase, aside: Scratch) -> None:
    heard: list[Any] = []
    stop = database.subscribe(heard.append)

    with aside.activate():
        write(database, 2)

    stop()
    assert heard == []


def test_several_transactions_of_one_unit_can_be_written_aside(database: SqliteDatabase, aside: Scratch) -> None:
    with aside.activate(), database.write_scope(ORIGIN) as acting:
        write(database, 2)
        write(database, 3)

    assert (acting.wrote, stored(database)) == (2, ["Note 1"])


def test_nothing_is_left_of_it_on_the_disk(database: SqliteDatabase, aside: Scratch, tmp_path: Path) -> None:
    with aside.activate():
        write(database, 2)

    aside.close()

    assert list((tmp_path / "dry-runs").iterdir()) == []


def test_the_real_file_does_not_grow_by_it(database: SqliteDatabase, aside: Scratch) -> None:
    def lines() -> int:
        with closing(sqlite3.connect(database.path)) as file:
            return int(file.execute("SELECT count(*) FROM changes").fetchone()[0])

    before = lines()
    with aside.activate():
        write(database, 2)

    assert lines() == before


def test_a_copy_that_is_not_wanted_any_more_is_given_up_and_nothing_is_left(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    asked: list[bool] = []

    def leave() -> None:
        asked.append(True)
        if len(asked) == 1:
            raise ScriptError("Nobody waits.")

    aside = database.create_scratch(tmp_path / "dry-runs" / "x_1", leave)
    with aside.activate(), pytest.raises(ScriptError, match="Nobody waits"):
        write(database, 2)

    assert list(aside.folder.iterdir()) == []
    with aside.activate():
        write(database, 2)
    aside.close()
    assert stored(database) == ["Note 1"]


class Usage(NamedTuple):
    """What a disk says of its room."""

    total: int
    used: int
    free: int


def test_a_disk_that_is_too_small_for_a_copy_is_told(
    database: SqliteDatabase, aside: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside_module.shutil, "disk_usage", lambda _: Usage(1 << 30, 1 << 30, 1 << 20))

    with aside.activate(), pytest.raises(UnavailableError, match=r"needs .* MB for a copy"):
        write(database, 2)

    monkeypatch.setattr(aside_module.shutil, "disk_usage", shutil.disk_usage)
    assert stored(database) == ["Note 1"]
