"""Runs saved scripts from a script: `sdk.scripts.plan_day(day="today")` runs `plan_day`.

The names are those of the library, so they are looked up when they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from panorama.sdk.core import wire
from panorama.sdk.core.signatures import explain_misuse

__all__ = ("call",)


@explain_misuse
def call(script: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """Run a script of the library inside this one, and return its result.

    Its changes belong to this run. `sdk.scripts.plan_day(day="today")` is the same as
    `sdk.scripts.call("plan_day", {"day": "today"})`.

    Args:
        script: Its name.
        arguments: Its arguments by name.

    Returns:
        What the script returns.

    Raises:
        NotFoundError: There is no such script.
        InvalidInputError: It does not take these arguments.
        ConflictError: Scripts nest too deeply, this one runs already, or it may not be run.
        SdkError: It failed.

    Example:
        try:
            print(sdk.scripts.call("plan_day", {"day": "tomorrow"}))
        except sdk.NotFoundError as error:
            print(error.hint)
    """
    return wire.call("scripts.call", script=script, arguments=arguments)


def script_function(name: str) -> Callable[..., Any]:
    """Return a function that runs the script of a name; its arguments are given by their names."""

    def run(*args: Any, **arguments: Any) -> Any:
        if args:
            raise TypeError(f"sdk.scripts.{name} takes its arguments by name, as project={args[0]!r}.")
        return call(name, arguments)

    return run
