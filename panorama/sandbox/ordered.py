"""`collections.OrderedDict` for scripts, in Python.

The one written in C holds what it looks at without owning it, also over calls of a script's methods, which can take it
away: an object that is gone can then be another, whose address and memory the script chose. Dicts do not, and keep
their order as well.
"""

import pprint
import sys
from collections.abc import Iterable
from reprlib import recursive_repr
from typing import Any, Final, Self

_MISSING: Final = object()

_DICT: Any = dict
"""Dict's own methods, past what a derived class has in their place."""

_GAPS: Final = 64
"""Entries taken from the front before the dict is written anew; of a large one, this many times its length, squared."""


class OrderedDict(dict[Any, Any]):
    """A dict in which keys can be moved, and that is equal to another only in the same order."""

    __slots__ = ("__gaps__",)  # a name of Python's form, that no script can say

    def __new__(cls, *_: object, **__: object) -> Self:
        """Return an empty one."""
        made = super().__new__(cls)
        made.__gaps__ = 0
        return made

    def __init__(self, other: Any = (), /, **names: Any) -> None:  # pyright: ignore[reportInconsistentConstructor]
        _fill(self, other, names)

    def update(self, other: Any = (), /, **names: Any) -> None:
        """Set items, as a derived class sets one."""
        _fill(self, other, names)

    @classmethod
    def fromkeys(cls, iterable: Iterable[Any], value: Any = None) -> Self:
        """Return one with these keys, all with the same value."""
        made = cls()
        for key in iterable:
            made[key] = value
        return made

    def copy(self) -> Self:
        """Return one of the same class with the same items."""
        made = type(self)()
        if type(self) is OrderedDict:
            _DICT.update(made, self)
        else:
            for key in list(_DICT.keys(self)):
                made[key] = self[key]
        return made

    def move_to_end(self, key: Any, last: bool = True) -> None:
        """Move a key to the end, or to the front."""
        value = _DICT.pop(self, key)
        if last:
            _DICT.__setitem__(self, key, value)
        else:
            _rewrite(self, {key: value})

    def popitem(self, last: bool = True) -> tuple[Any, Any]:
        """Remove the last item, or the first, and return it."""
        try:
            if last:
                return _DICT.popitem(self)
            key = next(_DICT.__iter__(self))
        except (KeyError, StopIteration):
            raise KeyError("dictionary is empty") from None
        found = key, _DICT.pop(self, key)
        self.__gaps__ += 1
        if self.__gaps__**2 > _GAPS * max(_GAPS, _DICT.__len__(self)):  # the next search would go past all of them
            _rewrite(self, {})
        return found

    def pop(self, key: Any, default: Any = _MISSING) -> Any:
        """Remove a key and return its value."""
        return _DICT.pop(self, key) if default is _MISSING else _DICT.pop(self, key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return a value, which is set, as a derived class sets it, if it is not there."""
        if type(self) is OrderedDict:
            return _DICT.setdefault(self, key, default)
        if key in self:
            return self[key]
        self[key] = default
        return default

    def __eq__(self, other: object) -> Any:
        equal = _DICT.__eq__(self, other)
        if equal is not True or not isinstance(other, OrderedDict):
            return equal
        return list(_DICT.keys(self)) == list(_DICT.keys(other))

    def __ne__(self, other: object) -> Any:
        equal = OrderedDict.__eq__(self, other)
        return equal if equal is NotImplemented else not equal

    def __or__(self, other: Any) -> Any:
        return _joined(type(self), self, other)

    def __ror__(self, other: Any) -> Any:
        return _joined(type(self), other, self)

    def __ior__(self, other: Any) -> Self:
        _fill(self, other, {})
        return self

    @recursive_repr()
    def __repr__(self) -> str:
        name = type(self).__name__
        if not _DICT.__len__(self):
            return f"{name}()"
        return f"{name}({dict(self.items())!r})" if sys.version_info >= (3, 12) else f"{name}({list(self.items())!r})"


def _joined(kind: type[OrderedDict], first: Any, second: Any) -> Any:
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return NotImplemented
    made = kind(first)
    _fill(made, second, {})
    return made


def _fill(target: OrderedDict, other: Any, names: dict[str, Any]) -> None:
    """Set items by the class's own `__setitem__`, as the one in C does, and unlike dict."""
    if type(target) is OrderedDict and (type(other) in (dict, OrderedDict) or not hasattr(other, "keys")):
        _DICT.update(target, other, **names)
        return
    pairs = [(key, other[key]) for key in other.keys()] if hasattr(other, "keys") else other  # noqa: SIM118
    for key, value in pairs:
        target[key] = value
    for key, value in names.items():
        target[key] = value


def _rewrite(target: OrderedDict, first: dict[Any, Any]) -> None:
    """Write a dict anew, with something else in front of what it holds."""
    rest = _DICT.copy(target)
    _DICT.clear(target)
    _DICT.update(target, first)
    _DICT.update(target, rest)
    target.__gaps__ = 0


OrderedDict.__module__ = "collections"
vars(pprint.PrettyPrinter)["_dispatch"][OrderedDict.__repr__] = vars(pprint.PrettyPrinter)["_pprint_ordered_dict"]
