"""Events of a period."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import and_, or_, select

from panorama.domain.items.events import Event
from panorama.store.backend import Session
from panorama.store.column_types import format_deadline
from panorama.store.items import rows
from panorama.store.items.listing import list_conditions
from panorama.store.items.projects import has_tag
from panorama.store.tables import events

_DAY = timedelta(days=1)
"""Days are compared with moments as texts, so the period is widened by the largest difference of zones."""


def iter_candidates(
    session: Session,
    since: datetime,
    until: datetime,
    *,
    attendee: tuple[str, str] | None = None,
    calendar: str | None = None,
) -> Iterator[Event]:
    """Yield the living events that may have an occurrence in a period: those near it, and those that recur.

    Args:
        attendee: The id of a person, "" if the attendee is none, and the name as it is stored.
    """
    first, last = format_deadline(since - _DAY)[:10], format_deadline(until + _DAY)
    near = and_(events.c.starts_at < last, or_(events.c.recurrence != "", events.c.ends_at >= first))
    where = [*list_conditions(events, calendar=calendar), near]
    if attendee:
        person, name = attendee
        where.append(has_tag(events.c.people, person) if person else has_tag(events.c.attendees, name))
    for row in session.connection.execute(select(*rows.columns("event")).where(*where)):
        yield rows.to_item("event", row)
