"""Results of overviews: projects in numbers, and the review of a week."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from panorama.domain.text.wording import pluralize
from panorama.services.items.results import describe_left_out


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectHealth:
    """A project in numbers; `notes_touched` and `tasks_touched` count changes in the last `period_days`.

    `health` is from 0 to 100.
    """

    id: str
    name: str
    status: str
    favorite: bool
    target_date: date | None
    health: int
    inactive: bool
    open: int
    in_progress: int
    done: int
    cancelled: int
    ideas: int
    overdue: int
    due_soon: int
    notes: int
    notes_touched: int
    tasks_touched: int
    last_activity: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """One project: its numbers, what is next, what is late, and its last notes.

    `more` counts the omitted rows by list.
    """

    project: ProjectHealth
    next: tuple[Any, ...]
    overdue: tuple[Any, ...]
    recently_done: tuple[Any, ...]
    notes: tuple[Any, ...]
    links: tuple[Any, ...]
    more: Mapping[str, int]

    def summarize(self) -> str:
        """Return a one-line summary."""
        numbers = self.project
        due = f"{numbers.open} open, {numbers.overdue} overdue, {numbers.due_soon} due soon"
        more = describe_left_out(self.more, "list_* shows")
        return f"“{numbers.name}”: health {numbers.health}, {due}, {pluralize(numbers.notes, 'note')}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All projects in numbers, the one that needs attention most first; `unassigned` counts open tasks without one.

    `more` counts the projects behind these, `archived` those that are left out because they are archived.
    """

    period_days: int
    projects: tuple[ProjectHealth, ...]
    unassigned: int
    more: int
    archived: int

    def summarize(self) -> str:
        """Return a one-line summary."""
        late = sum(project.overdue for project in self.projects)
        open_tasks = sum(project.open for project in self.projects)
        count = pluralize(len(self.projects), "project")
        if self.more:
            count = f"The {len(self.projects)} of {len(self.projects) + self.more} projects that need attention most"
        archived = f"; without {self.archived} archived (list_projects shows them)" if self.archived else ""
        return f"{count}, {open_tasks} open tasks, {late} overdue; {self.unassigned} open without a project{archived}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A count, and the first items."""

    count: int
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyReview:
    """What a period brought: completed, created, slipped (due in it and still open), written, and what comes next.

    `more` counts the omitted rows by list.
    """

    start: date
    end: date
    completed: Tally
    created: Tally
    slipped: Tally
    notes_written: Tally
    projects: tuple[Mapping[str, Any], ...]
    due_next_week: Tally
    events_next_week: Tally
    more: Mapping[str, int]

    def summarize(self) -> str:
        """Return a one-line summary."""
        return (
            f"{self.start} to {self.end}: {self.completed.count} completed, {self.created.count} created, "
            f"{self.slipped.count} slipped, {pluralize(self.notes_written.count, 'note')} written, "
            f"{self.due_next_week.count} due and {pluralize(self.events_next_week.count, 'event')} next week"
            f"{describe_left_out(self.more, 'query shows')}"
        )
