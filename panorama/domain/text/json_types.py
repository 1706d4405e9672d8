"""Type guards for plain JSON values."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a plain value is an object."""
    return type(value) is dict or isinstance(value, Mapping)  # the check of an abstract class takes ten times as long


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Return whether a plain value is a list."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether a value is a list or a tuple."""
    return isinstance(value, list | tuple)
