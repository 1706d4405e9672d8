"""Withdraws what the user of another data directory approved, in a copy of its database."""

from sqlalchemy import ColumnElement, Table, delete, func, inspect, select, update

from panorama.domain.withdrawal import Withdrawn
from panorama.store.backend import Session
from panorama.store.log.library import APPROVED, WRITTEN
from panorama.store.tables import idempotency, reviews, schedules, scripts, source_functions, source_grants


def withdraw_approvals(session: Session) -> Withdrawn:
    """Pause all schedules, and withdraw all reviews of scripts and all grants for sources.

    Approved texts stay as versions of their scripts. A copy of an older schema may lack some of the tables.
    """
    tables = set(inspect(session.connection).get_table_names())
    is_active = schedules.c.paused.is_(False)
    is_approved = scripts.c.state.in_(("reviewed", "promoted"))
    paused = _count(session, schedules, is_active) if schedules.name in tables else 0
    unreviewed = _count(session, scripts, is_approved) if scripts.name in tables else 0
    if paused:
        session.connection.execute(update(schedules).where(is_active).values(paused=True, next_at=None))
    if reviews.name in tables:
        session.connection.execute(update(reviews).where(reviews.c.verdict == APPROVED).values(verdict=WRITTEN))
    for table in (scripts, source_grants, source_functions):
        if table.name in tables:
            session.connection.execute(delete(table))
    return Withdrawn(paused, unreviewed)


def delete_answers(session: Session) -> None:
    """Delete the answers of idempotency keys: they belong to calls of the original's clients."""
    if inspect(session.connection).has_table(idempotency.name):
        session.connection.execute(delete(idempotency))


def _count(session: Session, table: Table, condition: ColumnElement[bool]) -> int:
    return session.connection.execute(select(func.count()).select_from(table).where(condition)).scalar_one()
