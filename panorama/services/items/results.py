"""Results of item operations that are more than one stored item."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any, ClassVar, Self

from panorama.domain.items.files import File
from panorama.domain.items.item import Item
from panorama.domain.items.notes import Note
from panorama.domain.items.projects import Project
from panorama.domain.items.reminders import Alert, Reminder
from panorama.domain.paging import Page
from panorama.domain.schedules import format_delay


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectView(Project):
    """A project and the numbers of its living tasks, notes, links and files."""

    tasks: int
    notes: int
    links: int
    files: int

    @classmethod
    def of(cls, project: Project, counts: Mapping[str, int]) -> Self:
        """Join a project with its counts."""
        tasks, notes, links, files = (counts[kind] for kind in ("task", "note", "link", "file"))
        return cls(**field_values(project), tasks=tasks, notes=notes, links=links, files=files)


@dataclass(frozen=True, slots=True, kw_only=True)
class TagChange:
    """A tag that was renamed (`renamed` is its new word) or removed (""), and how many items had it."""

    tag: str
    renamed: str
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """A note, or a range of it: the characters from `start` to before `end` of `chars`."""

    id: str
    title: str
    type: str
    project: str | None
    tags: tuple[str, ...]
    pinned: bool
    aliases: tuple[str, ...]
    properties: Mapping[str, Any]
    version: int
    created_at: datetime
    updated_at: datetime
    chars: int
    start: int | None
    end: int | None
    headings: tuple[str, ...]
    content: str

    LONG: ClassVar[tuple[str, ...]] = ("content",)

    @classmethod
    def of(cls, note: Note, start: int, end: int, headings: tuple[str, ...]) -> Self:
        """Cut a note."""
        whole = start == 0 and end == note.chars
        values = {name: value for name, value in field_values(note).items() if name not in ("content", "deleted_at")}
        return cls(
            **values,
            chars=note.chars,
            start=None if whole else start,
            end=None if whole else end,
            headings=headings,
            content=note.content[start:end],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText(File):
    """A file and, if it is text, a range of its content: from `start` to before `end` of `chars`."""

    chars: int | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None

    @classmethod
    def of(cls, file: File, text: str | None, start: int, end: int) -> Self:
        """Cut a file's text; binary content has none."""
        if text is None:
            return cls(**field_values(file))
        whole = start == 0 and end == len(text)
        return cls(
            **field_values(file),
            chars=len(text),
            start=None if whole else start,
            end=None if whole else end,
            text=text[start:end],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """Some bytes of a content of `size` bytes, from `start` on, in base64; `sha256` is the digest of the whole."""

    id: str
    name: str
    sha256: str
    size: int
    start: int
    base64: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FiredReminder:
    """A fired, unacknowledged reminder: when it was due, how late it is, and how often it fired.

    `missed` counts earlier occurrences that did not fire.
    """

    id: str
    reminder: str
    title: str
    at: datetime
    rung_at: datetime
    late: str | None
    missed: int | None
    rings: int
    snoozed_until: datetime | None
    item: str | None

    @classmethod
    def of(cls, alert: Alert, reminder: Reminder, now: datetime) -> Self:
        """Join an alert with its reminder."""
        return cls(
            id=alert.id,
            reminder=reminder.id,
            title=reminder.title,
            at=alert.at,
            rung_at=alert.rung_at,
            late=format_delay(now - alert.at) or None,
            missed=alert.missed or None,
            rings=alert.rings,
            item=reminder.item,
            snoozed_until=reminder.snoozed_until if reminder.is_snoozed(now) else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedSchedule:
    """A removed schedule."""

    id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """An item of any kind, its fields, and what belongs to it: lists of small rows by kind.

    `more` counts by kind what belongs to it and is not in these lists.
    """

    kind: str
    item: Any
    belonging: Mapping[str, tuple[Mapping[str, Any], ...]]
    more: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteResult:
    """The trashed item, and the numbers of items trashed with it or detached."""

    id: str
    kind: str
    label: str
    trashed: int
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    """One change of an item; `undo` takes its `unit`; `fields` holds [before, after]."""

    change: int
    at: datetime
    action: str
    operation: str
    client: str
    unit: str
    version: int
    undoes: int | None
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentWrite:
    """One write: the action, item and client; `undo` takes its `unit`."""

    unit: str
    at: datetime
    client: str
    operation: str
    action: str
    kind: str
    title: str
    changes: int
    undone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoResult:
    """The undone changes (the first 50), and the conflicts that were skipped.

    `redo` means that an undo was reverted. `note` describes the progress of a stopped undo.
    """

    units: tuple[str, ...]
    count: int
    redo: bool
    undone: tuple[Mapping[str, Any], ...]
    conflicts: tuple[Mapping[str, Any], ...]
    conflict_count: int
    note: str = ""

    @property
    def shortfall(self) -> str:
        """The part that was not done, "" if there is none."""
        return self.note


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectHealth:
    """A project in numbers over the last `period_days`."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The result of each operation, by position; `failed` counts errors, `left_out` omitted data."""

    results: tuple[Mapping[str, Any], ...]
    succeeded: int
    failed: int
    atomic: bool
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of the store and the current time."""

    WITHHELD: ClassVar[tuple[str, ...]] = ("data",)
    HIDDEN: ClassVar[tuple[str, ...]] = (
        "version", "weekday", "timezone", "revision", "scripts", "database_bytes", "now", "search.dimensions",
        "search.passages", "search.index_disk_bytes", "search.index_memory_bytes", "search.index_mapped_bytes",
    )  # fmt: skip

    version: str
    now: datetime
    today: date
    weekday: str
    timezone: str
    counts: Mapping[str, int]
    data: str
    database_bytes: int
    revision: str
    search: Mapping[str, Any]
    jobs: Mapping[str, int]
    reminders_waiting: int
    scripts: Mapping[str, Any]
    last_backup: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import, or of its dry run.

    `unchanged` counts files without changes, `gone` items whose file or line is missing (they are kept), `skipped`
    ignored files and trashed items, `unread` unreadable files and folders. `problems` are the first 50.
    """

    folder: str
    files: int
    unchanged: int
    notes_created: int
    notes_updated: int
    tasks_created: int
    tasks_updated: int
    projects_created: int
    files_created: int
    gone: int
    skipped: int
    unread: int
    problems: tuple[Mapping[str, str], ...]
    problem_count: int
    dry_run: bool

    @property
    def shortfall(self) -> str:
        """The unreadable files, the first by name."""
        if not self.unread:
            return ""
        named = "".join(f", such as {first['path']}: {first['why']}" for first in self.problems[:1])
        return f"{self.unread:,} of {self.files:,} files or folders could not be read{named}. All others were taken."


def count_left_out(pages: Mapping[str, Page[Any]]) -> dict[str, int]:
    """Return the numbers of rows beyond the first pages, by list."""
    return drop_zeros({name: (page.total or 0) - len(page.items) for name, page in pages.items()})


def drop_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts that are not zero."""
    return {name: count for name, count in counts.items() if count}


def field_values(item: Item) -> dict[str, Any]:
    """Return the fields of an item by name."""
    return {field.name: getattr(item, field.name) for field in fields(item)}
