"""Results of history and undo."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from panorama.domain.text.wording import pluralize

MAX_TITLES = 5
"""The maximum number of titles in a summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    """One change of an item; `undo` takes its `unit`; `fields` holds [before, after]."""

    change: int
    at: datetime
    action: str
    operation: str
    client: str
    unit: str
    version: int
    undoes: int | None
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentWrite:
    """One write: the action, item and client; `undo` takes its `unit`."""

    unit: str
    at: datetime
    client: str
    operation: str
    action: str
    kind: str
    title: str
    changes: int
    undone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoResult:
    """The undone changes (the first 50), and the conflicts that were skipped.

    `redo` means that an undo was reverted. `note` describes the progress of a stopped undo.
    """

    units: tuple[str, ...]
    count: int
    redo: bool
    undone: tuple[Mapping[str, Any], ...]
    conflicts: tuple[Mapping[str, Any], ...]
    conflict_count: int
    note: str = ""

    @property
    def shortfall(self) -> str:
        """The part that was not done, "" if there is none."""
        return self.note

    def summarize(self) -> str:
        """Return a one-line summary."""
        verb = "Brought back" if self.redo else "Took back"
        writes = self.units[0] if len(self.units) == 1 else f"{len(self.units)} writes"
        titles = ", ".join(f"“{row['label']}” ({row['was']})" for row in self.undone[:MAX_TITLES])
        more = f" and {self.count - MAX_TITLES:,} more" if self.count > MAX_TITLES else ""
        left = f"; {self.conflict_count} left as conflicts" if self.conflicts else ""
        stopped = f". Stopped: {self.note}" if self.note else ""
        return f"{verb} {pluralize(self.count, 'change')} of {writes}: {titles}{more}{left}{stopped}"
