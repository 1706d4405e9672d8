"""Asking: puts an operation's question to the person at the terminal, if one is there."""

from collections.abc import Mapping
from typing import Any

from panorama.cli.client import Answer, Client
from panorama.cli.console import console
from panorama.errors import ConfirmationError, DeclinedError


def call_confirmed(panorama: Client, name: str, arguments: Mapping[str, Any], *, yes: bool) -> Answer:
    """Call an operation that may have a question; `yes` answers it beforehand.

    Raises:
        DeclinedError: The person did not say yes.
        PanoramaError: It was refused, or there is nobody to ask.
    """
    try:
        return panorama.call(name, {**arguments, "confirm": yes or None})
    except ConfirmationError as error:
        if not console.is_interactive():
            raise
        question, agreement = error.question or error.message, error.agreement
    if not console.confirm(question):
        raise DeclinedError("Nothing was changed.")
    return panorama.call(name, arguments, agreed=agreement)
