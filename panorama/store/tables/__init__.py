"""The tables of the database, by subject; a test compares them with the migrations."""

from panorama.store.tables.columns import metadata
from panorama.store.tables.item_parts import edges, other_names, session_lines, task_lines
from panorama.store.tables.items import (
    DUE_FIRST,
    HEAD,
    STARTED_FIRST,
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
from panorama.store.tables.jobs import alarms, alerts, daemons, jobs, schedules
from panorama.store.tables.log import calls, changes, idempotency, imports, marks, texts
from panorama.store.tables.scripts import (
    reviews,
    runs,
    script_states,
    script_writes,
    scripts,
    source_functions,
    source_grants,
)
from panorama.store.tables.search import passages, search_parts, vectors

__all__ = [
    "DUE_FIRST", "HEAD", "STARTED_FIRST", "alarms", "alerts", "calls", "changes", "daemons", "edges", "events", "files",
    "idempotency", "imports", "jobs", "journal", "links", "marks", "metadata", "notes", "other_names", "passages",
    "people", "projects", "relations", "reminders", "reviews", "runs", "schedules", "script_states", "script_writes",
    "scripts", "search_parts", "session_lines", "sessions", "source_functions", "source_grants", "task_lines",
    "tasks", "teams", "texts", "vectors",
]  # fmt: skip
