"""Runs everything that is due: fires reminders and submits the jobs of schedules."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime

from panorama.ports import JobSubmitter
from panorama.services.base import ServiceContext
from panorama.services.reminders.alerts import Notify, ReminderAlerts
from panorama.services.schedules.schedules import Schedules
from panorama.store.backend.membership import DUE_WORK


class DueWork:
    """All timed work. A round may be interrupted anywhere and is then repeated."""

    def __init__(self, context: ServiceContext, queue: JobSubmitter) -> None:
        self.now = context.now
        self.zone = context.zone
        self.ringing = ReminderAlerts(context)
        self._database = context.database
        self._membership = context.database.membership
        self.schedules = Schedules(context, queue, self.ringing.uptime_hint)

    def run_due(self, tell: Notify, *, was_set: bool = False) -> datetime | None:
        """Run what is due, and return when the next is due; None if another daemon has this duty.

        Args:
            tell: Notifies the user of a reminder; it must not block.
            was_set: The clock was set since the last round, so next times are computed again.

        Raises:
            UnavailableError: The database cannot be written now; the work is done later.
        """
        is_holder = all(self._run_step(step) for step in self._list_steps(tell, was_set=was_set))
        self.ringing.notify_of_others(tell)
        return self.find_next_due() if is_holder else None

    def _run_step(self, step: Callable[[], None]) -> bool:
        """Run a step of the duty if this process still has it; return whether it has."""
        is_holder = self._membership.holds(DUE_WORK)
        if is_holder:
            step()
        return is_holder

    def _list_steps(self, tell: Notify, *, was_set: bool) -> list[Callable[[], None]]:
        return [
            *([self.schedules.repair_after_clock_change] if was_set else []),
            lambda: self.ringing.update_alarms(was_set=was_set),
            self.ringing.fire_due,
            lambda: self.ringing.notify(tell),
            self.schedules.run_due,
        ]

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a listener when this process gets the duty or another one fired reminders; return how to unsubscribe."""
        subscriptions = ExitStack()
        subscriptions.callback(self._membership.subscribe(listener))
        subscriptions.callback(self._database.subscribe_to_others("alerts", lambda _: listener()))
        return subscriptions.close

    def uptime_hint(self) -> str:
        """Return the limitation on timed work; "" if there is none, or nothing is set."""
        return self.ringing.uptime_hint("Reminders and schedules run") if self.find_next_due() else ""

    def find_next_due(self) -> datetime | None:
        """Return when the next schedule or reminder is due."""
        moments = [moment for moment in (self.ringing.find_next_due(), self.schedules.find_next_due()) if moment]
        return min(moments, default=None)
