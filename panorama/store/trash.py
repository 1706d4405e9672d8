"""The trash: what was deleted and can come back."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import literal, select, union_all

from panorama.domain.results import Page, Slice
from panorama.store.engine import Session
from panorama.store.pages import Rows, page
from panorama.store.rows import NOUNS


def listed(session: Session, part: Slice) -> Page[Mapping[str, Any]]:
    """Return id, kind, label and moment of what is in the trash, the last deleted first."""
    parts: list[Rows] = []
    for kind, noun in NOUNS.items():
        columns = (noun.table.c.id, literal(kind).label("kind"), noun.label.label("label"), noun.table.c.deleted_at)
        parts.append(select(*columns).where(noun.table.c.deleted_at.is_not(None)))
    every = union_all(*parts).subquery()
    order = [(every.c.deleted_at, True), (every.c.id, True)]
    names = ("id", "kind", "label", "deleted_at")
    return page(session, select(every), order, part, lambda row: dict(zip(names, row, strict=False)))
