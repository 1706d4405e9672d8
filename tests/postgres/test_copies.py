"""A space as an SQLite file, and the rows of such a file in a space: nothing is lost or changed on the way."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from panorama.domain.changes import Origin
from panorama.domain.items.notes import Note
from panorama.domain.text.tokens import PART_CHARS, parse_terms
from panorama.errors import InvalidInputError, ScriptError
from panorama.store.items import long_texts, rows
from panorama.store.migrate import create_tables
from panorama.store.sqlite.engine import SqliteDatabase
from tests.sampled import sampled
from tests.whole import differing

if TYPE_CHECKING:
    from panorama.store.postgres.engine import PostgresDatabase

pytestmark = pytest.mark.postgres

ORIGIN = Origin(actor="user", client="tests", conversation="v_tests", operation="tests", call="c_1", unit="x_1")
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the sample workspace."""
    return sampled(tmp_path_factory.mktemp("sample"))


@pytest.fixture
def database(postgres_url: str) -> "Iterator[PostgresDatabase]":
    """A space that does not exist yet."""
    from psycopg.sql import SQL, Identifier

    from panorama.store.postgres.connections import parse_url
    from panorama.store.postgres.engine import PostgresDatabase

    with closing(PostgresDatabase(parse_url(postgres_url), "copies")) as opened:
        yield opened
        with opened.connect() as driver:
            query = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'panorama_copies%'"
            for (name,) in driver.execute(query).fetchall():
                driver.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(name)))


def add_note(database: Any, id_: str, content: str = "") -> None:
    with database.transaction(ORIGIN) as session:
        rows.add(session, Note(id=id_, created_at=NOW, updated_at=NOW, title="Tea", content=content))


def count(database: Any, table: str) -> int:
    with database.reading() as session:
        return int(session.connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def find_by_words(database: Any, words: str) -> set[str]:
    with database.reading() as session:
        return {hit.item for hit in session.full_text.search_terms(session, parse_terms(words), every=True, limit=100)}


def restore(database: "PostgresDatabase", copy: Path) -> str:
    from panorama.store.postgres.transfer.replace_space import replace_space

    return replace_space(database, copy, NOW, is_own=True).aside


def to_file(database: "PostgresDatabase", home: Path) -> Path:
    home.mkdir()
    database.copy_to(home / "panorama.db")
    return home / "panorama.db"


def test_rows_come_back_as_they_went(database: "PostgresDatabase", sample: Path, tmp_path: Path) -> None:
    restore(database, sample)
    file = to_file(database, tmp_path / "one")
    restore(database, file)

    to_file(database, tmp_path / "two")

    assert differing(tmp_path / "one", tmp_path / "two") == {}


def test_a_file_of_a_space_is_a_whole_database(database: "PostgresDatabase", sample: Path, tmp_path: Path) -> None:
    from panorama.store.sqlite import snapshots

    restore(database, sample)

    file = to_file(database, tmp_path / "home")

    assert (snapshots.find_damage(file, lambda: None), snapshots.find_invalid(file)) == ("", "")
    with closing(SqliteDatabase(file)) as opened, opened.reading() as session:
        assert long_texts.is_indexed(session)
    assert [path.name for path in file.parent.iterdir()] == ["panorama.db"]


def test_words_are_found_in_both_databases(database: "PostgresDatabase", sample: Path, tmp_path: Path) -> None:
    restore(database, sample)

    with closing(SqliteDatabase(to_file(database, tmp_path / "home"))) as file:
        found = find_by_words(file, "garden")
        assert found
        assert find_by_words(database, "garden") == found
    with database.reading() as session:
        assert long_texts.is_indexed(session)


def test_a_long_text_is_indexed_again_in_parts_of_this_database(database: "PostgresDatabase", tmp_path: Path) -> None:
    with closing(SqliteDatabase(tmp_path / "panorama.db")) as file:
        create_tables(file)
        add_note(file, "n_0000000001", "word\n" * (PART_CHARS // 10) + "kettle")
    restore(database, tmp_path / "panorama.db")
    before = find_by_words(database, "kettle")

    long_texts.complete_all(database)

    assert (before, find_by_words(database, "kettle")) == (set(), {"n_0000000001"})


def test_a_restore_keeps_what_the_space_held_in_another_space(
    database: "PostgresDatabase", postgres_url: str, sample: Path
) -> None:
    from panorama.store.postgres.connections import parse_url
    from panorama.store.postgres.engine import PostgresDatabase

    create_tables(database)
    add_note(database, "n_0000000001")

    aside = restore(database, sample)

    assert aside == "the space copies_before_20260520080000"
    with closing(PostgresDatabase(parse_url(postgres_url), aside.removeprefix("the space "))) as previous:
        assert (count(previous, "notes"), find_by_words(previous, "tea")) == (1, {"n_0000000001"})
        add_note(previous, "n_0000000002")
    assert count(database, "tasks") > 10


def test_infinite_numbers_of_older_notes_become_null_and_are_counted(
    database: "PostgresDatabase", sample: Path, tmp_path: Path
) -> None:
    from panorama.store.postgres.transfer.replace_space import replace_space

    copy = tmp_path / "copy.db"
    shutil.copyfile(sample, copy)
    with closing(sqlite3.connect(copy)) as file, file:
        (note,) = file.execute("SELECT min(id) FROM notes").fetchone()
        (change,) = file.execute("SELECT max(id) FROM changes WHERE item = ?", (note,)).fetchone()
        numbers = '{"a": [NaN, 1.50], "b": -Infinity, "c": "NaN, Infinity", "d": 1e999}'
        file.execute("UPDATE notes SET properties = ? WHERE id = ?", (numbers, note))
        file.execute("UPDATE notes SET properties = ? WHERE id <> ?", ('{"film":  "Infinity 1e400"}', note))
        file.execute("UPDATE changes SET after = ? WHERE id = ?", (f'{{"properties": {numbers}}}', change))

    done = replace_space(database, copy, NOW, is_own=True)

    assert done.remarks == ("In 2 values, NaN or infinite numbers became null: PostgreSQL cannot store them.",)
    with database.reading() as session:
        found = session.connection.exec_driver_sql("SELECT id, properties::text FROM notes").all()
    stored = {row[0]: row[1] for row in found}
    assert stored.pop(note) == '{"a": [null, 1.5], "b": null, "c": "NaN, Infinity", "d": null}'
    assert set(stored.values()) == {'{"film":  "Infinity 1e400"}'}


def test_numbers_go_on_after_those_of_the_copy(database: "PostgresDatabase", sample: Path) -> None:
    restore(database, sample)
    last = count(database, "changes")

    add_note(database, "n_0000000001")

    with database.reading() as session:
        newest = session.connection.exec_driver_sql("SELECT max(id) FROM changes").scalar_one()
    assert newest == last + 1


def test_a_restore_that_fails_leaves_the_space_as_it_was(
    database: "PostgresDatabase", sample: Path, tmp_path: Path
) -> None:
    create_tables(database)
    add_note(database, "n_0000000001")
    broken = tmp_path / "broken.db"
    shutil.copy(sample, broken)
    with closing(sqlite3.connect(broken)) as file, file:
        file.execute("UPDATE notes SET project = 'p_0000000000'")

    with pytest.raises(InvalidInputError, match="The table notes has a row"):
        restore(database, broken)

    assert (count(database, "notes"), find_by_words(database, "tea")) == (1, {"n_0000000001"})


def test_a_copy_that_is_cancelled_leaves_no_file(database: "PostgresDatabase", tmp_path: Path) -> None:
    create_tables(database)
    with database.transaction(ORIGIN):
        for number in range(600):
            add_note(database, f"n_{number:010}")

    def stop(_done: int, _total: int) -> None:
        raise ScriptError("Nobody waits.")

    with pytest.raises(ScriptError, match="Nobody waits"):
        database.copy_to(tmp_path / "panorama.db", stop)

    assert list(tmp_path.iterdir()) == []
