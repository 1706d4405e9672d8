"""Endpoints: functions of hand-written sources, described by their signature and docstring.

The first parameter of an endpoint is the session of a call; the others are what scripts pass.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from panorama.domain.sources.functions import Reach, SourceFile, SourceFunction
from panorama.domain.text.docstrings import parse_docstring
from panorama.sources.rest.paging import Page

_SHOWN_RESULTS: Mapping[Any, Any] = {Page: list[dict[str, Any]], SourceFile: str}
"""What scripts get: the rows of all pages, and the id of a stored file."""

_SIMPLE_TYPES: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A function of a source, with what policies need to know of it."""

    run: Callable[..., Any]
    reach: Reach
    reads_only: bool
    destructive: bool = False
    takes_address: bool = False

    @property
    def name(self) -> str:
        """The name that scripts use."""
        return self.run.__name__

    def describe(self) -> SourceFunction:
        """Return the function for scripts and policies, built from signature and docstring.

        Scripts pass arguments by name. They get all pages of a list, so they never see its cursor.
        """
        signature = inspect.signature(self.run)
        hints = get_type_hints(self.run)
        text, descriptions = parse_docstring(inspect.getdoc(self.run) or "")
        parameters = [
            parameter.replace(kind=parameter.KEYWORD_ONLY)
            for parameter in list(signature.parameters.values())[1:]
            if parameter.name != "cursor"
        ]
        properties = {
            parameter.name: _build_property(hints[parameter.name], parameter.default)
            | _build_description(descriptions.get(parameter.name))
            for parameter in parameters
        }
        required = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
        returns = _SHOWN_RESULTS.get(hints.get("return"), hints.get("return", Any))
        shown = signature.replace(parameters=parameters, return_annotation=returns)
        return SourceFunction(
            name=self.name,
            own_name=self.name,
            description=text,
            parameters={
                "type": "object", "properties": properties, "required": required, "additionalProperties": False,
            },
            signature=str(shown).replace("typing.", ""),
            reach=self.reach,
            reads_only=self.reads_only,
            destructive=self.destructive,
            repeatable=self.reads_only,
            takes_address=self.takes_address,
        )  # fmt: skip


def read_endpoint(run: Callable[..., Any]) -> Endpoint:
    """Declare a function that reads within the user's account."""
    return Endpoint(run=run, reach="own", reads_only=True)


def write_endpoint(
    reach: Reach, *, destructive: bool = False, takes_address: bool = False
) -> Callable[[Callable[..., Any]], Endpoint]:
    """Declare a function that changes something.

    Args:
        reach: Who can see what is sent: `others` for anything that a team or the public reads.
        destructive: It deletes or replaces.
        takes_address: An argument decides where data is sent.
    """

    def declare(run: Callable[..., Any]) -> Endpoint:
        return Endpoint(run=run, reach=reach, reads_only=False, destructive=destructive, takes_address=takes_address)

    return declare


class EndpointIndex:
    """The endpoints of a source by name, described once."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._endpoints = {endpoint.name: endpoint for endpoint in endpoints}

    @cached_property
    def functions(self) -> Sequence[SourceFunction]:
        """The functions for scripts and policies; always the same list."""
        return [endpoint.describe() for endpoint in self._endpoints.values()]

    def run(self, name: str, session: object, arguments: Mapping[str, Any]) -> Any:
        """Run an endpoint."""
        return self._endpoints[name].run(session, **arguments)


def _build_property(annotation: Any, default: Any) -> dict[str, Any]:
    schema = _build_schema(annotation)
    return schema if default is inspect.Parameter.empty or default is None else {**schema, "default": default}


def _build_description(text: str | None) -> dict[str, Any]:
    return {"description": text} if text else {}


def _build_schema(annotation: Any) -> dict[str, Any]:
    """Return the JSON schema of an annotation; {} for what any value fits."""
    if annotation in _SIMPLE_TYPES:
        return {"type": _SIMPLE_TYPES[annotation]}
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return {"type": "string", "enum": list(parts)}
    if origin is UnionType:
        return {"anyOf": [_build_schema(part) for part in parts]}
    if annotation is type(None):
        return {"type": "null"}
    if origin is list:
        return {"type": "array", "items": _build_schema(parts[0])}
    if origin is dict:
        return {"type": "object"}
    return {}
