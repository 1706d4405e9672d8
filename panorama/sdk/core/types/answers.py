"""Types of answers: search hits, the graph, overviews, history, batches and the status."""

from __future__ import annotations

from typing import Any, Literal

from panorama.sdk.core.rows import Row
from panorama.sdk.core.types.choices import ProjectStatus
from panorama.sdk.core.types.items import Item, Link, Note, Occurrence, Person, Session, Task

__all__ = [
    "Batch", "Change", "Components", "Dashboard", "Found", "GraphContext", "GraphStats", "Health", "Neighbour", "Paths",
    "PersonDashboard", "Projects", "Related", "Removed", "Result", "SessionAnalysis", "Status", "Trashed", "Undone",
    "Week", "Whole",
]  # fmt: skip


class Neighbour(Row):
    """An item near another one: `relation` leads to it from `via`, or from the item asked for if that is None."""

    relation: str
    direction: Literal["out", "in"]
    id: str
    kind: str
    title: str
    depth: int
    via: str | None
    source: Literal["explicit", "field", "parsed", "mentioned"]
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
    """The changes reverted by an undo (the first 50 of `count`), and conflicts; `note` says where a stopped one
    ended."""

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
