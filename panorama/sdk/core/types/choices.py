"""The texts that a field or an argument accepts, by the name of the choice."""

from typing import Literal

from panorama.kinds import Collection as Collection

__all__ = [
    "Collection", "Direction", "EventStatus", "Fate", "LineType", "Mode", "Position", "ProjectStatus", "RepeatFrom",
    "SessionKind", "TaskFilter", "TaskStatus", "TaskView",
]  # fmt: skip

ProjectStatus = Literal["planned", "active", "blocked", "done", "archived"]
TaskStatus = Literal["todo", "in_progress", "done", "cancelled", "idea"]
TaskFilter = Literal["todo", "in_progress", "done", "cancelled", "idea", "open", "any"]
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
Mode = Literal["hybrid", "keyword", "semantic"]
Position = Literal["bottom", "top"]
Direction = Literal["both", "out", "in"]
Fate = Literal["", "keep", "trash"]
EventStatus = Literal["confirmed", "tentative", "cancelled"]
SessionKind = Literal["meeting", "thinking"]
LineType = Literal["note", "decision", "action", "next_step", "question", "summary", "thought"]
