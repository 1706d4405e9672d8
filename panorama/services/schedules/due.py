"""Runs everything that is due: fires reminders and submits the jobs of schedules."""

from datetime import datetime

from panorama.ports import JobSubmitter
from panorama.services.base import ServiceContext
from panorama.services.reminders.alerts import Notify, ReminderAlerts
from panorama.services.schedules.schedules import Schedules


class DueWork:
    """All timed work. A round may be interrupted anywhere and is then repeated."""

    def __init__(self, context: ServiceContext, queue: JobSubmitter) -> None:
        self.now = context.now
        self.zone = context.zone
        self.ringing = ReminderAlerts(context)
        self.schedules = Schedules(context, queue, self.ringing.uptime_hint)

    def run_due(self, tell: Notify, *, was_set: bool = False) -> datetime | None:
        """Run what is due, and return when the next is due.

        Args:
            tell: Notifies the user of a reminder; it must not block.
            was_set: The clock was set since the last round, so next times are computed again.

        Raises:
            UnavailableError: The database cannot be written now; the work is done later.
        """
        if was_set:
            self.schedules.repair_after_clock_change()
        self.ringing.update_alarms(was_set=was_set)
        self.ringing.fire_due()
        self.ringing.notify(tell)
        self.schedules.run_due()
        return self.find_next_due()

    def uptime_hint(self) -> str:
        """Return the limitation on timed work; "" if there is none, or nothing is set."""
        return self.ringing.uptime_hint("Reminders and schedules run") if self.find_next_due() else ""

    def find_next_due(self) -> datetime | None:
        """Return when the next schedule or reminder is due."""
        moments = [moment for moment in (self.ringing.find_next_due(), self.schedules.find_next_due()) if moment]
        return min(moments, default=None)
