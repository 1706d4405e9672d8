"""The tables of items, and the revision of the schema, which a new kind of item changes with them."""

from sqlalchemy import JSON, Boolean, Column, Date, ForeignKey, Index, Integer, String, Text, false, text

from panorama.store.column_types import DeadlineText, TagList, Utc
from panorama.store.tables.columns import LIVING, index_where, item_table, project_column

HEAD = "0026"
"""The newest revision in `migrations/versions`; a test compares them."""

DUE_FIRST = "coalesce(deadline, '9999-99-99')"
STARTED_FIRST = "CASE WHEN status = 'in_progress' THEN 0 ELSE 1 END"
"""The sort order of task lists. An index contains this expression and is used only for the identical text."""

_STARTED_IN_INDEX = text(f"({STARTED_FIRST})")
_BY_RANK = ("rank", "created_at", "id")

projects = item_table(
    "projects",
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("status", String(12), nullable=False),
    Column("target_date", Date),
    Column("favorite", Boolean, nullable=False),
    Column("color", Text, nullable=False),
    Column("tags", TagList, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("area", Boolean, nullable=False, server_default=false()),
    index_where("uq_projects_living_key", ["key"], LIVING, unique=True),
)

tasks = item_table(
    "tasks",
    Column("title", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("notes", Text, nullable=False),
    Column("status", String(12), nullable=False),
    project_column(index=False),
    Column("deadline", DeadlineText),
    Column("urgent", Boolean, nullable=False),
    Column("important", Boolean, nullable=False),
    Column("tags", TagList, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("scheduled_at", Utc),
    Column("scheduled_minutes", Integer),
    Column("recurrence", Text, nullable=False),
    Column("parent", String(12), ForeignKey("tasks.id"), index=True),
    Column("completed_at", Utc),
    Column("status_changed_at", Utc),
    Column("provenance", Text, nullable=False),
    Column("start_at", DeadlineText),
    Column("priority", Integer, nullable=False, server_default="0"),
    Column("repeat_from", String(4), nullable=False, server_default="due"),
    Column("assignee", String(12)),
    Column("waiting_for", String(12)),
    Column("source_ref", Text),
    # Covering indexes for the counts of dashboards and reviews.
    Index("ix_tasks_project", "project", "deleted_at", "status", "updated_at", "deadline"),
    Index("ix_tasks_due", "status", "deleted_at", "deadline", "project", "created_at"),
    Index("ix_tasks_completed", "status", "deleted_at", "completed_at", "project"),
    Index("ix_tasks_closed", "status", "deleted_at", "status_changed_at", "created_at", "deadline", "project"),
    Index("ix_tasks_home", "id", "deleted_at", "project"),
    Index("ix_tasks_created", "created_at", "deleted_at", "project"),
    index_where("ix_tasks_assignee", ["assignee"], "assignee IS NOT NULL"),
    index_where("ix_tasks_waiting_for", ["waiting_for"], "waiting_for IS NOT NULL"),
    index_where("ix_tasks_source_ref", ["source_ref"], "source_ref IS NOT NULL"),
    index_where("ix_tasks_order", [text(DUE_FIRST), text(STARTED_FIRST), *_BY_RANK], LIVING).ddl_if("sqlite"),
    index_where("ix_tasks_order", [text(DUE_FIRST), _STARTED_IN_INDEX, *_BY_RANK], LIVING).ddl_if("postgresql"),
)

notes = item_table(
    "notes",
    Column("title", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    project_column(),
    Column("tags", TagList, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("content", Text, nullable=False),
    Column("type", Text, nullable=False, server_default="note"),
    Column("aliases", TagList, nullable=False, server_default=""),
    Column("properties", JSON, nullable=False, server_default="{}"),
    Column("source_ref", Text),
    index_where("ix_notes_source_ref", ["source_ref"], "source_ref IS NOT NULL"),
    Index("ix_notes_updated", "updated_at"),
    index_where("ix_notes_order", ["pinned", "updated_at", "id", "tags"], LIVING).ddl_if("sqlite"),
    # Fifty long tags are larger than a third of a page, the most that an index of PostgreSQL takes.
    index_where("ix_notes_order", ["pinned", "updated_at", "id"], LIVING).ddl_if("postgresql"),
)

links = item_table(
    "links",
    Column("title", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("url", Text, nullable=False),
    project_column(),
    Column("tags", TagList, nullable=False),
    Column("description", Text, nullable=False),
)

reminders = item_table(
    "reminders",
    Column("title", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("at", Utc, nullable=False, index=True),
    Column("recurrence", Text, nullable=False),
    Column("zone", Text, nullable=False),
    Column("snoozed_until", Utc),
    Column("enabled", Boolean, nullable=False),
    Column("item", String(12), index=True),
    Column("acknowledged_at", Utc),
)

journal = item_table(
    "journal",
    Column("text", Text, nullable=False),
    Column("at", Utc, nullable=False, index=True),
)

files = item_table(
    "files",
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("media_type", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("sha256", String(64), nullable=False),
    project_column(),
    Column("tags", TagList, nullable=False),
    Column("body", Text, nullable=False),
)

people = item_table(
    "people",
    Column("name", Text, nullable=False),
    Column("last_name", Text, nullable=False),
    Column("full_name", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("aliases", TagList, nullable=False),
    Column("role", Text, nullable=False),
    Column("email", Text, nullable=False),
    Column("phone", Text, nullable=False),
    Column("birthday", String(10), nullable=False),
    Column("team", String(12), index=True),
    Column("manager", String(12), index=True),
    Column("notes", Text, nullable=False),
    Column("left_at", Date),
)

teams = item_table(
    "teams",
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False),
    index_where("uq_teams_living_key", ["key"], LIVING, unique=True),
)

sessions = item_table(
    "sessions",
    Column("title", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("kind", String(12), nullable=False),
    project_column(),
    Column("started_at", Utc, nullable=False, index=True),
    Column("ended_at", Utc),
    Column("attendees", TagList, nullable=False),
    Column("people", TagList, nullable=False),
    Column("location", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("line_count", Integer, nullable=False),
    Column("source_ref", Text),
    index_where("ix_sessions_source_ref", ["source_ref"], "source_ref IS NOT NULL"),
)

events = item_table(
    "events",
    Column("title", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("starts_at", DeadlineText, nullable=False, index=True),
    Column("ends_at", DeadlineText, nullable=False),
    Column("all_day", Boolean, nullable=False),
    Column("location", Text, nullable=False),
    Column("attendees", TagList, nullable=False),
    Column("people", TagList, nullable=False),
    Column("calendar", Text, nullable=False),
    Column("recurrence", Text, nullable=False),
    Column("zone", Text, nullable=False),
    Column("status", String(12), nullable=False),
    index_where("ix_events_recurring", ["id"], "recurrence <> '' AND deleted_at IS NULL"),
)

relations = item_table(
    "relations",
    Column("from_item", String(12), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("to_item", String(12), nullable=False, index=True),
    Column("note", Text, nullable=False),
)
