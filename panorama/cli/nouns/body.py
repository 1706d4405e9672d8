"""Long texts: reads whole notes, and edits an item's text in the user's editor."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from panorama.cli.client import Answer, Client
from panorama.cli.console import console, editor, tables
from panorama.cli.nouns.table import Noun
from panorama.errors import ConflictError, InvalidInputError

PART_CHARS = 32_000
"""The characters of a note read at once; fewer if the answer would exceed 36,000 characters as JSON."""


def edit_body(panorama: Client, noun: Noun, item: str) -> dict[str, Any]:
    """Open an item's long text in the editor; return the changed field.

    Raises:
        InvalidInputError: There is no editor, or it failed.
        ConflictError: The item was changed meanwhile; the user's text stays in a file.
    """
    if not noun.body:
        raise InvalidInputError("Nothing to change.", hint=f"See `panorama {noun.group} edit --help`.")
    row = panorama.call("items.resolve", {"kind": noun.kind, "item": item}).data
    before = _read_body(panorama, noun, row["id"])
    draft = editor.create_draft(before, noun.kind)
    editor.edit_file(draft)
    if panorama.call("items.resolve", {"kind": noun.kind, "item": row["id"]}).data["version"] != row["version"]:
        raise ConflictError(
            f"The {noun.word} was changed while you edited it.", hint=f"Your text is in {draft}; edit it again."
        )
    text = _read_draft(draft)
    with suppress(OSError):
        draft.unlink()
    return {noun.body: text if before.endswith("\n") else text.removesuffix("\n")}  # editors end the last line


def _read_body(panorama: Client, noun: Noun, id_: str) -> str:
    if noun.kind == "note":
        return str(read_note(panorama, id_).data["content"])
    return str(panorama.call("items.get", {"item": id_}, whole=True).data["item"].get(noun.body, ""))


def _read_draft(draft: Path) -> str:
    try:
        with draft.open(encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise InvalidInputError("The text is not UTF-8.", hint=f"It is in {draft}; save it as UTF-8.") from error


def print_note(answer: Answer, raw: bool, now: datetime) -> None:
    """Print a note: rendered in a terminal, unchanged in a pipe."""
    content = str(answer.data["content"])
    if raw or not console.is_terminal():
        console.print_raw(content)
    else:
        console.print_markdown(tables.note_head(answer.data, answer.metadata.get("names", {}), now), content)


def read_note(panorama: Client, note: str) -> Answer:
    """Read a note in parts.

    Raises:
        ConflictError: It was changed meanwhile.
    """
    answer = panorama.call("notes.get", {"note": note, "chars": PART_CHARS})
    data = answer.data
    parts, version, chars = [_part_content(data)], data["version"], PART_CHARS
    while (start := sum(map(len, parts))) < data.get("chars", 0):
        read = panorama.call("notes.get", {"note": data["id"], "start": start, "chars": chars}).data
        if read["version"] != version:
            raise ConflictError("The note was changed while it was read.", hint="Try again.")
        parts.append(_part_content(read))
        if not parts[-1]:
            chars = chars // 2
    whole = {name: value for name, value in data.items() if name not in ("start", "end", "headings")}
    return answer.__class__(data=whole | {"content": "".join(parts)}, summary=answer.summary, metadata=answer.metadata)


def _part_content(data: dict[str, Any]) -> str:
    """Return the part, or "" if the answer was cut."""
    length = data.get("end", data.get("chars", 0)) - data.get("start", 0)
    content = str(data.get("content", ""))
    return content if len(content) == length else ""
