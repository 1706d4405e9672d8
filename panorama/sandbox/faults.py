"""Faults of older Pythons that a script could write to memory by, mended in the template.

Each was found in C code that goes on with what it does not own while methods of a script run.
"""

import sys
from collections.abc import Callable
from typing import Any, Final

from panorama.sandbox import slots

_MENDED_IN: Final = (3, 12, 5)
"""The first Python in which neither is a fault any more (gh-120298, gh-120384); none of 3.11 will be."""


def mend() -> None:
    """Have lists own what they compare, and know what they are given before they look where it goes.

    Raises:
        RuntimeError: Classes do not look in memory as they do in the Pythons that are known.
    """
    if sys.version_info >= _MENDED_IN:
        return
    for name in ("__lt__", "__le__", "__gt__", "__ge__"):
        slots.take_over(list, _Compared, name, slots.COMPARE)
    slots.take_over_items(list, _Set)


_items: Callable[[Any], list[Any]] = vars(list)["copy"]
_set_item: Callable[[Any, Any, Any], None] = vars(list)["__setitem__"]


class _Compared:
    """How a list compares itself: C takes the first pair that differs from the lists once more, without owning it."""

    def __lt__(self, other: Any) -> bool:
        return _owned(self) < _owned(other) if isinstance(other, list) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return _owned(self) <= _owned(other) if isinstance(other, list) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        return _owned(self) > _owned(other) if isinstance(other, list) else NotImplemented

    def __ge__(self, other: Any) -> bool:
        return _owned(self) >= _owned(other) if isinstance(other, list) else NotImplemented


def _owned(values: Any) -> tuple[Any, ...]:
    return tuple(_items(values))


class _Set:
    """How a list sets items: C finds the places of `x[::2] = …` first, and then runs what may take them away."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) is slice and type(value) is not list and type(value) is not tuple:
            value = list(value)
        _set_item(self, key, value)
