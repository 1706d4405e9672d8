"""Agreements: the user's consent to a question. Each is valid once, for the call of the question."""

import json
import re
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from panorama.calls.call import Call
from panorama.calls.terminal_commands import format_terminal_command
from panorama.domain.changes import CLI_ACTOR, SCRIPT_ACTOR, digest
from panorama.errors import ConfirmationError
from panorama.operation import Operation
from panorama.store.backend import Session
from panorama.store.log import idempotency

NONCE_BYTES = 8
ANSWER_SECONDS = 300
"""How long a question waits for its answer, and an agreement is valid."""

TERMINAL_HINT = "Run it in a terminal, without a pipe: there you are asked."
_CONFIRM_HINT = "Ask the user; if they agree, repeat the call with confirm=true."
SCRIPT_CONFIRM_HINT = (
    "A script cannot confirm for the user. Write confirm=True in its text: run_code then asks them before it runs. "
    "A dry run needs no question."
)


_AGREEMENT = re.compile(r"([0-9a-f]+)\.([0-9]{1,12})\.[0-9a-f]+")


def _format_confirm_hint(command: str) -> str:
    """Return the hint for clients that cannot ask the user; with a terminal command, if any."""
    return f"{_CONFIRM_HINT} They can also run it in a terminal: `{command}`." if command else _CONFIRM_HINT


def call_digest(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a digest of a call and its arguments."""
    return digest(name + json.dumps(arguments, sort_keys=True, default=str, ensure_ascii=True))


def create_agreement(expected: str, now: datetime) -> str:
    """Return a new agreement to a call and its question, given their digest."""
    return f"{expected}.{int(now.timestamp())}.{secrets.token_hex(NONCE_BYTES)}"


def use_agreement(session: Session, agreed: str, expected: str, now: datetime) -> bool:
    """Return whether an agreement has the expected digest, is still valid and unused; marks it as used."""
    key, match = f"agreement {agreed}", _AGREEMENT.fullmatch(agreed)
    if match is None or match[1] != expected or abs(now.timestamp() - int(match[2])) > ANSWER_SECONDS:
        return False
    if idempotency.find_answer(session, key, now):
        return False
    idempotency.save_answer(session, key, "", {}, now)
    return True


def create_confirmation_error(
    call: Call, operation: Operation, values: Mapping[str, Any], question: str, agreement: str, approval: str
) -> ConfirmationError:
    """Return the error that asks the user; `approval` is the hint if only they can answer, "" if a model can."""
    nothing = "This call changed nothing." if call.is_for_script else "Nothing was changed yet."
    gap = "\n" if "\n" in question else " "
    is_terminal = call.conversation.actor == CLI_ACTOR
    command = "" if is_terminal else format_terminal_command(operation.name, values)
    approval = TERMINAL_HINT if approval and is_terminal else approval
    person_hint = approval or operation.person.format(**values) or _format_confirm_hint(command)
    hint = SCRIPT_CONFIRM_HINT if call.conversation.actor == SCRIPT_ACTOR else person_hint
    text = f"{question}{gap}{nothing}"
    return ConfirmationError(text, hint=hint, question=question, agreement=agreement, command=command)
