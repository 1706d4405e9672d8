"""Rows of people: their managers, and the items that refer to them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, select

from panorama.domain.items.item import Item
from panorama.domain.text.json_types import is_sequence
from panorama.kinds import BY_NAME, ITEM_KINDS
from panorama.store.backend import Session
from panorama.store.column_types import TagList
from panorama.store.graph import edges
from panorama.store.graph.chains import list_chain
from panorama.store.items import rows
from panorama.store.items.projects import has_tag
from panorama.store.tables import people


def list_managers(session: Session, person: str) -> list[str]:
    """Return the ids of a person's manager, the manager's manager and so on."""
    return list_chain(session, people.c.manager, person)


def list_referring(session: Session, id_: str) -> list[str]:
    """Return the living items with an id in a field for references, then those with a link by this id."""
    ids: dict[str, None] = {}
    for kind in ITEM_KINDS:
        table = rows.NOUNS[kind.name].table
        for name in kind.loose_references:
            statement = select(table.c.id).where(_holds(table.c[name], id_), table.c.deleted_at.is_(None))
            ids |= dict.fromkeys(session.connection.execute(statement.order_by(table.c.id)).scalars())
    return list(ids | dict.fromkeys(sorted(edges.list_linking(session, id_, id_))))


def move_references(session: Session, items: Sequence[str], old_id: str, new_id: str, now: datetime) -> list[str]:
    """Replace an item by another in those that refer to it, except in itself; return the ids of the changed ones."""
    found: list[Item] = list(rows.load_all(session, [id_ for id_ in items if id_ not in (old_id, new_id)]).values())
    updates = [
        rows.ItemUpdate(old, new) for old in found if old.deleted_at is None
        and (new := old.with_changes(now, **_replace_references(old, old_id, new_id))) != old
    ]  # fmt: skip
    rows.save_all(session, updates)
    return [update.new.id for update in updates]


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
