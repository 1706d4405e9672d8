"""The graph of all items: their links and relations."""

from __future__ import annotations

from collections.abc import Sequence

from panorama.sdk.core import wire
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Components, Direction, GraphContext, GraphStats, Item, Neighbour, Paths, Related

__all__ = ("components", "context", "paths", "related", "stats", "walk")


@explain_misuse
def related(
    item: str | Item, kinds: Sequence[str] = (), depth: int = 1, direction: Direction = "both", limit: int = 20
) -> Related:
    """Show what is linked or related to an item: neighbours, backlinks, why.

    Args:
        item: Its id, its exact name, or its row.
        kinds: Only relations that read as one of these from the item, such as blocked_by; all if left out.
        depth: 1 to 4 steps.
        direction: "out" for its own relations, "in" for those to it.
        limit: The most neighbours, 1 to 1,000.

    Returns:
        `neighbours`, the nearest first: relation, direction, id, kind, title, depth, via, source, why; `more` counts
        those left out, `unresolved` are links to nothing.

    Raises:
        NotFoundError: Nothing has this name.
        ConflictError: Several things have this name; `candidates` lists them.
        InvalidInputError: `depth` or `limit` is out of range.

    Example:
        for neighbour in sdk.graph.related("Kitchen renovation").neighbours:
            print(neighbour.relation, neighbour.title, neighbour.why)
    """
    return wire.call("graph.related", item=item, kinds=kinds, depth=depth, direction=direction, limit=limit)


@explain_misuse
def walk(
    item: str | Item, kinds: Sequence[str] = (), depth: int = 4, direction: Direction = "both", limit: int = 1000
) -> list[Neighbour]:
    """Return all items within some steps of an item, the nearest first.

    Args:
        item: Its id, its exact name, or its row.
        kinds: Only relations that read as one of these from where the walk comes; all if left out.
        depth: 1 to 4 steps.
        direction: "out" along the relations, "in" against them.
        limit: The most items, 1 to 1,000.

    Returns:
        Rows with relation, direction, id, kind, title, depth, via (the item before it), source and why.

    Raises:
        NotFoundError: Nothing has this name.
        ConflictError: Several things have this name; `candidates` lists them.
        InvalidInputError: `depth` or `limit` is out of range.

    Example:
        print(len(sdk.graph.walk("Kitchen renovation", depth=2)))
    """
    return related(item, kinds, depth, direction, limit).neighbours


@explain_misuse
def paths(from_item: str | Item, to_item: str | Item, depth: int = 4, limit: int = 3) -> Paths:
    """Find the shortest paths from one item to another.

    Args:
        from_item: Its id, its exact name, or its row.
        to_item: Its id, its exact name, or its row.
        depth: At most this many steps, 1 to 4.
        limit: The most ways, 1 to 10.

    Returns:
        `length` (0 if there is none) and `paths`: each a list of rows with id, title, and the relation to the next.

    Raises:
        NotFoundError: Nothing has this name.
        ConflictError: Several things have this name; `candidates` lists them.
        InvalidInputError: `depth` or `limit` is out of range.

    Example:
        note = sdk.notes.create("About tiles", content="For the [[Kitchen overview]].")
        print(sdk.graph.paths(note, "Kitchen overview").length)
    """
    return wire.call("graph.paths", from_item=from_item, to_item=to_item, depth=depth, limit=limit)


@explain_misuse
def stats() -> GraphStats:
    """Count the graph: items, relations by kind, links without a target, and the most linked items.

    Returns:
        `nodes` (linked items), `edges`, `kinds` (counts by kind), `unresolved`, `unread` (items whose links are not
        read yet) and `most_linked`.

    Example:
        print(sdk.graph.stats().unresolved)
    """
    return wire.call("graph.stats")


@explain_misuse
def components(limit: int = 10) -> Components:
    """Find the groups of connected items, the largest first.

    Args:
        limit: The most groups, 1 to 100.

    Returns:
        `count` groups in all, and `components`: rows with size and `members`, the most linked ones.

    Raises:
        InvalidInputError: `limit` is out of range.

    Example:
        print(sdk.graph.components().count)
    """
    return wire.call("graph.components", limit=limit)


@explain_misuse
def context(topic: str, depth: int = 1) -> GraphContext:
    """Gather the best search hits for a topic with what they are linked to, in 8 KB.

    Args:
        topic: Words or a question.
        depth: 1 to 4 steps from each hit.

    Returns:
        `hits`: rows with id, kind, title, snippet and `related`; `cut` counts rows left out.

    Raises:
        InvalidInputError: `depth` is out of range, or the topic is too long.

    Example:
        for hit in sdk.graph.context("kitchen").hits:
            print(hit.title, [row.title for row in hit.related])
    """
    return wire.call("graph.context", topic=topic, depth=depth)
