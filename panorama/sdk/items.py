"""Items of any kind: show, delete and restore."""

from __future__ import annotations

from typing import Literal

from panorama.sdk.core import wire
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Fate, Item, Removed, Trashed, Whole

__all__ = ("delete", "find_source", "get", "link_source", "restore", "trash")


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
def find_source(
    source_ref: str, kind: Literal["task", "note", "session"] | None = None, trash: bool = False
) -> Item | None:
    """Find an item by its name in another system, such as claap:rec_1.

    Args:
        source_ref: The system, a colon, and the name there.
        kind: Only an item of this kind.
        trash: Also one in the trash, if no other is found; its `deleted_at` is set.

    Returns:
        The item with the fields of its kind, or None.

    Raises:
        InvalidInputError: The name has no system before a colon.
        ConflictError: Items of several kinds have this name.

    Example:
        note = sdk.notes.create("Roadmap")
        sdk.items.link_source(note, "notion:0a1b")
        print(sdk.items.find_source("notion:0a1b").title)
    """
    return wire.call("items.find_source", source_ref=source_ref, kind=kind, trash=trash)["item"]


@explain_misuse
def link_source(item: str | Item, source_ref: str) -> Item:
    """Store the name of an item in another system, such as claap:rec_1; "" removes it.

    Args:
        item: Its id, its exact name, or its row.
        source_ref: The system, a colon, and the name there. Two items of one kind never have the same.

    Returns:
        The item as it is now, with the fields of its kind.

    Raises:
        NotFoundError: Nothing has this name.
        ConflictError: Another item of its kind has this source_ref, or it is a task of a checkbox.
        InvalidInputError: It is of another kind, or the name has no system before a colon.

    Example:
        task = sdk.tasks.create("Send the offer")
        print(sdk.items.link_source(task, "claap:rec_1/1").source_ref)
    """
    return wire.call("items.link_source", item=item, source_ref=source_ref)


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
    """Restore an item from the trash.

    To revert everything a deletion did, use sdk.undo.

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
