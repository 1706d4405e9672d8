"""Results of operations on reminders that are more than a stored reminder."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from panorama.domain.items.reminders import Alert, Reminder
from panorama.domain.schedules import format_delay


@dataclass(frozen=True, slots=True, kw_only=True)
class FiredReminder:
    """A fired, unacknowledged reminder: when it was due, how late it is, and how often it fired.

    `missed` counts earlier occurrences that did not fire.
    """

    id: str
    reminder: str
    title: str
    at: datetime
    rung_at: datetime
    late: str | None
    missed: int | None
    rings: int
    snoozed_until: datetime | None
    item: str | None

    @classmethod
    def of(cls, alert: Alert, reminder: Reminder, now: datetime) -> Self:
        """Join an alert with its reminder."""
        return cls(
            id=alert.id,
            reminder=reminder.id,
            title=reminder.title,
            at=alert.at,
            rung_at=alert.rung_at,
            late=format_delay(now - alert.at) or None,
            missed=alert.missed or None,
            rings=alert.rings,
            item=reminder.item,
            snoozed_until=reminder.snoozed_until if reminder.is_snoozed(now) else None,
        )
