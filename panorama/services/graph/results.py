"""Results of operations on the graph."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal

EdgeSource = Literal["explicit", "parsed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An item near another one: the relation that leads to it, as it reads from `via` or the item asked for.

    `direction` is `out` if that other item says it. `why` is the sentence with the link, or the relation's note.
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

    `is_partial` says that the walk was ended because there are too many neighbours.
    """

    id: str
    kind: str
    title: str
    neighbours: tuple[Neighbour, ...]
    more: int
    unresolved: tuple[str, ...]
    is_partial: bool | None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStats:
    """How large the graph is."""

    nodes: int
    edges: int
    kinds: Mapping[str, int]
    unresolved: int
    unread: int
    most_linked: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Groups of items that hang together, the largest first; each with its size and best linked items."""

    count: int
    components: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphContext:
    """The best hits of a search with their neighbourhood; `cut` counts rows left out to keep it under 8 KB."""

    topic: str
    hits: tuple[Mapping[str, Any], ...]
    cut: int
