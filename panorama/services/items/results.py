"""Results of item operations that are more than one stored item."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar, Self

from panorama.domain.items.files import File
from panorama.domain.items.item import Item
from panorama.domain.items.notes import Note
from panorama.domain.items.projects import Project
from panorama.domain.items.tasks import Task
from panorama.domain.paging import Page
from panorama.domain.text.wording import capitalize, pluralize


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

    def summarize(self) -> str:
        """Return a one-line summary."""
        items = pluralize(self.items, "item")
        if self.renamed:
            return f"Renamed the tag “{self.tag}” to “{self.renamed}” on {items}"
        return f"Removed the tag “{self.tag}” from {items}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteTasks:
    """The tasks that were made of the boxes of a note: how many, and the first of them.

    `linked` is the number of tasks that an import had made of boxes, and that are linked to them now.
    """

    id: str
    title: str
    tasks: tuple[Task, ...]
    count: int
    linked: int

    def summarize(self) -> str:
        """Return a one-line summary."""
        if not self.count and not self.linked:
            return f"No checkbox of the note “{self.title}” ({self.id}) became a task"
        linked = f"; {pluralize(self.linked, 'imported task is', 'imported tasks are')} linked" if self.linked else ""
        cut = f"; the first {len(self.tasks)} are listed" if len(self.tasks) < self.count else ""
        return (
            f"Made {pluralize(self.count, 'task')} from checkboxes of the note “{self.title}” ({self.id}){linked}{cut}"
        )


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
    source_ref: str | None
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

    def summarize(self) -> str:
        """Return a one-line summary."""
        if self.start is None or self.end is None:
            return f"Note “{self.title}” ({self.id}), {self.chars:,} characters"
        onward = f"; read on with start={self.end}" if self.end < self.chars else ""
        return f"Note “{self.title}” ({self.id}), characters {self.start:,} to {self.end:,} of {self.chars:,}{onward}"


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

    def summarize(self) -> str:
        """Return a one-line summary."""
        name = capitalize(self.describe())
        if self.chars is None:
            return f"{name}, {self.media_type}, {pluralize(self.size, 'byte')}: no text to show"
        if self.start is None or self.end is None:
            return f"{name}, {self.chars:,} characters"
        onward = f"; read on with start={self.end}" if self.end < self.chars else ""
        return f"{name}, characters {self.start:,} to {self.end:,} of {self.chars:,}{onward}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """Some bytes of a content of `size` bytes, from `start` on, in base64; `sha256` is the digest of the whole."""

    id: str
    name: str
    sha256: str
    size: int
    start: int
    base64: str

    def summarize(self) -> str:
        """Return a one-line summary."""
        return f"“{self.name}” ({self.id}) from byte {self.start:,} of {self.size:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """An item of any kind, its fields, and what belongs to it: lists of small rows by kind.

    `more` counts by kind what belongs to it and is not in these lists.
    """

    kind: str
    item: Any
    belonging: Mapping[str, tuple[Mapping[str, Any], ...]]
    more: Mapping[str, int]

    def summarize(self) -> str:
        """Return a one-line summary."""
        if self.kind == "tool":
            return f"Tool {self.item['name']}; call it through batch if it is not listed"
        return capitalize(self.item.describe()) + describe_left_out(self.more, "list_* shows")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMatch:
    """The item with a source reference, None and "" if there is none."""

    source_ref: str
    kind: str
    item: Any
    in_trash: bool

    def summarize(self) -> str:
        """Return a one-line summary."""
        if self.item is None:
            return f"No item comes from {self.source_ref}"
        return capitalize(self.item.describe()) + (", in the trash" if self.in_trash else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteResult:
    """The trashed item, and the numbers of items trashed with it or detached."""

    id: str
    kind: str
    label: str
    trashed: int
    kept: int

    def summarize(self) -> str:
        """Return a one-line summary."""
        rest = f" with {pluralize(self.trashed - 1, 'item')}" if self.trashed > 1 else ""
        detached = f"; {pluralize(self.kept, 'item is', 'items are')} kept without it" if self.kept else ""
        return f"Moved the {self.kind} “{self.label}” ({self.id}){rest} to the trash{detached}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The result of each operation, by position; `failed` counts errors, `left_out` omitted data."""

    results: tuple[Mapping[str, Any], ...]
    succeeded: int
    failed: int
    atomic: bool
    left_out: int

    def summarize(self) -> str:
        """Return a one-line summary."""
        left_out = self.left_out
        cut = (
            f"; the data of {pluralize(left_out, 'result')} left out, call {'it' if left_out == 1 else 'them'} alone"
            if left_out
            else ""
        )
        if self.failed:
            return f"{self.succeeded} of {len(self.results)} operations done, {self.failed} failed{cut}"
        count = len(self.results)
        return f"{'1 operation' if count == 1 else f'All {count} operations'} done{cut}"


def count_left_out(pages: Mapping[str, Page[Any]]) -> dict[str, int]:
    """Return the numbers of rows beyond the first pages, by list."""
    return drop_zeros({name: (page.total or 0) - len(page.items) for name, page in pages.items()})


def describe_left_out(more: Mapping[str, int], where: str) -> str:
    """Describe the rows omitted from short lists, and how to get them; "" if there are none."""
    rows = {name: count for name, count in more.items() if name != "next_start"}
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in rows.items())
    onward = f"; read on with start={more['next_start']}" if "next_start" in more else ""
    return onward + (f"; not shown: {counts} ({where} them)" if rows else "")


def drop_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts that are not zero."""
    return {name: count for name, count in counts.items() if count}


def field_values(item: Item) -> dict[str, Any]:
    """Return the fields of an item by name."""
    return {field.name: getattr(item, field.name) for field in fields(item)}
