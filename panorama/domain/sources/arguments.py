"""Checks the arguments of a call against the function's schema before they are sent. Pure."""

import difflib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from panorama.domain.text.json_types import is_list, is_object

MAX_MISTAKES = 5
MAX_MESSAGE_CHARS = 160


def drop_absent(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without those that are None although the schema does not allow it."""
    fields = _fields(schema)
    return {
        name: value
        for name, value in arguments.items()
        if value is not None or (name in fields and _allows_null(fields[name]))
    }


def find_mistakes(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the problems of arguments, one sentence each; an invalid schema is ignored."""
    fields = _fields(schema)
    required: Any = schema.get("required")
    missing = [name for name in (required if is_list(required) else []) if name not in arguments]
    mistakes = [f"{name} is missing." for name in missing]
    if fields and schema.get("additionalProperties") in (None, False):
        mistakes += [_describe_unknown(name, fields) for name in arguments if name not in fields]
    if not mistakes:
        mistakes += _find_invalid_values(arguments, schema)
    return mistakes[:MAX_MISTAKES]


def _fields(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = schema.get("properties")
    return fields if is_object(fields) else {}


def _allows_null(schema: object) -> bool:
    if not is_object(schema):
        return True
    kind = schema.get("type")
    if kind == "null" or (is_list(kind) and "null" in kind) or schema.get("nullable") is True:
        return True
    options = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    return any(map(_allows_null, options)) or not ({"type", "anyOf", "oneOf", "enum", "const", "$ref"} & schema.keys())


def _describe_unknown(name: str, fields: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name.lower(), [field.lower() for field in fields], 1, 0.6)
    match = next((field for field in fields if [field.lower()] == near), "")
    known = f"did you mean {match}?" if match else f"it takes {', '.join(list(fields)[:20])}."
    return f"There is no argument {name[:60]}; {known}"


def _find_invalid_values(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    try:
        errors = [error for error, _ in zip(_iter_errors(dict(arguments), schema), range(MAX_MISTAKES), strict=False)]
    except Exception:  # an invalid schema of the source raises any error; the source validates the arguments itself
        return []
    return [
        f"{'.'.join(map(str, path)) or 'The arguments'}: {message[:MAX_MESSAGE_CHARS]}." for path, message in errors
    ]


def _iter_errors(arguments: dict[str, Any], schema: Mapping[str, Any]) -> Iterator[tuple[tuple[Any, ...], str]]:
    validator_class, registry = _load_validator()
    for error in validator_class(dict(schema), registry=registry).iter_errors(arguments):
        yield tuple(error.path), error.message


@lru_cache(1)
def _load_validator() -> tuple[Any, Any]:
    """Return the validator and an empty registry; imports take 60 ms.

    Patterns are not checked, since a stranger's expression can take forever, and no address of a schema is fetched.
    """
    jsonschema, referencing = import_module("jsonschema"), import_module("referencing")
    unchecked = dict.fromkeys(("pattern", "patternProperties", "uniqueItems"))
    validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, unchecked)
    return validator, referencing.Registry()
