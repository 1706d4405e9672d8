"""Results of operations on the graph."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal

from panorama.domain.text.wording import pluralize
from panorama.store.graph.subgraphs import GraphEdge

EdgeSource = Literal["explicit", "field", "parsed", "mentioned"]
"""How an edge is known: from a relation, a field such as assignee, a link in a text, or a person's name in a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An item near another one: the relation that leads to it, as it reads from `via` or the item asked for.

    `direction` is `out` if that other item says it. `why` is the link's sentence, the relation's note, or the field.
    `via` is the item before it on the way, None for direct neighbours.
    """

    BRIEF: ClassVar[tuple[str, ...]] = ("relation", "direction", "id", "kind", "title", "depth", "via", "source", "why")

    relation: str
    direction: Literal["out", "in"]
    id: str
    kind: str
    title: str
    depth: int
    via: str | None
    source: EdgeSource
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """An item and its neighbours, the nearest first; `more` counts those left out, `unresolved` are links to nothing.

    `is_partial` says that the walk was ended because there are too many neighbours, or that a person is mentioned in
    more texts.
    """

    id: str
    kind: str
    title: str
    neighbours: tuple[Neighbour, ...]
    more: int
    unresolved: tuple[str, ...]
    is_partial: bool | None

    def summarize(self) -> str:
        """Return a one-line summary."""
        parts = [f"{pluralize(len(self.neighbours), 'item')} related to “{self.title}” ({self.id})"]
        parts += [f"{self.more:,} more: give a limit, kinds or a smaller depth"] if self.more else []
        named = sum(neighbour.source == "mentioned" for neighbour in self.neighbours)
        parts += [f"{named} of them only mentioned by name"] if named else []
        parts += ["only a part of very many was searched"] if self.is_partial else []
        parts += [f"{pluralize(len(self.unresolved), 'link')} without a target"] if self.unresolved else []
        return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationView:
    """A relation with the titles of its ends."""

    BRIEF: ClassVar[tuple[str, ...]] = ("id", "from_title", "kind", "to_title", "from_item", "to_item", "note")

    id: str
    version: int
    created_at: datetime
    updated_at: datetime
    from_item: str
    from_title: str
    kind: str
    to_item: str
    to_title: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """The shortest ways between two items, each as its items and the relations between them."""

    length: int
    paths: tuple[tuple[Mapping[str, Any], ...], ...]

    def summarize(self) -> str:
        """Return a one-line summary."""
        if not self.paths:
            return "No path of at most so many steps"
        way = " → ".join(str(step["title"]) for step in self.paths[0])
        return f"{pluralize(len(self.paths), 'way')} of {pluralize(self.length, 'step')}: {way}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStats:
    """How large the graph is."""

    nodes: int
    edges: int
    kinds: Mapping[str, int]
    unresolved: int
    unread: int
    most_linked: tuple[Mapping[str, Any], ...]

    def summarize(self) -> str:
        """Return a one-line summary."""
        unread = f"; the links of {pluralize(self.unread, 'item')} are still being read" if self.unread else ""
        return (
            f"{pluralize(self.edges, 'relation')} between {pluralize(self.nodes, 'item')}; "
            f"{pluralize(self.unresolved, 'link')} without a target{unread}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """An item of a drawn graph; `links` counts its edges inside of the drawing."""

    id: str
    kind: str
    title: str
    project: str | None
    links: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """A part of the graph to be drawn; `total` is how many items there are, None if they were not counted."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    total: int | None
    is_partial: bool

    def summarize(self) -> str:
        """Return a one-line summary."""
        return (
            f"{pluralize(len(self.nodes), 'item')}, {pluralize(len(self.edges), 'edge')}{', a part' * self.is_partial}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Groups of items that hang together, the largest first; each with its size and best linked items."""

    count: int
    components: tuple[Mapping[str, Any], ...]

    def summarize(self) -> str:
        """Return a one-line summary."""
        largest = max((int(group["size"]) for group in self.components), default=0)
        return f"{pluralize(self.count, 'group')}; the largest has {pluralize(largest, 'item')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphContext:
    """The best hits of a search with their neighbourhood; `cut` counts rows left out to keep it under 8 KB."""

    topic: str
    hits: tuple[Mapping[str, Any], ...]
    cut: int

    def summarize(self) -> str:
        """Return a one-line summary."""
        cut = f"; {pluralize(self.cut, 'row')} left out to keep it short" if self.cut else ""
        return f"{pluralize(len(self.hits), 'hit')} for “{self.topic[:80]}” and what is related to them{cut}"
