"""Faults of Python that a script could read memory or write to it by, mended in the template.

Each was found in C code that goes on with what it does not own while methods of a script run.
"""

import sys
from collections.abc import Callable
from typing import Any, Final

from panorama.sandbox import slots

_MENDED_IN: Final = (3, 12, 5)
"""The first Python in which neither fault of lists is one any more (gh-120298, gh-120384); none of 3.11 will be."""


def mend() -> None:
    """Have lists own what they compare, and know what they are given before they look where it goes.

    And have a bytearray show and format what it holds as that begins: gh-143195 and gh-142557, in all that are tested;
    and not believe how long something is.

    Raises:
        RuntimeError: Classes do not look in memory as they do in the Pythons that are known.
    """
    slots.put(bytearray, "hex", _hex)
    slots.put(bytearray, "extend", _extend)
    slots.take_over_within(bytearray, _Formatted, ("__mod__", "__rmod__"), slots.REMAINDERS)
    if sys.version_info >= _MENDED_IN:
        return
    for name in ("__lt__", "__le__", "__gt__", "__ge__"):
        slots.take_over(list, _Compared, name, slots.COMPARE)
    slots.take_over_within(list, _Set, ("__setitem__",), slots.ITEMS)


_copied: Callable[[Any], bytearray] = vars(bytearray)["copy"]
_shown_in_hex: Callable[..., str] = vars(bytearray)["hex"]
_extended: Callable[..., None] = vars(bytearray)["extend"]
_AS_THEY_ARE: Final = (bytes, bytearray, str, list, tuple)
_formatted: Callable[[Any, Any], Any] = vars(bytearray)["__mod__"]


def _hex(self: Any, *sep: Any, **named: Any) -> str:
    """Return a bytearray as hexadecimal digits: C asks a separator for its length, which may change the bytearray."""
    return _shown_in_hex(_copied(self), *sep, **named)


def _extend(self: Any, items: Any, /) -> None:
    """Append bytes: C believes what is iterated how long it is, and writes where there is no room (gh-143003)."""
    _extended(self, items if type(items) in _AS_THEY_ARE else [*items])


_extend.__name__, _extend.__qualname__, _extend.__module__ = "extend", "bytearray.extend", "builtins"
_hex.__name__, _hex.__qualname__, _hex.__module__ = "hex", "bytearray.hex", "builtins"


class _Formatted:
    """How a bytearray formats: C goes on reading it while what is put in makes its text."""

    def __mod__(self, values: Any) -> Any:
        return _formatted(_copied(self), values)

    def __rmod__(self, value: Any) -> Any:
        return NotImplemented


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
