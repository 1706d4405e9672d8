"""Types of items and of what lists and readers return for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from panorama.sdk.core.rows import Row
from panorama.sdk.core.types.choices import EventStatus, LineType, ProjectStatus, RepeatFrom, SessionKind, TaskStatus

__all__ = [
    "Alert", "Entry", "Event", "File", "FileText", "Item", "Link", "Note", "NoteTasks", "NoteText", "Occurrence",
    "Person", "Project", "ProjectCounts", "Relation", "RelationRow", "Reminder", "Session", "SessionLine",
    "SessionText", "Task", "Team",
]  # fmt: skip


class NounModules:
    """The nouns of a connection, for type checkers; at run time they come from the table of kinds."""

    if TYPE_CHECKING:
        from panorama.sdk import (
            events,
            files,
            journal,
            links,
            notes,
            people,
            projects,
            relations,
            reminders,
            sessions,
            tasks,
            teams,
        )


class Item(Row):
    """The fields of every item; `version` increases by one with every write."""

    id: str
    version: int
    created_at: str
    updated_at: str


class Project(Item):
    """A project."""

    name: str
    description: str
    status: ProjectStatus
    target_date: str | None
    favorite: bool
    color: str
    tags: list[str]
    rank: int
    area: bool


class ProjectCounts(Project):
    """A project and the numbers of its items outside the trash."""

    tasks: int
    notes: int
    links: int


class Task(Item):
    """Something to do; `project`, `parent`, `assignee` and `waiting_for` are ids.

    `deadline` and `start_at` are a day or a moment. `source_ref` is the id of the note with its checkbox, its name in
    another system, or None.
    """

    title: str
    notes: str
    status: TaskStatus
    project: str | None
    deadline: str | None
    urgent: bool
    important: bool
    tags: list[str]
    rank: int
    scheduled_at: str | None
    scheduled_minutes: int | None
    recurrence: str
    parent: str | None
    completed_at: str | None
    status_changed_at: str | None
    provenance: str
    start_at: str | None
    priority: int
    repeat_from: RepeatFrom
    assignee: str | None
    waiting_for: str | None
    source_ref: str | None


class NoteTasks(Row):
    """The tasks that were made of the boxes of a note: how many, and the first of them."""

    id: str
    title: str
    tasks: list[Task]
    count: int
    linked: int


class Note(Item):
    """A text in Markdown of `chars` characters; rows of a list are without `content`, `aliases` and `properties`."""

    title: str
    type: str
    aliases: list[str]
    properties: dict[str, Any]
    content: str
    project: str | None
    tags: list[str]
    pinned: bool
    chars: int
    source_ref: str | None


class NoteText(Note):
    """A note, or the characters `start` to `end` of its `chars`; both are None if it is whole."""

    start: int | None
    end: int | None
    headings: list[str]


class Link(Item):
    """An address with a title."""

    title: str
    url: str
    project: str | None
    tags: list[str]
    description: str


class Relation(Item):
    """A directed relation of a kind from one item to another, given by their ids."""

    from_item: str
    kind: str
    to_item: str
    note: str


class RelationRow(Relation):
    """A relation with the titles of its ends."""

    from_title: str
    to_title: str


class Reminder(Item):
    """A reminder at a time `at`; `item` is the id of the item it is about."""

    title: str
    at: str
    recurrence: str
    zone: str
    snoozed_until: str | None
    enabled: bool
    item: str | None
    acknowledged_at: str | None


class Alert(Row):
    """A fired reminder that waits: its time `at`, its delay in words, and how often it fired; `reminder` is its id."""

    id: str
    reminder: str
    title: str
    at: str
    rung_at: str
    late: str | None
    missed: int | None
    rings: int
    item: str | None


class Entry(Item):
    """One line of the journal."""

    text: str
    at: str


class File(Item):
    """A file; `size` is in bytes."""

    name: str
    media_type: str
    size: int
    sha256: str
    project: str | None
    tags: list[str]


class FileText(File):
    """A file, and the characters `start` to `end` of its `chars` as `text`; all None if it is not text."""

    chars: int | None
    start: int | None
    end: int | None
    text: str | None


class Person(Item):
    """A person; `team` and `manager` are ids, `birthday` is 1990-05-12, or --05-12 without a year."""

    name: str
    last_name: str
    full_name: str
    aliases: list[str]
    role: str
    email: str
    phone: str
    birthday: str
    team: str | None
    manager: str | None
    notes: str
    left_at: str | None


class Team(Item):
    """A group of people."""

    name: str


class Session(Item):
    """A meeting, or a chain of thoughts; `people` are the ids of the known attendees.

    `line_count` is the number of its lines, which `get` returns.
    """

    title: str
    kind: SessionKind
    project: str | None
    started_at: str
    ended_at: str | None
    attendees: list[str]
    people: list[str]
    location: str
    summary: str
    line_count: int
    source_ref: str | None


class SessionLine(Row):
    """One line; `revises` is the position of the line that it replaces."""

    position: int
    at: str
    type: LineType
    speaker: str
    text: str
    revises: int | None
    branch: str
    confidence: float | None


class SessionText(Session):
    """A session with its lines; `next_start` is the position of the first omitted line, None if there is none."""

    lines: list[SessionLine]
    next_start: int | None


class Event(Item):
    """An event: it starts and ends at moments, or on days if `all_day`; `people` are ids of known attendees."""

    title: str
    starts_at: str
    ends_at: str
    all_day: bool
    location: str
    attendees: list[str]
    people: list[str]
    calendar: str
    recurrence: str
    zone: str
    status: EventStatus


class Occurrence(Row):
    """An event, or a meeting (`kind` is "session"), at the time of one of its occurrences."""

    id: str
    kind: Literal["event", "session"]
    title: str
    starts_at: str
    ends_at: str | None
    all_day: bool
    location: str
    attendees: list[str]
    people: list[str]
    calendar: str
    recurrence: str
    status: EventStatus
