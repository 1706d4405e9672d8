"""Walks over the graph: neighbours by their distance, the edges that lead to them, and counts."""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from sqlalchemy import ColumnElement, TextClause, UnaryExpression, func, select, text

from panorama.domain.items.relations import MENTIONS, name_inverse
from panorama.store.backend import Session
from panorama.store.tables import edges, relations

Direction = Literal["both", "out", "in"]
MAX_VISITS = 5_000
"""A walk ends after so many items: a hub with ten thousand neighbours is not walked as a whole."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between two items; `relation` is the id of an explicit one, `position` is where its link begins.

    An edge from a field has the field's name as `target` and a negative position.
    """

    from_item: str
    to_item: str
    kind: str
    relation: str | None
    position: int
    target: str

    @property
    def is_field(self) -> bool:
        """Whether a field of the item is the edge."""
        return self.position < 0

    def other(self, item: str) -> str:
        """Return the item at the other end."""
        return self.to_item if item == self.from_item else self.from_item

    def kind_from(self, item: str) -> str:
        """Return its kind as it reads from one end."""
        return self.kind if item == self.from_item else name_inverse(self.kind)


@cache
def _step_statement(direction: Direction, by_kind: bool) -> TextClause:
    """Build the statement that returns the neighbours of some items."""
    away = "SELECT to_item AS item FROM edges WHERE from_item IN (SELECT value FROM json_each(:here))"
    back = "SELECT from_item AS item FROM edges WHERE to_item IN (SELECT value FROM json_each(:here))"
    away += " AND kind IN (SELECT value FROM json_each(:kinds))" if by_kind else ""
    back += " AND kind IN (SELECT value FROM json_each(:inverse_kinds))" if by_kind else ""
    away += " AND to_item IS NOT NULL"
    steps = {"both": f"{away} UNION ALL {back}", "out": away, "in": back}[direction]
    return text(f"SELECT DISTINCT item FROM ({steps}) AS step LIMIT :visits")


def walk(
    session: Session, item: str, *, kinds: Collection[str] = (), depth: int = 1, direction: Direction = "both"
) -> dict[str, int]:
    """Return the items within some steps of an item and their distances, the nearest first, itself with 0.

    Args:
        kinds: Only edges that read as one of these kinds from where the walk comes.
    """
    statement = _step_statement(direction, bool(kinds))
    asked = {"kinds": _dump(kinds), "inverse_kinds": _dump(map(name_inverse, kinds))} if kinds else {}
    distances, here = {item: 0}, [item]
    for distance in range(1, depth + 1):
        values: dict[str, Any] = {"here": _dump(here), "visits": MAX_VISITS + len(distances), **asked}
        found = set(session.connection.execute(statement, values).scalars())
        here = sorted(found - distances.keys())[: MAX_VISITS - len(distances)]
        distances |= dict.fromkeys(here, distance)
        if not here:
            break
    return distances


_BETWEEN = text("""
SELECT from_item, to_item, kind, relation, position, target, id FROM edges
WHERE from_item IN (SELECT value FROM json_each(:here)) AND to_item IN (SELECT value FROM json_each(:there))
UNION
SELECT from_item, to_item, kind, relation, position, target, id FROM edges
WHERE to_item IN (SELECT value FROM json_each(:here)) AND from_item IN (SELECT value FROM json_each(:there))
""")


def list_between(session: Session, here: Collection[str], there: Collection[str]) -> list[Edge]:
    """Return the edges between two groups of items: relations first, then fields and typed links, then mentions."""
    values = {"here": _dump(here), "there": _dump(there)}
    rows = session.connection.execute(_BETWEEN, values).all()
    ordered = sorted(rows, key=lambda row: (row[3] is None, row[2] == MENTIONS, row[6]))
    return [Edge(*row[:6]) for row in ordered]


def _dump(values: Any) -> str:
    return json.dumps(list(values))


_ENDS = (edges.c.from_item, edges.c.to_item, edges.c.kind, edges.c.relation, edges.c.position, edges.c.target)
_IN_TEXT = edges.c.position >= 0


def list_backlinks(session: Session, item: str, limit: int) -> tuple[list[Edge], int]:
    """Return the first links and relations that lead to an item, the newest first, and how many there are."""
    where = edges.c.to_item == item, edges.c.from_item != item, _IN_TEXT
    return _list_first(session, where, edges.c.id.desc(), limit)


def list_typed(session: Session, item: str, limit: int) -> tuple[list[Edge], int]:
    """Return the first links and relations from an item to others that say their kind, and how many there are."""
    where = edges.c.from_item == item, edges.c.to_item != item, edges.c.kind != MENTIONS, _IN_TEXT
    return _list_first(session, where, edges.c.id.asc(), limit)


def _list_first(
    session: Session, where: Sequence[ColumnElement[bool]], order: UnaryExpression[int], limit: int
) -> tuple[list[Edge], int]:
    """Return the first edges of an order, and how many there are; they are counted only if that can be more."""
    rows = session.connection.execute(select(*_ENDS).where(*where).order_by(order).limit(limit)).all()
    count = len(rows)
    if count == limit:
        count = session.connection.execute(select(func.count()).where(*where)).scalar_one()
    return [Edge(*row) for row in rows], count


_UNRESOLVED = text(
    "SELECT target FROM edges WHERE from_item = :item AND to_item IS NULL AND position >= 0 ORDER BY id LIMIT :limit"
)


def list_unresolved(session: Session, item: str, limit: int) -> list[str]:
    """Return the first targets of an item's links that name nothing."""
    return list(session.connection.execute(_UNRESOLVED, {"item": item, "limit": limit}).scalars())


def load_notes(session: Session, ids: Sequence[str]) -> dict[str, str]:
    """Return the notes of some relations by id."""
    if not ids:
        return {}
    rows = session.connection.execute(select(relations.c.id, relations.c.note).where(relations.c.id.in_(ids)))
    return {row[0]: row[1] for row in rows}


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """How large the graph is: edges by kind, linked items, and the most linked ones as (item, edges to it)."""

    kinds: dict[str, int]
    items: int
    unresolved: int
    most_linked: list[tuple[str, int]]


def count_graph(session: Session, limit: int) -> GraphCounts:
    """Count the graph (0.2 s for 300,000 edges, because each is read)."""
    resolved = edges.c.to_item.is_not(None)
    by_kind = select(edges.c.kind, func.count()).where(resolved).group_by(edges.c.kind)
    incoming = select(edges.c.to_item, func.count()).where(resolved).group_by(edges.c.to_item)
    by_kind = by_kind.order_by(func.count().desc(), edges.c.kind)
    most = incoming.order_by(func.count().desc(), edges.c.to_item).limit(limit)
    ends = select(edges.c.from_item).where(resolved).union(select(edges.c.to_item).where(resolved)).subquery()
    read = session.connection.execute
    return GraphCounts(
        kinds={row[0]: row[1] for row in read(by_kind)},
        items=read(select(func.count()).select_from(ends)).scalar_one(),
        unresolved=read(select(func.count()).where(~resolved, _IN_TEXT)).scalar_one(),
        most_linked=[(row[0], row[1]) for row in read(most)],
    )


def iter_pairs(session: Session) -> Iterator[tuple[str, str]]:
    """Yield the ends of each edge."""
    statement = select(edges.c.from_item, edges.c.to_item).where(edges.c.to_item.is_not(None))
    for row in session.connection.execute(statement.execution_options(yield_per=2_000)):
        yield row[0], row[1]
