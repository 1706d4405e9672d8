"""Copies of what scripts hold, made here.

Python's `copy` asks each object how it is to be made again, and does what it is told: it calls what it gets, and sets
any attribute of any object. So a script's object would say what is called with which rights. Here the class alone
tells, and only by `__copy__` and `__deepcopy__` of a script's own.
"""

import copy
import datetime
import decimal
import fractions
import io
import random
import re
import types
import uuid
from collections import ChainMap, Counter
from collections.abc import Callable
from enum import Enum
from operator import attrgetter, itemgetter
from typing import Any, Final, cast

from panorama.sandbox.collecting import defaultdict, deque, factory_of
from panorama.sandbox.facades import Facade
from panorama.sandbox.identity import identity
from panorama.sandbox.inputs import Inputs
from panorama.sandbox.kinds import UNICODE_ERRORS, SimpleNamespace
from panorama.sandbox.metas import class_of, script_class
from panorama.sandbox.ordered import OrderedDict
from panorama.sandbox.printing import Print
from panorama.sandbox.tables import dunder
from panorama.sdk._rows import Row

Part = Callable[[Any], Any]
"""What becomes of the parts of what is copied: they stay the same, or are copied too."""

_SAME: Final = frozenset((
    type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), type(NotImplemented),
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, Print, attrgetter, itemgetter, property,
    datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone,
    decimal.Decimal, fractions.Fraction, uuid.UUID, re.Pattern, re.Match, *UNICODE_ERRORS,
))  # fmt: skip
"""Classes whose objects are their own copies."""

_WHOLE: Final = (bytearray, io.StringIO, io.BytesIO, random.Random, decimal.Context)
"""Classes of the library whose objects Python may copy: scripts set nothing on them, and they hold no objects."""

Memory = dict[int, Any]
"""Copies by the ids of what they are of; under its own id, what must live as long as that."""


def copied(value: Any, /) -> Any:
    """`copy.copy`."""
    kind = class_of(value)
    if _is_same(kind):
        return value
    if kind is ChainMap:
        return value.copy()
    if hook := _hook(kind, "__copy__"):
        return hook(value)
    return _made(value, kind, lambda part: part, lambda _: None)


def deep_copied(value: Any, memo: Any = None, /) -> Any:
    """`copy.deepcopy`."""
    if memo is not None and type(memo) is not dict:
        raise TypeError("the memory of deepcopy() is a dict")
    return _deep(value, cast("Memory", memo) if memo is not None else {})


def _deep(value: Any, memo: Memory) -> Any:
    kind = class_of(value)
    if _is_same(kind):
        return value
    number = identity(value)
    if number in memo:
        return memo[number]
    if kind is list:
        made = memo[number] = cast("list[Any]", [])
        for each in value:
            made.append(_deep(each, memo))
    elif kind is dict:
        made = memo[number] = cast("dict[Any, Any]", {})
        for key, each in list(value.items()):
            made[_deep(key, memo)] = _deep(each, memo)
    elif hook := _hook(kind, "__deepcopy__"):
        made = hook(value, memo)
    else:
        made = _made(value, kind, lambda part: _deep(part, memo), lambda new: memo.__setitem__(number, new))
    memo[number] = made
    memo.setdefault(identity(memo), []).append(value)  # or another object might have its id
    return made


def _is_same(kind: type) -> bool:
    if kind in _SAME:
        return True
    if kind in _KINDS:
        return False
    own_tuple = issubclass(kind, tuple) and not any(map(script_class, kind.__mro__))
    return own_tuple or issubclass(kind, (type, Enum, Facade, datetime.tzinfo))


def _hook(kind: type, name: str) -> Callable[..., Any] | None:
    """Return how a script's class says that its objects are copied, None if it does not."""
    owner = next((base for base in kind.__mro__ if name in vars(base)), object)
    return getattr(kind, name) if script_class(owner) else None


def _made(value: Any, kind: type, part: Part, known: Callable[[Any], object]) -> Any:
    """Return a copy whose parts are made by `part`; `known` hears of it before its parts are made, if it can."""
    if kind in _WHOLE:
        return copy.copy(value)
    is_error = issubclass(kind, BaseException)
    if not (script_class(kind) or kind in _KINDS or is_error):
        raise TypeError(f"an object of '{kind.__name__}' cannot be copied in scripts")
    made = kind(*map(part, _ARGS(value))) if is_error else _immutable(value, kind, part)
    if made is None:
        made = cast("Any", next(base for base in kind.__mro__ if not script_class(base))).__new__(kind)
        known(made)
        _fill(made, value, part)
    if script_class(kind) or is_error or kind is SimpleNamespace:
        _copy_attributes(made, value, kind, part)
    return made


_ARGS: Final = cast("Callable[[Any], tuple[Any, ...]]", vars(BaseException)["args"].__get__)

_KINDS: Final = frozenset((
    dict, OrderedDict, Counter, defaultdict, Row, Inputs, list, set, deque, tuple, frozenset, SimpleNamespace,
    ChainMap,
))  # fmt: skip
"""Classes of the library whose objects are made anew, beside exceptions."""


# Python's own methods of these, past what a script's class may have in their place.

_ITERATED: Final[dict[type, Any]] = {
    deque: deque.__iter__, dict: vars(dict)["items"],
    list: vars(list)["__iter__"], set: vars(set)["__iter__"], tuple: vars(tuple)["__iter__"],
    frozenset: vars(frozenset)["__iter__"],
}  # fmt: skip
_HELD: Final[dict[type, Any]] = {
    str: vars(str)["__str__"], int: vars(int)["__int__"], float: vars(float)["__float__"],
    complex: vars(complex)["__complex__"], bytes: vars(bytes)["__getitem__"],
}  # fmt: skip
_FILLED: Final[dict[type, Any]] = {list: vars(list)["extend"], set: vars(set)["update"]}


def _immutable(value: Any, kind: Any, part: Part) -> Any:
    """Return the copy of an object that must be whole from its beginning, None if it need not."""
    for base, held in _HELD.items():
        if issubclass(kind, base):
            return cast("Any", base).__new__(kind, held(value, slice(None)) if base is bytes else held(value))
    for base in (tuple, frozenset):
        if issubclass(kind, base):
            return cast("Any", base).__new__(kind, map(part, _ITERATED[base](value)))
    return None


def _fill(made: Any, value: Any, part: Part) -> None:
    kind = class_of(value)
    base = next((base for base in _ITERATED if issubclass(kind, base)), None)
    if kind is ChainMap:
        made.__init__(*map(part, value.maps))
    elif base is deque:
        deque.__init__(made, map(part, _ITERATED[base](value)), cast("Any", deque.maxlen).__get__(value))
    elif base in _FILLED:
        _FILLED[base](made, map(part, _ITERATED[base](value)))
    elif base is not None:
        if issubclass(kind, defaultdict):
            defaultdict.__init__(made, factory_of(value))
        for key, each in list(_ITERATED[base](value)):
            vars(base)["__setitem__"](made, part(key), part(each))


def _copy_attributes(made: Any, value: Any, kind: type, part: Part) -> None:
    """Copy what a script has set, in the dict of attributes and in slots; no name of Python's is among them."""
    for name, each in list(getattr(value, "__dict__", {}).items()):
        if type(name) is str and not dunder(name):
            made.__dict__[name] = part(each)
    for base in filter(script_class, kind.__mro__):
        for member in vars(base).values():
            if type(member) is types.MemberDescriptorType:
                try:
                    each = member.__get__(value, kind)
                except AttributeError:
                    continue
                member.__set__(made, part(each))
