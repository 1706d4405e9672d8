"""Python's own classes as scripts meet them: the only place that changes what no assignment can, in the template alone.

Three things show several objects in one text in C, from references that they do not own, so that one of the objects can
take another away meanwhile: `list[a, b]`, errors of the system, and slices. The first is gone, the others are told in
Python. What a script writes as a slice has plain parts alone (`panorama.sandbox.slices`), but functions of the library
make slices of what they are given, too, and hand them to a script's methods.
"""

import ctypes
import gc
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

_WORD: Final = ctypes.sizeof(ctypes.c_void_p)
_REPR, _HASH, _STR, _FLAGS, _COMPARE = (place * _WORD for place in (11, 15, 17, 21, 25))
"""Where a class has its flags, and what shows, hashes and compares (Include/cpython/object.h, `PyTypeObject`)."""


def mend() -> None:
    """Make `list[int]` mean `list`, and have errors of the system and slices own what they show.

    Raises:
        RuntimeError: Classes do not look in memory as they do in the Pythons that are known.
    """
    ours = cast("object", classmethod(_itself))
    for kind in set(_derived(object)) - {typing.Generic}:  # its aliases are written in Python
        if _makes_aliases(vars(kind).get("__class_getitem__")):
            _put(kind, "__class_getitem__", ours)
    _put(OSError, "__str__", _told)
    in_c, in_python = _place(OSError, _STR).value, _place(_Told, _STR).value
    for kind in set(_derived(OSError)):
        if _place(kind, _STR).value == in_c:
            _place(kind, _STR).value = in_python
    for name, method in vars(_Slice).items():
        if name in _SHOWING and vars(slice)[name] is not None:  # before 3.12 a slice cannot be hashed
            _put(slice, name, method)
            _place(slice, _SHOWING[name]).value = _place(_Slice, _SHOWING[name]).value


def _makes_aliases(method: Any) -> bool:
    if type(method) is classmethod:
        return not isinstance(cast("Any", method).__func__, types.FunctionType)
    return type(method) is types.ClassMethodDescriptorType


def _itself(kind: type, _: object) -> type:
    return kind


class _Told:
    """A class whose text is made in Python."""

    def __str__(self) -> str:
        return ""


_NUMBER, _REASON, _FIRST, _SECOND = (
    cast("Callable[[object], Any]", vars(OSError)[name].__get__)
    for name in ("errno", "strerror", "filename", "filename2")
)


def _told(self: OSError) -> str:
    """Return what `OSError.__str__` does."""
    number, reason, first, second = _NUMBER(self), _REASON(self), _FIRST(self), _SECOND(self)
    if first is not None:
        more = "" if second is None else f" -> {second!r}"
        return f"[Errno {number!s}] {reason!s}: {first!r}{more}"
    if number is not None and reason is not None:
        return f"[Errno {number!s}] {reason!s}"
    return Exception.__str__(self)


_told.__name__ = "__str__"
_told.__qualname__ = "OSError.__str__"


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
    "__repr__": _REPR,
    "__hash__": _HASH,
    **dict.fromkeys(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"), _COMPARE),
}


def _parts(value: Any) -> tuple[Any, Any, Any]:
    return value.start, value.stop, value.step


def _put(kind: type, name: str, value: object) -> None:
    """Set an attribute of any class; the dict behind the read-only one is that of the class itself."""
    names = gc.get_referents(kind.__dict__)[0]
    if type(names) is not dict:
        raise RuntimeError(f"the names of {kind.__name__} are not where they were in other Pythons")
    names[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _place(kind: type, offset: int) -> ctypes.c_void_p:
    if ctypes.c_ulong.from_address(id(kind) + _FLAGS).value != kind.__flags__:
        raise RuntimeError(f"{kind.__name__} does not look in memory as classes do in other Pythons")
    return ctypes.c_void_p.from_address(id(kind) + offset)


def _derived(kind: type) -> Iterator[type]:
    """Return a class and all that derive from it."""
    yield kind
    for each in type.__subclasses__(kind):
        yield from _derived(each)
