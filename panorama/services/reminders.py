"""What one can do with reminders."""

from typing import Any

from panorama.domain import recurrence, times
from panorama.domain.items import line
from panorama.domain.references import ItemRef, ReminderRef
from panorama.domain.reminders import Reminder
from panorama.domain.results import Noted, Page, Slice
from panorama.services.base import Service, given
from panorama.store import rows, small


class Reminders(Service):
    """Reminders: moments at which a person wants to hear of something."""

    def list(self, page: Slice, enabled: bool | None = None, item: ItemRef | None = None) -> Page[Reminder]:
        """List reminders, the earliest first.

        With `item`, those about it.
        """
        with self._reading() as session:
            return small.listed_reminders(session, page, enabled=enabled, item=item)

    def create(self, title: str, at: str, recurrence: str = "", item: ItemRef | None = None) -> Reminder:
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
            return reminder

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
            return Noted(new, wrote=new is not old)

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
