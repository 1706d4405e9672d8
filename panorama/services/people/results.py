"""Results of operations on people."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from panorama.domain.items.people import Person
from panorama.domain.text.wording import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonDashboard:
    """A person, and what the user has to do with them.

    `turns` is the age reached on the next birthday. `assigned` are open tasks of the person, `waiting` how many of them
    wait for somebody else; `waited_for` are open tasks that wait for the person. `mentions` are items that link to the
    person or name them. `more` counts the omitted rows by list.
    """

    person: Person
    next_birthday: date | None
    turns: int | None
    waiting: int
    assigned: tuple[Any, ...]
    waited_for: tuple[Any, ...]
    sessions: tuple[Any, ...]
    events: tuple[Any, ...]
    mentions: tuple[Mapping[str, Any], ...]
    more: Mapping[str, int]

    def summarize(self) -> str:
        """Return a one-line summary."""
        waiting = f" ({self.waiting} waiting for somebody)" if self.waiting else ""
        parts = [
            f"{self._count('assigned', 'open task')} assigned{waiting}",
            f"{self._count('waited_for', 'open task')} waiting for them",
            self._count("sessions", "session"),
            f"{self._count('events', 'upcoming event')}",
            self._count("mentions", "mention"),
        ]
        if self.next_birthday:
            age = f", turns {self.turns}" if self.turns is not None else ""
            parts.append(f"birthday {self.next_birthday:%a %Y-%m-%d}{age}")
        rows = pluralize(sum(self.more.values()), "row")
        left_out = f"; not shown: {rows} (search, list_sessions, list_events and query show them)" if self.more else ""
        return f"“{self.person.label}”: {', '.join(parts)}{left_out}"

    def _count(self, name: str, noun: str) -> str:
        return pluralize(len(getattr(self, name)) + self.more.get(name, 0), noun)
