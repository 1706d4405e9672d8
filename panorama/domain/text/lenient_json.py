"""Normalises the forms in which models and clients send tool names and arguments. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any

from panorama.domain.text.json_types import is_list, is_object

_WORD_GAP = re.compile(r"[\s_-]+")
_CLIENT_PREFIX = re.compile(
    r"(?:(?:functions|default_api|sdk)[.:])?(?:mcp__.+?__|(?:mcp[_-]{1,2})?panorama(?:__|[_.:/-]))?(?=.)"
)


def strip_client_prefix(name: str) -> str:
    """Return a tool's name without prefixes such as `mcp__panorama__`."""
    match = _CLIENT_PREFIX.match(name)
    return name[match.end() :] if match else name


def fit_to_schema(value: Any, schema: Mapping[str, Any]) -> Any:
    """Convert a value to the form of a schema; return it unchanged if that is not possible.

    JSON text becomes its list or object, a single value a list, "" an empty list or object, and a choice in another
    case the exact choice.
    """
    kind = schema.get("type")
    if kind == "array":
        return _fit_list(value, schema.get("items", {}))
    if kind == "object":
        return _fit_object(value)
    if "enum" in schema and isinstance(value, str):
        return _fit_choice(value, schema["enum"])
    return value


def _fit_list(value: Any, items: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        parsed: Any = _parse(value) if value.strip() else []
        value = parsed if is_list(parsed) or is_object(parsed) else value
    rows = value if is_list(value) else [value] if isinstance(value, str) or is_object(value) else None
    return value if rows is None else [fit_to_schema(row, items) for row in rows]


def _fit_object(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    parsed: Any = _parse(value) if value.strip() else {}
    return parsed if is_object(parsed) else value


def _fit_choice(value: str, choices: list[Any]) -> Any:
    if value in choices:
        return value
    word = _normalize(value)
    return next((choice for choice in choices if isinstance(choice, str) and _normalize(choice) == word), value)


def _normalize(word: str) -> str:
    return _WORD_GAP.sub("_", word.strip().casefold())


def _parse(text: str) -> Any:
    """Parse JSON text; return None if it is invalid."""
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
