"""A file that is not ours, or not ours yet: refused with a clear sentence, its bytes untouched."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from panorama.errors import UnavailableError

from .house import OpenStore


def another_programs(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE bookmarks (url TEXT)")
        file.execute("INSERT INTO bookmarks VALUES ('https://example.org')")
        file.commit()


def another_programs_with_alembic(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE alembic_version (version_num TEXT)")
        file.execute("INSERT INTO alembic_version VALUES ('0001')")
        file.commit()


def no_database(path: Path) -> None:
    path.write_text("# Shopping\n\n- tea\n" * 100)


def half_a_database(path: Path) -> None:
    with OpenStore.opened(path.parent) as house:
        house.do("create_note", title="Tea", content="green " * 10_000)
    path.write_bytes(path.read_bytes()[:5000])


def a_newer_one(path: Path) -> None:
    with OpenStore.opened(path.parent) as house:
        house.do("create_note", title="Tea")
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE alembic_version SET version_num = '9999'")
        file.commit()


SENTENCES = {
    another_programs: "belongs to another program; it was not changed",
    another_programs_with_alembic: "belongs to another program; it was not changed",
    no_database: "not a database",
    half_a_database: "damaged",
    a_newer_one: "revision 9999; this Panorama knows up to",
}


@pytest.mark.parametrize("make", SENTENCES, ids=lambda make: make.__name__)
def test_a_file_that_is_not_ours_is_refused_with_a_clear_sentence(home: Path, make: Callable[[Path], None]) -> None:
    home.mkdir()
    make(home / "panorama.db")

    with pytest.raises(UnavailableError, match=SENTENCES[make]) as refusal, OpenStore.opened(home):
        pass

    assert refusal.value.hint


@pytest.mark.parametrize("make", SENTENCES, ids=lambda make: make.__name__)
def test_a_file_that_is_not_ours_is_left_as_it_is(home: Path, make: Callable[[Path], None]) -> None:
    home.mkdir()
    make(home / "panorama.db")
    before = {path.name: path.read_bytes() for path in home.iterdir()}

    with pytest.raises(UnavailableError), OpenStore.opened(home):
        pass

    assert {path.name: path.read_bytes() for path in home.iterdir()} == before


def test_a_folder_where_the_file_should_be_is_refused(home: Path) -> None:
    (home / "panorama.db").mkdir(parents=True)

    with pytest.raises(UnavailableError, match="cannot be opened") as refusal, OpenStore.opened(home):
        pass

    assert refusal.value.hint


def test_a_database_without_tables_becomes_the_store_also_when_its_log_is_gone(home: Path) -> None:
    home.mkdir()
    with closing(sqlite3.connect(home / "panorama.db")) as file:
        file.execute("PRAGMA journal_mode=WAL")
    assert (home / "panorama.db").stat().st_size > 0

    with OpenStore.opened(home) as house:
        house.do("create_note", title="Tea")
