"""Agreements: what a person's yes to a question is worth. Each counts once, for the call it was asked about."""

import json
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from panorama.domain.changes import digest
from panorama.store.backend import Session
from panorama.store.log import idempotency

NONCE_BYTES = 8
CONFIRM_HINT = "Ask the person; if they agree, repeat the call with confirm=true."
SCRIPT_CONFIRM_HINT = (
    "A script cannot confirm for the person. Write confirm=True in its text: run_code then asks them before it runs. "
    "A dry run needs no question."
)


def call_digest(name: str, sent: Mapping[str, Any]) -> str:
    """Return a digest of a call and its arguments."""
    return digest(name + json.dumps(sent, sort_keys=True, default=str, ensure_ascii=True))


def create_agreement(expected: str) -> str:
    """Return a new agreement to a call with a question, given by their digest."""
    return f"{expected}.{secrets.token_hex(NONCE_BYTES)}"


def use_agreement(session: Session, agreed: str, expected: str, now: datetime) -> bool:
    """Tell whether an agreement is for what is expected, and was never used; from now on it was."""
    key = f"agreement {agreed}"
    if agreed.partition(".")[0] != expected or idempotency.find_answer(session, key, now):
        return False
    idempotency.save_answer(session, key, "", {}, now)
    return True
