"""JSON schemas of tools, derived from the operations' methods: short for a model, and without null branches."""

from collections.abc import Mapping
from typing import Any, get_args, get_origin

from pydantic import TypeAdapter

from panorama.calls.arguments import Arguments
from panorama.domain.plain import is_list, is_object
from panorama.domain.results import Noted, Page

_NOISE = ("title", "additionalProperties", "maxLength", "minimum", "maximum")
"""What is left out: `calls` refuses unknown names and wrong sizes in its own words."""

_EMPTY: tuple[Any, ...] = (None, "", [], {}, False)


def input_schema(arguments: Arguments) -> dict[str, Any]:
    """Return what a tool takes; defaults are shown where they are not simply empty."""
    schema = _short(arguments.model.model_json_schema())
    schema.setdefault("properties", {})
    return schema


def output_schema(arguments: Arguments) -> dict[str, Any]:
    """Return the envelope around what a tool returns.

    Nothing is required: nulls are not sent, and a refusal has `error` instead (some clients check that too).
    """
    envelope = {"summary": {"type": "string"}, "metadata": {"type": "object"}, "error": {"type": "object"}}
    return {"type": "object", "properties": {"data": _data(arguments.returns), **envelope}}


def _data(returns: Any) -> dict[str, Any]:
    origin, inner = get_origin(returns), get_args(returns)
    if origin is Noted:
        return _data(inner[0])
    if origin is Page:
        return {"type": "array", "items": _data(inner[0])}
    return _optional(_short(TypeAdapter(returns).json_schema(mode="serialization")))


def _short(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without titles, null branches, empty defaults and references."""
    known: dict[str, Any] = schema.get("$defs", {})
    return _walk({name: part for name, part in schema.items() if name != "$defs"}, known)


def _walk(part: Any, known: Mapping[str, Any]) -> Any:
    if is_list(part):
        return [_walk(each, known) for each in part]
    if not is_object(part):
        return part
    found: dict[str, Any] = dict(part)
    if "$ref" in found:
        found = {**known[found.pop("$ref").rsplit("/", 1)[-1]], **found}
    if "anyOf" in found:
        found = _without_null(found)
    return {name: _property(name, each, known) for name, each in found.items() if _is_worth(name, each)}


def _property(name: str, value: Any, known: Mapping[str, Any]) -> Any:
    if name == "properties":
        return {key: _walk(each, known) for key, each in value.items()}
    return value if name in ("enum", "default", "description", "required") else _walk(value, known)


def _is_worth(name: str, value: Any) -> bool:
    if name == "default":
        return value not in _EMPTY
    return name not in _NOISE or isinstance(value, dict)


def _without_null(part: dict[str, Any]) -> dict[str, Any]:
    branches = _joined([each for each in part.pop("anyOf") if each.get("type") != "null"])
    return {**branches[0], **part} if len(branches) == 1 else {**part, "anyOf": branches}


def _joined(branches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join what are all choices of words into one choice."""
    if not all("enum" in each or "const" in each for each in branches):
        return branches
    words = [word for each in branches for word in each.get("enum", [each.get("const")])]
    return [{"enum": words, "type": "string"}]


def _optional(part: Any) -> Any:
    """Drop what would forbid leaving a field out, and what only describes."""
    if is_list(part):
        return [_optional(each) for each in part]
    if not is_object(part):
        return part
    dropped = ("required", "default", "description", "format", "enum")
    return {
        name: {key: _optional(each) for key, each in value.items()} if name == "properties" else _optional(value)
        for name, value in part.items()
        if name not in dropped
    }
