"""Rows of the call log."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import delete, select

from panorama.domain.paging import Page, PageRequest
from panorama.store.backend import Session
from panorama.store.paging import fetch_page
from panorama.store.tables import calls


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLogEntry:
    """One logged call.

    `tokens` is a quarter of the `chars` sent to a model, 0 inside a script. `changes` counts the change lines written,
    `position` is the number within a run, from 1.
    """

    id: str
    unit: str
    at: datetime
    actor: str
    client: str
    conversation: str
    name: str
    arguments: dict[str, Any]
    ms: float
    success: bool
    code: str = ""
    chars: int = 0
    tokens: int = 0
    changes: int = 0
    position: int = 0


_NAMES = tuple(field.name for field in fields(CallLogEntry))
_values = attrgetter(*_NAMES)


def add(session: Session, entries: Sequence[CallLogEntry]) -> None:
    """Write entries."""
    session.dialect.insert_rows(session.connection, calls, _NAMES, map(_values, entries), is_awaited=False)


def delete_before(session: Session, before: datetime) -> None:
    """Delete entries older than a time."""
    session.connection.execute(delete(calls).where(calls.c.at < before))


def list_by_run(session: Session, run: str, part: PageRequest) -> Page[CallLogEntry]:
    """Return the calls of a run in starting order."""
    statement = select(*(calls.c[name] for name in _NAMES)).where(calls.c.unit == run, calls.c.position > 0)
    order = [(calls.c.position, False), (calls.c.number, False)]
    return fetch_page(
        session, statement, order, part, lambda row: CallLogEntry(**dict(zip(_NAMES, row, strict=False))), count=True
    )


def list_calls(
    session: Session, part: PageRequest, *, failed: bool = False, slow_first: bool = False, source: str = ""
) -> Page[CallLogEntry]:
    """Return entries, the newest or the slowest first; optionally only failed ones, or those of one source."""
    statement = select(*(calls.c[name] for name in _NAMES))
    if failed:
        statement = statement.where(calls.c.success.is_(False))
    if source:
        statement = statement.where(calls.c.name.startswith(f"{source}.", autoescape=True), calls.c.position > 0)
    order = [(calls.c.ms, True), (calls.c.number, True)] if slow_first else [(calls.c.number, True)]
    return fetch_page(
        session, statement, order, part, lambda row: CallLogEntry(**dict(zip(_NAMES, row, strict=False))), count=False
    )
