"""Search rows: hits narrowed by kind, project and day, with the text that snippets are cut from."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, select

from panorama.domain.words import Term
from panorama.store import fulltext, rows
from panorama.store.engine import Session
from panorama.store.fulltext import Hit
from panorama.store.rows import NOUNS

FIRST_LOOK = 60
WIDER = 8
FARTHEST = 250_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What hits must be: of some kinds, of a project ("" none), last written in a period."""

    kinds: Sequence[str]
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def hits(session: Session, query: tuple[Term, ...], filters: Filters, *, every: bool, wanted: int) -> list[Hit]:
    """Return the best `wanted` items, each once, the best first.

    The index is asked for few hits first and for more only while the filters leave too little.
    """
    limit = max(FIRST_LOOK, 2 * wanted)
    while True:
        found = fulltext.matches(session, query, every=every, limit=limit)
        best = _narrowed(session, _once(found), filters)
        if len(best) >= wanted or len(found) < limit or limit >= FARTHEST:
            return best[:wanted]
        limit *= WIDER


def _once(found: Sequence[Hit]) -> list[Hit]:
    best: dict[str, Hit] = {}
    for hit in found:
        best.setdefault(hit.item, hit)
    return list(best.values())


def _narrowed(session: Session, found: list[Hit], filters: Filters) -> list[Hit]:
    kept = [hit for hit in found if hit.kind in filters.kinds]
    if filters.project is None and filters.since is None and filters.until is None:
        return kept
    passing: set[str] = set()
    for kind in {hit.kind for hit in kept}:
        ids = [hit.item for hit in kept if hit.kind == kind]
        for start in range(0, len(ids), 500):
            passing |= _passing(session, kind, ids[start : start + 500], filters)
    return [hit for hit in kept if hit.item in passing]


def _passing(session: Session, kind: str, ids: Sequence[str], filters: Filters) -> set[str]:
    table = NOUNS[kind].table
    where: list[ColumnElement[bool]] = [table.c.id.in_(ids)]
    if filters.project is not None:
        if "project" not in table.c:
            return set()
        where.append(table.c.project == filters.project if filters.project else table.c.project.is_(None))
    if filters.since is not None:
        where.append(table.c.updated_at >= filters.since)
    if filters.until is not None:
        where.append(table.c.updated_at < filters.until)
    return {row[0] for row in session.connection.execute(select(table.c.id).where(*where))}


def loaded(session: Session, found: Sequence[Hit]) -> dict[str, Any]:
    """Return the items of some hits by id."""
    items: dict[str, Any] = {}
    for kind in {hit.kind for hit in found}:
        table = NOUNS[kind].table
        ids = [hit.item for hit in found if hit.kind == kind]
        statement = select(*rows.columns(kind)).where(table.c.id.in_(ids))
        items |= {row.id: rows.value(kind, row) for row in session.connection.execute(statement)}
    return items
