"""Notes, and edits of their text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal

from panorama.domain.items.item import Item, Kind, single_line, validate_text
from panorama.errors import ConflictError, InvalidInputError, NotFoundError

CONTENT_BYTES = 10 * 1024 * 1024
"""The longest content, in bytes of UTF-8."""

PROPERTIES_CHARS = 65_536
"""The longest properties, in characters of JSON."""

PLAIN_TYPE = "note"
TYPE_CHARS = 60
Position = Literal["bottom", "top"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Item):
    """A Markdown text; `type` is a free word such as decision, `properties` is front matter without a field.

    `source_ref` is its name in another system.
    """

    KIND: ClassVar[Kind] = "note"
    BRIEF: ClassVar[tuple[str, ...]] = ("id", "title", "project", "tags", "pinned", "chars", "version", "source_ref")
    LONG: ClassVar[tuple[str, ...]] = ("content",)
    LINKED: ClassVar[str] = "content"
    DERIVED: ClassVar[tuple[str, ...]] = ("chars",)

    title: str
    content: str = ""
    project: str | None = None
    tags: tuple[str, ...] = ()
    pinned: bool = False
    type: str = PLAIN_TYPE
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source_ref: str | None = None

    @property
    def chars(self) -> int:
        """The content's length in characters."""
        return len(self.content)

    def list_other_names(self) -> tuple[str, ...]:
        """Its aliases."""
        return self.aliases

    def search_text(self) -> tuple[str, str]:
        """Its title; its content, tags, aliases, type and properties."""
        type_ = () if self.type == PLAIN_TYPE else (self.type,)
        values = (f"{name}: {_to_words(value)}" for name, value in self.properties.items())
        words = "\n".join((" ".join((*self.tags, *self.aliases, *type_)), *values)).strip()
        return self.title, f"{self.content}\n{words}" if words else self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteHeader:
    """A note without its content; `chars` is the content's length."""

    BRIEF: ClassVar[tuple[str, ...]] = ("id", "title", "project", "tags", "pinned", "chars", "updated_at", "source_ref")

    id: str
    title: str
    type: str
    project: str | None
    tags: tuple[str, ...]
    pinned: bool
    chars: int
    version: int
    created_at: datetime
    updated_at: datetime
    source_ref: str | None = None
    deleted_at: datetime | None = None


def validate_content(text: str) -> str:
    """Check a note's content and return it unchanged.

    Raises:
        InvalidInputError: It is over 10 MB in UTF-8, or not text.
    """
    cleaned = validate_text(text, "content", limit=CONTENT_BYTES)
    if len(cleaned) * 4 > CONTENT_BYTES and (size := len(cleaned.encode())) > CONTENT_BYTES:
        over = f"content has {size:,} bytes; the limit is {CONTENT_BYTES:,}."
        raise InvalidInputError(over, hint="Split it into several notes.")
    return cleaned


def normalize_type(text: str) -> str:
    """Return the type of a note in lower case; "" means `note`.

    Raises:
        InvalidInputError: It is longer than 60 characters.
    """
    return single_line(text, "type", limit=TYPE_CHARS).lower() if text.strip() else PLAIN_TYPE


def validate_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Check a note's properties and return them.

    Raises:
        InvalidInputError: They are longer than 65,536 characters of JSON, not text that can be stored, or contain a
            number that JSON does not have.
    """
    try:
        written = json.dumps(properties, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise InvalidInputError(
            "properties contain a number that is infinite or NaN.", hint="Give a number of up to 1.7e308, or null."
        ) from error
    validate_text(written, "properties", limit=PROPERTIES_CHARS)
    return dict(properties)


def _to_words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def append_block(text: str, block: str, *, position: Position, after_marker: str, separator: str) -> str:
    """Return text with a block added below it, above it, or under the line that contains a marker.

    The separator is put between block and text unless one is empty.

    Raises:
        NotFoundError: No line contains `after_marker`.
        ConflictError: More than one line contains it.
    """
    if after_marker:
        return _insert_after_marker(text, block, after_marker)
    if not text:
        return block
    return f"{block}{separator}{text}" if position == "top" else f"{text}{separator}{block}"


def _insert_after_marker(text: str, block: str, marker: str) -> str:
    at = text.find(marker)
    if at < 0:
        raise NotFoundError(
            f"No line of the note contains {marker[:80]!r}.",
            hint="Read the note with get_note and copy a line from it.",
        )
    end = _line_end(text, at + len(marker))
    if text.find(marker, end) >= 0:
        many = f"{text.count(marker)} places of the note hold {marker[:80]!r}."
        raise ConflictError(many, hint="Give a longer marker that occurs once.")
    head, tail = text[:end], text[end:]
    return f"{head}\n{block}{tail}"


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def replace_once(text: str, old: str, new: str) -> str:
    """Return text with the single occurrence of `old` replaced by `new`.

    Raises:
        InvalidInputError: `old` is empty.
        NotFoundError: The text does not contain `old`.
        ConflictError: It occurs more than once.
    """
    if not old:
        raise InvalidInputError("old_text is empty.", hint="Give the exact text to replace, or use append_to_note.")
    at = text.find(old)
    if at < 0:
        raise NotFoundError(
            "The note does not contain old_text.",
            hint="Read the note with get_note and copy the text exactly, including spaces and line breaks.",
        )
    if text.find(old, at + 1) >= 0:
        raise ConflictError(
            f"old_text occurs {text.count(old)} times in the note.",
            hint="Give a longer old_text that occurs exactly once.",
        )
    return text[:at] + new + text[at + len(old) :]
