"""Rows of script runs, and the state that scripts store between runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, literal_column, select

from panorama.domain.paging import Page, PageRequest
from panorama.store.backend import Session
from panorama.store.paging import fetch_page
from panorama.store.tables import runs, script_states

OUTSIDE_CALLS = "outside"
"""The option of a run that counts, by name, its calls of sources that did more than read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a script; `status` is running, succeeded, failed or cancelled.

    `changes` counts created, updated and deleted items; `result` is the beginning of the result, as JSON.
    `script` is its name in the library, "" if it has none. `worker` is the process that runs or ran it.
    """

    id: str
    at: datetime
    client: str
    conversation: str
    status: str
    source: str
    inputs: Mapping[str, Any]
    options: Mapping[str, Any]
    isolation: str = ""
    result: str = ""
    output: str = ""
    error: Mapping[str, Any] = field(default_factory=dict[str, Any])
    changes: Mapping[str, int] = field(default_factory=dict[str, int])
    calls: int = 0
    ms: float = 0.0
    peak_bytes: int = 0
    script: str = ""
    worker: str = ""


_NAMES = tuple(field.name for field in fields(Run))
_COLUMNS = tuple(runs.c[name] for name in _NAMES)


def save(session: Session, entries: Sequence[Run]) -> None:
    """Insert or replace runs; of two entries for one run, the later one counts."""
    latest = {entry.id: entry for entry in entries}
    session.connection.execute(delete(runs).where(runs.c.id.in_(latest)))
    session.connection.execute(
        insert(runs), [{name: getattr(entry, name) for name in _NAMES} for entry in latest.values()]
    )


def find(session: Session, run: str) -> Run | None:
    """Return one run."""
    row = session.connection.execute(select(*_COLUMNS).where(runs.c.id == run)).one_or_none()
    return Run(**dict(zip(_NAMES, row, strict=True))) if row else None


def list_running(session: Session) -> list[Run]:
    """Return the unfinished runs, also of other processes."""
    rows = session.connection.execute(select(*_COLUMNS).where(_RUNNING))
    return [Run(**dict(zip(_NAMES, row, strict=True))) for row in rows]


_RUNNING = runs.c.status == literal_column("'running'")
"""The status is a literal in the statement, because only then does SQLite use the partial index."""


def list_runs(session: Session, part: PageRequest, *, failed: bool = False) -> Page[Run]:
    """Return runs, the newest first; optionally only failed ones."""
    statement = select(*_COLUMNS)
    if failed:
        statement = statement.where(runs.c.status == "failed")
    order = [(runs.c.at, True), (runs.c.id, True)]
    return fetch_page(
        session, statement, order, part, lambda row: Run(**dict(zip(_NAMES, row, strict=False))), count=False
    )


def delete_before(session: Session, before: datetime) -> None:
    """Delete runs and states older than a time."""
    session.connection.execute(delete(runs).where(runs.c.at < before))
    session.connection.execute(delete(script_states).where(script_states.c.at < before))


def last_isolation(session: Session) -> str:
    """Return the isolation of the last run, "" if there is none."""
    last = select(runs.c.isolation).where(runs.c.isolation != "").order_by(runs.c.number.desc()).limit(1)
    return session.connection.execute(last).scalar_one_or_none() or ""


def get_state(session: Session, owner: str) -> dict[str, Any]:
    """Return the stored script state of an owner, by name."""
    rows = select(script_states.c.name, script_states.c.value).where(script_states.c.owner == owner)
    return {row[0]: row[1][0] for row in session.connection.execute(rows)}


def save_state(session: Session, owner: str, put_: Mapping[str, Any], removed: Sequence[str], now: datetime) -> None:
    """Store some names of a state and delete others; the remaining names are unchanged."""
    stale = [*put_, *removed]
    session.connection.execute(
        delete(script_states).where(script_states.c.owner == owner, script_states.c.name.in_(stale))
    )
    if put_:
        # In a list, because SQLite converts a JSON column's text that looks like a large number to a float.
        rows = [{"owner": owner, "name": name, "at": now, "value": [value]} for name, value in put_.items()]
        session.connection.execute(insert(script_states), rows)
