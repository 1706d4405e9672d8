"""Timing: what is to be done when the clock has come, in one round: reminders ring, schedules submit their jobs."""

from datetime import datetime

from panorama.ports import JobQueue
from panorama.services.base import Desk
from panorama.services.ringing import Ringing, Tell
from panorama.services.schedules import Schedules


class Timing:
    """All that waits for the clock. A round may be cut short anywhere, and is made again."""

    def __init__(self, desk: Desk, queue: JobQueue) -> None:
        self.now = desk.now
        self.zone = desk.zone
        self.ringing = Ringing(desk)
        self.schedules = Schedules(desk, queue)

    def round(self, tell: Tell, *, was_set: bool = False) -> datetime | None:
        """Do what is due, and return when the next is.

        Args:
            tell: Tells the person of a reminder; it must not wait.
            was_set: The clock was set since the last round, so what was reckoned with it is reckoned anew.

        Raises:
            UnavailableError: The database cannot be written now; nothing is lost.
        """
        if was_set:
            self.schedules.mend()
        self.ringing.wind(was_set=was_set)
        self.ringing.ring()
        self.ringing.tell(tell)
        self.schedules.run_due()
        return self.next_moment()

    def next_moment(self) -> datetime | None:
        """Return when the next schedule or reminder is due."""
        moments = [each for each in (self.ringing.next_moment(), self.schedules.next_moment()) if each]
        return min(moments, default=None)
