"""Types of a script's parameters: from annotations to JSON schema and checks."""

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from panorama.domain.text.json_types import is_list, is_object

Kind = Literal["text", "integer", "number", "boolean", "day", "moment", "list", "choice", "object", "any"]
Dated = Callable[[Kind, str, str], str]
"""Converts a day or time in the user's words to ISO text, given the parameter's name."""

_NAMED_TYPES: Mapping[str, Kind] = {
    "str": "text", "int": "integer", "float": "number", "bool": "boolean", "date": "day", "datetime": "moment",
    "dict": "object", "Mapping": "object", "list": "list", "tuple": "list", "Sequence": "list", "Iterable": "list",
    "List": "list", "Dict": "object", "Any": "any", "object": "any",
}  # fmt: skip
_SCHEMAS: Mapping[Kind, Mapping[str, Any]] = {
    "text": {"type": "string"}, "integer": {"type": "integer"}, "number": {"type": "number"},
    "boolean": {"type": "boolean"}, "day": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time"}, "object": {"type": "object"}, "any": {},
}  # fmt: skip
_REQUIREMENTS: Mapping[Kind, str] = {
    "text": "must be text", "integer": "must be a whole number", "number": "must be a number",
    "boolean": "must be true or false", "day": "must be a day such as 2026-05-31",
    "moment": "must be a moment such as 2026-05-31T15:00", "list": "must be a list", "object": "must be an object",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterType:
    """The type of a parameter: `choices` of a Literal, `items` of a list, and whether null is allowed."""

    kind: Kind
    choices: tuple[Any, ...] = ()
    items: "ParameterType | None" = None
    optional: bool = False

    def to_json_schema(self) -> dict[str, Any]:
        """Return the type as JSON schema, without null: null arguments are omitted."""
        if self.kind == "choice":
            kinds = {"boolean" if isinstance(entry, bool) else _schema_type(entry) for entry in self.choices}
            one = {"type": kinds.pop()} if len(kinds) == 1 else {}
            return {**one, "enum": list(self.choices)}
        if self.kind == "list":
            inner = self.items.to_json_schema() if self.items else {}
            return {"type": "array", "items": inner} if inner else {"type": "array"}
        return dict(_SCHEMAS[self.kind])

    @property
    def label(self) -> str:
        """Return the type as text for messages."""
        if self.kind == "choice":
            return " or ".join(map(repr, self.choices))
        if self.kind == "list" and self.items:
            return f"list of {self.items.label}"
        return {"day": "day", "moment": "moment", "boolean": "yes or no", "integer": "whole number"}.get(
            self.kind, self.kind
        )


ANY_TYPE = ParameterType(kind="any")


class UnknownTypeError(ValueError):
    """The annotation is not a type that JSON can hold; the message is the annotation."""


def parse_annotation(annotation: ast.expr | None) -> ParameterType:
    """Parse an annotation.

    Raises:
        UnknownTypeError: The type cannot be sent as JSON.
    """
    match annotation:
        case None:
            return ANY_TYPE
        case ast.Constant(value=str() as text):
            return parse_annotation(_parse_expression(text))
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _NAMED_TYPES:
            return ParameterType(kind=_NAMED_TYPES[name])
        case ast.BinOp(op=ast.BitOr()):
            return _parse_union(annotation)
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
            return _parse_subscript(name, inner, annotation)
        case _:
            raise UnknownTypeError(ast.unparse(annotation))


def _parse_expression(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise UnknownTypeError(text) from error


def _parse_union(annotation: ast.expr) -> ParameterType:
    parts = list(_iter_union_members(annotation))
    known = [entry for entry in parts if not (isinstance(entry, ast.Constant) and entry.value is None)]
    types = dict.fromkeys(parse_annotation(entry) for entry in known)
    if {entry.kind for entry in types} == {"integer", "number"}:
        types = {ParameterType(kind="number"): None}
    if {entry.kind for entry in types} == {"text", "day"}:
        types = {ParameterType(kind="day"): None}
    if len(types) != 1:
        raise UnknownTypeError(ast.unparse(annotation))
    return replace(next(iter(types)), optional=len(known) < len(parts))


def _iter_union_members(annotation: ast.expr) -> Iterator[ast.expr]:
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        yield from _iter_union_members(annotation.left)
        yield from _iter_union_members(annotation.right)
    else:
        yield annotation


def _parse_subscript(name: str, inner: ast.expr, whole: ast.expr) -> ParameterType:
    if name == "Optional":
        return replace(parse_annotation(inner), optional=True)
    if name == "Literal":
        return _parse_choice(inner, whole)
    if _NAMED_TYPES.get(name) == "list":
        first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
        return ParameterType(kind="list", items=parse_annotation(first))
    if _NAMED_TYPES.get(name) == "object":
        return ParameterType(kind="object")
    if name == "Annotated" and isinstance(inner, ast.Tuple) and inner.elts:
        return parse_annotation(inner.elts[0])
    raise UnknownTypeError(ast.unparse(whole))


def _parse_choice(inner: ast.expr, whole: ast.expr) -> ParameterType:
    try:
        literal: Any = ast.literal_eval(inner)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise UnknownTypeError(ast.unparse(whole)) from error
    values: list[Any] = [*literal] if isinstance(literal, tuple) else [literal]
    choices = tuple(entry for entry in values if entry is not None)
    if not choices or not all(isinstance(entry, str | int | bool) for entry in choices):
        raise UnknownTypeError(ast.unparse(whole))
    return ParameterType(kind="choice", choices=choices, optional=len(choices) < len(values))


def _schema_type(value: Any) -> str:
    return "string" if isinstance(value, str) else "integer"


class TypeMismatchError(ValueError):
    """A value does not fit its parameter's type; the message names the type."""


def coerce(type_: ParameterType, value: Any, name: str, dated: Dated) -> Any:
    """Convert a value to its parameter's type: dates and times as ISO text, whole floats as integers.

    Raises:
        TypeMismatchError: It is of another type.
    """
    if value is None:
        if type_.optional or type_.kind == "any":
            return None
        raise TypeMismatchError(f"{name} {_describe_requirement(type_)}, not null")
    if type_.kind == "list" and is_list(value):
        inner = type_.items or ANY_TYPE
        return [coerce(inner, entry, f"{name}.{at}", dated) for at, entry in enumerate(value)]
    if type_.kind in ("day", "moment") and isinstance(value, str):
        return dated(type_.kind, value, name)
    if type_.kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if type_.kind == "number" and isinstance(value, float) and not math.isfinite(value):
        raise TypeMismatchError(f"{name} must be a number, not {value}")
    if not _is_instance(type_, value):
        raise TypeMismatchError(f"{name} {_describe_requirement(type_)}, not {_short_repr(value)}")
    return value


def _is_instance(type_: ParameterType, value: Any) -> bool:
    if type_.kind == "any":
        return True
    if type_.kind == "choice":
        return any(type(entry) is type(value) and entry == value for entry in type_.choices)
    if isinstance(value, bool):
        return type_.kind == "boolean"
    kinds: Mapping[Kind, Any] = {"text": str, "integer": int, "number": (int, float)}
    return is_object(value) if type_.kind == "object" else isinstance(value, kinds.get(type_.kind, ()))


def _describe_requirement(type_: ParameterType) -> str:
    if type_.kind == "choice":
        return f"must be one of {', '.join(map(repr, type_.choices))}"
    return _REQUIREMENTS[type_.kind]


def _short_repr(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
