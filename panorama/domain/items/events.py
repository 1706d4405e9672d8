"""Events: what takes place at a time, once or again and again."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from typing import Any, ClassVar, Literal, Self
from zoneinfo import ZoneInfo

from panorama.domain.items.item import Item, Kind
from panorama.domain.time import recurrence, wall_clock
from panorama.domain.time.times import Deadline, start_of_day, to_local_day
from panorama.errors import InvalidInputError

EventStatus = Literal["confirmed", "tentative", "cancelled"]
DEFAULT_LENGTH = timedelta(hours=1)
MAX_LENGTH = timedelta(days=366)
_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Item):
    """An event: `starts_at` and `ends_at` are moments, or the first and the last day of one that is `all_day`.

    `zone` is the IANA name in which its recurrence is computed. `attendees` are names or e-mail addresses, `people`
    the ids of those who are known.
    """

    KIND: ClassVar[Kind] = "event"
    BRIEF: ClassVar[tuple[str, ...]] = (
        "id", "title", "starts_at", "ends_at", "location", "attendees", "calendar", "recurrence", "status",
    )  # fmt: skip
    TOGETHER: ClassVar[tuple[str, ...]] = ("starts_at", "ends_at", "all_day")

    title: str
    starts_at: Deadline
    ends_at: Deadline
    all_day: bool = False
    location: str = ""
    attendees: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    calendar: str = ""
    recurrence: str = ""
    zone: str = "UTC"
    status: EventStatus = "confirmed"

    def search_text(self) -> tuple[str, str]:
        """Its title; its place, attendees and calendar."""
        return self.title, "\n".join(filter(None, (self.location, ", ".join(self.attendees), self.calendar)))

    def to_markdown_line(self) -> str:
        """Return its time, title, place and attendees."""
        begin = self.starts_at.astimezone(self.zone_info) if isinstance(self.starts_at, datetime) else self.starts_at
        when = f"{begin:%Y-%m-%d %H:%M}" if isinstance(begin, datetime) else begin.isoformat()
        about = ", ".join(filter(None, (self.location, *self.attendees)))
        return f"{when} {self.title}" + (f" ({about})" if about else "")

    @property
    def zone_info(self) -> ZoneInfo:
        """Its time zone; UTC if this machine does not know the name."""
        try:
            return wall_clock.get_zone(self.zone)
        except InvalidInputError:
            return ZoneInfo("UTC")

    def iter_occurrences(self, since: datetime, until: datetime, zone: ZoneInfo) -> Iterator[tuple[Deadline, Deadline]]:
        """Yield start and end of the occurrences that overlap a period, in order.

        Args:
            zone: The user's zone, in which days begin.
        """
        anchor = self.starts_at if isinstance(self.starts_at, datetime) else start_of_day(self.starts_at, zone)
        own = self.zone_info if isinstance(self.starts_at, datetime) else zone
        length = self.length
        after = since - length - timedelta(days=1)
        for begin in recurrence.iter_occurrences(self.recurrence, anchor, after=after, zone=own):
            if begin >= until:
                return
            start: Deadline = begin if isinstance(self.starts_at, datetime) else to_local_day(begin, zone)
            end = start + length
            over = end if isinstance(end, datetime) else start_of_day(end + timedelta(days=1), zone)
            if max(over, begin + _MOMENT) > since:
                yield start, end

    @property
    def is_on_rule(self) -> bool:
        """Whether its start is an occurrence of its recurrence, if it has one."""
        zone = self.zone_info
        anchor = self.starts_at if isinstance(self.starts_at, datetime) else start_of_day(self.starts_at, zone)
        return not self.recurrence or recurrence.is_on_rule(self.recurrence, anchor, zone)

    @property
    def length(self) -> timedelta:
        """How long it lasts; of an all-day event the days from the first to the last."""
        if isinstance(self.starts_at, datetime) and isinstance(self.ends_at, datetime):
            return self.ends_at - self.starts_at
        return _to_day(self.ends_at) - _to_day(self.starts_at)


def _to_day(deadline: Deadline) -> date:
    return deadline.date() if isinstance(deadline, datetime) else deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """An event, or a session, at the time of one of its occurrences."""

    BRIEF: ClassVar[tuple[str, ...]] = (
        "id", "kind", "title", "starts_at", "ends_at", "location", "attendees", "calendar", "recurrence", "status",
    )  # fmt: skip

    id: str
    kind: Literal["event", "session"]
    title: str
    starts_at: Deadline
    ends_at: Deadline | None
    all_day: bool = False
    location: str = ""
    attendees: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    calendar: str = ""
    recurrence: str = ""
    status: str = "confirmed"

    @classmethod
    def of(cls, event: Event, start: Deadline, end: Deadline) -> Self:
        """Return an event at another time."""
        names = [field.name for field in fields(cls) if field.name not in ("kind", "starts_at", "ends_at")]
        values: dict[str, Any] = {name: getattr(event, name) for name in names}
        return cls(**values, starts_at=start, ends_at=end, kind="event")

    def begin(self, zone: ZoneInfo) -> datetime:
        """Return the moment at which it begins."""
        return self.starts_at if isinstance(self.starts_at, datetime) else start_of_day(self.starts_at, zone)

    def describe(self, zone: ZoneInfo) -> str:
        """Return it as one line: «10:00 to 11:00 Weekly (Studio; Ana, Ben)»."""
        about = "; ".join(filter(None, (self.location, ", ".join(self.attendees))))
        state = "" if self.status == "confirmed" else f"[{self.status}]"
        return " ".join(filter(None, (self._describe_times(zone), self.title, f"({about})" if about else "", state)))

    def _describe_times(self, zone: ZoneInfo) -> str:
        if not isinstance(self.starts_at, datetime):
            return "all day:"
        begin = f"{self.starts_at.astimezone(zone):%H:%M}"
        return f"{begin} to {self.ends_at.astimezone(zone):%H:%M}" if isinstance(self.ends_at, datetime) else begin


def check_span(starts_at: Deadline, ends_at: Deadline) -> None:
    """Check the start and the end of an event.

    Raises:
        InvalidInputError: One is a day and the other a moment, the end is before the start, or it lasts over 366 days.
    """
    if isinstance(starts_at, datetime) != isinstance(ends_at, datetime):
        raise InvalidInputError(
            "starts_at and ends_at are a day and a moment.", hint="Give two moments, or two days for an all-day event."
        )
    if ends_at < starts_at:
        raise InvalidInputError("The event ends before it begins.", hint="Give ends_at after starts_at.")
    # both are days or both are moments, as checked above; the types do not show it
    length: timedelta = ends_at - starts_at  # pyright: ignore[reportOperatorIssue, reportUnknownVariableType]
    if length > MAX_LENGTH or (length == MAX_LENGTH and not isinstance(starts_at, datetime)):  # the last day counts
        raise InvalidInputError("The event lasts more than 366 days.", hint="Give a shorter one that recurs.")
