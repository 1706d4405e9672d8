"""Timing: what is to be done when the clock has come, in one round: reminders ring, schedules submit their jobs."""

from datetime import datetime

from panorama.ports import JobSubmitter
from panorama.services.base import ServiceContext
from panorama.services.reminders.alerts import Notify, ReminderAlerts
from panorama.services.schedules.schedules import Schedules


class DueWork:
    """All that waits for the clock. A round may be cut short anywhere, and is made again."""

    def __init__(self, context: ServiceContext, queue: JobSubmitter) -> None:
        self.now = context.now
        self.zone = context.zone
        self.ringing = ReminderAlerts(context)
        self.schedules = Schedules(context, queue, self.ringing.uptime_hint)

    def run_due(self, tell: Notify, *, was_set: bool = False) -> datetime | None:
        """Do what is due, and return when the next is.

        Args:
            tell: Tells the person of a reminder; it must not wait.
            was_set: The clock was set since the last round, so what was reckoned with it is reckoned anew.

        Raises:
            UnavailableError: The database cannot be written now; nothing is lost.
        """
        if was_set:
            self.schedules.repair_after_clock_change()
        self.ringing.update_alarms(was_set=was_set)
        self.ringing.fire_due()
        self.ringing.notify(tell)
        self.schedules.run_due()
        return self.find_next_due()

    def uptime_hint(self) -> str:
        """Return what keeps that which is set from happening at any time; "" if nothing does, or nothing is set."""
        return self.ringing.uptime_hint("Reminders and schedules run") if self.find_next_due() else ""

    def find_next_due(self) -> datetime | None:
        """Return when the next schedule or reminder is due."""
        moments = [moment for moment in (self.ringing.find_next_due(), self.schedules.find_next_due()) if moment]
        return min(moments, default=None)
