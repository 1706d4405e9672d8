"""The values that statuses and views may have; standard library only, since the terminal's options list them."""

from typing import Literal

ProjectStatus = Literal["planned", "active", "blocked", "done", "archived"]
TaskStatus = Literal["todo", "in_progress", "done", "cancelled", "idea"]
TaskView = Literal[
    "overdue",
    "today",
    "this_week",
    "urgent",
    "important",
    "no_deadline",
    "in_progress",
    "parked_ideas",
    "recently_done",
]

RepeatFrom = Literal["due", "done"]

OPEN_STATUSES: tuple[TaskStatus, ...] = ("todo", "in_progress")
"""The states of work still to be done; `idea` is parked."""

CLOSED_STATUSES: tuple[TaskStatus, ...] = ("done", "cancelled")
