"""The Protocol of an open database, and of the copy that a dry run writes."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from sqlalchemy import Connection

from panorama.domain.changes import ItemChange, Origin
from panorama.store.backend.contents import ContentStore
from panorama.store.backend.membership import Membership
from panorama.store.backend.session import ProgressCallback, Session, noop

READ_SECONDS = 10.0
"""How long a call may read; a backup, an export or a job may take longer."""

Listener = Callable[[Sequence[ItemChange]], None]

RowTopic = Literal["jobs", "scripts", "alerts", "vectors"]
"""The tables without change lines whose rows other processes hear of."""

Topic = Literal["items", RowTopic]
"""The changes of one write."""

RowListener = Callable[[Collection[str]], None]
"""Receives the keys of rows: ids of jobs and alerts, names of scripts and of the marks of models."""

DatabaseChooser = Callable[[bool], "Database | None"]
"""Chooses the database for a transaction, given whether it writes; None for the one that was asked."""


@dataclass(slots=True)
class WriteScope:
    """On whose behalf several transactions are opened one after another; `wrote` counts their change lines."""

    origin: Origin
    wrote: int = 0


class ScratchStore(Protocol):
    """A private view of the store for a dry run: writes go to a copy that is thrown away."""

    @property
    def folder(self) -> Path:
        """The folder that is thrown away."""
        ...

    @property
    def is_written(self) -> bool:
        """Whether anything was written."""
        ...

    def activate(self) -> AbstractContextManager[None]:
        """Let the transactions of this context use the copy."""
        ...

    def close(self) -> None:
        """Remove everything."""
        ...


class Database(Protocol):
    """An open database and its transactions. Safe to use from several threads."""

    @property
    def membership(self) -> Membership:
        """This process as one of the daemons that serve the database."""
        ...

    is_copied_before_migration: bool
    """Whether `copy_to` can copy a database of an older revision."""

    def transaction(self, origin: Origin) -> AbstractContextManager[Session]:
        """Open a write transaction, or join the one that is open; all of it is stored or none.

        Inside `write_scope`, the origin given there replaces this one.

        Raises:
            UnavailableError: The database is locked, full, read-only or damaged.
        """
        ...

    def reading(self) -> AbstractContextManager[Session]:
        """Open a consistent view of the data, or join the transaction that is open."""
        ...

    def writer(self) -> Origin | None:
        """Return on whose behalf this context writes: of the open transaction or `write_scope`; None if in neither."""
        ...

    def limit_reads(
        self, should_stop: Callable[[], bool], seconds: float = READ_SECONDS
    ) -> AbstractContextManager[None]:
        """Stop reads and writes inside after some seconds, or as soon as `should_stop` returns true.

        A stopped read or write raises InvalidInputError; a write is rolled back. A limit inside another one
        adds to it.
        """
        ...

    def write_scope(self, origin: Origin) -> AbstractContextManager[WriteScope]:
        """Make the transactions that are opened inside one unit, each stored on its own."""
        ...

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a listener after each later transaction with what it touched; return how to unsubscribe.

        It is called once per transaction, after the commit and outside the lock, in the thread that wrote; it must be
        quick. It is not called for what is rolled back or touches no item. Its errors are only logged. For what other
        processes wrote it is called soon after, in a thread of the database, with the changes of one or more
        transactions.
        """
        ...

    def announce(self, topic: Topic) -> None:
        """Notify other processes that serve these data of a write to a table without change lines.

        It returns at once; inside a transaction they are notified after the commit. Changes of items are announced by
        their transaction.
        """
        ...

    def subscribe_to_others(self, topic: RowTopic, listener: RowListener) -> Callable[[], None]:
        """Call a listener with the rows that other processes wrote, if a process listens to changes at all.

        It is called in a thread of the database, with at least the rows that were written; it must be quick.
        Returns how to unsubscribe.
        """
        ...

    def redirect(self, chosen: DatabaseChooser) -> AbstractContextManager[None]:
        """Open the transactions of this context in another database, where `chosen` returns one."""
        ...

    def create_scratch(self, folder: Path, check_cancel: Callable[[], None] = noop) -> ScratchStore:
        """Return a private view for a dry run; what `check_cancel` raises ends the copying."""
        ...

    def is_current(self) -> bool:
        """Return whether the open database is still the one that others would open."""
        ...

    def revision(self) -> str | None:
        """Return the revision of the schema, "" for an empty or missing database.

        Raises:
            UnavailableError: The database belongs to another program, or cannot be read.
        """
        ...

    def require_migratable(self) -> None:
        """Check that this user may migrate the schema.

        Raises:
            UnavailableError: Another role must do it.
        """
        ...

    def migrating(self) -> AbstractContextManager[Connection]:
        """Open a write transaction for a migration, and mark the database as ours in it."""
        ...

    def copy_to(self, target: Path, progress: ProgressCallback = noop, *, is_awaited: bool = False) -> None:
        """Write a consistent copy to a file while others go on; a part of a copy is not left behind.

        Args:
            is_awaited: Everybody waits for it, so it takes the whole disk.

        Raises:
            UnavailableError: The disk is full or the folder cannot be written.
        """
        ...

    def contents(self, folder: Path) -> ContentStore:
        """Return the store of the contents of files: the folder, unless the database stores them itself."""
        ...

    def size_bytes(self) -> int:
        """Return how much space the data take on the disk, without the contents of files."""
        ...

    def truncate_log(self) -> None:
        """Remove deleted data from the database's own log."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...
