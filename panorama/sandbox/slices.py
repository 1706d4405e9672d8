"""Slices of scripts: the only place that says what may stand between the colons.

Python's C code shows a slice from parts that it does not own, and a part may take them away while it is shown. So all
parts are plain values, which run nothing of the script's.
"""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from operator import index
from types import EllipsisType
from typing import Any, Final

from panorama.sandbox.metas import class_of

_INERT: Final = frozenset(
    (type(None), bool, int, float, complex, str, bytes, date, timedelta, Decimal, EllipsisType)
)  # fmt: skip


def part(value: Any) -> Any:
    """Return what may be a part of a slice; whole numbers and texts of other classes become plain ones.

    Raises:
        TypeError: It is neither, nor a number, bytes, a date or None.
    """
    kind: type = class_of(value)
    if kind in _INERT or (kind is datetime and (value.tzinfo is None or value.tzinfo is UTC)):
        return value
    if issubclass(kind, int):
        return index(value)
    if issubclass(kind, str):
        return str.__str__(value)
    raise TypeError(
        f"a slice takes whole numbers, texts, dates and None in scripts, no '{kind.__name__}'; write x[int(a) : int(b)]"
        " or a method with two arguments, such as x.between(a, b)"
    )


class _SliceMeta(type):
    def __call__(cls, *parts: Any) -> slice:
        return slice(*map(part, parts))

    def __instancecheck__(cls, instance: object) -> bool:
        return type(instance) is slice

    def __repr__(cls) -> str:
        return "<class 'slice'>"


class Slice(metaclass=_SliceMeta):
    """What scripts get as `slice`."""

    __slots__ = ()

    indices = slice.indices


Slice.__name__ = Slice.__qualname__ = "slice"
