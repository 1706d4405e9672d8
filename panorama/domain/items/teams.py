"""Teams: the groups that people belong to."""

from dataclasses import dataclass
from typing import ClassVar

from panorama.domain.items.item import Item, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Team(Item):
    """A group of people; its name is unique among living teams."""

    KIND: ClassVar[Kind] = "team"
    BRIEF: ClassVar[tuple[str, ...]] = ("id", "name")

    name: str

    @property
    def label(self) -> str:
        """Its name."""
        return self.name
