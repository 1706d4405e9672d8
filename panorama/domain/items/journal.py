"""Journal entries: one line each."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from panorama.domain.items.item import Item, Kind

ENTRY_CHARS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry(Item):
    """What happened, and when."""

    KIND: ClassVar[Kind] = "journal"
    BRIEF: ClassVar[tuple[str, ...]] = ("id", "text", "at")
    LINKED: ClassVar[str] = "text"

    text: str
    at: datetime

    @property
    def label(self) -> str:
        """The beginning of the text."""
        return self.text if len(self.text) <= 60 else self.text[:59] + "…"

    def search_text(self) -> tuple[str, str]:
        """No title; its text."""
        return "", self.text
