"""Rows of jobs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Row, Update, bindparam, delete, func, insert, inspect, or_, select, update

from panorama.domain.jobs import FINAL_STATES, Job, Requester, State
from panorama.domain.paging import Page, PageRequest
from panorama.errors import ConflictError
from panorama.store.backend import Session
from panorama.store.paging import fetch_page
from panorama.store.tables import jobs

RANKS: Mapping[State, int] = {"running": 2, "queued": 1, **dict.fromkeys(FINAL_STATES, 0)}
"""The sort order of lists: running, queued, ended."""

CANCELLED_BY_RESTORE = "Not continued: the data was restored from a copy."
CATCH_UP = "catch_up"
"""The standing kind; the daemon creates a new job of it when it opens the data."""

_ASKER = tuple(field.name for field in fields(Requester))
_NAMES = tuple(field.name for field in fields(Job) if field.name != "asker")
_COLUMNS = tuple(jobs.c[name] for name in (*_NAMES, *_ASKER))
_LARGE = ("result", "arguments", "checkpoint")
"""Columns that lists do not load because they may be large."""

_BRIEF = tuple(column for column in _COLUMNS if column.name not in _LARGE)


def add(session: Session, job: Job) -> None:
    """Write a new job."""
    asker = {name: getattr(job.asker, name) for name in _ASKER}
    values = {name: getattr(job, name) for name in _NAMES}
    session.connection.execute(insert(jobs), _to_columns(values) | asker | {"rank": RANKS[job.state]})


def save(session: Session, old: Job, new: Job) -> None:
    """Write the differences between two values of a job, unless it was changed or taken over meanwhile.

    Raises:
        ConflictError: Another process changed or took over the job.
    """
    values = {name: getattr(new, name) for name in _NAMES if getattr(new, name) != getattr(old, name)}
    if not values:
        return
    if new.state != old.state:
        values["rank"] = RANKS[new.state]
    if new.has_ended:
        values["is_stopping"] = False  # even if it was cancelled since it was read
    same = {"old_id": old.id, "old_state": old.state, "old_worker": old.worker}
    if session.connection.execute(_update(tuple(values)), _to_columns(values) | same).rowcount != 1:
        raise ConflictError(f"The job {old.id} was taken over by another process.")


@cache
def _update(names: tuple[str, ...]) -> Update:
    """Return the cached statement that writes some columns of a job; all jobs write the same few."""
    same = (jobs.c[name] == bindparam(f"old_{name}") for name in ("id", "state", "worker"))
    return update(jobs).where(*same).values({name: bindparam(name) for name in names})


def find(session: Session, id_: str) -> Job | None:
    """Return one job."""
    row = session.connection.execute(select(*_COLUMNS).where(jobs.c.id == id_)).one_or_none()
    return _to_job(row) if row else None


class RunningPlace(NamedTuple):
    """A running job's place in a pool: its kind, client and worker."""

    kind: str
    client: str
    worker: str


def find_next_queued(
    session: Session, kinds: Collection[str], full: Collection[tuple[str, str]] = (), *, machine: str = ""
) -> Job | None:
    """Return the oldest queued job of some kinds, excluding some pairs of kind and client.

    Args:
        machine: The machine on which it would run; "" if there is only one.
    """
    values = {"kinds": sorted(kinds), "full": sorted(map(_SEPARATOR.join, full)), "machine": machine}
    row = session.connection.execute(_NEXT, values).one_or_none()
    return _to_job(row) if row else None


_SEPARATOR = "\n"
_NEXT = (
    select(*_COLUMNS)
    .where(
        jobs.c.state == "queued",
        jobs.c.kind.in_(bindparam("kinds", expanding=True)),
        (jobs.c.kind + _SEPARATOR + jobs.c.client).not_in(bindparam("full", expanding=True)),
        or_(jobs.c.machine == "", jobs.c.machine == bindparam("machine"), bindparam("machine") == ""),
    )
    .order_by(jobs.c.number)
    .limit(1)
)
_PLACES = select(jobs.c.kind, jobs.c.client, jobs.c.worker).where(jobs.c.state == "running")


def list_places(session: Session) -> list[RunningPlace]:
    """Return the places in use, also in other processes."""
    return [RunningPlace(*row) for row in session.connection.execute(_PLACES)]


def list_running(session: Session) -> list[Job]:
    """Return the running jobs, also of other processes."""
    return [_to_job(row) for row in session.connection.execute(select(*_COLUMNS).where(jobs.c.state == "running"))]


def find_by_kind(session: Session, kind: str) -> Job | None:
    """Return the last job of a kind that has not ended."""
    waits = jobs.c.kind == kind, jobs.c.state.in_(("queued", "running"))
    row = session.connection.execute(select(*_COLUMNS).where(*waits).order_by(jobs.c.number.desc()).limit(1)).first()
    return _to_job(row) if row else None


def list_cancelled(session: Session, ids: Sequence[str]) -> set[str]:
    """Return which of some jobs were cancelled."""
    asked = select(jobs.c.id).where(jobs.c.id.in_(ids), jobs.c.is_stopping.is_(True))
    return set(session.connection.execute(asked).scalars())


def find_by_unit(session: Session, unit: str) -> Job | None:
    """Return the unfinished job that writes a unit."""
    goes_on = jobs.c.state.in_(("running", "queued")), jobs.c.attempts > 0
    row = session.connection.execute(select(*_COLUMNS).where(*goes_on, jobs.c.unit == unit)).first()
    return _to_job(row) if row else None


def count_by_state(session: Session) -> dict[str, int]:
    """Return the numbers of running and queued jobs, without the standing one."""
    where = (jobs.c.state.in_(("running", "queued")), jobs.c.kind != CATCH_UP)
    counted = select(jobs.c.state, func.count()).where(*where).group_by(jobs.c.state)
    return {row[0]: row[1] for row in session.connection.execute(counted)}


def list_unreported(session: Session, since: datetime) -> list[Job]:
    """Return the jobs that ended since a time and were not reported yet."""
    ended = jobs.c.is_told.is_(False), jobs.c.ended_at >= since
    return [
        _to_job(row, _LARGE)
        for row in session.connection.execute(select(*_BRIEF).where(*ended).order_by(jobs.c.number))
    ]


def mark_reported(session: Session, ids: Sequence[str]) -> list[str]:
    """Mark the ends of some jobs as reported to their requesters; return those that were not."""
    unreported = select(jobs.c.id).where(jobs.c.id.in_(ids), jobs.c.is_told.is_(False))
    found = list(session.connection.execute(unreported).scalars())
    session.connection.execute(update(jobs).where(jobs.c.id.in_(found)).values(is_told=True))
    return found


def list_jobs(session: Session, part: PageRequest, *, states: Collection[str], kind: str) -> Page[Job]:
    """Return jobs without arguments and results: running, queued, then ended ones, each the newest first."""
    statement = select(*_BRIEF)
    if states:
        statement = statement.where(jobs.c.state.in_(states))
    if kind:
        statement = statement.where(jobs.c.kind == kind)
    order = [(jobs.c.rank, True), (jobs.c.number, True)]
    return fetch_page(session, statement, order, part, lambda row: _to_job(row, _LARGE))


def delete_ended(session: Session, before: datetime) -> None:
    """Delete jobs that ended before a time."""
    session.connection.execute(delete(jobs).where(jobs.c.ended_at < before))


def cancel_all(session: Session, now: datetime) -> None:
    """Cancel the jobs in a copy of the database, because the original runs them; the standing job is deleted.

    A copy from before jobs existed is left unchanged.
    """
    if not inspect(session.connection).has_table(jobs.name):
        return
    going = jobs.c.state.in_(("queued", "running"))
    session.connection.execute(delete(jobs).where(going, jobs.c.kind == CATCH_UP))
    left: dict[str, Any] = {
        "state": "cancelled",
        "rank": RANKS["cancelled"],
        "ended_at": now,
        "summary": CANCELLED_BY_RESTORE,
        "worker": "",
        "heartbeat": None,
        "is_stopping": False,
        "is_told": True,
    }
    session.connection.execute(update(jobs).where(going).values(left))


def _to_columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Wrap the result in a list, because SQLite converts a JSON column's text that looks like a large number to a
    float.
    """
    return {**values, "result": [values["result"]]} if "result" in values else dict(values)


def _to_job(row: Row[Any], without: Collection[str] = ()) -> Job:
    known = row._mapping  # pyright: ignore[reportPrivateUsage] (SQLAlchemy documents it as public)
    values: dict[str, Any] = {name: known[name] for name in _NAMES if name not in without}
    values.setdefault("arguments", {})
    if "result" in values:
        values["result"] = values["result"][0]
    return Job(**values, asker=Requester(**{name: known[name] for name in _ASKER}))
