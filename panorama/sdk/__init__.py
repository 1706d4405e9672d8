"""The SDK of Panorama: what scripts import, and what a person imports in their own Python.

A script that Panorama runs finds it as `sdk`. Elsewhere `connect()` reaches the running daemon:

    from panorama.sdk import connect

    with connect() as sdk:
        for task in sdk.tasks.list(view="overdue"):
            print(task.title)
"""

from typing import TYPE_CHECKING, Any

from panorama.kinds import ITEM_KINDS
from panorama.sdk import charts, errors, graph, items, overview, scripts
from panorama.sdk.core import types as _types
from panorama.sdk.core import wire as _wire
from panorama.sdk.core.client import Connection, connect
from panorama.sdk.core.history import batch, history, status, undo
from panorama.sdk.core.namespace import SURFACE
from panorama.sdk.core.parallel import parallel, parallel_map, progress
from panorama.sdk.core.rows import Row
from panorama.sdk.core.search import query, search, similar
from panorama.sdk.core.sources import attempt
from panorama.sdk.core.tables import markdown_table
from panorama.sdk.core.types import *  # noqa: F403 (the types of rows, as its `__all__` names them)
from panorama.sdk.core.wire import Transport, use
from panorama.sdk.errors import (
    ConfirmationError,
    ConflictError,
    DeclinedError,
    InvalidInputError,
    LoopError,
    NotFoundError,
    OutcomeUnknownError,
    SdkError,
    SourceError,
    UnavailableError,
)

if TYPE_CHECKING:  # at run time the modules of all kinds come with the namespace
    from panorama.sdk import events as events
    from panorama.sdk import files as files
    from panorama.sdk import journal as journal
    from panorama.sdk import links as links
    from panorama.sdk import notes as notes
    from panorama.sdk import people as people
    from panorama.sdk import projects as projects
    from panorama.sdk import relations as relations
    from panorama.sdk import reminders as reminders
    from panorama.sdk import sessions as sessions
    from panorama.sdk import tasks as tasks
    from panorama.sdk import teams as teams

__all__ = [
    "SURFACE", "ConfirmationError", "ConflictError", "Connection", "DeclinedError", "InvalidInputError",
    "LoopError", "NotFoundError", "OutcomeUnknownError", "Row", "SdkError", "SourceError", "Transport",
    "UnavailableError", "attempt", "batch", "charts", "connect", "errors", "graph", "history", "items",
    "markdown_table", "overview", "parallel", "parallel_map", "progress", "query", "scripts", "search", "similar",
    "status", "undo", "use",
]  # fmt: skip
__all__ += _types.__all__
__all__ += [kind.collection for kind in ITEM_KINDS]


def __getattr__(name: str) -> Any:
    """Return `state`, which the transport holds."""
    if name == "state":
        return _wire.get_transport().state
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
