"""Rows of relations whose ends both live: an edge exists for each."""

from dataclasses import fields

from sqlalchemy import bindparam, or_, select

from panorama.domain.items.relations import Relation
from panorama.domain.paging import Page, PageRequest
from panorama.store.backend import Session
from panorama.store.paging import fetch_page
from panorama.store.tables import edges, relations

_FIELDS = tuple(field.name for field in fields(Relation))
_JOINED = relations.join(edges, edges.c.relation == relations.c.id)
_ENDS = ("from_item", "to_item", "kind")
_SAME = select(relations.c.id).select_from(_JOINED).where(*(relations.c[name] == bindparam(name) for name in _ENDS))


def list_relations(session: Session, part: PageRequest, *, item: str = "", kind: str = "") -> Page[Relation]:
    """Return relations, the newest first: from or to an item, or of a kind."""
    where = [or_(relations.c.from_item == item, relations.c.to_item == item)] if item else []
    where += [relations.c.kind == kind] if kind else []
    statement = select(*(relations.c[name] for name in _FIELDS)).select_from(_JOINED).where(*where)
    order = [(relations.c.created_at, True), (relations.c.id, True)]
    return fetch_page(session, statement, order, part, lambda row: Relation(**dict(zip(_FIELDS, row, strict=False))))


def find_same(session: Session, relation: Relation) -> str | None:
    """Return the id of a relation with the same ends and kind, None if there is none."""
    return session.connection.execute(_SAME, {name: getattr(relation, name) for name in _ENDS}).scalar()
