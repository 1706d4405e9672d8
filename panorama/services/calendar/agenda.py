"""The agenda: what takes place in a period, in order of time."""

from datetime import datetime
from zoneinfo import ZoneInfo

from panorama.domain.items.events import Occurrence
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.paging import PageRequest
from panorama.store import events, sessions
from panorama.store.backend import Session

MAX_OCCURRENCES = 2000
_ALL = PageRequest(limit=MAX_OCCURRENCES, counts=False)


def list_occurrences(
    session: Session,
    since: datetime,
    until: datetime,
    zone: ZoneInfo,
    *,
    attendee: tuple[str, str] | None = None,
    calendar: str | None = None,
) -> list[Occurrence]:
    """Return the occurrences of events in a period, and its meetings, in order; without a calendar's name all."""
    found = [
        Occurrence.of(event, start, end)
        for event in events.iter_candidates(session, since, until, attendee=attendee, calendar=calendar)
        for start, end in event.iter_occurrences(since, until, zone)
    ]
    if calendar is None:
        meetings = sessions.list_sessions(
            session, _ALL, kind="meeting", attendee=attendee, since=since, until=until
        ).items
        found += map(_to_occurrence, meetings)
    return sorted(found, key=lambda entry: (entry.begin(zone), not entry.all_day, entry.title, entry.id))


def _to_occurrence(meeting: LoggedSession) -> Occurrence:
    return Occurrence(
        id=meeting.id, kind="session", title=meeting.title, starts_at=meeting.started_at, ends_at=meeting.ended_at,
        location=meeting.location, attendees=meeting.attendees, people=meeting.people,
    )  # fmt: skip


def format_occurrence(entry: Occurrence, zone: ZoneInfo) -> str:
    """Return an occurrence as one line: «10:00 to 11:00 Weekly (Studio; Ana, Ben)»."""
    return " ".join(filter(None, (_format_times(entry, zone), entry.title, _format_about(entry))))


def _format_times(entry: Occurrence, zone: ZoneInfo) -> str:
    if not isinstance(entry.starts_at, datetime):
        return "all day:"
    begin = f"{entry.starts_at.astimezone(zone):%H:%M}"
    return f"{begin} to {entry.ends_at.astimezone(zone):%H:%M}" if isinstance(entry.ends_at, datetime) else begin


def _format_about(entry: Occurrence) -> str:
    about = "; ".join(filter(None, (entry.location, ", ".join(entry.attendees))))
    state = "" if entry.status == "confirmed" else f" [{entry.status}]"
    return (f"({about})" if about else "") + state
