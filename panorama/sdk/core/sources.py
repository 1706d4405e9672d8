"""Functions of sources, and calls that may fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from panorama.sdk.core import wire
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Result
from panorama.sdk.errors import SdkError


def source_function(source: str, name: str) -> Callable[..., Any]:
    """Return a function that calls one of a source; its arguments are given by their names."""

    def call(*args: Any, **arguments: Any) -> Any:
        if args:
            raise TypeError(
                f"sdk.{source}.{name} takes its arguments by name; search_sdk({f'{source}.{name}'!r}) shows them."
            )
        return wire.call("sources.call", source=source, function=name, arguments=arguments)

    return call


@explain_misuse
def attempt(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Result:
    """Call a function, and return its value or its error instead of raising it.

    Args:
        function: Any function of `sdk`, such as sdk.notes.get, or one of your own.
        args: Its arguments.
        kwargs: Its arguments by name.

    Returns:
        `ok`, the `value` if it is ok, else the text of the `error`.

    Example:
        tried = sdk.parallel_map(lambda name: sdk.attempt(sdk.notes.get, name), ["Kitchen overview", "nowhere"])
        print([result.value.title if result.ok else result.error for result in tried])
    """
    try:
        return Result({"ok": True, "value": function(*args, **kwargs), "error": ""})
    except SdkError as error:
        return Result({"ok": False, "value": None, "error": str(error)})
