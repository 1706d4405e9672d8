"""Relations: what connects two items."""

from __future__ import annotations

import builtins

from panorama.sdk.core import wire
from panorama.sdk.core.lookup import delete_item, get_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Item, Relation, RelationRow, Removed

__all__ = ("create", "delete", "get", "list")


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    item: str | Item | None = None, kind: str = "", limit: int | None = None
) -> builtins.list[RelationRow]:
    """List the relations that were created, the newest first.

    Links in texts are relations too: sdk.graph.related shows both.

    Args:
        item: Its id, its exact name, or its row: only relations from or to it.
        kind: Only those of this kind.
        limit: The most rows; all if left out.

    Returns:
        Rows with id, from_item, from_title, kind, to_item, to_title, note, created_at.

    Raises:
        NotFoundError: Nothing has this name.
        ConflictError: Several things have this name; `candidates` lists them.
        InvalidInputError: `limit` is below 1.

    Example:
        for relation in sdk.relations.list(kind="blocked_by"):
            print(relation.from_title, relation.kind, relation.to_title)
    """
    return wire.list_rows("relations.list", limit, item=item, kind=kind, detail="full")


@explain_misuse
def get(relation: str | Relation) -> Relation:
    """Show one relation.

    Args:
        relation: Its id or its row.

    Returns:
        The relation with all its fields.

    Raises:
        NotFoundError: There is none with this id.
        InvalidInputError: It is not a relation.

    Example:
        tiles, tiler = sdk.tasks.create("Lay the tiles"), sdk.tasks.create("Book the tiler")
        relation = sdk.relations.create(tiles, "blocked_by", tiler)
        print(sdk.relations.get(relation.id).kind)
    """
    return get_item("relation", relation)


@explain_misuse
def create(
    from_item: str | Item, kind: str, to_item: str | Item, note: str = "", idempotency_key: str = ""
) -> Relation:
    """Relate two items: from_item kind to_item.

    Args:
        from_item: Its id, its exact name, or its row.
        kind: blocked_by, part_of, depends_on, implements, extends, supports, contradicts, caused_by, follows, the
            inverse of one, or any other word; up to 60 characters.
        to_item: Its id, its exact name, or its row.
        note: Why; Markdown, up to 1,000,000 characters.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new relation, or the one that exists with these ends and this kind.

    Raises:
        NotFoundError: Nothing has this name, or it is in the trash.
        ConflictError: Several things have this name; `candidates` lists them.
        InvalidInputError: Both ends are the same, or `kind` has no letter.

    Example:
        note = sdk.notes.create("Tiles need three weeks", type="insight")
        print(sdk.relations.create(note, "supports", "Kitchen renovation").id)
    """
    return wire.call(
        "relations.create", from_item=from_item, kind=kind, to_item=to_item, note=note,
        idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def delete(relation: str | Relation) -> Removed:
    """Move a relation to the trash.

    Undo brings it back.

    Args:
        relation: Its id or its row.

    Returns:
        Its id, kind and label, and `trashed`: how many went to the trash.

    Raises:
        NotFoundError: There is none with this id.
        InvalidInputError: It is not a relation.

    Example:
        relation = sdk.relations.create(sdk.tasks.create("A"), "follows", sdk.tasks.create("B"))
        sdk.relations.delete(relation)
    """
    return delete_item("relation", relation)
