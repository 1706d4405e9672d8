"""Describes a result that is too long to be shown, in a few lines."""

import json
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from itertools import islice
from typing import Any, cast

from panorama.sandbox.protocol.outcome import SHAPE_CHARS
from panorama.sandbox.worker.results import to_plain
from panorama.sandbox.worker.tracebacks import OutcomeError
from panorama.sdk.core.encode import exact_str

MAX_KEYS = 30
MAX_ROWS = 3
ROW_CHARS = 400
VALUE_CHARS = 80
MAX_LEVELS = 2


def describe_shape(value: object) -> str:
    """Return the keys, lengths and first rows of a value, at most 4,000 characters."""
    lines = _describe_lines(value, 0)
    if isinstance(value, str):
        begins = str.__str__(value)[:ROW_CHARS]
        lines.append(f"  {json.dumps(begins, ensure_ascii=False)}{'…' if len(begins) == ROW_CHARS else ''}")
    return "\n".join(lines)[:SHAPE_CHARS]


def _describe_lines(value: object, level: int) -> list[str]:
    match value:
        case Mapping():
            return _describe_mapping(cast("Mapping[Any, Any]", value), level)
        case str() | bytes() | bytearray():
            return [f"text of {_format_count(len(value), 'character')}"]
        case Sequence() | Set():
            return _describe_list(cast("Sequence[Any]", value), level)
        case _:
            return [type(value).__name__]


def _describe_mapping(value: Mapping[Any, Any], level: int) -> list[str]:
    lines = [f"object with {_format_count(len(value), 'key')}"]
    if level >= MAX_LEVELS:
        return lines
    for key, item in islice(value.items(), MAX_KEYS):
        first, *more = _describe_lines(item, level + 1)
        lines += [f"  {exact_str(key)[:80]}: {first}", *(f"  {line}" for line in more)]
    return lines + (["  …"] if len(value) > MAX_KEYS else [])


def _describe_list(value: Sequence[Any] | Set[Any], level: int) -> list[str]:
    lines = [f"list of {len(value):,}"]
    if level >= MAX_LEVELS:
        return lines
    return (
        lines
        + [f"  {_format_row(row)}" for row in islice(value, MAX_ROWS)]
        + (["  …"] if len(value) > MAX_ROWS else [])
    )


def _format_row(value: object) -> str:
    """Return one row as JSON, cut; only as much of it is looked at as is shown."""
    text = "…"
    with suppress(OutcomeError, TypeError, ValueError, RecursionError):
        text = json.dumps(to_plain(_shorten(value)), ensure_ascii=False)
    return text if len(text) <= ROW_CHARS else f"{text[:ROW_CHARS]}…"


def _shorten(value: object) -> object:
    match value:
        case Mapping():
            pairs = cast("Mapping[Any, Any]", value)
            return {key: _shorten_value(item) for key, item in islice(pairs.items(), MAX_KEYS)}
        case _:
            return _shorten_value(value)


def _shorten_value(value: object) -> object:
    match value:
        case str():
            text = str.__str__(value)
            return text if len(text) <= VALUE_CHARS else f"{text[:VALUE_CHARS]}…"
        case Mapping() | Set() | bytes() | bytearray():
            return f"<{_describe_lines(cast('object', value), MAX_LEVELS)[0]}>"
        case Sequence():
            items = cast("Sequence[Any]", value)
            is_short = len(items) <= MAX_ROWS and all(
                isinstance(item, int | float) or _is_short(item) for item in items
            )
            return list(items) if is_short else f"<{_describe_lines(items, MAX_LEVELS)[0]}>"
        case _:
            return value


def _is_short(value: object) -> bool:
    return isinstance(value, str) and len(value) <= VALUE_CHARS


def _format_count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
