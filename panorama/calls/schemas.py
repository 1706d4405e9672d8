"""JSON schemas of tools, derived from the operations' methods: short for a model, and without null branches."""

from collections.abc import Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import TypeAdapter

from panorama.calls.arguments import Arguments
from panorama.calls.model_text import SHOWN_METADATA
from panorama.domain.paging import Page, Result
from panorama.domain.text.json_types import is_list, is_object

_OMITTED_KEYS = ("title", "maxLength", "minimum", "maximum")
"""Omitted keywords: `calls` reports wrong sizes with its own messages."""

_NEVER_EMPTY = ("id", "title")
"""The fields that every answer has of an object with an id."""

_EMPTY: tuple[Any, ...] = (None, "", [], {}, False)


def input_schema(arguments: Arguments) -> dict[str, Any]:
    """Return the input schema of a tool; non-empty defaults are shown."""
    schema = _shorten(arguments.model.model_json_schema())
    schema.setdefault("properties", {})
    return schema


def output_schema(arguments: Arguments) -> dict[str, Any]:
    """Return the envelope around what a tool returns.

    Summary and data are always there, and an item's id and name; fields that are empty are left out.
    """
    properties: dict[str, Any] = {
        "summary": {"type": "string"},
        "data": _data_schema(arguments.returns),
        "metadata": {"type": "object", "properties": {name: {} for name in SHOWN_METADATA}},
    }
    return {"type": "object", "properties": properties, "required": ["summary", "data"]}


def _data_schema(returns: Any) -> dict[str, Any]:
    origin, inner = get_origin(returns), get_args(returns)
    if origin is Result:
        return _data_schema(inner[0])
    if origin in (Union, UnionType) and any(get_origin(option) is Page for option in inner):
        return {"anyOf": [_data_schema(option) for option in inner]}
    if origin is Page:
        return {"type": "array", "items": _data_schema(inner[0])}
    return _make_optional(_shorten(TypeAdapter(returns).json_schema(mode="serialization")))


def _shorten(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without titles, null branches, empty defaults and references."""
    known: dict[str, Any] = schema.get("$defs", {})
    return _walk({name: part for name, part in schema.items() if name != "$defs"}, known)


def _walk(part: Any, known: Mapping[str, Any]) -> Any:
    if is_list(part):
        return [_walk(entry, known) for entry in part]
    if not is_object(part):
        return part
    schema: dict[str, Any] = dict(part)
    if "anyOf" in schema:
        schema = _drop_null(schema)
    if "$ref" in schema:
        schema = {**known[schema.pop("$ref").rsplit("/", 1)[-1]], **schema}
    return {name: _simplify_property(name, value, known) for name, value in schema.items() if _is_relevant(name, value)}


def _simplify_property(name: str, value: Any, known: Mapping[str, Any]) -> Any:
    if name == "properties":
        return {key: _walk(entry, known) for key, entry in value.items()}
    return value if name in ("enum", "default", "description", "required") else _walk(value, known)


def _is_relevant(name: str, value: Any) -> bool:
    if name == "additionalProperties":  # only for open objects: `calls` reports unknown names with its own messages
        return value is not False
    if name == "default":
        return value not in _EMPTY
    return name not in _OMITTED_KEYS or isinstance(value, dict)


def _drop_null(part: dict[str, Any]) -> dict[str, Any]:
    branches = _merge_enums([option for option in part.pop("anyOf") if option.get("type") != "null"])
    return {**branches[0], **part} if len(branches) == 1 else {**part, "anyOf": branches}


def _merge_enums(branches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge several enums into one."""
    if not all("enum" in option or "const" in option for option in branches):
        return branches
    words = [word for option in branches for word in option.get("enum", [option.get("const")])]
    return [{"enum": words, "type": "string"}]


def _make_optional(part: Any) -> Any:
    """Drop what would forbid leaving out an empty field, and what only describes."""
    if is_list(part):
        return [_make_optional(entry) for entry in part]
    if not is_object(part):
        return part
    dropped = ("required", "default", "description", "format", "enum")
    required = [name for name in part.get("required", ()) if name in _NEVER_EMPTY]
    schema: dict[str, Any] = {
        name: {key: _make_optional(entry) for key, entry in value.items()}
        if name == "properties"
        else _make_optional(value)
        for name, value in part.items()
        if name not in dropped
    }
    return schema | ({"required": required} if "id" in required else {})
