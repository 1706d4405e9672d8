"""Whom methods of the library take as `self`: the only place that makes them refuse what is not of their class.

A method that is written in Python takes any object as its `self`, and so does for a script what the script may not:
`Counter.copy(int)` calls `int.__class__`, `JSONEncoder.__init__(sdk.Row)` sets attributes of a class that all share.
Methods written in C check; here the others are made to.

Plain names are native loads, from classes and from what derives from them, by `super` and by descriptors; no guard
sees them. So their functions are replaced where they stand, in the class itself, and everything that leads to them
leads to the check. That costs a call some 0.4 µs. Names with two underscores are read through `guards`, which checks
then (`checking`); so operators, and what Python itself calls by such names, are as fast as before.
"""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from panorama.sandbox.metas import script_class, script_function

_CLOSED: set[type] = set()


def close(kind: type) -> None:
    """Make all methods and properties of a class and its bases that have a plain name refuse a foreign `self`."""
    for base in kind.__mro__:
        if base not in _CLOSED and not script_class(base):
            _CLOSED.add(base)
            for name, part in list(vars(base).items()):
                if not name.startswith("_") and (closed := _closed(part, base)) is not part:
                    type.__setattr__(base, name, closed)


def _closed(part: Any, owner: type) -> Any:
    if type(part) is FunctionType:
        return checking(part, owner)
    if type(part) is property:
        get, put, drop = (each and checking(each, owner) for each in (part.fget, part.fset, part.fdel))
        return property(get, put, drop, part.__doc__)
    return part


def checking(function: Callable[..., Any], owner: type) -> Callable[..., Any]:
    """Return a method that refuses a `self` that is not an object of the class which has it, whatever it says."""

    @functools.wraps(function)
    def checked(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if type(self) is not owner and owner not in type(self).__mro__:
            got = f"'{type(self).__name__}'"
            raise TypeError(f"'{function.__name__}' of '{owner.__name__}' objects does not apply to an object of {got}")
        return function(self, *args, **kwargs)

    return checked


def found(kind: type, name: str, part: Any) -> Any:
    """Return what a class gave for a name, a method of the library checking its `self`.

    Raises:
        AttributeError: It is a function of the library, and no class is known to have it.
    """
    if type(part) is not FunctionType or script_function(part):
        return part
    for owner in kind.__mro__:
        if vars(owner).get(name) is part:
            return checking(part, owner)
    raise AttributeError(f"the class '{kind.__name__}' has no method '{name}' in scripts")
