"""Results: the only place that turns what a script leaves behind into JSON."""

import base64
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, cast
from uuid import UUID

from panorama.sandbox.failures import EndError
from panorama.sandbox.metas import class_of
from panorama.sdk._plain import exact

DEEPEST = 100
WHOLE_BITS = 14_000
"""Some 4,200 digits; above 4,300, Python refuses to write a number down or to read it."""

_WORD = 1 << 63
TEXT_CHARS = 10_000
"""How much is kept of the text of a thing that has no fields."""

_TEXTS = (Decimal, Fraction, UUID, timedelta, complex)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_CODE = (Iterator, type, FunctionType, BuiltinFunctionType, MethodType, ModuleType)


def encoded(value: object, what: str = "The result") -> bytes:
    """Return a value as JSON.

    Dataclasses and objects of a script's classes become objects of their fields, members of enumerations their values,
    days and moments ISO texts, sets and other collections lists, bytes text (or base64), decimals text; NaN and
    infinities become null. Keys become text.

    Raises:
        EndError: It holds a generator or a function, or is nested deeper than 100 levels.
    """
    try:
        return _quickly(value) or _dumped(plain(value))
    except EndError as error:
        raise EndError(f"{what} {error}", hint=error.hint) from None


def _quickly(value: object) -> bytes:
    """Return a value as JSON, b"" if it is none for json.dumps: keys that are no text, NaN, too deep, a circle."""
    if value is None:  # the quick ways for what most scripts return: nothing, or a count
        return b"null"
    if type(value) is int and -_WORD < value < _WORD:
        return b"%d" % value
    try:
        text = _dumped(value)
    except (TypeError, ValueError, RecursionError):
        return b""
    return text if _is_shallow(text) else b""


def _dumped(value: object) -> bytes:
    return _ENCODER.encode(value).encode("utf-8", "replace")


def _is_shallow(text: bytes) -> bool:
    """Tell whether JSON is surely not too deep: of its brackets alone, the innermost pairs are taken away in turn.

    Brackets within texts may make it look deeper than it is.
    """
    brackets = text.translate(None, _NO_BRACKETS)
    for _ in range(DEEPEST):
        fewer = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if fewer == brackets:
            break
        brackets = fewer
    return not brackets


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON knows it.

    Raises:
        EndError: As of `encoded`.
    """
    if depth > DEEPEST:
        raise EndError(
            f"is nested deeper than {DEEPEST} levels, or holds itself.", hint="Return a flatter list or dict."
        )
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case Enum():
            return plain(value.value, depth + 1)
        case int():
            return _whole(value)
        case float():
            return float(value) if math.isfinite(value) else None
        case dict():
            pairs = cast("dict[Any, Any]", value)
            return {_key(key): plain(each, depth + 1) for key, each in pairs.items()}
        case list() | tuple():
            return [plain(each, depth + 1) for each in cast("list[Any]", value)]
        case _:
            return plain(_other(value), depth + 1)


def _whole(value: int) -> int | str:
    """Return a number, or what it is if Python would not write it down."""
    return int(value) if value.bit_length() <= WHOLE_BITS else f"<a number of {value.bit_length():,} bits>"


def _key(key: Any) -> str:
    match key:
        case str():
            return str.__str__(key)
        case Enum():
            return _key(key.value)
        case bool() | None:
            return json.dumps(key)
        case tuple():
            return ", ".join(_key(each) for each in cast("tuple[Any, ...]", key))
        case _:
            return exact(_other(key) if isinstance(key, date | time) else key)[:TEXT_CHARS]


def _other(value: Any) -> Any:
    """Return something nearer to JSON for what is none of its types."""
    given: Any = value
    match value:
        case Enum():
            return value.value
        case date() | time():  # a datetime is a date
            return value.isoformat()
        case bytes() | bytearray() | memoryview():
            return _text(bytes(given))
        case set() | frozenset():
            return _in_order(cast("Iterable[Any]", value))
        case Mapping():
            return dict(cast("Mapping[Any, Any]", value))
        case _ if isinstance(given, _TEXTS):
            return exact(given)
        case _ if _is_code(given):
            raise _refused(type(given).__name__, isinstance(given, Iterator))
        case _ if is_dataclass(kind := class_of(given)):
            return {each.name: getattr(given, each.name) for each in fields(kind)}
        case Iterable():
            return list(cast("Iterable[Any]", value))
        case _:
            return _of_fields(given)


def _is_code(value: object) -> bool:
    return isinstance(value, _CODE) or callable(value)


def _of_fields(value: object) -> Any:
    named = getattr(value, "__dict__", None)
    if not isinstance(named, dict):
        kind = type(value)
        if kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__:
            raise _refused(kind.__name__, is_iterator=False)
        return exact(value)[:TEXT_CHARS]
    return {name: each for name, each in cast("dict[str, Any]", named).items() if not name.startswith("_")}


def _in_order(values: Iterable[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode()


def _refused(name: str, is_iterator: bool) -> EndError:
    article = "an" if name[:1] in "aeiou" else "a"
    if is_iterator:
        return EndError(f"holds {article} {name}, which has no values yet.", hint="Wrap it in list(...).")
    return EndError(f"holds {article} {name}, which is no data.", hint="Call it, or return what it stands for.")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_other)
