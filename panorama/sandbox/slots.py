"""Classes of C in memory: the only place that puts something into a class that no assignment can change.

It is done in the template alone, before the first worker is copied from it.
"""

import ctypes
import gc
from collections.abc import Iterable, Iterator
from typing import Final

_WORD: Final = ctypes.sizeof(ctypes.c_void_p)
REPR, HASH, STR, COMPARE = (place * _WORD for place in (11, 15, 17, 25))
"""Where a class has what shows, hashes and compares (Include/cpython/object.h, `PyTypeObject`)."""

_FLAGS = 21 * _WORD
"""Where it has its flags."""

ITEMS, REMAINDERS = ((table * _WORD, place * _WORD) for table, place in ((14, 2), (12, 3)))
"""Where it has a table of methods, and the place in it: of a mapping, to set an item; of a number, for `%`."""


def put(kind: type, name: str, value: object) -> None:
    """Set an attribute of any class; the dict behind the read-only one is that of the class itself.

    Raises:
        RuntimeError: Classes do not look in memory as they do in the Pythons that are known.
    """
    names = gc.get_referents(kind.__dict__)[0]
    if type(names) is not dict:
        raise RuntimeError(f"the names of {kind.__name__} are not where they were in other Pythons")
    names[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def take_over(kind: type, by: type, name: str, slot: int) -> None:
    """Put a method of another class into a class, and into the slot where C looks for it, also of those derived.

    Raises:
        RuntimeError: As with `put`.
    """
    put(kind, name, vars(by)[name])
    old, new = _place(kind, slot).value, _place(by, slot).value
    for each in set(derived(kind)):
        if _place(each, slot).value == old:
            _place(each, slot).value = new


def take_over_within(kind: type, by: type, names: Iterable[str], slot: tuple[int, int]) -> None:
    """Put methods of another class into a class, and into a slot of one of its tables, also of those derived.

    Raises:
        RuntimeError: As with `put`.
    """
    for name in names:
        put(kind, name, vars(by)[name])
    old, new = _within(kind, *slot).value, _within(by, *slot).value
    for each in set(derived(kind)):
        if _within(each, *slot).value == old:
            _within(each, *slot).value = new


def derived(kind: type) -> Iterator[type]:
    """Return a class and all that derive from it."""
    yield kind
    for each in type.__subclasses__(kind):
        yield from derived(each)


def _place(kind: type, offset: int) -> ctypes.c_void_p:
    if ctypes.c_ulong.from_address(id(kind) + _FLAGS).value != kind.__flags__:
        raise RuntimeError(f"{kind.__name__} does not look in memory as classes do in other Pythons")
    return ctypes.c_void_p.from_address(id(kind) + offset)


def _within(kind: type, table: int, place: int) -> ctypes.c_void_p:
    methods = _place(kind, table).value
    if methods is None:
        raise RuntimeError(f"{kind.__name__} has no such methods")
    return ctypes.c_void_p.from_address(methods + place)
