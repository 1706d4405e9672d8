"""The approvals that a restore withdraws from another data directory's copy."""

from dataclasses import dataclass

from panorama.domain.text.wording import pluralize


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """How many schedules were paused, and how many scripts have to be reviewed again."""

    schedules: int = 0
    scripts: int = 0

    def summarize(self) -> str:
        """Return a clause to append to a summary: what the user has to approve again; "" if nothing."""
        parts: list[str] = []
        if self.schedules:
            parts.append(f"{pluralize(self.schedules, 'schedule is', 'schedules are')} paused")
        if self.scripts:
            parts.append(f"{pluralize(self.scripts, 'script needs', 'scripts need')} a new review")
        return f"; it was made by another data directory, so {' and '.join(parts)}" if parts else ""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A replaced database: where the previous one is now, "" if there was none, and the approvals withdrawn in it.

    `remarks` say which values the database cannot hold and that were replaced.
    """

    aside: str
    withdrawn: Withdrawn
    remarks: tuple[str, ...] = ()
