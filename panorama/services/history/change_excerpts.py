"""Shortens the two sides of a change so that the difference is visible."""

from typing import Any

from panorama.domain.changes import compute_splice
from panorama.domain.text.json_types import is_object
from panorama.store.log import changes

EXCERPT_CHARS = 120
"""The maximum number of characters shown of a text."""

CONTEXT_CHARS = 30
"""The characters shown before the first difference of two long texts."""


def excerpt_pair(before: Any, after: Any) -> list[Any]:
    """Return a field's value before and after a change; of long texts only the part around the difference."""
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > EXCERPT_CHARS:
        begin = max(0, compute_splice(before, after).at - CONTEXT_CHARS)
        return [_excerpt(before, begin), _excerpt(after, begin)]
    return [_shorten(before), _shorten(after)]


def _shorten(value: Any) -> Any:
    if is_object(value) and value.get(changes.PART):
        text = str(value.get("text", ""))
        count = len(text) if "text" in value else int(value["chars"])
        return f"{count:,} characters at {value['at']:,}" + (f": {_excerpt(text, 0)}" if text else "")
    return _excerpt(value, 0) if isinstance(value, str) else value


def _excerpt(text: str, begin: int) -> str:
    end = begin + EXCERPT_CHARS
    if not begin and len(text) <= end:
        return text
    cut = f"… ({len(text):,} characters)" if len(text) > end else ""
    return ("…" if begin else "") + text[begin:end] + cut
