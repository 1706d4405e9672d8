"""What Python shows of several objects at once, changed in the template so that it owns them meanwhile.

Three things show several objects in one text in C, from references that they do not own, so that one of the objects can
take another away meanwhile: `list[a, b]`, errors of the system, and slices. The first is gone, the others are told in
Python. What a script writes as a slice has plain parts alone (`panorama.sandbox.slices`), but functions of the library
make slices of what they are given, too, and hand them to a script's methods.
"""

import types
import typing
from collections.abc import Callable
from typing import Any, Final, cast

from panorama.sandbox import slots


def mend() -> None:
    """Make `list[int]` mean `list`, and have errors of the system and slices own what they show.

    Raises:
        RuntimeError: Classes do not look in memory as they do in the Pythons that are known.
    """
    ours = cast("object", classmethod(_itself))
    for kind in set(slots.derived(object)) - {typing.Generic}:  # its aliases are written in Python
        if _makes_aliases(vars(kind).get("__class_getitem__")):
            slots.put(kind, "__class_getitem__", ours)
    slots.take_over(OSError, _Told, "__str__", slots.STR)
    for name in vars(_Slice):
        if name in _SHOWING and vars(slice)[name] is not None:  # before 3.12 a slice cannot be hashed
            slots.take_over(slice, _Slice, name, _SHOWING[name])


def _makes_aliases(method: Any) -> bool:
    if type(method) is classmethod:
        return not isinstance(cast("Any", method).__func__, types.FunctionType)
    return type(method) is types.ClassMethodDescriptorType


def _itself(kind: type, _: object) -> type:
    return kind


_NUMBER, _REASON, _FIRST, _SECOND = (
    cast("Callable[[object], Any]", vars(OSError)[name].__get__)
    for name in ("errno", "strerror", "filename", "filename2")
)


class _Told:
    """How an error of the system shows itself."""

    def __str__(self) -> str:
        """Return what `OSError.__str__` does."""
        error = cast("OSError", self)
        number, reason, first, second = _NUMBER(error), _REASON(error), _FIRST(error), _SECOND(error)
        if first is not None:
            more = "" if second is None else f" -> {second!r}"
            return f"[Errno {number!s}] {reason!s}: {first!r}{more}"
        if number is not None and reason is not None:
            return f"[Errno {number!s}] {reason!s}"
        return Exception.__str__(error)


class _Slice:
    """How a slice shows, hashes and compares itself: with its parts in a tuple, which owns them."""

    start: Any
    stop: Any
    step: Any

    def __repr__(self) -> str:
        return f"slice{_parts(self)!r}"

    def __hash__(self) -> int:
        return hash(_parts(self))

    def __eq__(self, other: object) -> bool:
        return _parts(self) == _parts(other) if type(other) is slice else NotImplemented

    def __ne__(self, other: object) -> bool:
        return _parts(self) != _parts(other) if type(other) is slice else NotImplemented

    def __lt__(self, other: object) -> bool:
        return _parts(self) < _parts(other) if type(other) is slice else NotImplemented

    def __le__(self, other: object) -> bool:
        return _parts(self) <= _parts(other) if type(other) is slice else NotImplemented

    def __gt__(self, other: object) -> bool:
        return _parts(self) > _parts(other) if type(other) is slice else NotImplemented

    def __ge__(self, other: object) -> bool:
        return _parts(self) >= _parts(other) if type(other) is slice else NotImplemented


_SHOWING: Final = {
    "__repr__": slots.REPR,
    "__hash__": slots.HASH,
    **dict.fromkeys(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"), slots.COMPARE),
}


def _parts(value: Any) -> tuple[Any, Any, Any]:
    return value.start, value.stop, value.step
