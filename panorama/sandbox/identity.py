"""`id` and `hash` of scripts: the only place that makes of an address a number that tells no address.

Whoever knows where objects lie can make up one in memory that a fault of Python's lets him write.
"""

import datetime
import decimal
import enum
import fractions
import os
import uuid
from builtins import hash as _true_hash
from builtins import id as _address
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType, MethodWrapperType, WrapperDescriptorType
from typing import Any, Final, cast
from weakref import WeakSet

from panorama.sandbox.metas import class_of, script_function
from panorama.sandbox.selves import checking

_SECRET: Final = os.urandom(16)
_POSITIVE: Final = (1 << 63) - 1


def _keyed(number: int) -> int:
    """Return what a number becomes under the secret; Python's own hash of bytes is made to be keyed."""
    return _true_hash(_SECRET + number.to_bytes(9, signed=True))


def identity(value: object, /) -> int:
    """`id`."""
    return of_address(_address(value))


def of_address(address: int) -> int:
    """Return the `id` of what lies at an address."""
    return _true_hash(_SECRET + address.to_bytes(8)) & _POSITIVE


def _hasher(kind: type) -> Any:
    return kind.__hash__


_HELD_BY: Final = tuple((vars(kind)["__hash__"], vars(kind)["__iter__"]) for kind in (tuple, frozenset))
"""How those are hashed that are hashed by what they hold, and how that is gone through, past a script's `__iter__`."""


def _always(_: Any) -> bool:
    return True


def _of_numbers(kind: type, *names: str) -> Callable[[Any], bool]:
    """Return what tells whether a value is hashed by whole numbers: a script may have made it of objects of its own."""
    parts = [vars(kind)[name] for name in names]
    return lambda value: class_of(value) is kind and all(type(part.__get__(value)) is int for part in parts)


_CHECKS: Final[Mapping[type, Callable[[Any], bool]]] = {
    **dict.fromkeys((int, str, bytes, type(None)), _always),
    **dict.fromkeys((datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone), _always),
    float: lambda value: not float.__ne__(value, value),  # what is no number is hashed by its address
    complex: lambda value: not complex.__ne__(value, value),
    decimal.Decimal: lambda value: not decimal.Decimal.is_nan(value),
    fractions.Fraction: _of_numbers(fractions.Fraction, "_numerator", "_denominator"),
    uuid.UUID: _of_numbers(uuid.UUID, "int"),
    enum.Enum: lambda value: type(value._name_) is str,
}
"""Of plain values: whether their hash tells no address."""

_BY_VALUE: Final[Mapping[int, Callable[[Any], bool]]] = {
    _address(_hasher(kind)): check
    for kind, check in _CHECKS.items()
    if _hasher(kind) is not object.__hash__  # None's, before 3.12
}
"""The same by what makes the hash, known by its address, for a script's own might lie when compared."""

_PLAIN: Final = frozenset((int, str, float, bool, bytes))
_MADE: Final = WeakSet[FunctionType]()
"""What `method` has returned."""


def hashed(value: Any, /) -> int:
    """`hash`: of plain values, and what a script's own `__hash__` says, as it is; anything else is keyed.

    Equal values that are asked by it have equal ones; sets and dicts go by Python's.
    """
    kind = type(value)  # pyright: ignore[reportUnknownVariableType] (of any)
    found = _true_hash(value)
    if kind in _PLAIN and value == value:
        return found
    if kind is tuple:
        for part in value:
            if type(part) not in _PLAIN or part != part:
                break
        else:
            return found
    return found if _tells_no_address(value, _hasher(class_of(value))) else _keyed(found)


def _tells_no_address(value: Any, hasher: Any) -> bool:
    if script_function(hasher) or (type(hasher) is FunctionType and hasher in _MADE):
        return True
    if check := _BY_VALUE.get(_address(hasher)):
        return check(value)
    for each, parts in _HELD_BY:
        if hasher is each:
            return all(_tells_no_address(part, _hasher(class_of(part))) for part in parts(value))
    return False


def method(found: Any, owner: type) -> Any:
    """Return what `x.__hash__`, `super().__hash__` or `A.__hash__` gave so that it does the same as `hashed`."""
    function: Any = found.__func__ if type(found) is MethodType else found
    if found is None or script_function(function):
        return found
    bound = type(found) in (MethodType, MethodWrapperType)
    hasher = vars(found.__objclass__)["__hash__"] if type(found) is MethodWrapperType else function

    def told(*values: Any) -> int:
        number = found(*values)
        value = found.__self__ if bound else values[0]
        return number if _tells_no_address(value, hasher) else _keyed(number)

    told.__name__ = told.__qualname__ = "__hash__"
    made = checking(told, owner) if type(found) is WrapperDescriptorType else told
    _MADE.add(cast("FunctionType", made))
    return made
