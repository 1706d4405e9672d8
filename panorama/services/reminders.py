"""What one can do with reminders."""

from datetime import datetime
from typing import Any

from panorama.domain import recurrence, schedules, times
from panorama.domain.items import line
from panorama.domain.references import ItemRef, ReminderRef
from panorama.domain.reminders import AT_ONCE, Reminder
from panorama.domain.results import Noted, Page, Slice
from panorama.errors import InvalidInputError
from panorama.services.base import Desk, Service, given
from panorama.services.ringing import Ringing
from panorama.store import alerts, rows, small

SILENT = "Reminders ring only while the daemon runs, and here is none: use Panorama without PANORAMA_NO_DAEMON."


class Reminders(Service):
    """Reminders: moments at which a person wants to hear of something."""

    def __init__(self, desk: Desk, ringing: Ringing) -> None:
        super().__init__(desk)
        self._ringing = ringing

    def list(self, page: Slice, enabled: bool | None = None, item: ItemRef | None = None) -> Page[Reminder]:
        """List reminders, the earliest first.

        With `item`, those about it.
        """
        with self._reading() as session:
            return small.listed_reminders(session, page, enabled=enabled, item=item)

    def create(self, title: str, at: str, recurrence: str = "", item: ItemRef | None = None) -> Noted[Reminder]:
        """Set a reminder for a moment, once or recurring.

        For work with a deadline use create_task.

        Args:
            at: Moment, as 2026-05-31T15:00 (your zone).
            recurrence: RFC 5545 rule, as FREQ=DAILY.
            item: What it is about.
        """
        now = self._now()
        with self._writing() as session:
            wanted = self._fields(title=title, at=at, recurrence=recurrence)
            reminder = Reminder(**self._new("reminder", now), **wanted, zone=self._desk.zone.key, item=item or None)
            rows.add(session, reminder)
            return Noted(reminder, hint=self._remark(reminder))

    def update(
        self,
        reminder: ReminderRef,
        title: str | None = None,
        at: str | None = None,
        recurrence: str | None = None,
        snoozed_until: str | None = None,
        enabled: bool | None = None,
        item: ItemRef | None = None,
    ) -> Noted[Reminder]:
        """Change, snooze or switch off a reminder.

        What is left out stays; "" clears. To remove it use delete_item.
        """
        with self._writing() as session:
            old: Reminder = rows.load(session, "reminder", reminder)
            wanted = self._fields(title=title, at=at, recurrence=recurrence, snoozed_until=snoozed_until)
            wanted |= given(enabled=enabled)
            if item is not None:
                wanted["item"] = item or None
            new = old.changed(self._now(), **wanted)
            rows.save(session, old, new)
            is_set = new.enabled and (new.snoozed_until != old.snoozed_until or not old.enabled)
            remark = self._remark(new) if "at" in wanted else self._silence() if is_set else ""
            return Noted(new, hint=remark, wrote=new is not old)

    def snooze(self, reminder: ReminderRef, until: str = "10m") -> Noted[Reminder]:
        """Put off a reminder that rang: it rings again later.

        Args:
            until: Span, as 10m, 2h or 1d, or moment, as 2026-05-31T15:00.

        Raises:
            InvalidInputError: The moment has passed.
        """
        with self._writing() as session:
            old: Reminder = rows.load(session, "reminder", reminder)
            moment = self._later(until)
            rows.save(session, old, new := old.changed(self._now(), snoozed_until=moment))
            quiet = "" if alerts.is_waiting(session, old.id) else "It had not rung; it keeps quiet until then."
            return Noted(new, hint=" ".join(filter(None, (quiet, self._silence()))), wrote=new is not old)

    def acknowledge(self, reminder: ReminderRef) -> Noted[Reminder]:
        """Take note of a reminder that rang: it waits no more, and rings again only at its next occurrence."""
        with self._writing() as session:
            old: Reminder = rows.load(session, "reminder", reminder)
            if not alerts.is_waiting(session, old.id):
                return Noted(old, hint="Nothing of it was waiting.", wrote=False)
            new = old.changed(self._now(), acknowledged_at=self._now(), snoozed_until=None)
            rows.save(session, old, new)
            return Noted(new)

    def _later(self, until: str) -> datetime:
        now = self._now()
        if schedules.is_span(until):
            return now + schedules.span(until, "until")
        moment = times.moment(until, "until", now=now, zone=self._desk.zone)
        if moment <= now:
            raise InvalidInputError(f"until has passed: {until[:40]!r}.", hint="Use 10m, 2h, 1d or a moment to come.")
        return moment

    def _remark(self, reminder: Reminder) -> str:
        """Say if a reminder will never ring, or not as things are."""
        coming = next(reminder.occurrences(self._now() - AT_ONCE), None)
        return self._silence() if coming else "This moment has passed: it will not ring."

    def _silence(self) -> str:
        return "" if self._ringing.is_attended else SILENT

    def _fields(self, **fields: Any) -> dict[str, Any]:
        found = given(**fields)
        if "title" in found:
            found["title"] = line(found["title"])
        for name in ("at", "snoozed_until"):
            if name in found:
                text = found[name]
                clears = name == "snoozed_until" and not text.strip()
                zone, now = self._desk.zone, self._now()
                found[name] = None if clears else times.moment(text, name, now=now, zone=zone)
        if "recurrence" in found:
            found["recurrence"] = recurrence.rule(found["recurrence"]) if found["recurrence"].strip() else ""
        return found
