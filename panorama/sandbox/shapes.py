"""Shapes: the only place that describes a result in a few lines, for when it is too long to be shown."""

import json
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from itertools import islice
from typing import Any, cast

from panorama.sandbox.endings import SHAPE_CHARS
from panorama.sandbox.failures import EndError
from panorama.sandbox.results import plain
from panorama.sdk._plain import exact

KEYS = 30
ROWS = 3
ROW_CHARS = 400
VALUE_CHARS = 80
LEVELS = 2


def shape(value: object) -> str:
    """Return what a value consists of: keys, lengths, and the first rows of lists; at most 4,000 characters."""
    lines = _lines(value, 0)
    if isinstance(value, str):
        begins = str.__str__(value)[:ROW_CHARS]
        lines.append(f"  {json.dumps(begins, ensure_ascii=False)}{'…' if len(begins) == ROW_CHARS else ''}")
    return "\n".join(lines)[:SHAPE_CHARS]


def _lines(value: object, level: int) -> list[str]:
    match value:
        case Mapping():
            return _mapping(cast("Mapping[Any, Any]", value), level)
        case str() | bytes() | bytearray():
            return [f"text of {_counted(len(value), 'character')}"]
        case Sequence() | Set():
            return _list(cast("Sequence[Any]", value), level)
        case _:
            return [type(value).__name__]


def _mapping(value: Mapping[Any, Any], level: int) -> list[str]:
    lines = [f"object with {_counted(len(value), 'key')}"]
    if level >= LEVELS:
        return lines
    for key, each in islice(value.items(), KEYS):
        first, *more = _lines(each, level + 1)
        lines += [f"  {exact(key)[:80]}: {first}", *(f"  {line}" for line in more)]
    return lines + (["  …"] if len(value) > KEYS else [])


def _list(value: Sequence[Any] | Set[Any], level: int) -> list[str]:
    lines = [f"list of {len(value):,}"]
    if level >= LEVELS:
        return lines
    return lines + [f"  {_row(each)}" for each in islice(value, ROWS)] + (["  …"] if len(value) > ROWS else [])


def _row(value: object) -> str:
    """Return one row as JSON, cut; only as much of it is looked at as is shown."""
    text = "…"
    with suppress(EndError, TypeError, ValueError, RecursionError):
        text = json.dumps(plain(_cut(value)), ensure_ascii=False)
    return text if len(text) <= ROW_CHARS else f"{text[:ROW_CHARS]}…"


def _cut(value: object) -> object:
    match value:
        case Mapping():
            pairs = cast("Mapping[Any, Any]", value)
            return {key: _cut_further(each) for key, each in islice(pairs.items(), KEYS)}
        case _:
            return _cut_further(value)


def _cut_further(value: object) -> object:
    match value:
        case str():
            text = str.__str__(value)
            return text if len(text) <= VALUE_CHARS else f"{text[:VALUE_CHARS]}…"
        case Mapping() | Set() | bytes() | bytearray():
            return f"<{_lines(cast('object', value), LEVELS)[0]}>"
        case Sequence():
            some = cast("Sequence[Any]", value)
            is_short = len(some) <= ROWS and all(isinstance(each, int | float) or _is_short(each) for each in some)
            return list(some) if is_short else f"<{_lines(some, LEVELS)[0]}>"
        case _:
            return value


def _is_short(value: object) -> bool:
    return isinstance(value, str) and len(value) <= VALUE_CHARS


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
