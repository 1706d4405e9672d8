"""The SDK of Panorama: what scripts import, and what a person imports in their own Python.

A script that Panorama runs finds it as `sdk`. Elsewhere `connect()` reaches the running daemon:

    from panorama.sdk import connect

    with connect() as sdk:
        for task in sdk.tasks.list(view="overdue"):
            print(task.title)
"""

from typing import Any

from panorama.sdk import (
    _wire,
    errors,
    files,
    items,
    journal,
    links,
    notes,
    overview,
    projects,
    reminders,
    scripts,
    tasks,
)
from panorama.sdk._finding import query, search, similar
from panorama.sdk._outside import Connection, connect
from panorama.sdk._rows import Row
from panorama.sdk._running import parallel, parallel_map, progress
from panorama.sdk._safety import batch, history, status, undo
from panorama.sdk._surface import SURFACE
from panorama.sdk._tables import markdown_table
from panorama.sdk._types import (
    Alert,
    Batch,
    Change,
    Dashboard,
    Entry,
    File,
    FileText,
    Found,
    Item,
    Link,
    Note,
    NoteText,
    Project,
    Projects,
    Reminder,
    Removed,
    Status,
    Task,
    Trashed,
    Undone,
    Week,
    Whole,
)
from panorama.sdk._wire import Transport, use
from panorama.sdk.errors import (
    ConfirmationError,
    ConflictError,
    DeclinedError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    SdkError,
    UnavailableError,
)

__all__ = (
    "SURFACE",
    "Alert",
    "Batch",
    "Change",
    "ConfirmationError",
    "ConflictError",
    "Connection",
    "Dashboard",
    "DeclinedError",
    "Entry",
    "File",
    "FileText",
    "Found",
    "InvalidInputError",
    "Item",
    "Link",
    "LoopError",
    "NotFoundError",
    "Note",
    "NoteText",
    "Project",
    "Projects",
    "Reminder",
    "Removed",
    "Row",
    "SdkError",
    "Status",
    "Task",
    "Transport",
    "Trashed",
    "UnavailableError",
    "Undone",
    "Week",
    "Whole",
    "batch",
    "connect",
    "errors",
    "files",
    "history",
    "items",
    "journal",
    "links",
    "markdown_table",
    "notes",
    "overview",
    "parallel",
    "parallel_map",
    "progress",
    "projects",
    "query",
    "reminders",
    "scripts",
    "search",
    "similar",
    "status",
    "tasks",
    "undo",
    "use",
)


def __getattr__(name: str) -> Any:
    """Return `state`, which the transport holds."""
    if name == "state":
        return _wire.transport().state
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
