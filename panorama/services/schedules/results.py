"""Results of operations on schedules that are more than a stored schedule."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedSchedule:
    """A removed schedule."""

    id: str
    name: str
    kind: str

    def summarize(self) -> str:
        """Return a one-line summary."""
        return f"Removed the schedule “{self.name}” ({self.id})"
