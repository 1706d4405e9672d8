"""Agreements: what a person's yes to a question is worth. Each counts once, for the call it was asked about."""

import json
import re
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from panorama.domain.changes import digest
from panorama.store.backend import Session
from panorama.store.log import idempotency

NONCE_BYTES = 8
ANSWER_SECONDS = 300
"""How long a question waits for its answer, and an agreement counts."""

_CONFIRM_HINT = "Ask the person; if they agree, repeat the call with confirm=true."
SCRIPT_CONFIRM_HINT = (
    "A script cannot confirm for the person. Write confirm=True in its text: run_code then asks them before it runs. "
    "A dry run needs no question."
)


_AGREEMENT = re.compile(r"([0-9a-f]+)\.([0-9]{1,12})\.[0-9a-f]+")


def format_confirm_hint(command: str) -> str:
    """Return what to do where the client cannot ask the person; with the command that they can type, if any."""
    return f"{_CONFIRM_HINT} They can also do it at a terminal: `{command}`." if command else _CONFIRM_HINT


def call_digest(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a digest of a call and its arguments."""
    return digest(name + json.dumps(arguments, sort_keys=True, default=str, ensure_ascii=True))


def create_agreement(expected: str, now: datetime) -> str:
    """Return a new agreement to a call with a question, given by their digest."""
    return f"{expected}.{int(now.timestamp())}.{secrets.token_hex(NONCE_BYTES)}"


def use_agreement(session: Session, agreed: str, expected: str, now: datetime) -> bool:
    """Return whether an agreement is for what is expected, still counts, and was never used; from now on it was."""
    key, match = f"agreement {agreed}", _AGREEMENT.fullmatch(agreed)
    if match is None or match[1] != expected or abs(now.timestamp() - int(match[2])) > ANSWER_SECONDS:
        return False
    if idempotency.find_answer(session, key, now):
        return False
    idempotency.save_answer(session, key, "", {}, now)
    return True
