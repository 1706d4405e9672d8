"""Types of a script's parameters: read from their annotations, told as JSON schema, and held against what is sent."""

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from panorama.domain.plain import is_list, is_object

Kind = Literal["text", "integer", "number", "boolean", "day", "moment", "list", "choice", "object", "any"]
Dated = Callable[[Kind, str, str], str]
"""Returns a day or moment as ISO text, from what a person calls it and the parameter's name."""

_PLAIN: Mapping[str, Kind] = {
    "str": "text", "int": "integer", "float": "number", "bool": "boolean", "date": "day", "datetime": "moment",
    "dict": "object", "Mapping": "object", "list": "list", "tuple": "list", "Sequence": "list", "Iterable": "list",
    "List": "list", "Dict": "object", "Any": "any", "object": "any",
}  # fmt: skip
_SCHEMAS: Mapping[Kind, Mapping[str, Any]] = {
    "text": {"type": "string"}, "integer": {"type": "integer"}, "number": {"type": "number"},
    "boolean": {"type": "boolean"}, "day": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time"}, "object": {"type": "object"}, "any": {},
}  # fmt: skip
_WORDS: Mapping[Kind, str] = {
    "text": "is text", "integer": "is a whole number", "number": "is a number", "boolean": "is true or false",
    "day": "is a day such as 2026-05-31", "moment": "is a moment such as 2026-05-31T15:00", "list": "is a list",
    "object": "is an object",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """What a parameter takes: `choices` of a choice, `items` of a list, and whether null is a value too."""

    kind: Kind
    choices: tuple[Any, ...] = ()
    items: "Type | None" = None
    optional: bool = False

    def schema(self) -> dict[str, Any]:
        """Return the type as JSON schema, without a branch for null: what is null is left out."""
        if self.kind == "choice":
            kinds = {"boolean" if isinstance(each, bool) else _schema_type(each) for each in self.choices}
            one = {"type": kinds.pop()} if len(kinds) == 1 else {}
            return {**one, "enum": list(self.choices)}
        if self.kind == "list":
            inner = self.items.schema() if self.items else {}
            return {"type": "array", "items": inner} if inner else {"type": "array"}
        return dict(_SCHEMAS[self.kind])

    @property
    def words(self) -> str:
        """Return the type as a person reads it."""
        if self.kind == "choice":
            return " or ".join(map(repr, self.choices))
        if self.kind == "list" and self.items:
            return f"list of {self.items.words}"
        return {"day": "day", "moment": "moment", "boolean": "yes or no", "integer": "whole number"}.get(
            self.kind, self.kind
        )


ANY = Type(kind="any")


class UnknownTypeError(ValueError):
    """An annotation means nothing that can be sent; its text is that annotation."""


def type_of(annotation: ast.expr | None) -> Type:
    """Return what an annotation means.

    Raises:
        UnknownTypeError: Nothing that JSON could hold.
    """
    match annotation:
        case None:
            return ANY
        case ast.Constant(value=str() as text):
            return type_of(_parsed(text))
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _PLAIN:
            return Type(kind=_PLAIN[name])
        case ast.BinOp(op=ast.BitOr()):
            return _union(annotation)
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
            return _subscripted(name, inner, annotation)
        case _:
            raise UnknownTypeError(ast.unparse(annotation))


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise UnknownTypeError(text) from error


def _union(annotation: ast.expr) -> Type:
    parts = list(_branches(annotation))
    known = [each for each in parts if not (isinstance(each, ast.Constant) and each.value is None)]
    types = dict.fromkeys(type_of(each) for each in known)
    if {each.kind for each in types} == {"integer", "number"}:
        types = {Type(kind="number"): None}
    if {each.kind for each in types} == {"text", "day"}:
        types = {Type(kind="day"): None}
    if len(types) != 1:
        raise UnknownTypeError(ast.unparse(annotation))
    return replace(next(iter(types)), optional=len(known) < len(parts))


def _branches(annotation: ast.expr) -> Iterator[ast.expr]:
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        yield from _branches(annotation.left)
        yield from _branches(annotation.right)
    else:
        yield annotation


def _subscripted(name: str, inner: ast.expr, whole: ast.expr) -> Type:
    if name == "Optional":
        return replace(type_of(inner), optional=True)
    if name == "Literal":
        return _choice(inner, whole)
    if _PLAIN.get(name) == "list":
        first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
        return Type(kind="list", items=type_of(first))
    if _PLAIN.get(name) == "object":
        return Type(kind="object")
    if name == "Annotated" and isinstance(inner, ast.Tuple) and inner.elts:
        return type_of(inner.elts[0])
    raise UnknownTypeError(ast.unparse(whole))


def _choice(inner: ast.expr, whole: ast.expr) -> Type:
    try:
        found: Any = ast.literal_eval(inner)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise UnknownTypeError(ast.unparse(whole)) from error
    values: list[Any] = [*found] if isinstance(found, tuple) else [found]
    choices = tuple(each for each in values if each is not None)
    if not choices or not all(isinstance(each, str | int | bool) for each in choices):
        raise UnknownTypeError(ast.unparse(whole))
    return Type(kind="choice", choices=choices, optional=len(choices) < len(values))


def _schema_type(value: Any) -> str:
    return "string" if isinstance(value, str) else "integer"


class MisfitError(ValueError):
    """A value is not what its parameter takes; the text says what that is."""


def fitted(type_: Type, value: Any, name: str, dated: Dated) -> Any:
    """Return a value as a script gets it: days and moments as ISO text, whole floats as integers.

    Raises:
        MisfitError: It is of another type.
    """
    if value is None:
        if type_.optional or type_.kind == "any":
            return None
        raise MisfitError(f"{name} {_wanted(type_)}, not null")
    if type_.kind == "list" and is_list(value):
        inner = type_.items or ANY
        return [fitted(inner, each, f"{name}.{at}", dated) for at, each in enumerate(value)]
    if type_.kind in ("day", "moment") and isinstance(value, str):
        return dated(type_.kind, value, name)
    if type_.kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if type_.kind == "number" and isinstance(value, float) and not math.isfinite(value):
        raise MisfitError(f"{name} is a number, not {value}")
    if not _fits(type_, value):
        raise MisfitError(f"{name} {_wanted(type_)}, not {_shown(value)}")
    return value


def _fits(type_: Type, value: Any) -> bool:
    if type_.kind == "any":
        return True
    if type_.kind == "choice":
        return any(type(each) is type(value) and each == value for each in type_.choices)
    if isinstance(value, bool):
        return type_.kind == "boolean"
    kinds: Mapping[Kind, Any] = {"text": str, "integer": int, "number": (int, float)}
    return is_object(value) if type_.kind == "object" else isinstance(value, kinds.get(type_.kind, ()))


def _wanted(type_: Type) -> str:
    if type_.kind == "choice":
        return f"is one of {', '.join(map(repr, type_.choices))}"
    return _WORDS[type_.kind]


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
