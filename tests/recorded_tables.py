"""New databases get the tables that the migrations made the first time: to run them all takes a third of a second."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from panorama.store import migrate

_run_migrations = migrate.upgrade

Statements = list[tuple[str, tuple[object, ...]]]


class RecordedTables:
    """Runs migrations, and repeats what they made of an empty SQLite file in other empty ones.

    A database with tables is migrated as ever, and so is any of another process.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Path, str], Statements] = {}

    def upgrade(self, connection: Connection, revision: str = migrate.HEAD) -> None:
        """Upgrade the database behind a connection."""
        if connection.dialect.name != "sqlite" or connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first():
            _run_migrations(connection, revision)
            return
        known = migrate.bundled_path("migrations"), revision
        if known in self._known:
            for statement, values in self._known[known]:
                connection.exec_driver_sql(statement, values)
        else:
            _run_migrations(connection, revision)
            self._known[known] = _record(connection)


def _record(connection: Connection) -> Statements:
    """Return the statements that make the tables of a database again, with their rows."""
    listed = connection.exec_driver_sql("PRAGMA main.table_list").all()
    shadows = {name for _, name, kind, *_ in listed if kind == "shadow" or name.startswith("sqlite_")}
    parts = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").all()
    made: Statements = [(sql, ()) for name, sql in parts if name not in shadows]
    for _, name, kind, *_ in listed:
        if kind == "table" and name not in shadows:
            for row in connection.exec_driver_sql(f'SELECT * FROM "{name}"'):
                made.append((f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(row))})', tuple(row)))
    return made


@pytest.fixture(scope="session", autouse=True)
def tables_are_made_once() -> Iterator[None]:
    """Run the migrations of empty SQLite files once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "upgrade", RecordedTables().upgrade)
        yield
