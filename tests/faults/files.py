"""Looks into a store's file from outside, with nothing of the product in between."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


def rows(home: Path, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return what a question to the file is answered."""
    with closing(sqlite3.connect(home / "panorama.db", timeout=10)) as file:
        return file.execute(statement, values).fetchall()


def one(home: Path, statement: str, *values: Any) -> Any:
    """Return the one value that a question to the file is answered."""
    return rows(home, statement, *values)[0][0]


def is_sound(home: Path) -> bool:
    """Tell whether SQLite finds nothing wrong: in the file, its references, and the full-text index."""
    with closing(sqlite3.connect(home / "panorama.db", timeout=10)) as file:
        file.execute("INSERT INTO search_words (search_words) VALUES ('integrity-check')")
        file.rollback()
        found = file.execute("PRAGMA integrity_check").fetchall()
        return found == [("ok",)] and not file.execute("PRAGMA foreign_key_check").fetchall()


def holding(home: Path, word: str) -> set[str]:
    """Return the ids of the items whose indexed text holds a word."""
    found = rows(
        home,
        "SELECT item FROM search_parts WHERE id IN (SELECT rowid FROM search_words WHERE search_words MATCH ?)",
        word,
    )
    return {row[0] for row in found}


def indexed(home: Path, beginning: str) -> dict[str, set[str]]:
    """Return the indexed words that begin so, by the item whose text holds them."""
    found: dict[str, set[str]] = {}
    with closing(sqlite3.connect(home / "panorama.db", timeout=10)) as file:
        file.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, search_words, instance)")
        words = (
            "SELECT p.item, v.term FROM vocabulary v JOIN search_parts p ON p.id = v.doc WHERE term >= ? AND term <= ?"
        )
        for item, word in file.execute(words, (beginning, beginning + "\uffff")):
            found.setdefault(item, set()).add(word)
    return found


def everything(home: Path) -> list[tuple[Any, ...]]:
    """Return every item, change line and indexed part, to compare before and after."""
    found: list[tuple[Any, ...]] = []
    items = ("projects", "tasks", "notes", "links", "reminders", "journal", "files")
    for table in (*items, "changes", "texts", "search_parts"):
        found += [(table, *row) for row in rows(home, f"SELECT * FROM {table} ORDER BY 1")]
    return found
