"""Reminders: a moment at which a person wants to hear of something."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from panorama.domain.items import Item, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder(Item):
    """A moment with a title; `zone` is the IANA name its recurrence is meant in."""

    KIND: ClassVar[Kind] = "reminder"
    BRIEF: ClassVar[tuple[str, ...]] = ("id", "title", "at", "recurrence", "snoozed_until", "enabled", "item")

    title: str
    at: datetime
    recurrence: str = ""
    zone: str = "UTC"
    snoozed_until: datetime | None = None
    enabled: bool = True
    item: str | None = None
