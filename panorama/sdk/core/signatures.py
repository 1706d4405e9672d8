"""Explains wrong calls of SDK functions by their signatures."""

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from types import UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from panorama.sdk.core import types as _types
from panorama.sdk.core.rows import Row
from panorama.sdk.core.unset import UNSET
from panorama.sdk.errors import InvalidInputError

P = ParamSpec("P")
R = TypeVar("R")
_MIN_SIMILARITY = 0.5
_SHOWN_CHARS = 60
_ALIAS = re.compile(rf"\b({'|'.join(name for name, value in vars(_types).items() if get_origin(value) is Literal)})\b")


def explain_misuse(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function so that errors for wrong arguments show its signature and the nearest names.

    Types are checked only after the SDK's own code raised an error.
    """

    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            inside = error.__traceback__ and error.__traceback__.tb_next
            if inside is None and (problem := _find_misfit(function, args, kwargs)):
                raise TypeError(problem) from None
            if _is_ours(function, error) and (wrong := _find_wrong_types(function, args, kwargs)):
                raise InvalidInputError(f"{sdk_name(function)}: {wrong}.", hint=describe_usage(function)) from None
            raise

    return wrapper


def _is_ours(function: Callable[..., Any], error: TypeError) -> bool:
    """Return whether an error was raised by the SDK's own code and does not explain the arguments itself."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    module = trace.tb_frame.f_globals.get("__name__", "") if trace else ""
    return str(module).startswith("panorama.sdk.") and not str(error).startswith(sdk_name(function))


def _find_wrong_types(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Describe the arguments whose types do not match the signature, "" if all do."""
    shape, kinds = inspect.signature(function), get_type_hints(function)
    wrong = {
        name: value
        for name, value in shape.bind(*args, **kwargs).arguments.items()
        if shape.parameters[name].kind is not inspect.Parameter.VAR_POSITIONAL and not _is_of_type(value, kinds[name])
    }
    return "; ".join(
        f"{name} takes {_format_type(shape.parameters[name].annotation)}, not {_preview(value)}"
        for name, value in wrong.items()
    )


def _is_of_type(value: Any, kind: Any) -> bool:
    """Return whether a value has a type; for lists and tuples also whether all elements do."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_is_of_type(value, part) for part in parts)
    if origin in (Sequence, Iterable):
        if isinstance(value, list | tuple):
            return all(_is_of_type(entry, parts[0]) for entry in cast("Sequence[Any]", value))
        return isinstance(value, Iterable) and not isinstance(value, str | bytes)
    known = str if origin is Literal else origin or kind
    if known is Any or not isinstance(known, type):
        return True
    return isinstance(value, Row if issubclass(known, Row) else known)


def _preview(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"


def _find_misfit(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Describe why arguments do not match the signature, "" if they do."""
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        unknown = [name for name in kwargs if name not in inspect.signature(function).parameters]
        if {"id", "created_at"} <= kwargs.keys():
            few = "a row holds more than it takes: name the fields that change, as tags=row.tags"
            return f"{sdk_name(function)}: {few}. {describe_usage(function)}"
        wrong = "; ".join(f"it has no parameter {name!r}{_suggestion(function, name)}" for name in unknown)
        return f"{sdk_name(function)}: {wrong or error}. {describe_usage(function)}"
    return ""


def describe_usage(function: Callable[..., Any]) -> str:
    """Return the signature of a function in a sentence."""
    return f"It is called as {format_signature(function)}"


_SYNONYMS = {
    "due": "deadline", "due_date": "deadline", "date": "deadline", "when": "at", "name": "title", "title": "name",
    "body": "content", "text": "content", "content": "text", "data": "text", "description": "notes", "done": "status",
    "completed": "status", "state": "status", "filter": "where", "filters": "where", "order_by": "sort",
    "order": "sort", "fields": "select", "max": "limit", "q": "query", "tag": "tags", "kind": "kinds",
    "type": "kinds", "filename": "name", "path": "name", "due_before": "due_until", "due_after": "due_from",
    "until": "due_until", "since": "due_from", "task_id": "task", "note_id": "note", "project_id": "project",
    "priority": "important",
}  # fmt: skip
"""Common names of arguments, and their names here."""


def _suggestion(function: Callable[..., Any], name: str) -> str:
    near = _closest_parameter(function, name)
    return f" (did you mean {near!r}?)" if near else ""


def _closest_parameter(function: Callable[..., Any], name: str) -> str:
    known = inspect.signature(function).parameters
    if _SYNONYMS.get(name) in known:
        return _SYNONYMS[name]
    return next(iter(difflib.get_close_matches(name, known, 1, _MIN_SIMILARITY)), "")


def sdk_name(function: Callable[..., Any]) -> str:
    """Return a function's name in scripts: `sdk.tasks.list`, `sdk.search`."""
    package, _, noun = function.__module__.rpartition(".")
    return f"sdk.{function.__name__}" if package == __package__ else f"sdk.{noun}.{function.__name__}"


def format_signature(function: Callable[..., Any]) -> str:
    """Return the signature of a function as text: name, parameters with types and defaults, and result."""
    shape = inspect.signature(function)
    parameters = ", ".join(_format_parameter(parameter) for parameter in shape.parameters.values())
    return f"{sdk_name(function)}({parameters}) -> {_format_type(shape.return_annotation)}"


def _format_parameter(parameter: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = "" if parameter.default is parameter.empty else f" = {_format_default(parameter.default)}"
    return f"{stars}{parameter.name}: {_format_type(parameter.annotation)}{default}"


def _format_default(default: object) -> str:
    if default is UNSET:
        return "..."
    return f'"{repr(default)[1:-1]}"' if isinstance(default, str) else repr(default)


def _format_type(annotation: object) -> str:
    """Return an annotation as text, with type aliases of choices written out."""
    return _ALIAS.sub(_expand_alias, str(annotation).replace("builtins.", "")).replace("'", '"')


def _expand_alias(alias: re.Match[str]) -> str:
    return str(getattr(_types, alias[0])).replace("typing.", "")
