"""Keeps Typer from loading Pydantic for valid values, which takes a third of a command's start."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from typer import core

_PLAIN_TYPES = (str, int, float, bool)
_BUILDER = "build_runtime_param"
"""The function of Typer 0.29 that creates the coercion of a parameter."""


@cache
def defer_coercion() -> None:
    """Make Typer create the coercion of a parameter only for values that need it.

    Other versions of Typer work unchanged.
    """
    build = vars(core).get(_BUILDER)
    if build is not None:
        setattr(core, _BUILDER, partial(_DeferredCoercion, build))


class _DeferredCoercion:
    """A lazy coercion of one parameter."""

    def __init__(self, build: Callable[[Any], Any], descriptor: Any) -> None:
        self._build = build
        self._descriptor = descriptor

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value in the command's type.

        Values from the command line are text, so a value of another plain type is a default.
        """
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        annotation = self._descriptor.annotation
        if annotation in _PLAIN_TYPES and type(value) is annotation and self._descriptor.parameter_info.parser is None:
            return value
        return self._build(self._descriptor).coerce(value, param=param, ctx=ctx)
