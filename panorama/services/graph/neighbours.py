"""Finds what is related to an item, and why."""

from collections.abc import Collection, Sequence
from typing import Literal

from panorama.domain.items.item import Item, kind_of
from panorama.domain.items.people import Person
from panorama.domain.items.relations import MENTIONS, name_inverse
from panorama.domain.markdown.wiki_links import WINDOW_CHARS, extract_sentence
from panorama.services.graph.mentions import list_mentioned, list_mentioning
from panorama.services.graph.results import Neighbour
from panorama.store.backend import Session
from panorama.store.graph import walks
from panorama.store.graph.walks import Direction, Edge
from panorama.store.items import lookup


def list_neighbours(
    session: Session,
    item: str,
    distances: dict[str, int],
    limit: int,
    *,
    direction: Direction = "both",
    kinds: Collection[str] = (),
) -> list[Neighbour]:
    """Return the nearest items of a walk with the edge that leads to each.

    Args:
        distances: The result of the walk.
    """  # fmt: skip
    chosen: list[tuple[str, str, Edge]] = []
    for depth in range(1, max(distances.values(), default=0) + 1):
        level = [id_ for id_, distance in distances.items() if distance == depth]
        before = [id_ for id_, distance in distances.items() if distance == depth - 1]
        if len(chosen) >= limit:
            break
        chosen += _choose_edges(session, level, before, direction, kinds)
    chosen = chosen[:limit]
    labels = lookup.get_labels(session, [(kind_of(id_) or "", id_) for id_, _, _ in chosen])
    reasons = explain_edges(session, [edge for _, _, edge in chosen])
    return [
        Neighbour(
            relation=edge.kind_from(via), direction="out" if edge.from_item == via else "in", id=id_,
            kind=labels[id_][0], title=labels[id_][2], depth=distances[id_], via=None if via == item else via,
            source="explicit" if edge.relation else "field" if edge.is_field else "parsed", why=why,
        )
        for (id_, via, edge), why in zip(chosen, reasons, strict=True)
    ]  # fmt: skip


def list_mention_neighbours(
    session: Session,
    item: Item,
    known: Collection[str],
    limit: int,
    *,
    direction: Direction = "both",
    kinds: Collection[str] = (),
) -> tuple[list[Neighbour], bool]:
    """Return the people whom an item names, or of a person the items that do, and whether there may be more.

    Args:
        known: Ids of the item and its other neighbours.
    """
    is_person = isinstance(item, Person)
    relation: str = name_inverse(MENTIONS) if is_person else MENTIONS
    towards: Literal["out", "in"] = "in" if is_person else "out"
    if limit < 1 or direction not in ("both", towards) or (kinds and relation not in kinds):
        return [], False
    has_more = False
    if isinstance(item, Person):
        found, has_more = list_mentioning(session, item, limit, known=known)
    else:
        found = list_mentioned(session, item, limit, known=known)
    neighbours = [
        Neighbour(
            relation=relation, direction=towards, id=entry.item.id, kind=entry.item.KIND, title=entry.item.label,
            depth=1, via=None, source="mentioned", why=entry.why,
        )
        for entry in found
    ]  # fmt: skip
    return neighbours, has_more


def _choose_edges(
    session: Session, level: Sequence[str], before: Sequence[str], direction: Direction, kinds: Collection[str]
) -> list[tuple[str, str, Edge]]:
    """Return each item of a level with the item before it and the edge between them, the strongest edges first."""
    found: dict[str, tuple[str, str, Edge]] = {}
    here = set(level)
    for edge in walks.list_between(session, level, before):
        ends = (edge.from_item, edge.to_item) if edge.to_item in here else (edge.to_item, edge.from_item)
        via, id_ = ends
        is_allowed = direction == "both" or (direction == "out") == (edge.from_item == via)
        if is_allowed and (not kinds or edge.kind_from(via) in kinds):
            found.setdefault(id_, (id_, via, edge))
    return list(found.values())


def explain_edges(session: Session, edges: Sequence[Edge]) -> list[str]:
    """Return why each edge exists: the note of a relation, the name of a field, or the sentence with the link."""
    notes = walks.load_notes(session, [edge.relation for edge in edges if edge.relation])
    sentences = iter(_load_sentences(session, [edge for edge in edges if not edge.relation and not edge.is_field]))
    return [
        " ".join(notes.get(edge.relation, "").split())[:200]
        if edge.relation
        else f"{edge.target} of the {kind_of(edge.from_item)}"
        if edge.is_field
        else next(sentences)
        for edge in edges
    ]


def _load_sentences(session: Session, edges: Sequence[Edge]) -> list[str]:
    """Return the sentence around each link."""
    begins = [max(0, edge.position - WINDOW_CHARS) for edge in edges]
    places = [(edge.from_item, begin) for edge, begin in zip(edges, begins, strict=True)]
    windows = lookup.load_windows(session, places, 2 * WINDOW_CHARS)
    return [
        extract_sentence(window[: edge.position - begin + WINDOW_CHARS], edge.position - begin)
        for window, edge, begin in zip(windows, edges, begins, strict=True)
    ]
