"""What the migration of a database costs that was made before people, sessions, events and the graph."""

import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from panorama.store.migrate import create_tables, migrate
from panorama.store.sqlite.engine import SqliteDatabase

from .measure import Board, median
from .stores import Language, Town

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

BEFORE = "0012"
"""The last revision without people."""

ROWS = 100_000
ROUNDS = 3
AT = "2026-01-01 10:00:00.000000"
ITEM = {"version": 1, "created_at": AT, "updated_at": AT, "tags": ""}
TASK = {"notes": "", "status": "todo", "urgent": 0, "important": 0, "rank": 0, "recurrence": "", "provenance": ""}


def tasks(language: Language) -> Iterator[Mapping[str, object]]:
    """Yield tasks."""
    for number in range(ROWS):
        title = language.title()
        yield ITEM | TASK | {"id": f"t_{number:010}", "title": title, "key": title.lower()}


def notes(language: Language) -> Iterator[Mapping[str, object]]:
    """Yield notes of a hundred words, each tenth with a link."""
    for number in range(ROWS):
        title = f"{language.title()} {number}"
        link = f"[[n_{number // 2:010}]]" if number % 10 == 0 else ""
        text = {"title": title, "key": title.lower(), "content": f"{language.text(100)} {link}"}
        yield ITEM | text | {"id": f"n_{number:010}", "pinned": 0}


def fill(path: Path, table: str, rows: Iterator[Mapping[str, object]]) -> None:
    """Make a database of the old revision with rows in one table."""
    with closing(SqliteDatabase(path)) as database:
        create_tables(database, BEFORE)
    first = next(rows)
    names = ", ".join(first)
    places = ", ".join(f":{name}" for name in first)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", first)
        file.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)


@pytest.mark.parametrize("table", ["tasks", "notes"])
def test_a_database_from_before_people_is_migrated(tmp_path: Path, board: Board, table: str) -> None:
    language = Town().language
    fill(tmp_path / "old.db", table, tasks(language) if table == "tasks" else notes(language))
    whole, copying = list[float](), list[float]()
    for number in range(ROUNDS):
        home = tmp_path / str(number)
        home.mkdir()
        shutil.copyfile(tmp_path / "old.db", home / "panorama.db")
        with closing(SqliteDatabase(home / "panorama.db")) as database:
            began = time.perf_counter()
            database.copy_to(home / "copy.db", is_awaited=True)
            copied = time.perf_counter()
            migrate(database, backups=home / "backups", now=datetime.now(UTC))
            copying.append(copied - began)
            whole.append(time.perf_counter() - copied)

    board.show(
        f"migrating {ROWS:,} {table} of revision {BEFORE}", "≤ 2 s", f"{median(whole):.2f} s",
        f"{median(copying):.2f} s of it for the copy that is made before",
    )  # fmt: skip
