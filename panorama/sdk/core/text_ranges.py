"""Reads long texts in parts."""

from collections.abc import Callable
from typing import Any

from panorama.sdk.errors import ConflictError, InvalidInputError

MAX_CHARS = 35_000
"""The maximum number of characters that one call returns."""

_ATTEMPTS = 3


def read_all(read: Callable[[Any, int], Any], item: Any, start: int, field: str) -> Any:
    """Return an item with the whole text of a field, from a character on.

    Args:
        read: Reads up to `MOST_CHARS` characters of an item from a position on.

    Raises:
        ConflictError: It changed during each attempt to read it.
    """
    for _ in range(_ATTEMPTS):
        row = part = read(item, start)
        texts = [part.get(field)]
        while part.version == row.version and _has_more(part):
            part = read(part.id, part.end)
            texts.append(part.get(field))
        if part.version == row.version:
            return row if part is row else _merge_parts(row, part.end, field, "".join(texts))
    raise ConflictError(f"{item!r} kept changing while it was read.", hint="Read it later.")


def require_text(row: Any, field: str) -> str:
    """Return the text in a field of an item.

    Raises:
        InvalidInputError: It is not text.
    """
    if isinstance(text := row.get(field), str):
        return text
    raise InvalidInputError(f"{row.id} is not text.", hint="Look at its media_type and size.")


def _has_more(part: Any) -> bool:
    """Return whether more text may follow: a section under a heading can end before the whole text does."""
    return part.get("end") is not None and part.end - part.start >= MAX_CHARS and part.end < part.chars


def _merge_parts(row: Any, end: int, field: str, text: str) -> Any:
    """Return the first part with the joined text; a whole text has no start and end, like a short one."""
    row[field], row["end"] = text, end
    if row.start == 0 and end == row.chars:
        row["start"] = row["end"] = None
        if "headings" in row:
            row["headings"] = []
    return row
