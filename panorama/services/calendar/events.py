"""Operations on events."""

from datetime import datetime, timedelta
from typing import Any

from panorama.domain.items.events import DEFAULT_LENGTH, Event, EventStatus, Occurrence, check_span
from panorama.domain.items.item import single_line, single_line_or_empty
from panorama.domain.items.references import EventRef
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.time import recurrence as rules
from panorama.domain.time import times
from panorama.domain.time.times import Deadline
from panorama.errors import InvalidInputError
from panorama.services.base import Service, ServiceContext, drop_none
from panorama.services.people.attendees import Attendance, AttendeeResolver
from panorama.services.search.hints import join_hints
from panorama.store.events import list_occurrences
from panorama.store.items import rows

USUAL_PERIOD = timedelta(days=7)
MAX_PERIOD = timedelta(days=366)


class Events(Service):
    """Events: what takes place at a time."""

    def __init__(self, context: ServiceContext, attendees: AttendeeResolver) -> None:
        super().__init__(context)
        self._attendees = attendees

    def list(
        self,
        page: PageRequest,
        day: str = "",
        since: str = "",
        until: str = "",
        attendee: str = "",
        calendar: str | None = None,
    ) -> Page[Occurrence]:
        """List the calendar: events with their recurrences, and meetings; 7 days by default.

        Appointments, who comes when, what is on a day.

        Args:
            day: One day, such as friday.
            since: First day.
            until: Last day; the period has at most 366 days.
            attendee: Only with this person.
            calendar: Only events of this calendar.
        """
        first, last = self._parse_period(day, since, until)
        start = (page.get_start_key(int) or (0,))[0]
        with self._reading() as session:
            found = list_occurrences(
                session, first, last, self._context.zone, calendar=calendar or None,
                attendee=self._attendees.find(session, attendee) if attendee.strip() else None,
            )  # fmt: skip
        shown = tuple(found[start : start + page.limit])
        keys = tuple((start + at + 1,) for at in range(len(shown)))
        return Page(shown, keys, len(found), more=start + len(shown) < len(found))

    def _parse_period(self, day: str, since: str, until: str) -> tuple[datetime, datetime]:
        """Return the moments at which the first day begins and the last is over."""
        if day and (since or until):
            raise InvalidInputError("day does not go with since or until.", hint="Give day alone, or a period.")
        zone, now = self._context.zone, self._now()
        begin, end = (day, day) if day else (since, until)
        first = times.parse_date(begin, "day" if day else "since", now=now, zone=zone) if begin else self._today()
        last = times.parse_date(end, "until", now=now, zone=zone) if end else first + USUAL_PERIOD - timedelta(days=1)
        times.check_order(first, last, "since", "until")
        if last - first >= MAX_PERIOD:  # the last day counts
            raise InvalidInputError("The period is longer than 366 days.", hint="Give a shorter one.")
        return times.start_of_day(first, zone), times.start_of_day(times.next_day(last), zone)

    def create(
        self,
        title: str,
        starts_at: str,
        ends_at: str = "",
        location: str = "",
        attendees: tuple[str, ...] = (),
        calendar: str = "",
        recurrence: str = "",
        status: EventStatus = "confirmed",
        create_people: bool = False,
    ) -> Result[Event]:
        """Create an event in the calendar: an appointment, a future meeting, a holiday.

        To be alerted use create_reminder; for minutes log_session.

        Args:
            starts_at: Time, or a day for an all-day event.
            ends_at: Time, by default one hour later; or the last day.
            attendees: Names or e-mail addresses; known people are linked.
            recurrence: Such as every friday, or an RFC 5545 rule.
            create_people: Create a person for each unknown attendee.
        """
        with self._writing() as session:
            start = self._parse_deadline(starts_at, "starts_at")
            fields = self._read_fields(
                title=title, location=location, calendar=calendar, recurrence=recurrence, status=status
            )
            found = self._attendees.resolve(session, attendees, create_people=create_people)
            event = Event(
                **self._new_item_fields("event", self._now()), **fields, **found.fields,
                **self._read_span(start, ends_at), zone=self._context.zone.key,
            )  # fmt: skip
            rows.add(session, event)
            return Result(event, hint=join_hints(found.hint, _rule_hint(event)))

    def update(
        self,
        event: EventRef,
        title: str | None = None,
        starts_at: str | None = None,
        ends_at: str | None = None,
        location: str | None = None,
        attendees: tuple[str, ...] | None = None,
        calendar: str | None = None,
        recurrence: str | None = None,
        status: EventStatus | None = None,
        create_people: bool = False,
    ) -> Result[Event]:
        """Change or move an event, with all its recurrences; omitted fields stay, "" or [] clears.

        A new starts_at alone keeps its length. To remove it use delete_item.

        Args:
            create_people: Create a person for each unknown attendee.
        """
        with self._writing() as session:
            old: Event = rows.load(session, "event", event)
            values = self._read_fields(
                title=title, location=location, calendar=calendar, recurrence=recurrence, status=status
            )
            if starts_at is not None or ends_at is not None:
                values |= self._move(old, starts_at, ends_at)
            before = Attendance(old.attendees, old.people)
            found = self._attendees.resolve(session, attendees or (), create_people=create_people, before=before)
            values |= found.fields if attendees is not None else {}
            new = old.with_changes(self._now(), **values)
            rows.save(session, old, new)
            return Result(new, hint=join_hints(found.hint, _rule_hint(new)), wrote=new is not old)

    def _move(self, old: Event, starts_at: str | None, ends_at: str | None) -> dict[str, Any]:
        start = self._parse_deadline(starts_at, "starts_at") if starts_at is not None else old.starts_at
        if ends_at is None and isinstance(start, datetime) == isinstance(old.starts_at, datetime):
            return _make_span(start, start + old.length)
        return self._read_span(start, ends_at or "")

    def _read_span(self, start: Deadline, ends_at: str) -> dict[str, Any]:
        """Return the fields of a span; a time of day or a distance as its end counts from the start."""
        if not ends_at.strip():
            return _make_span(start, start + DEFAULT_LENGTH if isinstance(start, datetime) else start)
        end = times.parse_end(ends_at, "ends_at", start=start, zone=self._context.zone)
        return _make_span(start, self._parse_deadline(ends_at, "ends_at") if end is None else end)

    def _read_fields(self, **fields: Any) -> dict[str, Any]:
        """Return the given fields as they are stored."""
        values = drop_none(**fields)
        if "title" in values:
            values["title"] = single_line(values["title"])
        for name in ("location", "calendar"):
            if name in values:
                values[name] = single_line_or_empty(values[name], name)
        if "recurrence" in values:
            rule = values["recurrence"]
            values["recurrence"] = rules.parse_recurrence(rule) if rule.strip() else ""
        return values


def _rule_hint(event: Event) -> str:
    """Return a hint on an event that begins on a day on which it does not recur, "" for any other."""
    if event.is_on_rule:
        return ""
    return (
        f"It begins on a day that is not on its recurrence ({event.recurrence}): change recurrence, too, if it moves."
    )


def _make_span(start: Deadline, end: Deadline) -> dict[str, Any]:
    check_span(start, end)
    return {"starts_at": start, "ends_at": end, "all_day": not isinstance(start, datetime)}
