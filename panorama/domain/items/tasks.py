"""Tasks: states, overdue rules, and the effects of completing one."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from panorama.domain.items.choices import TaskStatus
from panorama.domain.items.item import Item, Kind
from panorama.domain.time import recurrence
from panorama.domain.time.times import Deadline, to_local_day, today

MAX_SCHEDULED_MINUTES = 7 * 24 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Item):
    """Something to do."""

    KIND: ClassVar[Kind] = "task"
    BRIEF: ClassVar[tuple[str, ...]] = (
        "id", "title", "status", "project", "deadline", "urgent", "important", "tags",
        "scheduled_at", "recurrence", "parent",
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

    Its deadline is the rule's next day after the old one that is not past; without a deadline, after today.
    """
    left = recurrence.decrement_count(task.recurrence) if task.recurrence else ""
    if not left:
        return None
    day = today(now, zone)
    anchor: Deadline = task.deadline or day
    deadline = recurrence.next_occurrence(left, anchor, not_before=day, zone=zone)
    if deadline is None:
        return None
    return replace(
        task, id=id_, version=1, created_at=now, updated_at=now, status="todo", deadline=deadline, recurrence=left,
        scheduled_at=_shift_scheduled(task, deadline, zone), completed_at=None, status_changed_at=None,
        provenance=f"recurs:{task.id}",
    )  # fmt: skip


def _shift_scheduled(task: Task, deadline: Deadline, zone: ZoneInfo) -> datetime | None:
    """The planned time keeps its distance from the deadline, in local calendar days."""
    if task.scheduled_at is None or task.deadline is None:
        return None
    days = to_local_day(deadline, zone) - to_local_day(task.deadline, zone)
    return (task.scheduled_at.astimezone(zone) + days).astimezone(UTC)
