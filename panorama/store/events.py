"""The calendar: events of a period with their recurrences, and the meetings of its days."""

from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import and_, or_, select

from panorama.domain.items.events import Event, Occurrence
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.paging import PageRequest
from panorama.store import sessions
from panorama.store.backend import Session
from panorama.store.column_types import format_deadline
from panorama.store.items import rows
from panorama.store.items.listing import list_conditions
from panorama.store.sessions import AttendeeFilter
from panorama.store.tables import events

MAX_MEETINGS = 2000
_MEETINGS = PageRequest(limit=MAX_MEETINGS, counts=False)
_DAY = timedelta(days=1)
"""Days are compared with moments as texts, so the period is widened by the largest difference of zones."""


def list_occurrences(
    session: Session,
    since: datetime,
    until: datetime,
    zone: ZoneInfo,
    *,
    attendee: AttendeeFilter | None = None,
    calendar: str | None = None,
) -> list[Occurrence]:
    """Return the occurrences of events and meetings in a period, as `ask_occurrences` asks for them."""
    return ask_occurrences(session, since, until, zone, attendee=attendee, calendar=calendar)()


def ask_occurrences(
    session: Session,
    since: datetime,
    until: datetime,
    zone: ZoneInfo,
    *,
    attendee: AttendeeFilter | None = None,
    calendar: str | None = None,
) -> Callable[[], list[Occurrence]]:
    """Ask for the occurrences of events in a period, and its meetings, in order; without a calendar's name all."""
    first, last = format_deadline(since - _DAY)[:10], format_deadline(until + _DAY)
    near = and_(events.c.starts_at < last, or_(events.c.recurrence != "", events.c.ends_at >= first))
    where = [*list_conditions(events, calendar=calendar), near]
    if attendee:
        where.append(attendee.build_condition(events))
    candidates = session.ask(select(*rows.columns("event")).where(*where))
    meetings = None
    if calendar is None:
        meetings = sessions.ask_sessions(
            session, _MEETINGS, kind="meeting", attendee=attendee, since=since, until=until
        )

    def read() -> list[Occurrence]:
        living: list[Event] = [rows.to_item("event", tuple(row)) for row in candidates()]
        found = [
            Occurrence.of(event, start, end)
            for event in living
            for start, end in event.iter_occurrences(since, until, zone)
        ]
        found += map(_to_occurrence, meetings().items if meetings else ())
        return sorted(found, key=lambda entry: (entry.begin(zone), not entry.all_day, entry.title, entry.id))

    return read


def _to_occurrence(meeting: LoggedSession) -> Occurrence:
    return Occurrence(
        id=meeting.id, kind="session", title=meeting.title, starts_at=meeting.started_at, ends_at=meeting.ended_at,
        location=meeting.location, attendees=meeting.attendees, people=meeting.people,
    )  # fmt: skip
