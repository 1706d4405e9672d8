"""Tasks: states, overdue rules, and the effects of completing one."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from panorama.domain.items.choices import RepeatFrom, TaskStatus
from panorama.domain.items.item import Item, Kind
from panorama.domain.time import recurrence
from panorama.domain.time.times import Deadline, to_local_day, today

MAX_SCHEDULED_MINUTES = 7 * 24 * 60
HIGHEST_PRIORITY = 4
"""The priorities are 1 (low), 2 (medium), 3 (high) and 4 (highest); 0 is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Item):
    """Something to do.

    A recurring task repeats from the day it was due, or from the day it was done. `assignee` and `waiting_for` are the
    ids of people. `source_ref` is where it comes from: the id of a note with its checkbox, or its name in another
    system.
    """

    KIND: ClassVar[Kind] = "task"
    BRIEF: ClassVar[tuple[str, ...]] = (
        "id", "title", "status", "project", "deadline", "urgent", "important", "tags",
        "scheduled_at", "recurrence", "parent", "start_at", "priority", "assignee", "waiting_for",
        "source_ref",
    )  # fmt: skip
    LONG: ClassVar[tuple[str, ...]] = ("notes",)
    LINKED: ClassVar[str] = "notes"

    title: str
    notes: str = ""
    status: TaskStatus = "todo"
    project: str | None = None
    deadline: Deadline | None = None
    urgent: bool = False
    important: bool = False
    tags: tuple[str, ...] = ()
    rank: int = 0
    scheduled_at: datetime | None = None
    scheduled_minutes: int | None = None
    recurrence: str = ""
    parent: str | None = None
    completed_at: datetime | None = None
    status_changed_at: datetime | None = None
    provenance: str = ""
    start_at: Deadline | None = None
    priority: int = 0
    repeat_from: RepeatFrom = "due"
    assignee: str | None = None
    waiting_for: str | None = None
    source_ref: str | None = None

    def search_text(self) -> tuple[str, str]:
        """Its title; its notes and tags."""
        return self.title, "\n".join((self.notes, " ".join(self.tags)))


def status_fields(old: TaskStatus | None, new: TaskStatus, now: datetime) -> dict[str, Any]:
    """Return the fields that change with the status; none if the status is the same."""
    if old == new:
        return {}
    return {"status": new, "status_changed_at": now, "completed_at": now if new == "done" else None}


def next_occurrence(task: Task, *, id_: str, now: datetime, zone: ZoneInfo) -> Task | None:
    """Return the task that follows a completed recurring one; None if the series has ended.

    Its deadline is the rule's next day after the old one that is not past; without a deadline, or if it repeats from
    the day it was done, after today.
    """
    left = recurrence.decrement_count(task.recurrence) if task.recurrence else ""
    if not left:
        return None
    day = today(now, zone)
    old: Deadline = task.deadline or day
    anchor = _move_to_day(old, day, zone) if task.repeat_from == "done" else old
    rule = recurrence.keep_time(left, old, anchor, zone)
    deadline = recurrence.next_occurrence(rule, anchor, not_before=day, zone=zone)
    if deadline is None:
        return None
    left = recurrence.keep_time(left, old, deadline, zone)
    return replace(
        task, id=id_, version=1, created_at=now, updated_at=now, status="todo", deadline=deadline, recurrence=left,
        scheduled_at=_shift(task.scheduled_at, task, deadline, zone),
        start_at=_shift(task.start_at, task, deadline, zone),
        completed_at=None, status_changed_at=None, provenance=f"recurs:{task.id}",
        source_ref=None,
    )  # fmt: skip


def _move_to_day(moment: Deadline, day: date, zone: ZoneInfo) -> Deadline:
    """Return a day, or a moment with the same local time, on another day."""
    if not isinstance(moment, datetime):
        return day
    return datetime.combine(day, moment.astimezone(zone).time(), zone).astimezone(UTC)


def _shift(moment: Deadline | None, task: Task, deadline: Deadline, zone: ZoneInfo) -> Any:
    """Return a moment that keeps its distance from the deadline, in local calendar days."""
    if moment is None or task.deadline is None:
        return None
    days = to_local_day(deadline, zone) - to_local_day(task.deadline, zone)
    if isinstance(moment, datetime):
        return (moment.astimezone(zone) + days).astimezone(UTC)
    return moment + days
