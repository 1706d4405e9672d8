"""Two stores compared row by row: every table that is a person's own, what its numbers go on with, and the contents."""

import shutil
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from panorama.app import App
from panorama.store.archive import jsonl
from panorama.store.contents.copying import copy_contents
from panorama.store.contents.folder import FolderContents
from panorama.store.sqlite.engine import SqliteDatabase


def data_folder(app: App) -> Path:
    """Return a data directory with the rows and contents of an open store: its own, or a new copy of its space."""
    home, database = app.settings.home, app.context.database
    if isinstance(database, SqliteDatabase):
        return home
    folder = home.parent / "copied-space"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    database.copy_to(folder / "panorama.db")
    stored = database.contents(home / "files")
    assert copy_contents(stored, FolderContents(folder / "files"), [name for name, _ in stored.iter_sizes()]) == []
    return folder


def everything(home: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of each table as the file holds them, and the last numbers that it gave."""
    with closing(sqlite3.connect(home / "panorama.db")) as file:
        found = {name: file.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in jsonl.list_tables()}
        found["sqlite_sequence"] = file.execute("SELECT name, seq FROM sqlite_sequence ORDER BY 1").fetchall()
        found["schema"] = file.execute("SELECT version_num FROM alembic_version").fetchall()
    return found


def contents(home: Path) -> dict[str, str]:
    """Return the contents of files by their names on the disk, each with its digest."""
    found = (path for path in (home / "files").rglob("*") if path.is_file())
    return {path.relative_to(home / "files").as_posix(): sha256(path.read_bytes()).hexdigest() for path in found}


def differing(left: Path, right: Path) -> dict[str, Any]:
    """Return the rows that only one of two stores has, by table; empty if they are equal."""
    mine, theirs = everything(left), everything(right)
    rows = {name: (mine[name], theirs[name]) for name in mine if mine[name] != theirs[name]}
    both = {"contents": (contents(left), contents(right))} if contents(left) != contents(right) else {}
    return {**rows, **both}
