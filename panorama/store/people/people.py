"""Rows of people: their managers, and the items that refer to them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, select

from panorama.domain.items.item import Item
from panorama.domain.text.json_types import is_sequence
from panorama.kinds import BY_NAME, ITEM_KINDS
from panorama.store.backend import Session
from panorama.store.column_types import TagList
from panorama.store.items import rows
from panorama.store.items.projects import has_tag
from panorama.store.tables import people


def list_managers(session: Session, person: str) -> list[str]:
    """Return the ids of a person's manager, the manager's manager and so on; stops at a cycle."""
    results: list[str] = []
    at: str | None = person
    while at is not None and at not in results[:-1]:
        at = session.connection.execute(select(people.c.manager).where(people.c.id == at)).scalar_one_or_none()
        if at is not None:
            results.append(at)
    return results


def move_references(session: Session, old_id: str, new_id: str, now: datetime) -> int:
    """Replace an item by another in everything that refers to it, except in itself; return how many items changed."""
    count = 0
    for old in list(_iter_referring(session, old_id)):
        if old.id not in (old_id, new_id):
            new = old.with_changes(now, **_replace_references(old, old_id, new_id))
            rows.save(session, old, new)
            count += 1
    return count


def _iter_referring(session: Session, id_: str) -> Iterator[Item]:
    """Yield the living items with an id in a field for references."""
    for kind in ITEM_KINDS:
        table = rows.NOUNS[kind.name].table
        holding = [_holds(table.c[name], id_) for name in kind.loose_references]
        ids: dict[str, None] = {}
        for condition in holding:
            statement = select(table.c.id).where(condition, table.c.deleted_at.is_(None)).order_by(table.c.id)
            ids |= dict.fromkeys(session.connection.execute(statement).scalars())
        yield from rows.iter_items(session, list(ids))


def _holds(column: ColumnElement[Any], id_: str) -> ColumnElement[bool]:
    return has_tag(column, id_) if isinstance(column.type, TagList) else column == id_


def _replace_references(item: Item, old_id: str, new_id: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in BY_NAME[item.KIND].loose_references:
        value: object = getattr(item, name)
        if is_sequence(value):
            fields[name] = tuple(dict.fromkeys(new_id if entry == old_id else entry for entry in value))
        elif value == old_id:
            fields[name] = new_id
    return fields
