"""Long texts: the only place that reads one stretch by stretch."""

from collections.abc import Callable
from typing import Any

from panorama.sdk.errors import ConflictError, InvalidInputError

MOST_CHARS = 35_000
"""The longest stretch that one call gives."""

_READINGS = 3


def whole(get: Callable[..., Any], item: Any, field: str) -> str:
    """Return the text in a field of an item, read by `get` in stretches of one and the same version.

    Raises:
        InvalidInputError: It is no text.
        ConflictError: It was changed each time before all was read.
    """
    for _ in range(_READINGS):
        part = get(item, chars=MOST_CHARS)
        texts, version = [_text(part, field)], part.version
        while part.version == version and part.get("end") is not None and part.end < part.chars:
            part = get(part.id, start=part.end, chars=MOST_CHARS)
            texts.append(_text(part, field))
        if part.version == version:
            return "".join(texts)
    raise ConflictError(f"{item!r} was changed again and again while it was read.", hint="Read it later.")


def _text(part: Any, field: str) -> str:
    if isinstance(text := part.get(field), str):
        return text
    raise InvalidInputError(f"{part.id} is no text.", hint="Look at its media_type and size.")
