"""Projects, and their health."""

from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from panorama.domain.items.choices import ProjectStatus
from panorama.domain.items.item import Item, Kind

PERIOD_DAYS = 14
DUE_SOON_DAYS = 3
"""A task due within this many days is due soon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project(Item):
    """A body of work; its name is unique among living projects.

    An `area` is a folder for lasting concerns: it is never inactive and needs no next step.
    """

    KIND: ClassVar[Kind] = "project"
    BRIEF: ClassVar[tuple[str, ...]] = ("id", "name", "status", "target_date", "favorite", "tags", "area")
    LONG: ClassVar[tuple[str, ...]] = ("description",)
    LINKED: ClassVar[str] = "description"

    name: str
    description: str = ""
    status: ProjectStatus = "active"
    target_date: date | None = None
    favorite: bool = False
    color: str = ""
    tags: tuple[str, ...] = ()
    rank: int = 0
    area: bool = False

    @property
    def label(self) -> str:
        """Its name."""
        return self.name

    def search_text(self) -> tuple[str, str]:
        """Its name; its description and tags."""
        return self.name, "\n".join((self.description, " ".join(self.tags)))


def compute_health(*, overdue: int, inactive: bool, notes_touched: int) -> int:
    """Return a project's health, 0 to 100.

    clamp(100 - 8 per overdue task - 20 if inactive + 2 per note touched, at most 20).
    """
    return max(0, min(100, 100 - 8 * overdue - 20 * inactive + min(20, 2 * notes_touched)))
