"""The tables of the database; a test compares them with the migrations."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Date,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TextClause,
    false,
    text,
)

from panorama.store.column_types import DeadlineText, TagList, Utc

HEAD = "0021"
"""The newest revision in `migrations/versions`; a test compares them."""

metadata = MetaData(
    naming_convention={"ix": "ix_%(table_name)s_%(column_0_name)s", "fk": "fk_%(table_name)s_%(column_0_name)s"}
)


def _item_columns() -> list[Column[Any]]:
    return [
        Column("id", String(12), primary_key=True),
        Column("version", Integer, nullable=False),
        Column("created_at", Utc, nullable=False),
        Column("updated_at", Utc, nullable=False),
        Column("deleted_at", Utc),
    ]


def _project(*, index: bool = True) -> Column[Any]:
    return Column("project", String(12), ForeignKey("projects.id"), index=index)


LIVING = "deleted_at IS NULL"


def _index_where(name: str, columns: Sequence[str | TextClause], condition: str, *, unique: bool = False) -> Index:
    where = text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


DUE_FIRST = "coalesce(deadline, '9999-99-99')"
STARTED_FIRST = "CASE WHEN status = 'in_progress' THEN 0 ELSE 1 END"
"""The sort order of task lists. An index contains this expression and is used only for the identical text."""

projects = Table(
    "projects",
    metadata,
    *_item_columns(),
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
    _index_where("uq_projects_living_key", ["key"], LIVING, unique=True),
)

tasks = Table(
    "tasks",
    metadata,
    *_item_columns(),
    Column("title", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("notes", Text, nullable=False),
    Column("status", String(12), nullable=False),
    _project(index=False),
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
    _index_where("ix_tasks_assignee", ["assignee"], "assignee IS NOT NULL"),
    _index_where("ix_tasks_waiting_for", ["waiting_for"], "waiting_for IS NOT NULL"),
    _index_where("ix_tasks_source_ref", ["source_ref"], "source_ref IS NOT NULL"),
    _index_where("ix_tasks_order", [text(DUE_FIRST), text(STARTED_FIRST), "rank", "created_at", "id"], LIVING),
)

notes = Table(
    "notes",
    metadata,
    *_item_columns(),
    Column("title", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    _project(),
    Column("tags", TagList, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("content", Text, nullable=False),
    Column("type", Text, nullable=False, server_default="note"),
    Column("aliases", TagList, nullable=False, server_default=""),
    Column("properties", JSON, nullable=False, server_default="{}"),
    Column("source_ref", Text),
    _index_where("ix_notes_source_ref", ["source_ref"], "source_ref IS NOT NULL"),
    Index("ix_notes_updated", "updated_at"),
    _index_where("ix_notes_order", ["pinned", "updated_at", "id", "tags"], LIVING),
)

links = Table(
    "links",
    metadata,
    *_item_columns(),
    Column("title", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("url", Text, nullable=False),
    _project(),
    Column("tags", TagList, nullable=False),
    Column("description", Text, nullable=False),
)

reminders = Table(
    "reminders",
    metadata,
    *_item_columns(),
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

journal = Table(
    "journal",
    metadata,
    *_item_columns(),
    Column("text", Text, nullable=False),
    Column("at", Utc, nullable=False, index=True),
)

files = Table(
    "files",
    metadata,
    *_item_columns(),
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("media_type", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("sha256", String(64), nullable=False),
    _project(),
    Column("tags", TagList, nullable=False),
    Column("body", Text, nullable=False),
)

people = Table(
    "people",
    metadata,
    *_item_columns(),
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

teams = Table(
    "teams",
    metadata,
    *_item_columns(),
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False),
    _index_where("uq_teams_living_key", ["key"], LIVING, unique=True),
)

other_names = Table(
    "other_names",
    metadata,
    Column("key", Text, primary_key=True),
    Column("item", String(12), primary_key=True, index=True),
    Column("is_short", Boolean, nullable=False),
)
"""The names besides its label by which an item is found, normalised."""

sessions = Table(
    "sessions",
    metadata,
    *_item_columns(),
    Column("title", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("kind", String(12), nullable=False),
    _project(),
    Column("started_at", Utc, nullable=False, index=True),
    Column("ended_at", Utc),
    Column("attendees", TagList, nullable=False),
    Column("people", TagList, nullable=False),
    Column("location", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("line_count", Integer, nullable=False),
    Column("source_ref", Text),
    _index_where("ix_sessions_source_ref", ["source_ref"], "source_ref IS NOT NULL"),
)

session_lines = Table(
    "session_lines",
    metadata,
    Column("session", String(12), ForeignKey("sessions.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("at", Utc, nullable=False),
    Column("type", String(12), nullable=False),
    Column("speaker", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("revises", Integer),
    Column("branch", Text, nullable=False),
    Column("confidence", Float),
    Column("removed_at", Utc),
    Index("ix_session_lines_type", "session", "type", "position"),
)

events = Table(
    "events",
    metadata,
    *_item_columns(),
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
    _index_where("ix_events_recurring", ["id"], "recurrence <> '' AND deleted_at IS NULL"),
)

relations = Table(
    "relations",
    metadata,
    *_item_columns(),
    Column("from_item", String(12), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("to_item", String(12), nullable=False, index=True),
    Column("note", Text, nullable=False),
)

edges = Table(
    "edges",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("from_item", String(12), nullable=False),
    Column("to_item", String(12)),
    Column("kind", Text, nullable=False),
    Column("relation", String(12), index=True),
    Column("target", Text, nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("tail", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Index("ix_edges_from_item", "from_item", "kind", "to_item"),
    Index("ix_edges_to_item", "to_item", "kind", "from_item"),
    _index_where("ix_edges_tail", ["tail"], "tail <> ''"),
)

task_lines = Table(
    "task_lines",
    metadata,
    Column("task", String(12), primary_key=True),
    Column("note", String(12), nullable=False, index=True),
    Column("line", Integer, nullable=False),
    Column("title", Text, nullable=False),
    Column("anchor", Text, nullable=False),
)

changes = Table(
    "changes",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", Utc, nullable=False),
    Column("actor", String(12), nullable=False),
    Column("client", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("call", String(12), nullable=False, index=True),
    Column("unit", String(12), nullable=False, index=True),
    Column("item", String(12), nullable=False),
    Column("kind", String(12), nullable=False),
    Column("action", String(8), nullable=False),
    Column("version", Integer, nullable=False),
    Column("before", JSON, nullable=False),
    Column("after", JSON, nullable=False),
    Column("undoes", Integer),
    Index("ix_changes_item", "item", "id"),
    Index("ix_changes_conversation", "conversation", "id"),
    Index("ix_changes_kind", "kind", "at", "item"),
    sqlite_autoincrement=True,
)

texts = Table(
    "texts",
    metadata,
    Column("digest", String(32), primary_key=True),
    Column("text", Text, nullable=False),
)

calls = Table(
    "calls",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(12), nullable=False, index=True),
    Column("unit", String(12), nullable=False, index=True),
    Column("at", Utc, nullable=False, index=True),
    Column("actor", String(12), nullable=False),
    Column("client", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("ms", Float, nullable=False),
    Column("success", Boolean, nullable=False),
    Column("code", String(20), nullable=False),
    Column("chars", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("changes", Integer, nullable=False),
    Column("position", Integer, nullable=False, server_default="0"),
)

runs = Table(
    "runs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(12), nullable=False, unique=True),
    Column("at", Utc, nullable=False, index=True),
    Column("client", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("status", String(12), nullable=False),
    Column("source", Text, nullable=False),
    Column("inputs", JSON, nullable=False),
    Column("options", JSON, nullable=False),
    Column("isolation", String(20), nullable=False),
    Column("result", Text, nullable=False),
    Column("output", Text, nullable=False),
    Column("error", JSON, nullable=False),
    Column("changes", JSON, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("ms", Float, nullable=False),
    Column("peak_bytes", Integer, nullable=False),
    Column("script", String(40), nullable=False, server_default=""),
    Column("worker", Text, nullable=False, server_default=""),
    Index("ix_runs_script", "script", "number"),
    _index_where("ix_runs_running", ["number"], "status = 'running'"),
)

scripts = Table(
    "scripts",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("state", String(12), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("read_only", Boolean, nullable=False),
    Column("updated_at", Utc, nullable=False),
    Column("calls", JSON(none_as_null=True)),
)

reviews = Table(
    "reviews",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("name", String(40), nullable=False),
    Column("at", Utc, nullable=False),
    Column("verdict", String(12), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("text", Text, nullable=False),
    Column("door", String(12), nullable=False),
    Column("client", Text, nullable=False),
    Index("ix_reviews_name", "name", "number"),
)

script_writes = Table(
    "script_writes",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("name", String(40), nullable=False),
    Column("at", Utc, nullable=False),
    Column("unit", String(16), nullable=False),
    Column("conversation", Text, nullable=False),
    Column("before", String(64), nullable=False),
    Column("after", String(64), nullable=False),
    Column("change", Integer, nullable=False),
    Column("undoes", Integer, nullable=False),
    Index("ix_script_writes_unit", "unit"),
)

script_states = Table(
    "script_states",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("at", Utc, nullable=False, index=True),
    Column("value", JSON, nullable=False),
)

source_functions = Table(
    "source_functions",
    metadata,
    Column("source", String(40), primary_key=True),
    Column("own_name", Text, primary_key=True),
    Column("name", String(100), nullable=False),
    Column("definition", JSON, nullable=False),
)
source_grants = Table(
    "source_grants",
    metadata,
    Column("scope", String(80), primary_key=True),
    Column("function", String(140), primary_key=True),
    Column("digest", String(32), nullable=False),
    Column("at", Utc, nullable=False),
)
schedules = Table(
    "schedules",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("trigger", String(8), nullable=False),
    Column("rule", Text, nullable=False),
    Column("zone", Text, nullable=False),
    Column("begin", Utc, nullable=False),
    Column("missed", String(8), nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("next_at", Utc, index=True),
    Column("last_at", Utc),
    Column("last_job", String(12), nullable=False),
    Column("problem", Text, nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("updated_at", Utc, nullable=False),
)

alarms = Table(
    "alarms",
    metadata,
    Column("reminder", String(12), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("since", Utc, nullable=False),
    Column("due_at", Utc, index=True),
)

alerts = Table(
    "alerts",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("reminder", String(12), nullable=False),
    Column("at", Utc, nullable=False),
    Column("rung_at", Utc, nullable=False, index=True),
    Column("missed", Integer, nullable=False),
    Column("rings", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("delivered_at", Utc, index=True),
    Index("uq_alerts_occurrence", "reminder", "at", unique=True),
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("key", Text, primary_key=True),
    Column("digest", String(32), nullable=False),
    Column("at", Utc, nullable=False, index=True),
    Column("answer", JSON, nullable=False),
)

imports = Table(
    "imports",
    metadata,
    Column("folder", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("part", Text, primary_key=True),
    Column("digest", String(32), nullable=False),
    Column("item", String(12), nullable=False),
    Column("fields", JSON, nullable=False),
)

search_parts = Table(
    "search_parts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("item", String(12), nullable=False, index=True),
    Column("kind", String(12), nullable=False),
    Column("digest", String(32), nullable=False),
)

passages = Table(
    "passages",
    metadata,
    Column("item", String(12), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("kind", String(12), nullable=False),
    Column("digest", String(32), nullable=False, index=True),
    Column("begins", Integer, nullable=False),
    Column("ends", Integer, nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column("digest", String(32), primary_key=True),
    Column("model", String(80), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)

marks = Table(
    "marks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Integer, nullable=False),
)

jobs = Table(
    "jobs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(12), nullable=False, unique=True),
    Column("kind", String(40), nullable=False),
    Column("state", String(12), nullable=False),
    Column("rank", Integer, nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("actor", String(12), nullable=False),
    Column("client", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("unit", String(12), nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("started_at", Utc),
    Column("ended_at", Utc, index=True),
    Column("current", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("message", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("result", JSON, nullable=False),
    Column("result_file", String(12)),
    Column("error", JSON, nullable=False),
    Column("checkpoint", JSON, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("futile", Integer, nullable=False),
    Column("reached", Integer, nullable=False),
    Column("worker", Text, nullable=False),
    Column("heartbeat", Utc),
    Column("is_stopping", Boolean, nullable=False),
    Column("is_told", Boolean, nullable=False),
    Index("ix_jobs_rank", "rank", "number"),
    Index("ix_jobs_state", "state", "number"),
)
