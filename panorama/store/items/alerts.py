"""Rows of alerts (fired reminders) and alarms (when each reminder fires next)."""

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, delete, func, insert, or_, select, update

from panorama.domain.changes import Origin
from panorama.domain.items.reminders import TIMING_FIELDS, AlarmState, Alert, Reminder
from panorama.domain.paging import Page, PageRequest
from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.paging import fetch_page
from panorama.store.tables import alarms, alerts, changes, reminders

_NAMES = tuple(field.name for field in fields(Alert))
_COLUMNS = tuple(alerts.c[name] for name in _NAMES)
_OPEN = or_(reminders.c.acknowledged_at.is_(None), alerts.c.rung_at > reminders.c.acknowledged_at)

PendingAlert = tuple[Alert, Reminder]


class Occurrence(NamedTuple):
    """One ring of an alert: its id, and how many there were."""

    alert: str
    rings: int


TICKER = Origin(actor="ticker", client="panorama", conversation="", operation="", call="", unit="")
"""The origin of writes by the clock; they add no change lines."""


def last_change_id(session: Session) -> int:
    """Return the number of the last change, to detect later ones."""
    return session.connection.execute(select(func.max(changes.c.id))).scalar_one() or 0


def list_stale_alarms(session: Session, *, limit: int) -> list[str]:
    """Return the reminders written since their alarm was set."""
    joined = reminders.outerjoin(alarms, alarms.c.reminder == reminders.c.id)
    stale = or_(alarms.c.version.is_(None), alarms.c.version != reminders.c.version)
    statement = select(reminders.c.id).select_from(joined).where(stale).limit(limit)
    return list(session.connection.execute(statement).scalars())


def list_alarms_ahead(session: Session, now: datetime, far: datetime) -> list[str]:
    """Return the reminders whose alarm was set, or whose alert fired, at a future time: the clock was changed."""
    rung = select(alerts.c.reminder).where(alerts.c.rung_at > far)
    set_ = select(alarms.c.reminder).where(alarms.c.since > now)
    return list(session.connection.execute(rung.union(set_)).scalars())


def list_due(session: Session, now: datetime, *, limit: int) -> list[str]:
    """Return the reminders whose alarm is due, the oldest first."""
    statement = select(alarms.c.reminder).where(alarms.c.due_at <= now).order_by(alarms.c.due_at).limit(limit)
    return list(session.connection.execute(statement).scalars())


def next_due_time(session: Session) -> datetime | None:
    """Return when the next reminder fires."""
    return session.connection.execute(select(func.min(alarms.c.due_at))).scalar_one()


def find_alarm_state(session: Session, id_: str, until: datetime) -> AlarmState | None:
    """Return the state that decides when a reminder fires; None if it no longer exists.

    Args:
        until: Alerts of later occurrences are ignored, because a wrong clock fired them.
    """
    row = session.connection.execute(select(*rows.columns("reminder")).where(reminders.c.id == id_)).one_or_none()
    if row is None:
        return None
    reminder: Reminder = rows.to_item("reminder", row)
    known = session.connection.execute(
        select(alarms.c.version, alarms.c.since).where(alarms.c.reminder == id_)
    ).one_or_none()
    if known is None:
        since = _last_timing_change(session, reminder)
    else:
        since = (
            known.since
            if known.version == reminder.version
            else max(known.since, _last_timing_change(session, reminder))
        )
    return AlarmState(reminder=reminder, since=since, last=_find_last_alert(session, id_, until))


def _last_timing_change(session: Session, reminder: Reminder) -> datetime:
    """Return when a reminder's time was last set; renames do not count."""
    written = (
        select(changes.c.at, changes.c.action, changes.c.after)
        .where(changes.c.item == reminder.id)
        .order_by(changes.c.id.desc())
    )
    for at, action, after in session.connection.execute(written):
        if action != "update" or not after.keys().isdisjoint(TIMING_FIELDS):
            return at
    return reminder.created_at


def _find_last_alert(session: Session, reminder: str, until: datetime) -> Alert | None:
    statement = select(*_COLUMNS).where(alerts.c.reminder == reminder, alerts.c.at <= until)
    row = session.connection.execute(statement.order_by(alerts.c.at.desc()).limit(1)).one_or_none()
    return _to_alert(row) if row else None


def set_alarm(session: Session, watch: AlarmState, due_at: datetime | None) -> None:
    """Set the alarm of a reminder."""
    reminder = watch.reminder
    values = {"version": reminder.version, "since": watch.since, "due_at": due_at}
    statement = update(alarms).where(alarms.c.reminder == reminder.id).values(values)
    if not session.connection.execute(statement).rowcount:
        session.connection.execute(insert(alarms).values(reminder=reminder.id, **values))


def clear_alarm(session: Session, reminder: str) -> None:
    """Delete the alarm and alerts of a reminder that no longer exists."""
    session.connection.execute(delete(alarms).where(alarms.c.reminder == reminder))
    session.connection.execute(delete(alerts).where(alerts.c.reminder == reminder))


def upsert(session: Session, alert: Alert) -> None:
    """Store an alert; an alert of the same occurrence is replaced and keeps its id."""
    same = (alerts.c.reminder == alert.reminder, alerts.c.at == alert.at)
    known = session.connection.execute(select(alerts.c.id, alerts.c.rings).where(*same)).one_or_none()
    if known is None:
        session.connection.execute(insert(alerts).values(_to_row(alert)))
        return
    rings = max(alert.rings, known.rings + 1)
    session.connection.execute(
        update(alerts).where(alerts.c.id == known.id).values(_to_row(replace(alert, id=known.id, rings=rings)))
    )


def list_undelivered(session: Session, *, limit: int) -> list[PendingAlert]:
    """Return the undelivered alerts in firing order, without acknowledged ones."""
    statement = _select_pending().where(alerts.c.delivered_at.is_(None))
    return [_to_pending(row) for row in session.connection.execute(statement.order_by(alerts.c.rung_at).limit(limit))]


def list_occurrences(session: Session, *, limit: int | None = None) -> list[Occurrence]:
    """Return the last rings of the unacknowledged alerts, the last fired first."""
    statement = _select_pending().with_only_columns(alerts.c.id, alerts.c.rings)
    last = statement.order_by(alerts.c.rung_at.desc()).limit(limit)
    return [Occurrence(*row) for row in session.connection.execute(last)]


def list_by_id(session: Session, ids: Sequence[str]) -> list[PendingAlert]:
    """Return some unacknowledged alerts in firing order."""
    statement = _select_pending().where(alerts.c.id.in_(ids)).order_by(alerts.c.rung_at)
    return [_to_pending(row) for row in session.connection.execute(statement)]


def record_attempt(session: Session, ids: Sequence[str]) -> None:
    """Count an attempt to deliver alerts."""
    session.connection.execute(update(alerts).where(alerts.c.id.in_(ids)).values(tries=alerts.c.tries + 1))


def mark_delivered(session: Session, ids: Sequence[str], now: datetime) -> None:
    """Mark alerts as delivered."""
    session.connection.execute(update(alerts).where(alerts.c.id.in_(ids)).values(delivered_at=now))


def list_pending(session: Session, part: PageRequest) -> Page[PendingAlert]:
    """Return the alerts that are not acknowledged, the last fired first."""
    order = [(alerts.c.rung_at, True), (alerts.c.id, True)]
    return fetch_page(session, _select_pending(), order, part, _to_pending)


def count_pending(session: Session) -> int:
    """Count the reminders with an unacknowledged alert."""
    counted = _select_pending().with_only_columns(func.count())
    return session.connection.execute(counted).scalar_one()


def is_pending(session: Session, reminder: str) -> bool:
    """Return whether a reminder has an unacknowledged alert."""
    statement = _select_alerts().where(alerts.c.reminder == reminder, _OPEN).limit(1)
    return session.connection.execute(statement).first() is not None


def list_upcoming(session: Session, *, limit: int) -> list[tuple[datetime, str, str]]:
    """Return time, id and title of the reminders that fire next."""
    statement = (
        select(alarms.c.due_at, reminders.c.id, reminders.c.title)
        .join(reminders, reminders.c.id == alarms.c.reminder)
        .where(alarms.c.due_at.is_not(None), reminders.c.deleted_at.is_(None))
        .order_by(alarms.c.due_at, reminders.c.id)
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in session.connection.execute(statement)]


def delete_acknowledged(session: Session, reminder: str, before: datetime) -> None:
    """Delete old acknowledged alerts of a reminder."""
    acknowledged = select(reminders.c.acknowledged_at).where(reminders.c.id == reminder).scalar_subquery()
    old = (alerts.c.reminder == reminder, alerts.c.rung_at < before, alerts.c.rung_at <= acknowledged)
    session.connection.execute(delete(alerts).where(*old))


def _select_alerts() -> Any:
    shown = (*_COLUMNS, *rows.columns("reminder"))
    # Both have an `id` and an `at`.
    labelled = [column.label(f"c{number}") for number, column in enumerate(shown)]
    return select(*labelled).join_from(alerts, reminders, reminders.c.id == alerts.c.reminder)


def _select_pending() -> Any:
    return _select_alerts().where(reminders.c.deleted_at.is_(None), _OPEN)


def _to_pending(row: Row[Any]) -> PendingAlert:
    return _to_alert(row), rows.to_item("reminder", row[len(_NAMES) :])


def _to_row(alert: Alert) -> dict[str, Any]:
    return {name: getattr(alert, name) for name in _NAMES}


def _to_alert(row: Row[Any]) -> Alert:
    return Alert(**dict(zip(_NAMES, row[: len(_NAMES)], strict=True)))
