"""The trash: deleted items that can be restored."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import literal, select, union_all

from panorama.domain.paging import Page, PageRequest
from panorama.store.backend import Session
from panorama.store.items.rows import NOUNS
from panorama.store.paging import Rows, fetch_page
from panorama.store.tables import changes


def list_trash(session: Session, part: PageRequest) -> Page[Mapping[str, Any]]:
    """Return id, kind, label and deletion time of the items in the trash, the last deleted first."""
    parts: list[Rows] = []
    for kind, noun in NOUNS.items():
        columns = (noun.table.c.id, literal(kind).label("kind"), noun.label.label("label"), noun.table.c.deleted_at)
        parts.append(select(*columns).where(noun.table.c.deleted_at.is_not(None)))
    every = union_all(*parts).subquery()
    order = [(every.c.deleted_at, True), (every.c.id, True)]
    names = ("id", "kind", "label", "deleted_at")
    return fetch_page(session, select(every), order, part, lambda row: dict(zip(names, row, strict=False)))


def list_deleted_with(session: Session, unit: str, owner_field: str, owner: str) -> list[tuple[str, str]]:
    """Return the items, as (kind, id), that a unit moved to the trash and that belong to another one; oldest first."""
    deleted = select(changes.c.item).where(changes.c.unit == unit, changes.c.action == "delete")
    found: list[tuple[str, str]] = []
    for kind, noun in NOUNS.items():
        table = noun.table
        if owner_field in table.c:
            where = table.c.deleted_at.is_not(None), table.c[owner_field] == owner, table.c.id.in_(deleted)
            ids = session.connection.execute(select(table.c.id).where(*where).order_by(table.c.created_at, table.c.id))
            found += [(kind, id_) for id_ in ids.scalars()]
    return found
