"""Operations on reminders."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from panorama.domain import schedules
from panorama.domain.items.item import single_line
from panorama.domain.items.references import ItemRef, ReminderRef
from panorama.domain.items.reminders import GRACE_PERIOD, Reminder
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.time import recurrence, times
from panorama.errors import InvalidInputError
from panorama.services.base import Service, ServiceContext, drop_none
from panorama.services.reminders.alerts import ReminderAlerts
from panorama.store.items import alerts, listing, rows

SHOWN_OCCURRENCES = 3


class Reminders(Service):
    """Reminders: alerts at set times."""

    def __init__(self, context: ServiceContext, ringing: ReminderAlerts) -> None:
        super().__init__(context)
        self._ringing = ringing

    def list(self, page: PageRequest, enabled: bool | None = None, item: ItemRef | None = None) -> Page[Reminder]:
        """List reminders, the earliest first.

        With `item`, those about it.
        """
        with self._reading() as session:
            listed = listing.list_items(session, "reminder", page, order=("at",), enabled=enabled, item=item or None)
        is_any_set = any(reminder.enabled for reminder in listed.items)
        return replace(listed, hint=self._ringing.uptime_hint("Reminders ring") if is_any_set else "")

    def create(self, title: str, at: str, recurrence: str = "", item: ItemRef | None = None) -> Result[Reminder]:
        """Set a reminder for a time, once or recurring.

        An alarm or alert.

        Args:
            at: Time, such as 2026-05-31T15:00 (your zone).
            recurrence: Such as every friday, or an RFC 5545 rule.
            item: What it is about.
        """
        now = self._now()
        with self._writing() as session:
            values = self._validate_fields(title=title, at=at, recurrence=recurrence)
            reminder = Reminder(
                **self._new_item_fields("reminder", now), **values, zone=self._context.zone.key, item=item or None
            )
            rows.add(session, reminder)
            return Result(reminder, hint=self._timing_hint(reminder))

    def update(
        self,
        reminder: ReminderRef,
        title: str | None = None,
        at: str | None = None,
        recurrence: str | None = None,
        snoozed_until: str | None = None,
        enabled: bool | None = None,
        item: ItemRef | None = None,
    ) -> Result[Reminder]:
        """Change, snooze or switch off a reminder.

        Omitted fields stay; "" clears. To remove it use delete_item.
        """
        with self._writing() as session:
            old: Reminder = rows.load(session, "reminder", reminder)
            values = self._validate_fields(title=title, at=at, recurrence=recurrence, snoozed_until=snoozed_until)
            values |= drop_none(enabled=enabled)
            if item is not None:
                values["item"] = item or None
            new = old.with_changes(self._now(), **values)
            rows.save(session, old, new)
            is_set = new.enabled and (new.snoozed_until != old.snoozed_until or not old.enabled)
            is_moved = (new.at, new.recurrence) != (old.at, old.recurrence)
            hint = self._timing_hint(new) if is_moved else self._uptime_hint() if is_set else ""
            return Result(new, hint=hint, wrote=new is not old)

    def snooze(self, reminder: ReminderRef, until: str = "10m") -> Result[Reminder]:
        """Snooze a reminder that rang: it rings again later.

        One that has not rung yet is moved.

        Args:
            until: Duration, such as 10m, 2h or 1d, or time, such as 2026-05-31T15:00.

        Raises:
            InvalidInputError: The moment has passed, or is before the next occurrence of a repeating reminder.
        """
        with self._writing() as session:
            old: Reminder = rows.load(session, "reminder", reminder)
            coming = None if alerts.is_pending(session, old.id) else self._next_ring(old)
            moment = self._parse_snooze(until, coming)
            values = {"snoozed_until": moment} if coming is None else _move(old, coming, moment)
            new = old.with_changes(self._now(), **values)
            rows.save(session, old, new)
            moved = f"It had not rung: moved from {self._format(coming)} to {self._format(moment)}." if coming else ""
            return Result(new, hint=" ".join(filter(None, (moved, self._uptime_hint()))), wrote=new is not old)

    def _next_ring(self, reminder: Reminder) -> datetime | None:
        """Return when a reminder without a pending alert fires next."""
        due = next(reminder.iter_occurrences(self._now() - GRACE_PERIOD), None)
        quiet = reminder.snoozed_until if reminder.is_snoozed(self._now()) else None
        return max(due, quiet) if due and quiet else due

    def acknowledge(self, reminder: ReminderRef) -> Result[Reminder]:
        """Acknowledge a fired reminder; it rings again only at its next occurrence."""
        with self._writing() as session:
            old: Reminder = rows.load(session, "reminder", reminder)
            if not alerts.is_pending(session, old.id):
                return Result(old, hint="It was not waiting.", wrote=False)
            new = old.with_changes(self._now(), acknowledged_at=self._now(), snoozed_until=None)
            rows.save(session, old, new)
            return Result(new)

    def _parse_snooze(self, until: str, coming: datetime | None) -> datetime:
        """Return the time to snooze until; a duration counts from now, or from the moved occurrence."""
        now = self._now()
        if schedules.is_duration(until):
            return (coming or now) + schedules.parse_duration(until, "until")
        moment = times.parse_datetime(until, "until", now=now, zone=self._context.zone)
        if moment <= now:
            raise InvalidInputError(
                f"until has passed: {until[:40]!r}.", hint="Use 10m, 2h, 1d or a time in the future."
            )
        return moment

    def _timing_hint(self, reminder: Reminder) -> str:
        """Return when a reminder fires, if it differs from the request."""
        coming = [*islice(reminder.iter_occurrences(self._now() - GRACE_PERIOD), SHOWN_OCCURRENCES)]
        if not coming:
            return "This time has passed: it will not ring."
        series = self._describe_series(reminder, coming) if reminder.recurrence else ""
        return " ".join(filter(None, (series, self._uptime_hint())))

    def _describe_series(self, reminder: Reminder, coming: Sequence[datetime]) -> str:
        """Describe the next occurrences, and deviations from the rule."""
        if len(coming) == 1:
            return f"It rings once, {self._format(coming[0])}: its rule has no later time."
        is_odd = coming[0] == reminder.at and not recurrence.is_on_rule(
            reminder.recurrence, reminder.at, reminder.zone_info
        )
        odd = " The first one does not match its rule." if is_odd else ""
        more = " …" if len(coming) == SHOWN_OCCURRENCES else "."
        return f"It rings {', '.join(map(self._format, coming))}{more}{odd}"

    def _format(self, moment: datetime) -> str:
        return f"{moment.astimezone(self._context.zone):%a %Y-%m-%d %H:%M}"

    def _uptime_hint(self) -> str:
        return self._ringing.uptime_hint("It rings")

    def _validate_fields(self, **fields: Any) -> dict[str, Any]:
        values = drop_none(**fields)
        if "title" in values:
            values["title"] = single_line(values["title"])
        for name in ("at", "snoozed_until"):
            if name in values:
                text = values[name]
                clears = name == "snoozed_until" and not text.strip()
                zone, now = self._context.zone, self._now()
                values[name] = None if clears else times.parse_datetime(text, name, now=now, zone=zone)
        if "recurrence" in values:
            values["recurrence"] = (
                recurrence.parse_recurrence(values["recurrence"]) if values["recurrence"].strip() else ""
            )
        return values


def _move(reminder: Reminder, coming: datetime, moment: datetime) -> dict[str, Any]:
    """Return the fields that move the next occurrence to another time.

    Raises:
        InvalidInputError: An occurrence of a series cannot be earlier.
    """
    if not reminder.recurrence:
        return {"at": moment, "snoozed_until": None}
    if moment < coming:
        raise InvalidInputError(
            "This repeating reminder rings only after that time.",
            hint="Choose a later time, or change the series with update_reminder.",
        )
    return {"snoozed_until": moment}
