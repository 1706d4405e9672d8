"""What was given: the only place that tells a field that is left out from one that is cleared with None."""

from collections.abc import Mapping
from typing import Any

from panorama.sdk.errors import InvalidInputError

UNSET: Any = ...
"""The default of a field in an update: it stays as it is. Signatures show it as stubs do, `= ...`."""

TEXTS = frozenset({"content"})
"""Texts that only "" empties: None is what a look-up that failed gives, and would take a whole note away."""


def drop_unset(operation: str, empty: Mapping[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments without what is kept; None becomes what clears the field.

    Args:
        operation: What is called, for the error.
        empty: What is sent for None, by the names of what may be None; None for what is not sent then.
        arguments: All of them, by name.

    Raises:
        InvalidInputError: None stands for a field that cannot be empty.
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
        f"sdk.{operation}: {name} is None, which is no value of it.", hint=f"{clear} it out to keep what it is."
    )
