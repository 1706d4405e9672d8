"""Reminders: a moment at which a person wants to hear of something, and when that is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import ClassVar, Self
from zoneinfo import ZoneInfo

from panorama.domain import recurrence, walls
from panorama.domain.items import Item, Kind
from panorama.domain.schedules import waited
from panorama.domain.times import shown
from panorama.errors import InvalidInputError

AT_ONCE = timedelta(minutes=1)
"""A reminder for a moment that has just passed rings at once; one for an earlier moment was set too late."""

TIMING = ("at", "recurrence", "zone", "enabled", "deleted_at")
"""The fields that decide when it rings; the moment at which one was written is the one from which on it rings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder(Item):
    """A moment with a title; `zone` is the IANA name its recurrence is meant in.

    It keeps quiet until `snoozed_until`. What rang until `acknowledged_at` the person has taken note of.
    """

    KIND: ClassVar[Kind] = "reminder"
    BRIEF: ClassVar[tuple[str, ...]] = ("id", "title", "at", "recurrence", "snoozed_until", "enabled", "item")

    title: str
    at: datetime
    recurrence: str = ""
    zone: str = "UTC"
    snoozed_until: datetime | None = None
    enabled: bool = True
    item: str | None = None
    acknowledged_at: datetime | None = None

    def occurrences(self, after: datetime) -> Iterator[datetime]:
        """Return its occurrences after a moment, in order."""
        return recurrence.occurrences(self.recurrence, self.at, after=after, zone=self.clock)

    def is_quiet(self, now: datetime) -> bool:
        """Tell whether it was put off to a moment that is to come."""
        return self.snoozed_until is not None and self.snoozed_until > now

    @property
    def clock(self) -> ZoneInfo:
        """The zone whose clock is meant; UTC if this machine does not know it."""
        try:
            return walls.known_zone(self.zone)
        except InvalidInputError:
            return ZoneInfo("UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One occurrence of a reminder that has rung: `at` is when it was due, `missed` how many before it nobody heard.

    It rings again after a snooze (`rings`), last at `rung_at`. It is told once each time (`delivered_at`); `tries`
    counts the attempts, so that one that is told again after a crash can be recognised.
    """

    id: str
    reminder: str
    at: datetime
    rung_at: datetime
    missed: int = 0
    rings: int = 1
    tries: int = 0
    delivered_at: datetime | None = None

    def again(self, now: datetime) -> Self:
        """Return it as it rings once more."""
        return replace(self, rung_at=now, rings=self.rings + 1, tries=0, delivered_at=None)

    def waits(self, reminder: Reminder) -> bool:
        """Tell whether the person has not taken note of it yet."""
        return reminder.acknowledged_at is None or self.rung_at > reminder.acknowledged_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """What a person is told when a reminder rings; `repeated` says that they may have been told already."""

    alert: Alert
    reminder: Reminder
    late: timedelta
    repeated: bool

    def words(self, zone: ZoneInfo) -> str:
        """Return it as one line: «Call Petra (due 2026-05-31T09:00+02:00, 2 h late)»."""
        return f"{self.reminder.title} ({self.circumstances(zone)})"

    def circumstances(self, zone: ZoneInfo) -> str:
        """Return when it was due, and how late it is."""
        told = [f"due {shown(self.alert.at, zone)}"]
        if self.alert.rings > 1:
            told.append("put off until now")
        elif late := waited(self.late):
            told.append(f"{late} late")
        if self.alert.missed:
            told.append(f"{self.alert.missed} before it missed")
        return ", ".join(told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """All that decides when a reminder rings next.

    `since` is the moment from which on it was set; `last` is the alert of its latest occurrence that rang, if any.
    """

    reminder: Reminder
    since: datetime
    last: Alert | None

    def next_ring(self, now: datetime) -> datetime | None:
        """Return when it rings next, which may have passed; None if it never does."""
        reminder = self.reminder
        if not reminder.enabled or reminder.deleted_at is not None:
            return None
        quiet = reminder.snoozed_until
        due = next(reminder.occurrences(self._heard(now)), None)
        due = max(due, quiet) if due and quiet else due
        again = self._again()
        return min(due, again) if due and again else due or again

    def rings(self, id_: str, now: datetime) -> Alert | None:
        """Return the alert of what is due, new or once more; None if nothing is.

        Of several occurrences that were missed the last one rings, and tells how many there were before it.
        """
        ring = self.next_ring(now)
        if ring is None or ring > now:
            return None
        heard = self._heard(now)
        at = walls.latest(self.reminder.occurrences, heard, now)
        if at is None:
            return self.last.again(now) if self.last else None
        missed = walls.counted(self.reminder.occurrences, heard, at - timedelta(microseconds=1))
        return Alert(id=id_, reminder=self.reminder.id, at=at, rung_at=now, missed=missed)

    def _heard(self, now: datetime) -> datetime:
        """Return the moment up to which nothing rings any more."""
        since = min(self.since, now) - AT_ONCE
        return max(since, self.last.at) if self.last else since

    def _again(self) -> datetime | None:
        """Return when the last one rings once more, if it was put off and not taken note of."""
        quiet, last = self.reminder.snoozed_until, self.last
        if quiet is None or last is None or quiet <= last.rung_at or not last.waits(self.reminder):
            return None
        return quiet
