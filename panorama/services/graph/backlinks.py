"""The links of a shown item: links to it with their sentences, its typed relations, and its observations."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from panorama.domain.items.item import Item, kind_of
from panorama.domain.items.notes import Note
from panorama.domain.markdown.wiki_links import parse_observations
from panorama.services.graph.neighbours import explain_edges
from panorama.store.backend import Session
from panorama.store.graph import walks
from panorama.store.graph.walks import Edge
from panorama.store.items import lookup

MAX_ROWS = 10
"""The maximum number of rows in each list."""


def describe_links(session: Session, item: Item) -> tuple[dict[str, tuple[Mapping[str, Any], ...]], dict[str, int]]:
    """Return an item's backlinks, relations and observations as short rows, and how many of each are left out."""
    backlinks, to_it = walks.list_backlinks(session, item.id, MAX_ROWS)
    typed, from_it = walks.list_typed(session, item.id, MAX_ROWS)
    lists = {"backlinks": _to_rows(session, item.id, backlinks), "relations": _to_rows(session, item.id, typed)}
    counts = {"backlinks": to_it - len(backlinks), "relations": from_it - len(typed)}
    if isinstance(item, Note):
        observations = parse_observations(item.content)
        lists["observations"] = tuple(
            {"category": line.category, "text": line.text, **({"tags": line.tags} if line.tags else {})}
            for line in islice(observations, MAX_ROWS)
        )
        counts["observations"] = sum(1 for _ in observations)
    return {name: rows for name, rows in lists.items() if rows}, {name: n for name, n in counts.items() if n}


def _to_rows(session: Session, item: str, edges: Sequence[Edge]) -> tuple[Mapping[str, Any], ...]:
    others = [edge.other(item) for edge in edges]
    labels = lookup.get_labels(session, [(kind_of(other) or "", other) for other in others])
    reasons = explain_edges(session, edges)
    distinct = dict.fromkeys(
        (other, edge.kind_from(item), why) for edge, other, why in zip(edges, others, reasons, strict=True)
    )  # a sentence with several links to the item is one row
    return tuple(
        {"id": other, "kind": labels[other][0], "title": labels[other][2], "relation": kind, "why": why}
        for other, kind, why in distinct
    )
