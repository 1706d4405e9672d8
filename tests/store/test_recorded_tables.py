"""The tables that tests repeat in empty files are those that migrations make."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from panorama.store import migrate
from panorama.store.sqlite.engine import SqliteDatabase
from tests.recorded_tables import RecordedTables


def dump(path: Path) -> list[str]:
    with closing(SqliteDatabase(path)) as database:
        migrate.create_tables(database)
    with closing(sqlite3.connect(path)) as file:
        return list(file.iterdump())


@pytest.mark.parametrize("revision", ["0007", migrate.HEAD])
def test_repeated_tables_are_those_of_the_migrations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    monkeypatch.setattr(migrate, "upgrade", RecordedTables().upgrade)
    monkeypatch.setattr(migrate, "HEAD", revision)

    migrated, repeated = dump(tmp_path / "migrated.db"), dump(tmp_path / "repeated.db")

    assert repeated == migrated
    assert len(migrated) > 20
