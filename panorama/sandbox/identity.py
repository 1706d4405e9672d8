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
from types import MethodType, MethodWrapperType, WrapperDescriptorType
from typing import Any, Final

from panorama.sandbox.metas import class_of, script_function
from panorama.sandbox.selves import checking

_SECRET: Final = os.urandom(16)
_POSITIVE: Final = (1 << 63) - 1


def _keyed(number: int) -> int:
    """Return what a number becomes under the secret; Python's own hash of bytes is made to be keyed."""
    return _true_hash(_SECRET + number.to_bytes(9, signed=True))


def identity(value: object, /) -> int:
    """`id`."""
    return _true_hash(_SECRET + _address(value).to_bytes(8)) & _POSITIVE


def _hasher(kind: type) -> Any:
    return kind.__hash__


_HELD_BY: Final = tuple((vars(kind)["__hash__"], vars(kind)["__iter__"]) for kind in (tuple, frozenset))
"""How those are hashed that are hashed by what they hold, and how that is gone through, past a script's `__iter__`."""

_KINDS: Final = (
    int, float, complex, str, bytes, range, type(None), decimal.Decimal, fractions.Fraction, uuid.UUID, enum.Enum,
    datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone,
)  # fmt: skip
_HASHERS: Final = tuple(map(_hasher, _KINDS))
_BY_VALUE: Final = frozenset(map(_address, _HASHERS)) - {_address(object.__hash__)}  # None's, before 3.12
"""How the hashes of plain values are made; known by their addresses, for a script's own might lie when compared."""

_PLAIN: Final = frozenset((int, str, float, bool, bytes))


def hashed(value: Any, /) -> int:
    """`hash`: of plain values, and what a script's own `__hash__` says, as it is; anything else is keyed.

    Equal values have equal ones, as with Python's.
    """
    kind = type(value)  # pyright: ignore[reportUnknownVariableType] (of any)
    if kind in _PLAIN:
        return _true_hash(value)
    if kind is tuple:
        for part in value:
            if type(part) not in _PLAIN:
                break
        else:
            return _true_hash(value)
    found = _true_hash(value)
    return found if _tells_no_address(value, _hasher(class_of(value))) else _keyed(found)


def _tells_no_address(value: Any, hasher: Any) -> bool:
    if _address(hasher) in _BY_VALUE or script_function(hasher):
        return True
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
    return checking(told, owner) if type(found) is WrapperDescriptorType else told
