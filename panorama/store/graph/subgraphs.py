"""Parts of the graph to be drawn: links and relations, and the projects that notes and tasks belong to."""

import json
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import text

from panorama.store.backend import Session

MAX_PAIRS = 5_000
"""The pairs that one step reads: a project with ten thousand notes is not drawn as a whole."""

PART_OF = "part_of"
"""The kind of the edge from an item to its project."""

_PAIRS = f"""
SELECT from_item AS a, to_item AS b, kind FROM edges WHERE to_item IS NOT NULL AND from_item != to_item
UNION ALL
SELECT notes.id, projects.id, '{PART_OF}' FROM notes JOIN projects ON projects.id = notes.project
WHERE notes.deleted_at IS NULL AND projects.deleted_at IS NULL
"""
_MOST_LINKED = text(f"""
WITH pairs AS ({_PAIRS}), ends(item) AS (SELECT a FROM pairs UNION ALL SELECT b FROM pairs)
SELECT item, COUNT(*) AS links, COUNT(*) OVER () AS total FROM ends GROUP BY item ORDER BY links DESC, item LIMIT :limit
""")
_ADJACENT = text("""
WITH here(id) AS (SELECT value FROM json_each(:here))
SELECT from_item, to_item FROM edges WHERE from_item IN (SELECT id FROM here) AND to_item IS NOT NULL
UNION SELECT to_item, from_item FROM edges WHERE to_item IN (SELECT id FROM here)
UNION SELECT notes.id, projects.id FROM notes JOIN projects ON projects.id = notes.project
    WHERE notes.id IN (SELECT id FROM here) AND projects.deleted_at IS NULL
UNION SELECT tasks.id, projects.id FROM tasks JOIN projects ON projects.id = tasks.project
    WHERE tasks.id IN (SELECT id FROM here) AND projects.deleted_at IS NULL
UNION SELECT project, id FROM notes WHERE project IN (SELECT id FROM here) AND deleted_at IS NULL
ORDER BY 1, 2 LIMIT :limit
""")
_INSIDE = text(f"""
WITH here(id) AS (SELECT value FROM json_each(:here))
SELECT from_item, to_item, MIN(kind) FROM edges
    WHERE from_item IN (SELECT id FROM here) AND to_item IN (SELECT id FROM here) AND from_item != to_item
    GROUP BY from_item, to_item
UNION ALL SELECT id, project, '{PART_OF}' FROM notes
    WHERE id IN (SELECT id FROM here) AND project IN (SELECT id FROM here)
UNION ALL SELECT id, project, '{PART_OF}' FROM tasks
    WHERE id IN (SELECT id FROM here) AND project IN (SELECT id FROM here)
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """An edge of a drawn graph; `part_of` leads to the project of an item."""

    from_item: str
    to_item: str
    kind: str


def list_most_linked(session: Session, limit: int) -> tuple[list[str], int]:
    """Return the items with the most edges, and how many items have any."""
    rows = session.connection.execute(_MOST_LINKED, {"limit": limit}).all()
    return [row[0] for row in rows], rows[0][2] if rows else 0


def list_around(session: Session, item: str, depth: int, limit: int) -> tuple[list[str], bool]:
    """Return an item and those within some steps, the nearest first, and whether there are more."""
    chosen, edge = {item: None}, [item]
    for _ in range(depth):
        found = session.connection.execute(_ADJACENT, {"here": json.dumps(edge), "limit": MAX_PAIRS}).all()
        edge = [other for other in dict.fromkeys(row[1] for row in found) if other not in chosen]
        chosen |= dict.fromkeys(edge)
        if len(chosen) > limit or len(found) == MAX_PAIRS:
            return list(chosen)[:limit], True
    return list(chosen), False


def load_edges(session: Session, ids: Collection[str]) -> list[GraphEdge]:
    """Return the edges between some items, one in each direction of two items."""
    rows = session.connection.execute(_INSIDE, {"here": json.dumps(list(ids))})
    return [GraphEdge(from_item=row[0], to_item=row[1], kind=row[2]) for row in rows]
