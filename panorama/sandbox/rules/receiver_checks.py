"""Makes library methods reject a `self` of another class.

A method written in Python takes any object as its `self`, and so bypasses the guards:
`Counter.copy(int)` calls `int.__class__`, `JSONEncoder.__init__(sdk.Row)` sets attributes of a shared class.
Methods written in C check their receiver; this module makes the others check too.

Plain names are native loads that no guard sees, so their functions are replaced in the class itself; the check costs
a call 0.4 µs. Dunder names are read through `guards`, which checks then (`protect_method`); so operators and implicit
calls are as fast as before.
"""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from panorama.sandbox.rules.class_marks import is_script_defined, is_script_function

_PROTECTED: set[type] = set()


def protect_class(kind: type) -> None:
    """Make plainly named methods of a class and its bases reject a foreign `self`."""
    for base in kind.__mro__:
        if base not in _PROTECTED and not is_script_defined(base):
            _PROTECTED.add(base)
            for name, part in list(vars(base).items()):
                if not name.startswith("_") and (closed := _protect_member(part, base)) is not part:
                    type.__setattr__(base, name, closed)


def _protect_member(part: Any, owner: type) -> Any:
    if type(part) is FunctionType:
        return add_receiver_check(part, owner)
    if type(part) is property:
        get, put, drop = (
            function and add_receiver_check(function, owner) for function in (part.fget, part.fset, part.fdel)
        )
        return property(get, put, drop, part.__doc__)
    return part


def add_receiver_check(function: Callable[..., Any], owner: type) -> Callable[..., Any]:
    """Return a method that rejects a `self` that is not an object of its class."""

    @functools.wraps(function)
    def wrapper(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if type(self) is not owner and owner not in type(self).__mro__:
            got = f"'{type(self).__name__}'"
            raise TypeError(f"'{function.__name__}' of '{owner.__name__}' objects does not apply to an object of {got}")
        return function(self, *args, **kwargs)

    return wrapper


def protect_method(kind: type, name: str, part: Any) -> Any:
    """Return an attribute of a class; library methods check their `self`.

    Raises:
        AttributeError: It is a function of the library, and no class is known to have it.
    """
    if type(part) is not FunctionType or is_script_function(part):
        return part
    for owner in kind.__mro__:
        if vars(owner).get(name) is part:
            return add_receiver_check(part, owner)
    raise AttributeError(f"the class '{kind.__name__}' has no method '{name}' in scripts")
