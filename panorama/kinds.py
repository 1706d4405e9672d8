"""The kinds of items: one table from which ids, tables, collections and the nouns of the SDK derive."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "project", "task", "note", "link", "reminder", "journal", "file", "person", "team", "session", "event", "relation"
]  # fmt: skip
Collection = Literal[
    "projects", "tasks", "notes", "links", "reminders", "journal", "files", "people", "teams", "sessions", "events",
    "relations", "changes", "calls",
]  # fmt: skip
"""The collections for queries: those of the kinds, the changes, and the calls."""

_ITEM = ("id", "version", "created_at", "updated_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemKind:
    """One kind of item.

    `collection` is the name of its table, of its collection in queries, and of its module in the domain and in the
    SDK. `row` is the type of its rows in the SDK; `fields` are the fields of whole rows, empty or not. `functions` are
    SDK functions whose tools are named by function and kind, such as update_link. `label` and `labels` are the
    singular and plural, if they differ from its name. `loose_references` are fields that hold the id of another item,
    or several: they follow a merge of two persons, and are cleared when that item is purged.
    """

    name: Kind
    letter: str
    collection: Collection
    row: str
    fields: tuple[str, ...]
    functions: tuple[str, ...] = ("list", "create", "update")
    label: str = ""
    labels: str = ""
    loose_references: tuple[str, ...] = ()

    @property
    def has_project(self) -> bool:
        """Whether an item of it can belong to a project."""
        return "project" in self.fields


ITEM_KINDS = (
    ItemKind(
        name="project", letter="p", collection="projects", row="Project", functions=("get", "list", "create", "update"),
        fields=(
            *_ITEM, "name", "description", "status", "target_date", "favorite", "color", "tags", "rank", "tasks",
            "notes", "links", "area",
        ),
    ),
    ItemKind(
        name="task", letter="t", collection="tasks", row="Task",
        fields=(
            *_ITEM, "title", "notes", "status", "project", "deadline", "urgent", "important", "tags", "rank",
            "scheduled_at", "scheduled_minutes", "recurrence", "parent", "completed_at", "status_changed_at",
            "provenance", "start_at", "priority", "repeat_from", "assignee", "waiting_for", "source_ref",
        ),
        loose_references=("assignee", "waiting_for", "source_ref"),
    ),
    ItemKind(
        name="note", letter="n", collection="notes", row="Note", functions=("get", "list", "create", "update", "edit"),
        fields=(
            *_ITEM, "title", "type", "content", "project", "tags", "pinned", "aliases", "properties", "source_ref",
            "chars", "start", "end", "headings",
        ),
    ),
    ItemKind(
        name="link", letter="l", collection="links", row="Link",
        fields=(*_ITEM, "title", "url", "project", "tags", "description"),
    ),
    ItemKind(
        name="reminder", letter="r", collection="reminders", row="Reminder",
        functions=("list", "create", "update", "snooze", "acknowledge"),
        fields=(*_ITEM, "title", "at", "recurrence", "zone", "snoozed_until", "enabled", "item", "acknowledged_at"),
        loose_references=("item",),
    ),
    ItemKind(
        name="journal", letter="j", collection="journal", row="Entry", functions=(), label="journal entry",
        labels="journal entries", fields=(*_ITEM, "text", "at"),
    ),
    ItemKind(
        name="file", letter="f", collection="files", row="File", functions=("get", "list", "update", "write"),
        fields=(
            *_ITEM, "name", "media_type", "size", "sha256", "project", "tags", "chars", "start", "end", "text",
        ),
    ),
    ItemKind(
        name="person", letter="h", collection="people", row="Person", functions=("list", "create", "update", "merge"),
        labels="people", loose_references=("team", "manager"),
        fields=(
            *_ITEM, "name", "last_name", "full_name", "aliases", "role", "email", "phone", "birthday", "team",
            "manager", "notes", "left_at",
        ),
    ),
    ItemKind(name="team", letter="g", collection="teams", row="Team", fields=(*_ITEM, "name")),
    ItemKind(
        name="session", letter="s", collection="sessions", row="Session",
        functions=("log", "list", "get", "create", "update", "export", "analyze"), loose_references=("people",),
        fields=(
            *_ITEM, "title", "kind", "project", "started_at", "ended_at", "attendees", "people", "location", "summary",
            "line_count", "source_ref", "lines", "next_start",
        ),
    ),
    ItemKind(
        name="event", letter="v", collection="events", row="Event", loose_references=("people",),
        fields=(
            *_ITEM, "title", "starts_at", "ends_at", "all_day", "location", "attendees", "people", "calendar",
            "recurrence", "zone", "status",
        ),
    ),
    ItemKind(
        name="relation", letter="k", collection="relations", row="Relation", functions=("list", "create"),
        loose_references=("from_item", "to_item"),
        fields=(*_ITEM, "from_item", "kind", "to_item", "note"),
    ),
)  # fmt: skip
"""Every kind, in the order in which kinds are listed."""

PLAIN_KINDS = tuple(
    kind
    for kind in ITEM_KINDS
    if kind.name not in ("project", "task", "note", "reminder", "journal", "file", "relation")
)
"""The kinds that projects and exports list in the same way."""

BY_NAME: Mapping[str, ItemKind] = {kind.name: kind for kind in ITEM_KINDS}


def name_kind(kind: str, count: int = 1) -> str:
    """Return the singular or plural of a kind: «task», «journal entries»."""
    known = BY_NAME.get(kind)
    one = known.label if known and known.label else kind
    return one if count == 1 else known.labels if known and known.labels else f"{one}s"


def with_article(word: str) -> str:
    """Return an English noun with “a” or “an”."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
