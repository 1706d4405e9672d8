"""Keeps Typer from loading Pydantic for values that are what they should be: a third of the start of a command."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from typer import core

_PLAIN_TYPES = (str, int, float, bool)
_BUILDER = "build_runtime_param"
"""The function of Typer 0.29 that makes the coercion of a parameter, given on the command line or not."""


@cache
def defer_coercion() -> None:
    """Let Typer make the coercion of a parameter only for a value that needs it.

    A Typer without that function works as ever.
    """
    build = vars(core).get(_BUILDER)
    if build is not None:
        setattr(core, _BUILDER, partial(_DeferredCoercion, build))


class _DeferredCoercion:
    """Stands for the coercion of one parameter until there is something to coerce."""

    def __init__(self, build: Callable[[Any], Any], descriptor: Any) -> None:
        self._build = build
        self._descriptor = descriptor

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value as the command takes it.

        What comes from the command line is text, so a value of another plain type is a default.
        """
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        annotation = self._descriptor.annotation
        if annotation in _PLAIN_TYPES and type(value) is annotation and self._descriptor.parameter_info.parser is None:
            return value
        return self._build(self._descriptor).coerce(value, param=param, ctx=ctx)
