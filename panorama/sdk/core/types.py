"""Types of rows, for readers and type checkers; at run time every row is a plain `Row`.

Moments are ISO texts in the user's time zone (2026-05-31T15:00+02:00), days are 2026-05-31.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from panorama.kinds import Collection as Collection
from panorama.sdk.core.rows import Row

__all__ = [
    "Alert", "Batch", "Change", "Components", "Dashboard", "Entry", "Event", "File", "FileText", "Found",
    "GraphContext", "GraphStats", "Item", "Link", "Neighbour", "Note", "NoteTasks", "NoteText", "Occurrence", "Paths",
    "Person", "PersonDashboard", "Project", "Projects", "Related", "Relation", "RelationRow", "Reminder", "Removed",
    "Result", "Session", "SessionAnalysis", "SessionText", "Status", "Task", "Team", "Trashed", "Undone", "Week",
    "Whole",
]  # fmt: skip
"""The types that `panorama.sdk` exports."""

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


class Neighbour(Row):
    """An item near another one: `relation` leads to it from `via`, or from the item asked for if that is None."""

    relation: str
    direction: Literal["out", "in"]
    id: str
    kind: str
    title: str
    depth: int
    via: str | None
    source: Literal["explicit", "parsed", "mentioned"]
    why: str


class Related(Row):
    """An item and its neighbours, the nearest first; `more` counts those left out."""

    id: str
    kind: str
    title: str
    neighbours: list[Neighbour]
    more: int
    unresolved: list[str]
    is_partial: bool


class Paths(Row):
    """The shortest ways between two items, each a list of rows with id, title and the relation to the next."""

    length: int
    paths: list[list[Row]]


class GraphStats(Row):
    """How large the graph is."""

    nodes: int
    edges: int
    kinds: dict[str, int]
    unresolved: int
    unread: int
    most_linked: list[Row]


class Components(Row):
    """Groups of connected items, each with size and members."""

    count: int
    components: list[Row]


class GraphContext(Row):
    """The best hits for a topic, each with related items; `cut` counts omitted rows."""

    topic: str
    hits: list[Row]
    cut: int


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


class SessionAnalysis(Row):
    """A session in numbers: shares are between 0 and 1, `depth` is the longest chain of revisions."""

    id: str
    title: str
    lines: int
    types: dict[str, int]
    speakers: dict[str, int]
    revisions: int
    branches: list[str]
    linearity: float
    revision_rate: float
    depth: int
    confidence: float | None


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


class Whole(Row):
    """An item of any kind, and lists of small rows that belong to it (tasks, notes, links, subtasks, reminders)."""

    kind: str
    item: Item
    belonging: dict[str, list[Row]]


class Removed(Row):
    """The trashed item (`trashed` items in all); `kept` counts items that stay without their project or parent."""

    id: str
    kind: str
    label: str
    trashed: int
    kept: int


class Trashed(Row):
    """An item in the trash."""

    id: str
    kind: str
    label: str
    deleted_at: str


class Found(Row):
    """A search hit; matches in `snippet` are between `**`."""

    id: str
    kind: str
    title: str
    snippet: str
    project: str | None
    why: list[str]
    score: float
    updated_at: str


class Change(Row):
    """One change of an item; `fields` holds [before, after] by name, and undo takes its `unit`."""

    change: int
    at: str
    action: str
    operation: str
    client: str
    unit: str
    version: int
    fields: dict[str, Any]


class Undone(Row):
    """The changes reverted by an undo (the first 50 of `count`), and conflicts; `note` tells where a stopped one is."""

    units: list[str]
    count: int
    redo: bool
    undone: list[Row]
    conflicts: list[Row]
    note: str


class Health(Row):
    """A project in numbers over a period; `health` is 0 to 100."""

    id: str
    name: str
    status: ProjectStatus
    favorite: bool
    target_date: str | None
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
    last_activity: str | None


class Dashboard(Row):
    """The state of one project: its numbers and the first five of each list."""

    project: Health
    next: list[Task]
    overdue: list[Task]
    recently_done: list[Task]
    notes: list[Note]
    links: list[Link]


class PersonDashboard(Row):
    """A person, and the first rows of what the user has to do with them; `more` counts those left out by list."""

    person: Person
    next_birthday: str | None
    turns: int | None
    waiting: int
    assigned: list[Task]
    waited_for: list[Task]
    sessions: list[Session]
    events: list[Occurrence]
    mentions: list[Row]
    more: dict[str, int]


class Projects(Row):
    """All projects in numbers, at most 30; `unassigned` counts open tasks without a project."""

    period_days: int
    projects: list[Health]
    unassigned: int


class Week(Row):
    """The review of a period.

    `completed`, `created`, `slipped`, `notes_written`, `due_next_week` and `events_next_week` are each
    {"count": …, "items": [first ten]}: read these as review.completed["items"].
    """

    start: str
    end: str
    completed: Row
    created: Row
    slipped: Row
    notes_written: Row
    projects: list[Row]
    due_next_week: Row
    events_next_week: Row


class Batch(Row):
    """The result of each step by position: rows of tool, ok, data and summary, or error."""

    results: list[Row]
    succeeded: int
    failed: int
    atomic: bool


class Status(Row):
    """The current time, and what is stored; `counts` is by kind."""

    version: str
    now: str
    today: str
    weekday: str
    timezone: str
    counts: dict[str, int]
    database_bytes: int
    search: Row
    jobs: dict[str, int]


class Result(Row):
    """The result of a call: its `value` if it is `ok`, else the text of its `error`."""

    ok: bool
    value: Any
    error: str
