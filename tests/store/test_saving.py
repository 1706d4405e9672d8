"""Saving items in a set: as saving them one by one, with few statements however many there are."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
from sqlalchemy import event

from panorama.domain.changes import Origin
from panorama.domain.items.item import Item
from panorama.domain.items.notes import Note
from panorama.domain.items.relations import Relation
from panorama.domain.items.tasks import Task
from panorama.errors import ConflictError
from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.items.rows import ItemUpdate
from panorama.store.sqlite.engine import SqliteDatabase
from panorama.store.words import part_index

ORIGIN = Origin(actor="tool", client="tests", conversation="v_tests", operation="tests", call="c_tests", unit="c_tests")
NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
NOTES = 32
COMPARED = (
    "SELECT id, version, title, key, content, deleted_at FROM notes ORDER BY id",
    "SELECT id, version, title, key, status, tags FROM tasks ORDER BY id",
    "SELECT from_item, to_item, kind, relation, target, key, tail, position FROM edges ORDER BY from_item, key, kind",
    "SELECT p.item, p.kind, p.digest, w.title, w.body FROM search_parts AS p JOIN search_words AS w ON w.rowid = p.id "
    "ORDER BY p.item, p.digest",
    "SELECT item, kind, action, version, before, after, undoes FROM changes ORDER BY id",
    "SELECT key, item, is_short FROM other_names ORDER BY item, key",
)

Database = Callable[[str], SqliteDatabase]


@pytest.fixture
def new_database(template: Path, tmp_path: Path) -> Iterator[Database]:
    """Returns a function that makes a database with linked notes, a task and a relation."""
    created: list[SqliteDatabase] = []

    def create(name: str) -> SqliteDatabase:
        copyfile(template, tmp_path / name)
        created.append(SqliteDatabase(tmp_path / name))
        with created[-1].transaction(ORIGIN) as session:
            for item in new_items():
                rows.add(session, item)
        return created[-1]

    yield create
    for database in created:
        database.close()


def times(id_: str) -> dict[str, Any]:
    return {"id": id_, "created_at": NOW, "updated_at": NOW}


def note_id(number: int) -> str:
    return f"n_{number:010}"


def new_items() -> list[Item]:
    notes = [
        Note(
            **times(note_id(number)), title=f"Log {number}", content=f"{number}: see [[Plan]] and [[Log {number + 1}]]"
        )
        for number in range(NOTES)
    ]
    deleted = Note(**times("n_0000000098"), title="Gone", content="[[Log 1]]", deleted_at=NOW)
    task = Task(**times("t_0000000001"), title="Plan")
    relation = Relation(**times("r_0000000001"), from_item=note_id(3), kind="part_of", to_item=note_id(4))
    return [*notes, task, relation, deleted]


def change_items(session: Session) -> list[ItemUpdate]:
    """Return updates of all sorts: texts, names, aliases, deletions and restorations, and of a relation's ends."""
    changed: dict[str, dict[str, Any]] = {
        note_id(number): {"content": f"{number}: see [[Plans]] and [[Log {number + 1}]], more"} for number in range(10)
    }
    changed |= {
        note_id(11): {"title": "Plans"}, note_id(12): {"aliases": ("Gone too",)}, note_id(3): {"deleted_at": LATER},
        "r_0000000001": {"deleted_at": LATER}, "n_0000000098": {"deleted_at": None},
        "t_0000000001": {"status": "in_progress", "tags": ("a",)}, note_id(13): {},
    }  # fmt: skip
    found = rows.load_all(session, list(changed))
    return [ItemUpdate(item, item.with_changes(LATER, **changed[id_])) for id_, item in found.items()]


def bring_back(session: Session) -> list[ItemUpdate]:
    """Return updates that restore a relation before one of its ends."""
    found = rows.load_all(session, ["r_0000000001", note_id(3)])
    return [ItemUpdate(item, item.with_changes(LATER, deleted_at=None)) for item in found.values()]


def save_each(session: Session, updates: Sequence[ItemUpdate]) -> None:
    for update in updates:
        rows.save_all(session, [update])


def read(database: SqliteDatabase) -> list[list[Any]]:
    with database.reading() as session:
        return [[tuple(row) for row in session.connection.exec_driver_sql(query)] for query in COMPARED]


def test_a_set_is_stored_as_its_items_one_by_one(new_database: Database) -> None:
    together, singly = new_database("together.db"), new_database("singly.db")

    for updates in (change_items, bring_back):
        with together.transaction(ORIGIN) as session:
            rows.save_all(session, updates(session))
        with singly.transaction(ORIGIN) as session:
            save_each(session, updates(session))

        assert read(together) == read(singly)


def test_a_set_takes_as_many_statements_as_a_few_items(new_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_index, "MAX_INDEX_SECONDS", 60.0)
    database = new_database("counted.db")
    statements: list[str] = []

    with database.transaction(ORIGIN) as session:
        items = rows.load_all(session, [note_id(number) for number in range(NOTES)]).values()
        updates = [ItemUpdate(item, item.with_changes(LATER, content=f"{item.content} [[more]]")) for item in items]
        event.listen(session.connection, "before_cursor_execute", lambda *given: statements.append(given[2]))
        rows.save_all(session, updates)

    assert len(statements) <= 14, statements


def test_a_set_with_an_outdated_item_is_refused(new_database: Database) -> None:
    database = new_database("outdated.db")
    with database.reading() as session:
        items = list(rows.load_all(session, [note_id(1), note_id(2)]).values())
    updates = [ItemUpdate(item, item.with_changes(LATER, content="new")) for item in items]
    with database.transaction(ORIGIN) as session:
        rows.save_all(session, updates[1:])

    with pytest.raises(ConflictError), database.transaction(ORIGIN) as session:
        rows.save_all(session, updates)

    with database.reading() as session:
        assert rows.load(session, "note", note_id(1)).content != "new"


def test_links_by_a_name_are_found_by_an_index(new_database: Database) -> None:
    database = new_database("planned.db")
    statements: list[tuple[str, Any]] = []

    with database.transaction(ORIGIN) as session:
        event.listen(
            session.connection, "before_cursor_execute", lambda *given: statements.append((given[2], given[3]))
        )
        rows.add(session, Note(**times("n_0000000099"), title="Log 32"))
        reads = [(statement, given) for statement, given in statements if "FROM edges" in statement]
        plans = [
            row[3]
            for statement, given in reads
            for row in session.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given)
        ]

    searches = {plan for plan in plans if "edges" in plan}
    assert searches
    assert all("ix_edges_key" in plan or "ix_edges_tail" in plan for plan in searches)
