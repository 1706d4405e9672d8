"""Asks the user an operation's question at the terminal, if there is one."""

from collections.abc import Mapping
from typing import Any

from panorama.cli.client import Answer, Client
from panorama.cli.console import console
from panorama.errors import ConfirmationError, DeclinedError, InvalidInputError

MAX_QUESTIONS = 3
"""How often a command asks again because its effect has changed, or the answer took over five minutes."""


def call_confirmed(panorama: Client, name: str, arguments: Mapping[str, Any], *, yes: bool) -> Answer:
    """Call an operation that may ask; `yes` agrees in advance.

    Raises:
        DeclinedError: The user did not agree.
        PanoramaError: The call failed, or there is no terminal.
    """
    agreed = ""
    for _ in range(MAX_QUESTIONS):
        try:
            confirm = {"confirm": True} if yes else {}
            return panorama.call(name, {**arguments, **confirm}, agreed=agreed)
        except ConfirmationError as error:
            if not console.is_interactive():
                raise
            question, agreed = error.question or error.message, error.agreement
        if not console.confirm(question):
            raise DeclinedError("Nothing was changed.")
    return panorama.call(name, arguments, agreed=agreed)


def require_terminal(command: str, outcome: str) -> None:
    """Require a user at a terminal, because nobody types the input of a pipe.

    Args:
        command: The command, such as `sources add`.
        outcome: What did not happen, such as "nothing was added".

    Raises:
        InvalidInputError: There is no terminal.
    """
    if not console.is_interactive():
        raise InvalidInputError(
            f"panorama {command} needs a user at a terminal; {outcome}.", hint="Run it in a terminal, without a pipe."
        )
