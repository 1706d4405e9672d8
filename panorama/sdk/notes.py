"""Notes: texts in Markdown."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

from panorama.sdk.core import text_ranges, wire
from panorama.sdk.core.lookup import check_item, delete_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Note, NoteTasks, NoteText, Position, Project, Removed
from panorama.sdk.core.unset import UNSET

_EMPTY: dict[str, Any] = {
    "note": None,
    "expected_version": None,
    "project": "",
    "tags": (),
    "aliases": (),
    "properties": {},
}
"""The value that clears each field in an update; sent for None."""

__all__ = ("append", "create", "create_tasks", "delete", "edit", "get", "list", "text", "update")


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    project: str | Project | None = None,
    tag: str | None = None,
    pinned: bool | None = None,
    limit: int | None = None,
) -> builtins.list[Note]:
    """List notes without their text: pinned first, then the last changed.

    To find notes by their words use search; to read one, sdk.notes.text.

    Args:
        project: Its id, its name, or its row; all projects if left out.
        tag: Only those with this tag.
        pinned: Only those that are pinned, or those that are not.
        limit: The most rows; all if left out.

    Returns:
        Rows with id, title, project (an id), tags, pinned, chars (its length), version, created_at, updated_at.

    Raises:
        NotFoundError: No project has this name.
        InvalidInputError: `limit` is below 1.

    Example:
        for note in sdk.notes.list(tag="meeting"):
            print(note.title, note.chars, note.updated_at)
    """
    return wire.list_rows(
        "notes.list", limit, project="" if project is None else project, tag=tag, pinned=pinned, detail="full"
    )


@explain_misuse
def get(note: str | Note, heading: str = "", start: int = 0, chars: int | None = None) -> NoteText:
    """Read a note: whole, the section under a heading, or a range of characters.

    Args:
        note: Its id, its title, or its row.
        heading: Only the section under this heading.
        start: First character, counted from 0.
        chars: How many characters at most, 1 to 35,000; all if left out, however many.

    Returns:
        Its fields; `content` is all of the text if `start` and `end` are None, else the part from `start` to before
        `end` of `chars`: to update the note with a part loses the rest, use append or edit.

    Raises:
        NotFoundError: No note has this name, or it has no such heading; `candidates` are the nearest.
        ConflictError: Several have this name; `candidates` lists them; or it was changed again and again meanwhile.
        InvalidInputError: `start` or `chars` is out of range, or it is not a note.

    Example:
        note = sdk.notes.get("Kitchen overview", heading="Who does what")
        print(note.content)
    """

    def read(item: str | Note, begin: int) -> NoteText:
        stretch = text_ranges.MAX_CHARS if chars is None else chars
        return wire.call("notes.get", note=item, heading=heading, start=begin, chars=stretch)

    return read(note, start) if chars is not None else text_ranges.read_all(read, note, start, "content")


@explain_misuse
def text(note: str | Note) -> str:
    """Return the whole text of a note, however long it is.

    Args:
        note: Its id, its title, or its row.

    Returns:
        The text in Markdown, "" if the note is empty.

    Raises:
        NotFoundError: No note has this name.
        ConflictError: Several have this name, or it kept changing while it was read.
        InvalidInputError: It is not a note.

    Example:
        words = len(sdk.notes.text("Kitchen overview").split())
        print(words)
    """
    check_item("note", note, "text")
    return text_ranges.require_text(get(note), "content")


@explain_misuse
def create(
    title: str,
    content: str = "",
    project: str | Project | None = None,
    tags: Sequence[str] = (),
    pinned: bool = False,
    type: str = "",
    aliases: Sequence[str] = (),
    properties: Mapping[str, Any] | None = None,
    idempotency_key: str = "",
) -> Note:
    """Create a note in Markdown.

    [[Title]] links to another note.

    Args:
        title: One line, 1 to 200 characters.
        content: Markdown, up to 10 MB.
        project: Its id, its name, or its row; none if left out.
        tags: Words, up to 50 of up to 60 characters each.
        pinned: Keep it at the top of lists.
        type: note, decision, insight or any word, up to 60 characters; note if left out.
        aliases: Further names that links may use, up to 50.
        properties: Any further fields, as in front matter; up to 65,536 characters of JSON.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new note.

    Raises:
        NotFoundError: No project has this name.
        InvalidInputError: The title is empty, or a text is too long.
        ConflictError: The key was used for another call.

    Example:
        late = sdk.tasks.list(view="overdue")
        lines = "\\n".join(f"- [[{task.id}]] {task.title}" for task in late)
        note = sdk.notes.create("Late", f"# Late\\n\\n{lines}", tags=["review"])
        print(note.id)
    """
    return wire.call(
        "notes.create", title=title, content=content, project=project, tags=tags, pinned=pinned, type=type,
        aliases=aliases, properties=properties,
        idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def update(
    note: str | Note,
    title: str = UNSET,
    content: str = UNSET,
    project: str | Project | None = UNSET,
    tags: Sequence[str] | None = UNSET,
    pinned: bool = UNSET,
    type: str = UNSET,
    aliases: Sequence[str] | None = UNSET,
    properties: Mapping[str, Any] | None = UNSET,
    expected_version: int | None = None,
) -> Note:
    """Change a note's fields; omitted fields stay, "" or [] clears.

    None clears too, but not the text, which only "" empties.

    Args:
        note: Its id, its title, or its row.
        title: One line, 1 to 200 characters.
        content: Markdown, up to 10 MB; replaces the whole text; to add use append, to change a part use edit.
        project: Its id, its name, or its row.
        tags: All its tags; they replace those it had.
        pinned: Keep it at the top of lists, or no longer.
        type: note, decision, insight or any word, up to 60 characters.
        aliases: All further names that links may use, up to 50; they replace those it had.
        properties: All further fields; they replace those it had; up to 65,536 characters of JSON.
        expected_version: The version you read; refused if it changed since.

    Returns:
        The note as it is now.

    Raises:
        NotFoundError: No note or project has this name.
        ConflictError: It has another version than `expected_version`, or several have this name.
        InvalidInputError: The title is empty, a text is too long, or it is not a note.

    Example:
        note = sdk.notes.get("Kitchen budget")
        sdk.notes.update(note, tags=[*note.tags, "checked"], expected_version=note.version)
    """
    return wire.call_update(
        "notes.update", _EMPTY, note=note, title=title, content=content, project=project, tags=tags, pinned=pinned,
        type=type, aliases=aliases, properties=properties, expected_version=expected_version,
    )  # fmt: skip


@explain_misuse
def append(
    note: str | Note,
    block: str,
    position: Position = "bottom",
    after_marker: str = "",
    separator: str = "\n\n",
    skip_if_contains: str = "",
    idempotency_key: str = "",
) -> Note:
    """Add a block to a note, without sending its text.

    Args:
        note: Its id, its title, or its row.
        block: Markdown, up to 10 MB.
        position: "bottom" or "top" of the text.
        after_marker: Put it under the only line with this.
        separator: The text between the note and the block, up to 1,000 characters; an empty line if left out.
        skip_if_contains: Do nothing if the note contains this.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The note as it is now.

    Raises:
        NotFoundError: No note has this name, or no line holds the marker.
        ConflictError: More than one line holds the marker, or several notes have this name.
        InvalidInputError: The note would be over 10 MB, or it is not a note.

    Example:
        today = sdk.status().today
        sdk.notes.append("Kitchen decisions", f"- **{today}** No handles.", skip_if_contains="No handles.")
    """
    return wire.call(
        "notes.append", note=note, block=block, position=position, after_marker=after_marker, separator=separator,
        skip_if_contains=skip_if_contains, idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def create_tasks(note: str | Note, lines: Sequence[str] = ()) -> NoteTasks:
    """Create tasks from the open checkboxes of a note; each stays linked to its line.

    Completing, reopening or renaming one then does the same with the other. Checkboxes that are tasks already are
    skipped.

    Args:
        note: Its id, its title, or its row.
        lines: Only the checkboxes with these words, also closed ones.

    Returns:
        `count`: how many were made; `tasks`: the first 50; `linked`: how many imported tasks were linked to boxes.

    Raises:
        NotFoundError: No note is called so.
        ConflictError: Several are called so; `candidates` lists them; or the note was changed meanwhile.
        InvalidInputError: No box of the note has one of these words, or it is not a note.

    Example:
        for task in sdk.notes.create_tasks("Tile meeting at Ortner").tasks:
            print(task.title, task.source_ref)
    """
    return wire.call("notes.create_tasks", note=note, lines=lines)


@explain_misuse
def edit(note: str | Note, old_text: str, new_text: str) -> Note:
    """Replace a piece of a note's text that occurs exactly once.

    Args:
        note: Its id, its title, or its row.
        old_text: Copied exactly from the note.
        new_text: "" removes it.

    Returns:
        The note as it is now.

    Raises:
        NotFoundError: No note has this name, or it does not hold the piece.
        ConflictError: It holds the piece more than once, or several notes have this name.
        InvalidInputError: `old_text` is empty, or it is not a note.

    Example:
        sdk.notes.edit("Kitchen budget", "Ceiling is €20,000.", "Ceiling is €21,000.")
    """
    return wire.call("notes.edit", note=note, old_text=old_text, new_text=new_text)


@explain_misuse
def delete(note: str | Note) -> Removed:
    """Move a note to the trash.

    Undo brings it back.

    Args:
        note: Its id, its title, or its row.

    Returns:
        Its id, kind and label, and `trashed`: how many went to the trash.

    Raises:
        NotFoundError: No note has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a note.

    Example:
        note = sdk.notes.create("Scratch")
        sdk.notes.delete(note)
    """
    return delete_item("note", note)
