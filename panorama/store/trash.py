"""The trash: what was deleted and can come back."""

from datetime import datetime

from sqlalchemy import literal, select, union_all

from panorama.store.engine import Session
from panorama.store.pages import Rows
from panorama.store.rows import NOUNS


def listed(session: Session, limit: int) -> list[tuple[str, str, str, datetime]]:
    """Return kind, id, label and moment of what is in the trash, the last deleted first."""
    parts: list[Rows] = []
    for kind, noun in NOUNS.items():
        label = noun.table.c["name" if kind == "project" else "text" if kind == "journal" else "title"]
        columns = (literal(kind).label("kind"), noun.table.c.id, label.label("label"), noun.table.c.deleted_at)
        parts.append(select(*columns).where(noun.table.c.deleted_at.is_not(None)))
    every = union_all(*parts).subquery()
    rows = session.connection.execute(select(every).order_by(every.c.deleted_at.desc()).limit(limit))
    return [(row[0], row[1], row[2], row[3]) for row in rows]
