"""Asking: puts an operation's question to the person at the terminal, if one is there."""

from collections.abc import Mapping
from typing import Any

from panorama.cli import show
from panorama.cli.client import Answer, Client
from panorama.errors import ConfirmationError, DeclinedError


def agreed(panorama: Client, name: str, arguments: Mapping[str, Any], *, yes: bool) -> Answer:
    """Call an operation that may have a question; `yes` answers it beforehand.

    Raises:
        DeclinedError: The person did not say yes.
        PanoramaError: It was refused, or there is nobody to ask.
    """
    try:
        return panorama.call(name, {**arguments, "confirm": yes or None})
    except ConfirmationError as error:
        if not show.person_is_there():
            raise
        question, agreement = error.question or error.message, error.agreement
    if not show.asked(question):
        raise DeclinedError("Nothing was changed.")
    return panorama.call(name, arguments, agreed=agreement)
