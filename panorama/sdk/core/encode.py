"""Encodes Python values as arguments of calls."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, cast

from panorama.sdk.core.rows import Row
from panorama.sdk.errors import InvalidInputError

_PLAIN = frozenset({str, int, float, bool})


def exact_str(value: object) -> str:
    """Return `str(value)` as an exact `str`, not as a subclass.

    The `encode`, `__getitem__` or `__format__` of a subclass could return another text than it holds.
    """
    return str.__str__(str(value))


def encode_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return encoded arguments without those that are None.

    A row with an id is sent as its id. Dates and datetimes become ISO texts, a timedelta of whole days becomes `+3d`
    (in three days), members of enumerations become their values, sets and tuples lists, decimals numbers.

    Raises:
        InvalidInputError: A value cannot be encoded.
    """
    try:
        return {
            name: value if type(value) in _PLAIN else _encode_value(value, name)
            for name, value in arguments.items()
            if value is not None
        }
    except RecursionError:
        raise InvalidInputError(
            "An argument is nested too deeply, or contains itself.", hint="Send flatter ones."
        ) from None


def _encode_value(value: Any, name: str) -> Any:
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, Row) and isinstance(id_ := value.get("id"), str):
        return str.__str__(id_)
    if isinstance(value, Enum):
        return _encode_value(value.value, name)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, date):  # a datetime is one too
        return exact_str(value.isoformat())
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, timedelta) and value % timedelta(days=1) == timedelta():
        return f"{value.days:+d}d"
    return _encode_collection(value, name)


def _encode_collection(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value).items()
        return {exact_str(_encode_value(key, name)): _encode_value(entry, f"{name}.{key}") for key, entry in pairs}
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        entries = [_encode_value(entry, name) for entry in cast("Iterable[Any]", value)]
        return sorted(entries, key=repr) if isinstance(value, set | frozenset) else entries
    raise InvalidInputError(
        f"{name} cannot be sent: it is a {type(value).__name__}.",
        hint="Send text, numbers, dates, lists or dicts of those, or a row that came from the SDK.",
    )
