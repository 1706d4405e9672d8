"""Operations on the graph: neighbours, paths, counts, groups, and the context of a topic."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from panorama.domain.items.item import KINDS, Item, Kind, kind_of
from panorama.domain.items.references import ItemRef
from panorama.domain.items.relations import validate_kind
from panorama.domain.paging import PageRequest
from panorama.errors import InvalidInputError
from panorama.services.base import Service, ServiceContext
from panorama.services.graph.neighbours import list_mention_neighbours, list_neighbours
from panorama.services.graph.results import (
    Components,
    GraphContext,
    GraphNode,
    GraphStats,
    Neighbour,
    Paths,
    Related,
    Subgraph,
)
from panorama.services.search.search import Search
from panorama.store.backend import Session
from panorama.store.graph import edges, subgraphs, walks
from panorama.store.graph.subgraphs import PART_OF, GraphEdge
from panorama.store.graph.walks import MAX_VISITS, Direction
from panorama.store.items import lookup, rows

MAX_DEPTH = 4
MAX_NEIGHBOURS = 1_000
MAX_DRAWN = 250
MAX_UNRESOLVED = 10
MAX_PATHS = 10
TOP_ITEMS = 10
CONTEXT_HITS = 5
CONTEXT_NEIGHBOURS = 6
CONTEXT_KINDS: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind != "relation")
CONTEXT_CHARS = 7_000
"""The context of a topic in characters; with summary and metadata it stays under 8 KB."""


class Graph(Service):
    """The graph of all items: their links and relations."""

    def __init__(self, context: ServiceContext, search: Search) -> None:
        super().__init__(context)
        self._search = search

    def related(
        self,
        item: ItemRef,
        kinds: tuple[str, ...] = (),
        depth: int = 1,
        direction: Direction = "both",
        limit: int = 20,
    ) -> Related:
        """Show what is linked or related to an item: neighbours, backlinks, why.

        Args:
            kinds: Such as blocked_by.
            depth: Up to 4.
        """
        _validate_range("depth", depth, MAX_DEPTH)
        _validate_range("limit", limit, MAX_NEIGHBOURS)
        valid_kinds = tuple(map(validate_kind, kinds))
        with self._reading() as session:
            loaded: Item = rows.load(session, kind_of(item) or "", item)
            distances = walks.walk(session, item, kinds=valid_kinds, depth=depth, direction=direction)
            neighbours = list_neighbours(session, item, distances, limit, direction=direction, kinds=valid_kinds)
            mentions, has_more = list_mention_neighbours(
                session, loaded, distances, limit - len(neighbours), direction=direction, kinds=valid_kinds
            )
            return Related(
                id=item, kind=loaded.KIND, title=loaded.label, neighbours=(*neighbours, *mentions),
                more=len(distances) - 1 - len(neighbours),
                unresolved=tuple(walks.list_unresolved(session, item, MAX_UNRESOLVED)),
                is_partial=has_more or len(distances) >= MAX_VISITS or None,
            )  # fmt: skip

    def paths(self, from_item: ItemRef, to_item: ItemRef, depth: int = MAX_DEPTH, limit: int = 3) -> Paths:
        """Find the shortest paths from one item to another.

        Args:
            depth: Maximum number of steps, up to 4.
            limit: Maximum number of paths, up to 10.
        """
        _validate_range("depth", depth, MAX_DEPTH)
        _validate_range("limit", limit, MAX_PATHS)
        with self._reading() as session:
            distances = walks.walk(session, from_item, depth=depth)
            ways = _trace_paths(session, distances, to_item, limit) if to_item in distances else []
            labels = _load_labels(session, {step["id"] for way in ways for step in way})
        named = tuple(tuple({**step, "title": labels[step["id"]][2]} for step in way) for way in ways)
        return Paths(length=distances.get(to_item, 0), paths=named)

    def stats(self) -> GraphStats:
        """Count the graph: items, relations by kind, links without a target, and the most linked items."""
        with self._reading() as session:
            counts = walks.count_graph(session, TOP_ITEMS)
            labels = _load_labels(session, {id_ for id_, _ in counts.most_linked})
            unread = edges.count_unread(session)
        most = tuple({**_to_row(labels[id_]), "links": count} for id_, count in counts.most_linked)
        return GraphStats(
            nodes=counts.items, edges=sum(counts.kinds.values()), kinds=counts.kinds, unresolved=counts.unresolved,
            unread=unread, most_linked=most,
        )  # fmt: skip

    def components(self, limit: int = 10) -> Components:
        """Find the groups of connected items, the largest first.

        Args:
            limit: Maximum number of groups, up to 100.
        """
        if not 1 <= limit <= 100:
            raise InvalidInputError(f"limit is {limit}.", hint="Give 1 to 100.")
        with self._reading() as session:
            groups, degrees = _group_items(walks.iter_pairs(session))
            largest = sorted(groups, key=lambda group: (-len(group), min(group)))[:limit]
            tops = [sorted(group, key=lambda id_: (-degrees[id_], id_))[:CONTEXT_HITS] for group in largest]
            labels = _load_labels(session, {id_ for top in tops for id_ in top})
        shown = [
            {"size": len(group), "members": [_to_row(labels[id_]) for id_ in top]}
            for group, top in zip(largest, tops, strict=True)
        ]
        return Components(count=len(groups), components=tuple(shown))

    def subgraph(self, item: ItemRef | None = None, depth: int = 2, limit: int = MAX_DRAWN) -> Subgraph:
        """Return items and the edges between them, for a drawing: those around an item, or the most linked ones.

        Args:
            depth: Steps from the item, up to 4.
            limit: Maximum number of items, up to 1000.
        """
        _validate_range("depth", depth, MAX_DEPTH)
        _validate_range("limit", limit, MAX_NEIGHBOURS)
        with self._reading() as session:
            if item:
                rows.load(session, kind_of(item) or "", item)
                ids, is_partial = subgraphs.list_around(session, item, depth, limit)
                total = None
            else:
                ids, total = subgraphs.list_most_linked(session, limit)
                is_partial = total > len(ids)
            drawn = subgraphs.load_edges(session, ids)
            labels = _load_labels(session, set(ids))
        nodes = _build_nodes([labels[id_] for id_ in ids if id_ in labels], drawn)
        return Subgraph(nodes=nodes, edges=tuple(drawn), total=total, is_partial=is_partial)

    def context(self, topic: str, depth: int = 1) -> GraphContext:
        """Gather the best search hits for a topic with what they are linked to, in 8 KB.

        Args:
            depth: Steps from each hit, up to 4.
        """
        _validate_range("depth", depth, MAX_DEPTH)
        hits = self._search.search(topic, PageRequest(limit=CONTEXT_HITS), kinds=CONTEXT_KINDS).items
        with self._reading() as session:
            found = [self._describe_hit(session, hit, depth) for hit in hits]
        cut = 0
        while len(json.dumps(found, ensure_ascii=False)) > CONTEXT_CHARS:
            longest = max(found, key=lambda hit: len(hit["related"]))
            part = longest["related"] or found
            part.pop()
            cut += 1
        return GraphContext(topic=topic, hits=tuple(found), cut=cut)

    def _describe_hit(self, session: Session, hit: Any, depth: int) -> dict[str, Any]:
        distances = walks.walk(session, hit.id, depth=depth)
        neighbours = list_neighbours(session, hit.id, distances, CONTEXT_NEIGHBOURS)
        return {
            "id": hit.id, "kind": hit.kind, "title": hit.title, "snippet": hit.snippet,
            "related": [_to_short_row(neighbour) for neighbour in neighbours],
        }  # fmt: skip


def _validate_range(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise InvalidInputError(f"{name} is {value:,}.", hint=f"Give {name} 1 to {most:,}.")


def _to_short_row(neighbour: Neighbour) -> dict[str, Any]:
    names = ("relation", "id", "title", "via", "why")
    return {name: value for name in names if (value := getattr(neighbour, name))}


def _to_row(label: lookup.NamedItem) -> dict[str, Any]:
    kind, id_, title = label
    return {"id": id_, "kind": kind, "title": title}


def _load_labels(session: Session, ids: set[str]) -> dict[str, lookup.NamedItem]:
    return lookup.get_labels(session, [(kind_of(id_) or "", id_) for id_ in sorted(ids)])


def _build_nodes(labels: Sequence[lookup.NamedItem], drawn: Sequence[GraphEdge]) -> tuple[GraphNode, ...]:
    """Return items with their projects, and how many edges lead to each."""
    links = Counter(end for edge in drawn for end in (edge.from_item, edge.to_item))
    projects = {edge.from_item: edge.to_item for edge in drawn if edge.kind == PART_OF}
    return tuple(
        GraphNode(id=id_, kind=kind, title=title, project=projects.get(id_), links=links[id_])
        for kind, id_, title in labels
    )


def _trace_paths(session: Session, distances: Mapping[str, int], end: str, limit: int) -> list[list[Mapping[str, Any]]]:
    """Return shortest ways to an item, step by step from the end of a walk back to its start."""
    ways: list[list[Mapping[str, Any]]] = [[{"id": end, "relation": ""}]]
    for depth in range(distances[end] - 1, -1, -1):
        before = [id_ for id_, distance in distances.items() if distance == depth]
        heads = {str(way[0]["id"]) for way in ways}
        steps: dict[str, dict[str, str]] = {}
        for edge in walks.list_between(session, sorted(heads), before):
            head = edge.from_item if edge.from_item in heads else edge.to_item
            via = edge.other(head)
            steps.setdefault(head, {}).setdefault(via, edge.kind_from(via))
        ways = [
            [{"id": via, "relation": relation}, *way] for way in ways
            for via, relation in steps.get(str(way[0]["id"]), {}).items()
        ][:limit]  # fmt: skip
    return ways


def _group_items(pairs: Any) -> tuple[Sequence[Sequence[str]], Counter[str]]:
    """Return the connected groups of a list of pairs, and how many pairs each item is in."""
    parents: dict[str, str] = {}
    degrees: Counter[str] = Counter()

    def find_root(item: str) -> str:
        root = item
        while (above := parents.setdefault(root, root)) != root:
            root = above
        while parents[item] != root:
            parents[item], item = root, parents[item]
        return root

    for first, second in pairs:
        degrees.update((first, second))
        parents[find_root(first)] = find_root(second)
    groups: dict[str, list[str]] = {}
    for item in parents:
        groups.setdefault(find_root(item), []).append(item)
    return list(groups.values()), degrees
