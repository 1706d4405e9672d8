"""Tasks: things to do."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from panorama.sdk.core import wire
from panorama.sdk.core.lookup import delete_item, get_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import Fate, Person, Project, Removed, RepeatFrom, Task, TaskFilter, TaskStatus, TaskView
from panorama.sdk.core.unset import UNSET

_EVERY: tuple[str | None, ...] = ("all", "any")
"""What people say who mean all tasks, as a view too."""

_EMPTY = {
    "task": None, "project": "", "deadline": "", "notes": "", "recurrence": "", "parent": "", "scheduled_at": "",
    "tags": (), "scheduled_minutes": 0, "assignee": "", "waiting_for": "", "start_at": "", "priority": 0,
}  # fmt: skip
"""The value that clears each field in an update; sent for None."""

__all__ = ("create", "delete", "get", "list", "update")


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    project: str | Project | None = None,
    view: TaskView | None = None,
    status: TaskFilter | None = None,
    tag: str | None = None,
    due_from: str | date | None = None,
    due_until: str | date | None = None,
    parent: str | Task | None = None,
    limit: int | None = None,
) -> builtins.list[Task]:
    """List tasks by a named view or by filters.

    Open ones unless `status` or `view` says otherwise, by deadline. By words: search. For counts or other
    filters: query.

    Args:
        project: Its id, its name, or its row; all projects if left out.
        view: A named selection of tasks; `status` and the other filters narrow it.
        status: "open" is todo and in_progress; "any" is all.
        tag: Only those with this tag.
        due_from: First day of the deadline: 2026-05-31, today, +3d, or a date.
        due_until: Last day of it: 2026-05-31, today, +3d, or a date.
        parent: Only the subtasks of this task: its id, its title, or its row.
        limit: The most rows; all if left out.

    Returns:
        Rows with id, title, notes, status, project (an id), deadline, urgent, important, tags, parent, scheduled_at,
        created_at, completed_at and more. A task without a deadline has deadline None.

    Raises:
        NotFoundError: No such project or parent.
        ConflictError: Several tasks are called as `parent` is.
        InvalidInputError: There is no such view or status, a day has another form, or `limit` is below 1.

    Example:
        for task in sdk.tasks.list(project="Kitchen renovation", due_until="+7d"):
            print(task.deadline, task.title, task.tags)
    """
    every = "any" if view in _EVERY or status in _EVERY else None
    return wire.list_rows(
        "tasks.list", limit, project="" if project is None else project, view=None if view in _EVERY else view,
        status=every or status, tag=tag,
        due_from=due_from, due_until=due_until, parent=parent, detail="full",
    )  # fmt: skip


@explain_misuse
def get(task: str | Task) -> Task:
    """Show one task.

    Args:
        task: Its id, its title, or its row.

    Returns:
        The task with all its fields.

    Raises:
        NotFoundError: No task has this name; `candidates` are the nearest.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a task.

    Example:
        task = sdk.tasks.get("Decide the grout colour")
        print(task.status, task.deadline, task.notes)
    """
    return get_item("task", task)


@explain_misuse
def create(
    title: str,
    project: str | Project | None = None,
    deadline: str | date = "",
    status: TaskStatus = "todo",
    urgent: bool = False,
    important: bool = False,
    tags: Sequence[str] = (),
    notes: str = "",
    recurrence: str = "",
    parent: str | Task | None = None,
    scheduled_at: str | datetime = "",
    scheduled_minutes: int | timedelta = 0,
    rank: int = 0,
    assignee: str | Person | None = None,
    waiting_for: str | Person | None = None,
    start_at: str | date = "",
    priority: int = 0,
    repeat_from: RepeatFrom | None = None,
    parse: bool = False,
    idempotency_key: str = "",
) -> Task:
    """Create one task.

    Args:
        title: One line, 1 to 500 characters.
        project: Its id, its name, or its row; none if left out.
        deadline: A day or a moment: 2026-05-31, 2026-05-31T15:00, today, +3d, tomorrow 9:00, a date or a datetime.
        status: "idea" is parked: not open.
        urgent: It cannot wait.
        important: It matters.
        tags: Words, up to 50 of up to 60 characters each.
        notes: Markdown, up to 1,000,000 characters.
        recurrence: Such as "every friday", "every! 3 days" (from completion), or an RFC 5545 rule, daily or slower.
        parent: The task it becomes a subtask of; without a project it takes over that task's.
        scheduled_at: The moment of work: 2026-05-31T15:00, tomorrow 9:00, +2h, or a datetime.
        scheduled_minutes: How long it takes, in minutes (up to 10,080), or a timedelta.
        rank: Lower comes first.
        assignee: Who does it: id, name, or row of a person.
        waiting_for: Who it waits for: id, name, or row of a person.
        start_at: When it can begin: 2026-05-31, 2026-05-31T15:00, today, +3d, a date or a datetime.
        priority: 1 (low) to 4 (highest), 0 for none.
        repeat_from: "due" counts from the deadline, "done" from completion; as `recurrence` says if left out.
        parse: Read #tag, @project, !high, dates and repetitions in the title; what is not understood stays in it.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The new task.

    Raises:
        NotFoundError: No such project, parent or person.
        InvalidInputError: The title is empty, a text is too long, or a day, moment, rule, length or priority is wrong.
        ConflictError: Several tasks or people have the name, or the key was used for another call.

    Example:
        task = sdk.tasks.create("Order the tiles", project="Kitchen renovation", deadline="+3d", tags=["tiles"])
        print(task.id)
    """
    return wire.call(
        "tasks.create", title=title, project=project, deadline=deadline, status=status, urgent=urgent,
        important=important, tags=tags, notes=notes, recurrence=recurrence, parent=parent, scheduled_at=scheduled_at,
        scheduled_minutes=_minutes(scheduled_minutes), rank=rank, assignee=assignee, waiting_for=waiting_for,
        start_at=start_at, priority=priority, repeat_from=repeat_from, parse=parse or None,
        idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def update(
    task: str | Task,
    title: str = UNSET,
    status: TaskStatus = UNSET,
    project: str | Project | None = UNSET,
    deadline: str | date | None = UNSET,
    urgent: bool = UNSET,
    important: bool = UNSET,
    tags: Sequence[str] | None = UNSET,
    notes: str | None = UNSET,
    recurrence: str | None = UNSET,
    parent: str | Task | None = UNSET,
    scheduled_at: str | datetime | None = UNSET,
    scheduled_minutes: int | timedelta | None = UNSET,
    rank: int = UNSET,
    assignee: str | Person | None = UNSET,
    waiting_for: str | Person | None = UNSET,
    start_at: str | date | None = UNSET,
    priority: int | None = UNSET,
    repeat_from: RepeatFrom = UNSET,
) -> Task:
    """Change fields of a task; status "done" completes it.

    Fields left out do not change; None, "" or [] clears. Completing a recurring task creates its next occurrence.

    Args:
        task: Its id, its title, or its row.
        title: One line, 1 to 500 characters.
        status: "done" completes it; "idea" parks it.
        project: Its id, its name, or its row.
        deadline: A day or a moment: 2026-05-31, 2026-05-31T15:00, today, +3d, tomorrow 9:00, a date or a datetime.
        urgent: It cannot wait.
        important: It matters.
        tags: All its tags; they replace those it had.
        notes: Markdown, up to 1,000,000 characters; it replaces the old text.
        recurrence: Such as "every friday", "every! 3 days" (from completion), or an RFC 5545 rule, daily or slower.
        parent: The task it becomes a subtask of: its id, its title, or its row.
        scheduled_at: The moment of work: 2026-05-31T15:00, tomorrow 9:00, +2h, or a datetime.
        scheduled_minutes: How long it takes, in minutes (up to 10,080; 0 clears), or a timedelta.
        rank: Lower comes first.
        assignee: Who does it: id, name, or row of a person.
        waiting_for: Who it waits for: id, name, or row of a person.
        start_at: When it can begin: 2026-05-31, 2026-05-31T15:00, today, +3d, a date or a datetime.
        priority: 1 (low) to 4 (highest), 0 for none.
        repeat_from: "due" counts from the deadline, "done" from completion.

    Returns:
        The task as it is now.

    Raises:
        NotFoundError: No such task, project, parent or person.
        ConflictError: Several tasks or people have the name; `candidates` lists them.
        InvalidInputError: The title is empty, a text is too long, a day, moment, rule, length or priority is wrong, the
            parent is below it, or is not a task.

    Example:
        task = sdk.tasks.update("Decide the grout colour", status="done", tags=["kitchen", "decided"])
        print(task.status, task.version)
    """
    return wire.call_update(
        "tasks.update", _EMPTY, task=task, title=title, status=status, project=project, deadline=deadline,
        urgent=urgent, important=important, tags=tags, notes=notes, recurrence=recurrence, parent=parent,
        scheduled_at=scheduled_at, scheduled_minutes=_minutes(scheduled_minutes), rank=rank, assignee=assignee,
        waiting_for=waiting_for, start_at=start_at, priority=priority, repeat_from=repeat_from,
    )  # fmt: skip


@explain_misuse
def delete(task: str | Task, items: Fate = "") -> Removed:
    """Move a task to the trash.

    Undo brings it back.

    Args:
        task: Its id, its title, or its row.
        items: What becomes of its subtasks: "keep" (they stay without it) or "trash".

    Returns:
        Its id, kind and label; the numbers of tasks moved to the trash (`trashed`) and kept without it (`kept`).

    Raises:
        NotFoundError: No task has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It has subtasks and `items` does not say what becomes of them, or it is not a task.

    Example:
        task = sdk.tasks.create("Not needed after all")
        print(sdk.tasks.delete(task).label)
    """
    return delete_item("task", task, items)


def _minutes(length: int | timedelta | None) -> int | None:
    return length // timedelta(minutes=1) if isinstance(length, timedelta) else length
