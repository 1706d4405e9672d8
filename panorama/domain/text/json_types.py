"""Type guards for plain JSON values."""

from collections.abc import Mapping, Sequence
from json import JSONEncoder
from typing import Any, TypeGuard

SCALARS = frozenset((str, int, float, bool, type(None)))
"""The types of plain values that contain no others."""

dump_json = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Return plain data as compact JSON; `json.dumps` would build an encoder for each value."""


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a plain value is an object."""
    kind = type(value)  # the check of an abstract class takes ten times as long
    return kind is dict or (kind not in SCALARS and isinstance(value, Mapping))


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Return whether a plain value is a list."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether a value is a list or a tuple."""
    return isinstance(value, list | tuple)


def is_nested_deeper(value: object, levels: int) -> bool:
    """Return whether lists and objects are nested in each other more than so many levels."""
    level = [value]
    for _ in range(levels + 1):
        inner = [entry.values() if is_object(entry) else entry for entry in level if is_object(entry) or is_list(entry)]
        if not inner:
            return False
        level = [entry for entries in inner for entry in entries]
    return True
