"""The interface that each kind of database implements, and the open session that the rest of the store uses."""

from panorama.store.backend.contents import ContentStore
from panorama.store.backend.copies import Backend, CheckResult, Maintenance, RowLoader, Snapshots
from panorama.store.backend.database import (
    READ_SECONDS,
    Database,
    DatabaseChooser,
    Listener,
    RowListener,
    RowTopic,
    ScratchStore,
    Topic,
    WriteScope,
)
from panorama.store.backend.session import (
    MAX_COMPARED,
    Dialect,
    FullText,
    Hit,
    ItemText,
    KnownPart,
    KnownParts,
    Match,
    ProgressCallback,
    Rows,
    Session,
    Vocabulary,
    count_bytes,
    noop,
)

__all__ = [
    "MAX_COMPARED", "READ_SECONDS", "Backend", "CheckResult", "ContentStore", "Database", "DatabaseChooser", "Dialect",
    "FullText", "Hit", "ItemText", "KnownPart", "KnownParts", "Listener", "Maintenance", "Match", "ProgressCallback",
    "RowListener", "RowLoader", "RowTopic", "Rows", "ScratchStore", "Session", "Snapshots", "Topic", "Vocabulary",
    "WriteScope", "count_bytes", "noop",
]  # fmt: skip
