"""Rows of schedules."""

from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update

from panorama.domain.items.item import normalize_name
from panorama.domain.paging import Page, PageRequest
from panorama.domain.schedules import Schedule
from panorama.store.backend import Session
from panorama.store.paging import fetch_page, nulls_last
from panorama.store.tables import schedules

_NAMES = tuple(field.name for field in fields(Schedule))
_COLUMNS = tuple(schedules.c[name] for name in _NAMES)


def add(session: Session, schedule: Schedule, machine: str = "") -> None:
    """Store a new schedule with an unused name.

    Args:
        machine: The machine on which it was added; "" if there is only one.
    """
    session.connection.execute(insert(schedules).values(_to_row(schedule) | {"machine": machine}))


def get_machine(session: Session, id_: str) -> str:
    """Return the machine on which a schedule was added, "" if there was only one."""
    return session.connection.execute(select(schedules.c.machine).where(schedules.c.id == id_)).scalar_one()


def save(session: Session, schedule: Schedule) -> None:
    """Store the new value of a schedule."""
    session.connection.execute(update(schedules).where(schedules.c.id == schedule.id).values(_to_row(schedule)))


def record_problem(session: Session, job: str, problem: str) -> None:
    """Store the problem of a schedule's last job."""
    session.connection.execute(update(schedules).where(schedules.c.last_job == job).values(problem=problem))


def remove(session: Session, id_: str) -> None:
    """Delete a schedule."""
    session.connection.execute(delete(schedules).where(schedules.c.id == id_))


def find(session: Session, reference: str) -> Schedule | None:
    """Return the schedule with an id or a name."""
    for where in (schedules.c.id == reference.strip(), schedules.c.key == normalize_name(reference)):
        if row := session.connection.execute(select(*_COLUMNS).where(where)).one_or_none():
            return _to_schedule(row)
    return None


def get_names(session: Session) -> dict[str, str]:
    """Return the names of schedules by id."""
    rows = session.connection.execute(select(schedules.c.id, schedules.c.name).order_by(schedules.c.key))
    return {row[0]: row[1] for row in rows}


def list_schedules(session: Session, part: PageRequest, *, paused: bool | None = None) -> Page[Schedule]:
    """Return schedules, the next to run first."""
    statement = select(*_COLUMNS)
    if paused is not None:
        statement = statement.where(schedules.c.paused == paused)
    order = [*nulls_last(schedules.c.next_at, stand_in=schedules.c.created_at), (schedules.c.id, False)]
    return fetch_page(session, statement, order, part, _to_schedule)


def list_due(session: Session, now: datetime) -> list[Schedule]:
    """Return the due schedules, the oldest first."""
    statement = select(*_COLUMNS).where(schedules.c.next_at <= now).order_by(schedules.c.next_at, schedules.c.id)
    return [_to_schedule(row) for row in session.connection.execute(statement)]


def list_ahead_of_clock(session: Session, now: datetime) -> list[Schedule]:
    """Return the schedules whose last run is in the future, because the clock was set back."""
    statement = select(*_COLUMNS).where(schedules.c.last_at > now)
    return [_to_schedule(row) for row in session.connection.execute(statement)]


def next_due_time(session: Session) -> datetime | None:
    """Return when the next schedule is due."""
    return session.connection.execute(select(func.min(schedules.c.next_at))).scalar_one()


def _to_row(schedule: Schedule) -> dict[str, Any]:
    return {name: getattr(schedule, name) for name in _NAMES} | {"key": normalize_name(schedule.name)}


def _to_schedule(row: Row[Any]) -> Schedule:
    return Schedule(**dict(zip(_NAMES, row, strict=False)))
