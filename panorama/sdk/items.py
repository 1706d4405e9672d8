"""Items of any kind: looked at, deleted, brought back."""

from __future__ import annotations

from panorama.sdk.core import wire
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Fate, Item, Removed, Trashed, Whole

__all__ = ("delete", "get", "restore", "trash")


@explain_misuse
def get(item: str | Item, start: int = 1) -> Whole:
    """Show anything by id or exact name, with what belongs to it and links to it.

    Args:
        item: Its id, its exact name or title, or its row.
        start: Position of the first line of a session; sdk.sessions.get reads all its lines.

    Returns:
        `kind`, the fields as `item`, and `belonging`: up to ten small rows each of tasks, notes, links, files,
        sessions, subtasks, reminders, backlinks (with the sentence as `why`), relations, observations, and the first
        lines of a session, by name.

    Raises:
        NotFoundError: Nothing has this name; `candidates` are the nearest.
        ConflictError: Several things have this name; `candidates` lists them.

    Example:
        found = sdk.items.get("Kitchen overview")
        print(found.kind, found.item.id, list(found.belonging))
    """
    return wire.call("items.get", item=item, start=start if start != 1 else None)


@explain_misuse
def delete(item: str | Item, items: Fate = "", confirm: bool = False) -> Removed:
    """Move anything to the trash; undo brings it back.

    Args:
        item: Its id, its exact name, or its row.
        items: For a project or a task with subtasks: "trash" what belongs to it too, or "keep" it.
        confirm: The user has agreed; needed for a project with items="trash".

    Returns:
        Its id, kind and label; the numbers of items moved to the trash (`trashed`) and kept without it (`kept`).

    Raises:
        NotFoundError: Nothing has this name.
        ConflictError: Several things have this name; `candidates` lists them.
        InvalidInputError: Something belongs to it and `items` does not say what becomes of that.
        ConfirmationError: The user has to agree first.

    Example:
        entry = sdk.journal.create("A slip of the pen")
        print(sdk.items.delete(entry).label)
    """
    return wire.call("items.delete", item=item, items=items, confirm=confirm)


@explain_misuse
def restore(item: str | Item | Trashed, items: bool = False) -> Item:
    """Bring an item back from the trash.

    To take back everything a deletion did, use sdk.undo.

    Args:
        item: Its id, its name, or its row.
        items: Also the items deleted with a project or a task.

    Returns:
        The item as it is now, with the fields of its kind.

    Raises:
        NotFoundError: Nothing has this name, in the trash or outside.
        ConflictError: Its name is taken by now, its project or parent is in the trash, or several items have this name.
        InvalidInputError: It is not in the trash.

    Example:
        task = sdk.tasks.create("Needed after all")
        sdk.tasks.delete(task)
        print(sdk.items.restore(task).title)
    """
    return wire.call("items.restore", item=item, items=items)


@explain_misuse
def trash(limit: int | None = None) -> list[Trashed]:
    """List the trash, the last deleted first.

    Args:
        limit: The most rows; all if left out.

    Returns:
        Rows with id, kind, label and deleted_at.

    Raises:
        InvalidInputError: `limit` is below 1.

    Example:
        for gone in sdk.items.trash(limit=10):
            print(gone.kind, gone.label, gone.deleted_at)
    """
    return wire.list_rows("items.trash", limit)
