"""Functions of sources as Python stubs, from their schemas. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from panorama.domain.sources.functions import SourceFunction
from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.visible_text import escape_controls

MAX_DEPTH = 4
MAX_TYPE_CHARS = 120
MAX_SIGNATURE_CHARS = 600
MAX_LINE_CHARS, MAX_TEXT_CHARS = 160, 600
MAX_PARAMETERS = 40
_PLAIN_TYPES = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "array": "list",
    "object": "dict",
}  # fmt: skip


def format_stub(source: str, function: SourceFunction) -> str:
    """Return a function's signature and the first line of what the source says of it."""
    line = format_line(function)
    return f"{format_call(source, function)}\n    {line}" if line else format_call(source, function)


def format_call(source: str, function: SourceFunction) -> str:
    """Return the signature of a function: `sdk.crm.add_lead(*, email: str, name: str = None) -> dict`."""
    name = f"sdk.{source}.{function.name}"
    if function.signature:
        return f"{name}{function.signature}"
    returns = format_type(unwrap(function.returns), function.returns or {}) if function.returns else "Any"
    returns = returns if len(returns) <= MAX_TYPE_CHARS else "dict"
    parameters = list(_format_parameters(function.parameters))
    shown = parameters[:MAX_PARAMETERS]
    while sum(map(len, shown)) > MAX_SIGNATURE_CHARS and len(shown) > 1:
        shown.pop()
    more = ["…"] if len(shown) < len(parameters) else []
    return escape_controls(f"{name}({', '.join(['*', *shown, *more]) if parameters else ''}) -> {returns}")


def format_line(function: SourceFunction) -> str:
    """Return the first line of a description."""
    lines = (escape_controls(line).strip() for line in function.description.splitlines())
    return _shorten(next((line for line in lines if line), ""), MAX_LINE_CHARS)


def format_description(function: SourceFunction) -> str:
    """Return a description, shortened, as one paragraph: it is a stranger's text."""
    return _shorten(escape_controls(" ".join(function.description.split())), MAX_TEXT_CHARS)


def describe_effect(function: SourceFunction) -> str:
    """Return a short note: whether a call changes something, and who can see it."""
    who = {
        "here": "reaches this machine only", "own": "reaches your own account", "others": "may reach other people",
        "anywhere": "may reach any address",
    }[function.reach]  # fmt: skip
    return f"{'reads' if function.reads_only else 'may change something'} and {who}"


def format_type(schema: Any, root: Mapping[str, Any], depth: int = 0) -> str:
    """Return a schema as a Python type; what cannot be expressed is Any."""
    if not is_object(schema) or depth > MAX_DEPTH:
        return "Any"
    if "$ref" in schema:
        return format_type(_resolve(schema["$ref"], root), root, depth + 1)
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if is_list(options := schema.get("enum")):
        return f"Literal[{', '.join(map(repr, options))}]"
    for word in ("anyOf", "oneOf"):
        if is_list(options := schema.get(word)):
            return _format_union(format_type(option, root, depth + 1) for option in options)
    if is_list(parts := schema.get("allOf")):
        return format_type(_merge(parts, schema, root), root, depth + 1)
    kind = schema.get("type")
    if is_list(kind):
        return _format_union(format_type({**schema, "type": option}, root, depth + 1) for option in kind)
    if kind == "array" and schema.get("items"):
        return f"list[{format_type(schema['items'], root, depth + 1)}]"
    if kind == "object" or (kind is None and "properties" in schema):
        return _format_object(schema, root, depth)
    plain = _PLAIN_TYPES.get(str(kind), "Any")
    return f"{plain} | None" if schema.get("nullable") is True and plain != "Any" else plain


def unwrap(schema: Mapping[str, Any] | None) -> Any:
    """Return the schema inside a lone `result`, as libraries wrap what is not an object."""
    fields: Any = (schema or {}).get("properties")
    if is_object(fields) and ((schema or {}).get("x-fastmcp-wrap-result") or list(fields) == ["result"]):
        return fields.get("result", schema)
    return schema


def _format_parameters(schema: Mapping[str, Any]) -> Iterable[str]:
    fields, required = schema.get("properties"), schema.get("required")
    if not is_object(fields):
        return
    needed = required if is_list(required) else []
    for name in sorted(fields, key=lambda field: field not in needed):
        text = format_type(fields[name], schema)
        text = text if len(text) <= MAX_TYPE_CHARS else "dict" if text.startswith("{") else "Any"
        if name in needed:
            yield f"{name}: {text}"
        else:
            default = fields[name].get("default") if is_object(fields[name]) else None
            shown = repr(default)
            yield f"{name}: {text} = {shown if len(shown) <= 40 else '…'}"


def _format_object(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    fields = schema.get("properties")
    if not is_object(fields) or not fields:
        inner = schema.get("additionalProperties")
        return f"dict[str, {format_type(inner, root, depth + 1)}]" if is_object(inner) else "dict"
    required = schema.get("required")
    needed = required if is_list(required) else []
    parts = (f"{name}{'' if name in needed else '?'}: {format_type(fields[name], root, depth + 1)}" for name in fields)
    return "{" + ", ".join(parts) + "}"


def _format_union(types: Iterable[str]) -> str:
    options = list(dict.fromkeys(types))
    if "Any" in options:
        return "Any"
    return " | ".join([*(option for option in options if option != "None"), *(["None"] if "None" in options else [])])


def _resolve(pointer: object, root: Mapping[str, Any]) -> Any:
    target: Any = root
    for part in str(pointer).removeprefix("#").strip("/").split("/"):
        target = target.get(part.replace("~1", "/").replace("~0", "~")) if is_object(target) else None
    return target


def _merge(parts: list[Any], schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {"properties": {}, "required": []}
    own = {key: value for key, value in schema.items() if key != "allOf"}
    for part in [*parts, own]:
        resolved = _resolve(part["$ref"], root) if is_object(part) and "$ref" in part else part
        if is_object(resolved):
            merged["properties"] |= resolved.get("properties") or {}
            merged["required"] += resolved.get("required") or []
            merged |= {key: value for key, value in resolved.items() if key not in ("properties", "required")}
    return merged


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
