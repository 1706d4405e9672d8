"""Distinguishes fields that are left out from fields that are cleared with None."""

from collections.abc import Mapping
from typing import Any

from panorama.sdk.errors import InvalidInputError

UNSET: Any = ...
"""The default of a field in an update: it does not change. Signatures show it as `= ...`, like stubs."""

TEXTS = frozenset({"content"})
"""Texts that only "" clears: None may come from a failed look-up, and would delete a whole note."""


def drop_unset(operation: str, empty: Mapping[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments without those left out; None becomes the value that clears the field.

    Args:
        operation: The name of the operation, for the error.
        empty: The value to send for None, by field; None if the field is not sent then.
        arguments: All arguments by name.

    Raises:
        InvalidInputError: A field that cannot be empty is None.
    """
    given_values = {name: value for name, value in arguments.items() if value is not UNSET}
    for name, value in given_values.items():
        if value is None:
            if name not in empty:
                raise _none_error(operation, name)
            given_values[name] = empty[name]
    return given_values


def _none_error(operation: str, name: str) -> InvalidInputError:
    clear = f'Write {name}="" to empty it, or leave' if name in TEXTS else "Leave"
    return InvalidInputError(
        f"sdk.{operation}: {name} is None, which is not allowed.", hint=f"{clear} it out to keep what it is."
    )
