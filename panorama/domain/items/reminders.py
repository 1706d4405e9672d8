"""Reminders, their occurrences and their alerts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import ClassVar, Self
from zoneinfo import ZoneInfo

from panorama.domain.items.item import Item, Kind
from panorama.domain.schedules import format_delay
from panorama.domain.time import recurrence, wall_clock
from panorama.domain.time.times import format_time
from panorama.errors import InvalidInputError

GRACE_PERIOD = timedelta(minutes=1)
"""A reminder set for a time at most this long ago fires at once; an earlier time is rejected."""

TIMING_FIELDS = ("at", "recurrence", "zone", "enabled", "deleted_at")
"""The fields that decide when a reminder fires; it fires only for times after the last write to one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder(Item):
    """A titled point in time; `zone` is the IANA name in which its recurrence is computed.

    It does not fire before `snoozed_until`. Alerts up to `acknowledged_at` are acknowledged.
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

    def iter_occurrences(self, after: datetime) -> Iterator[datetime]:
        """Return its occurrences after an instant, in order."""
        return recurrence.iter_occurrences(self.recurrence, self.at, after=after, zone=self.zone_info)

    def is_snoozed(self, now: datetime) -> bool:
        """Return whether it is snoozed until a future time."""
        return self.snoozed_until is not None and self.snoozed_until > now

    @property
    def zone_info(self) -> ZoneInfo:
        """Its time zone; UTC if this machine does not know the name."""
        try:
            return wall_clock.get_zone(self.zone)
        except InvalidInputError:
            return ZoneInfo("UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One fired occurrence: `at` is when it was due, `missed` counts the occurrences before it that did not fire.

    It fires again after a snooze (`rings` counts, `rung_at` is the last time). Each time is delivered once
    (`delivered_at`);
    `tries` counts the attempts, so that a repeated delivery after a crash can be marked as such.
    """

    id: str
    reminder: str
    at: datetime
    rung_at: datetime
    missed: int = 0
    rings: int = 1
    tries: int = 0
    delivered_at: datetime | None = None

    def repeat(self, now: datetime) -> Self:
        """Return it with one more firing."""
        return replace(self, rung_at=now, rings=self.rings + 1, tries=0, delivered_at=None)

    def is_unacknowledged(self, reminder: Reminder) -> bool:
        """Return whether the alert is not acknowledged yet."""
        return reminder.acknowledged_at is None or self.rung_at > reminder.acknowledged_at


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderEvent:
    """The notification of a fired reminder; `repeated` means that it may have been delivered before."""

    alert: Alert
    reminder: Reminder
    late: timedelta
    repeated: bool

    def describe(self, zone: ZoneInfo) -> str:
        """Return it as one line: «Call Petra (due 2026-05-31T09:00+02:00, 2 h late)»."""
        return f"{self.reminder.title} ({self.describe_timing(zone)})"

    def describe_timing(self, zone: ZoneInfo) -> str:
        """Return when it was due and how late it is."""
        parts = [f"due {format_time(self.alert.at, zone)}"]
        if self.alert.rings > 1:
            parts.append("snoozed until now")
        elif late := format_delay(self.late):
            parts.append(f"{late} late")
        if self.alert.missed:
            parts.append(f"{self.alert.missed} earlier missed")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmState:
    """The state from which the next firing of a reminder is computed.

    `since` is when its time was set; `last` is the alert of its latest fired occurrence, if any.
    """

    reminder: Reminder
    since: datetime
    last: Alert | None

    def next_alarm(self, now: datetime) -> datetime | None:
        """Return when it fires next, which may be in the past; None if it never does."""
        reminder = self.reminder
        if not reminder.enabled or reminder.deleted_at is not None:
            return None
        quiet = reminder.snoozed_until
        due = next(reminder.iter_occurrences(self._handled_until(now)), None)
        due = max(due, quiet) if due and quiet else due
        again = self._snooze_end()
        return min(due, again) if due and again else due or again

    def find_due_alert(self, id_: str, now: datetime) -> Alert | None:
        """Return the alert that is due, new or repeated; None if nothing is due.

        Of several missed occurrences only the last one fires; it counts those before it.
        """
        ring = self.next_alarm(now)
        if ring is None or ring > now:
            return None
        handled = self._handled_until(now)
        at = wall_clock.last_before(self.reminder.iter_occurrences, handled, now)
        if at is None:
            return self.last.repeat(now) if self.last else None
        missed = wall_clock.count_between(self.reminder.iter_occurrences, handled, at - timedelta(microseconds=1))
        return Alert(id=id_, reminder=self.reminder.id, at=at, rung_at=now, missed=missed)

    def _handled_until(self, now: datetime) -> datetime:
        """Return the time up to which all occurrences are dealt with."""
        since = min(self.since, now) - GRACE_PERIOD
        return max(since, self.last.at) if self.last else since

    def _snooze_end(self) -> datetime | None:
        """Return when the last alert fires again if it was snoozed and not acknowledged."""
        quiet, last = self.reminder.snoozed_until, self.last
        if quiet is None or last is None or quiet <= last.rung_at or not last.is_unacknowledged(self.reminder):
            return None
        return quiet
