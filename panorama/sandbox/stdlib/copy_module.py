"""`copy` for scripts, which never asks an object how it wants to be copied.

Python's `copy` asks each object how to rebuild it, calls whatever the object returns, and sets any attribute. An object
of a script could so have functions called outside of the guards. Here only the class decides, by the methods `__copy__`
and `__deepcopy__` that the script defines.
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
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from enum import Enum
from operator import attrgetter, itemgetter
from typing import Any, Final, cast

from panorama.sandbox.protocol.inputs import Inputs
from panorama.sandbox.rules.allowlist import is_dunder
from panorama.sandbox.rules.class_marks import get_class, is_script_defined
from panorama.sandbox.rules.facades import Facade
from panorama.sandbox.rules.printing import Print
from panorama.sandbox.rules.type_views import SimpleNamespace
from panorama.sdk.core.rows import Row

Part = Callable[[Any], Any]
"""What becomes of the parts of what is copied: they stay the same, or are copied too."""

_ATOMIC: Final = frozenset((
    type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), type(NotImplemented),
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, Print, attrgetter, itemgetter, property,
    datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone,
    decimal.Decimal, fractions.Fraction, uuid.UUID, re.Pattern, re.Match,
))  # fmt: skip
"""Classes whose objects are their own copies."""

_COPYABLE: Final = (bytearray, io.StringIO, io.BytesIO, random.Random, decimal.Context)
"""Classes of the library whose objects Python may copy: scripts set nothing on them, and they hold no objects."""

Memory = dict[int, Any]
"""Copies by the ids of what they are of; under its own id, what must live as long as that."""


def shallow_copy(value: Any, /) -> Any:
    """`copy.copy`."""
    kind = get_class(value)
    if _is_atomic(kind):
        return value
    if kind is ChainMap:
        return value.copy()
    if hook := _find_copy_hook(kind, "__copy__"):
        return hook(value)
    return _rebuild(value, kind, lambda part: part, lambda _: None)


def deep_copy(value: Any, memo: Any = None, /) -> Any:
    """`copy.deepcopy`."""
    if memo is not None and type(memo) is not dict:
        raise TypeError("the memory of deepcopy() is a dict")
    return _copy_deep(value, cast("Memory", memo) if memo is not None else {})


def _copy_deep(value: Any, memo: Memory) -> Any:
    kind = get_class(value)
    if _is_atomic(kind):
        return value
    number = id(value)
    if number in memo:
        return memo[number]
    if kind is list:
        copied = memo[number] = cast("list[Any]", [])
        for item in value:
            copied.append(_copy_deep(item, memo))
    elif kind is dict:
        copied = memo[number] = cast("dict[Any, Any]", {})
        for key, item in list(value.items()):
            copied[_copy_deep(key, memo)] = _copy_deep(item, memo)
    elif hook := _find_copy_hook(kind, "__deepcopy__"):
        copied = hook(value, memo)
    else:
        copied = _rebuild(value, kind, lambda part: _copy_deep(part, memo), lambda new: memo.__setitem__(number, new))
    memo[number] = copied
    memo.setdefault(id(memo), []).append(value)  # or another object might have its id
    return copied


def _is_atomic(kind: type) -> bool:
    if kind in _ATOMIC:
        return True
    if kind in _KINDS:
        return False
    own_tuple = issubclass(kind, tuple) and not any(map(is_script_defined, kind.__mro__))
    return own_tuple or issubclass(kind, (type, Enum, Facade, datetime.tzinfo))


def _find_copy_hook(kind: type, name: str) -> Callable[..., Any] | None:
    """Return the copy method that a script's class defines, or None."""
    owner = next((base for base in kind.__mro__ if name in vars(base)), object)
    return getattr(kind, name) if is_script_defined(owner) else None


def _rebuild(value: Any, kind: type, part: Part, remember: Callable[[Any], object]) -> Any:
    """Return a copy; `part` copies its parts, `remember` gets it first if possible."""
    if kind in _COPYABLE:
        return copy.copy(value)
    is_error = issubclass(kind, BaseException)
    if not (is_script_defined(kind) or kind in _KINDS or is_error):
        raise TypeError(f"an object of '{kind.__name__}' cannot be copied in scripts")
    copied = kind(*map(part, _ARGS(value))) if is_error else _copy_immutable(value, kind, part)
    if copied is None:
        copied = cast("Any", next(base for base in kind.__mro__ if not is_script_defined(base))).__new__(kind)
        remember(copied)
        _copy_contents(copied, value, part)
    if is_script_defined(kind) or is_error or kind is SimpleNamespace:
        _copy_attributes(copied, value, kind, part)
    return copied


_ARGS: Final = cast("Callable[[Any], tuple[Any, ...]]", vars(BaseException)["args"].__get__)

_KINDS: Final = frozenset((
    dict, OrderedDict, Counter, defaultdict, Row, Inputs, list, set, deque, tuple, frozenset, SimpleNamespace,
    ChainMap,
))  # fmt: skip
"""Library classes whose objects are rebuilt, besides exceptions."""


# Python's own methods of these, past what a script's class may have in their place.

_ITERATE: Final[dict[type, Any]] = {
    deque: vars(deque)["__iter__"], OrderedDict: vars(OrderedDict)["items"], dict: vars(dict)["items"],
    list: vars(list)["__iter__"], set: vars(set)["__iter__"], tuple: vars(tuple)["__iter__"],
    frozenset: vars(frozenset)["__iter__"],
}  # fmt: skip
_RAW_VALUE: Final[dict[type, Any]] = {
    str: vars(str)["__str__"], int: vars(int)["__int__"], float: vars(float)["__float__"],
    complex: vars(complex)["__complex__"], bytes: vars(bytes)["__getitem__"],
}  # fmt: skip
_EXTEND: Final[dict[type, Any]] = {list: vars(list)["extend"], set: vars(set)["update"]}


def _copy_immutable(value: Any, kind: Any, part: Part) -> Any:
    """Return the copy of an immutable object, or None for a mutable one."""
    for base, get_value in _RAW_VALUE.items():
        if issubclass(kind, base):
            return cast("Any", base).__new__(kind, get_value(value, slice(None)) if base is bytes else get_value(value))
    for base in (tuple, frozenset):
        if issubclass(kind, base):
            return cast("Any", base).__new__(kind, map(part, _ITERATE[base](value)))
    return None


def _copy_contents(copied: Any, value: Any, part: Part) -> None:
    kind = get_class(value)
    base = next((base for base in _ITERATE if issubclass(kind, base)), None)
    if kind is ChainMap:
        copied.__init__(*map(part, value.maps))
    elif base is deque:
        vars(deque)["__init__"](copied, map(part, _ITERATE[base](value)), cast("Any", deque.maxlen).__get__(value))
    elif base in _EXTEND:
        _EXTEND[base](copied, map(part, _ITERATE[base](value)))
    elif base is not None:
        if issubclass(kind, defaultdict):
            vars(defaultdict)["__init__"](copied, value.default_factory)
        for key, item in list(_ITERATE[base](value)):
            vars(base)["__setitem__"](copied, part(key), part(item))


def _copy_attributes(copied: Any, value: Any, kind: type, part: Part) -> None:
    """Copy the attributes that a script has set, in the dict and in slots."""
    for name, attribute in list(getattr(value, "__dict__", {}).items()):
        if type(name) is str and not is_dunder(name):
            copied.__dict__[name] = part(attribute)
    for base in filter(is_script_defined, kind.__mro__):
        for member in vars(base).values():
            if type(member) is types.MemberDescriptorType:
                try:
                    attribute = member.__get__(value, kind)
                except AttributeError:
                    continue
                member.__set__(copied, part(attribute))
