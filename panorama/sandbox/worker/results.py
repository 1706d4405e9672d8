"""Encodes the result of a script as JSON."""

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

from panorama.sandbox.rules.class_marks import get_class
from panorama.sandbox.worker.tracebacks import OutcomeError
from panorama.sdk.core.encode import exact_str

MAX_DEPTH = 100
MAX_INTEGER_BITS = 14_000
"""Some 4,200 digits; above 4,300, Python refuses to write a number down or to read it."""

_INT64_LIMIT = 1 << 63
TEXT_CHARS = 10_000
"""How much is kept of the text of a thing that has no fields."""

_TEXT_TYPES = (Decimal, Fraction, UUID, timedelta, complex)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_CODE_TYPES = (Iterator, type, FunctionType, BuiltinFunctionType, MethodType, ModuleType)


def encode_json(value: object, subject: str = "The result") -> bytes:
    """Return a value as JSON.

    Dataclasses and objects of a script's classes become objects of their fields, members of enumerations their values,
    days and moments ISO texts, sets and other collections lists, bytes text (or base64), decimals text; NaN and
    infinities become null. Keys become text.

    Raises:
        OutcomeError: It holds a generator or a function, or is nested deeper than 100 levels.
    """
    try:
        return _encode_fast(value) or _dump(to_plain(value))
    except OutcomeError as error:
        raise OutcomeError(f"{subject} {error}", hint=error.hint) from None


def _encode_fast(value: object) -> bytes:
    """Return a value as JSON if json.dumps can encode it as it is, else b""."""
    if value is None:  # the quick ways for what most scripts return: nothing, or a count
        return b"null"
    if type(value) is int and -_INT64_LIMIT < value < _INT64_LIMIT:
        return b"%d" % value
    try:
        text = _dump(value)
    except (TypeError, ValueError, RecursionError):
        return b""
    return text if _is_shallow(text) else b""


def _dump(value: object) -> bytes:
    return _ENCODER.encode(value).encode("utf-8", "replace")


def _is_shallow(text: bytes) -> bool:
    """Return whether JSON is surely not too deep, by removing bracket pairs in turn.

    Brackets within texts may make it look deeper than it is.
    """
    brackets = text.translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        fewer = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if fewer == brackets:
            break
        brackets = fewer
    return not brackets


def to_plain(value: Any, depth: int = 0) -> Any:
    """Return a value made of JSON types.

    Raises:
        OutcomeError: As for `encode_json`.
    """
    if depth > MAX_DEPTH:
        raise OutcomeError(
            f"is nested deeper than {MAX_DEPTH} levels, or contains itself.", hint="Return a flatter list or dict."
        )
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case Enum():
            return to_plain(value.value, depth + 1)
        case int():
            return _convert_integer(value)
        case float():
            return float(value) if math.isfinite(value) else None
        case dict():
            pairs = cast("dict[Any, Any]", value)
            return {_convert_key(key): to_plain(item, depth + 1) for key, item in pairs.items()}
        case list() | tuple():
            return [to_plain(item, depth + 1) for item in cast("list[Any]", value)]
        case _:
            return to_plain(_convert_other(value), depth + 1)


def _convert_integer(value: int) -> int | str:
    """Return an integer, or a description of one that is too long to print."""
    return int(value) if value.bit_length() <= MAX_INTEGER_BITS else f"<a number of {value.bit_length():,} bits>"


def _convert_key(key: Any) -> str:
    match key:
        case str():
            return str.__str__(key)
        case Enum():
            return _convert_key(key.value)
        case bool() | None:
            return json.dumps(key)
        case tuple():
            return ", ".join(_convert_key(part) for part in cast("tuple[Any, ...]", key))
        case _:
            return exact_str(_convert_other(key) if isinstance(key, date | time) else key)[:TEXT_CHARS]


def _convert_other(value: Any) -> Any:
    """Return a value closer to JSON for one of another type."""
    untyped: Any = value
    match value:
        case Enum():
            return value.value
        case date() | time():  # a datetime is a date
            return value.isoformat()
        case bytes() | bytearray() | memoryview():
            return _decode_bytes(bytes(untyped))
        case set() | frozenset():
            return _sort_values(cast("Iterable[Any]", value))
        case Mapping():
            return dict(cast("Mapping[Any, Any]", value))
        case _ if isinstance(untyped, _TEXT_TYPES):
            return exact_str(untyped)
        case _ if _is_code(untyped):
            raise _unsupported_error(type(untyped).__name__, isinstance(untyped, Iterator))
        case _ if is_dataclass(kind := get_class(untyped)):
            return {field.name: getattr(untyped, field.name) for field in fields(kind)}
        case Iterable():
            return list(cast("Iterable[Any]", value))
        case _:
            return _convert_object(untyped)


def _is_code(value: object) -> bool:
    return isinstance(value, _CODE_TYPES) or callable(value)


def _convert_object(value: object) -> Any:
    attributes = getattr(value, "__dict__", None)
    if not isinstance(attributes, dict):
        kind = type(value)
        if kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__:
            raise _unsupported_error(kind.__name__, is_iterator=False)
        return exact_str(value)[:TEXT_CHARS]
    return {name: item for name, item in cast("dict[str, Any]", attributes).items() if not name.startswith("_")}


def _sort_values(values: Iterable[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def _decode_bytes(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode()


def _unsupported_error(name: str, is_iterator: bool) -> OutcomeError:
    article = "an" if name[:1] in "aeiou" else "a"
    if is_iterator:
        return OutcomeError(f"holds {article} {name}, which has no values yet.", hint="Wrap it in list(...).")
    return OutcomeError(f"holds {article} {name}, which is not data.", hint="Call it, or return what it stands for.")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_convert_other)
