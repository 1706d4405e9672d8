"""The result of a view: the same parts for every view, so that one page in the chat can show them all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from panorama.domain.text.wording import pluralize
from panorama.services.items.results import describe_left_out

ViewName = Literal["today", "week", "project", "run", "batch", "script", "search"]
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDays:
    """How many tasks were completed and created on each day from the first one on."""

    first: date
    completed: tuple[int, ...]
    created: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatView:
    """A view in the chat; a part that a view does not have is empty.

    `figures` are numbers by their headings, `lists` rows by their headings, `days` the tasks per day, `texts` long
    texts by their headings. `plan` is what each step of a batch would do. `unit` can be undone. `approval` says where
    the user can approve a script, which this view cannot. `more` counts the omitted rows by list.
    """

    view: ViewName
    title: str
    subtitle: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lists: Mapping[str, Sequence[Row]] = field(default_factory=dict[str, Sequence[Row]])
    days: TaskDays | None = None
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    plan: tuple[Row, ...] = ()
    unit: str = ""
    approval: str = ""
    more: Mapping[str, int] = field(default_factory=dict[str, int])

    def summarize(self) -> str:
        """Return a one-line summary."""
        counts = [f"{heading.lower()} {len(rows)}" for heading, rows in self.lists.items() if rows]
        counts += [pluralize(len(self.plan), "step")] if self.plan else []
        is_empty = not (counts or self.figures or self.texts)
        shown = ": nothing" if is_empty else f": {', '.join(counts)}" if counts else ""
        left_out = describe_left_out(self.more, "the page shows")
        return f"The user sees “{self.title}”{shown}{left_out}{'. ' + self.approval if self.approval else ''}"
