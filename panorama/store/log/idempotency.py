"""Idempotency keys: the first answer to each write."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, insert, select

from panorama.store.backend import Session
from panorama.store.tables import idempotency

RETENTION = timedelta(days=1)
"""How long a repeated key returns the first answer."""


def find_answer(session: Session, key: str, now: datetime) -> tuple[str, dict[str, Any]] | None:
    """Return the arguments' digest and the answer of a key, if it is not older than a day."""
    statement = select(idempotency.c.digest, idempotency.c.answer).where(
        idempotency.c.key == key, idempotency.c.at > now - RETENTION
    )
    row = session.connection.execute(statement).one_or_none()
    return (row[0], row[1]) if row else None


def save_answer(session: Session, key: str, digest: str, answer: dict[str, Any], now: datetime) -> None:
    """Store an answer under a key; answers older than a day are deleted."""
    session.send(delete(idempotency).where((idempotency.c.at <= now - RETENTION) | (idempotency.c.key == key)))
    session.spend(answer)
    session.send(insert(idempotency).inline(), {"key": key, "digest": digest, "at": now, "answer": answer})
