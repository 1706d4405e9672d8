"""Shared by the transactions of all databases: the origin of writes, notifications after a commit, and redirection."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from panorama.domain.changes import ItemChange, Origin
from panorama.errors import UnavailableError
from panorama.store import read_limit, signals
from panorama.store.backend import (
    READ_SECONDS,
    Database,
    DatabaseChooser,
    Listener,
    RowListener,
    RowTopic,
    Session,
    Topic,
    WriteScope,
    noop,
)
from panorama.store.items import long_texts
from panorama.store.signals import Signal


class Transactions(Database, ABC):
    """Opens and nests the transactions of one database. Safe to use from several threads."""

    def __init__(self, busy_seconds: float) -> None:
        self._busy_seconds = busy_seconds
        self._write_lock = threading.Lock()
        self._current: ContextVar[Session | None] = ContextVar("session", default=None)
        self._acting: ContextVar[WriteScope | None] = ContextVar("acting", default=None)
        self._elsewhere: ContextVar[DatabaseChooser | None] = ContextVar("elsewhere", default=None)
        self._listeners = Signal[Sequence[ItemChange]]()

    @abstractmethod
    def _open_write(self, origin: Origin) -> AbstractContextManager[Session]:
        """Open a transaction that writes; its end commits, an error rolls back."""

    @abstractmethod
    def _open_view(self) -> AbstractContextManager[Session]:
        """Open a consistent view, whose session is the current one inside."""

    @contextmanager
    def transaction(self, origin: Origin) -> Generator[Session]:
        """Open a write transaction, or join the open one; all of it is stored or none.

        Inside `write_scope`, the origin given there replaces this one.

        Raises:
            UnavailableError: The database is locked, full, read-only or damaged.
        """
        if other := self._find_target(writes=True):
            with other.transaction(origin) as session:
                yield session
            return
        if current := self._current.get():
            if current.origin is None:
                raise RuntimeError("a write inside a read")
            yield current
            return
        acting = self._acting.get()
        with self._open_write(acting.origin if acting else origin) as session, self._set_current(session):
            yield session
            long_texts.save_marks(session)
        if acting:
            acting.wrote += session.change_count
        if session.touched:
            self._listeners.notify(session.touched)
            self.announce("items")
        for entry in session.later:
            signals.notify(entry)
        long_texts.complete_words(self, session.long_texts, read_limit.is_beyond_limit)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a listener after each later transaction with what it touched; return how to unsubscribe.

        It is called once per transaction, after the commit and outside the lock, in the thread that wrote; it must be
        quick. It is not called after a rollback or if no item was touched. Its errors are only logged.
        """
        return self._listeners.subscribe(listener)

    def announce(self, topic: Topic) -> None:
        """Do nothing: one process at a time serves a file."""

    def subscribe_to_others(self, topic: RowTopic, listener: RowListener) -> Callable[[], None]:
        """Do nothing: one process at a time serves a file."""
        del topic, listener
        return noop

    @contextmanager
    def write_scope(self, origin: Origin) -> Generator[WriteScope]:
        """Make the transactions opened inside one unit, each stored on its own."""
        if other := self._find_target(writes=True):
            with other.write_scope(origin) as acting:
                yield acting
            return
        acting = WriteScope(origin)
        token = self._acting.set(acting)
        try:
            yield acting
        finally:
            self._acting.reset(token)

    def reading(self) -> AbstractContextManager[Session]:
        """Open a consistent view of the data, or join the open transaction."""
        if other := self._find_target(writes=False):
            return other.reading()
        if current := self._current.get():
            return nullcontext(current)
        return self._open_view()

    def writer(self) -> Origin | None:
        """Return on whose behalf this context writes: of the open transaction or `write_scope`; None if in neither."""
        if other := self._find_target(writes=True):
            return other.writer()
        if (current := self._current.get()) and current.origin:
            return current.origin
        acting = self._acting.get()
        return acting.origin if acting else None

    def limit_reads(
        self, should_stop: Callable[[], bool], seconds: float = READ_SECONDS
    ) -> AbstractContextManager[None]:
        """Stop statements inside after some seconds, or as soon as `should_stop` returns true; outer limits stay."""
        return read_limit.limit_reads(should_stop, seconds)

    @contextmanager
    def redirect(self, chosen: DatabaseChooser) -> Generator[None]:
        """Open the transactions of this context in another database, where `chosen` returns one."""
        token = self._elsewhere.set(chosen)
        try:
            yield
        finally:
            self._elsewhere.reset(token)

    def _find_target(self, *, writes: bool) -> Database | None:
        chosen = self._elsewhere.get()
        return chosen(writes) if chosen else None

    @contextmanager
    def _hold_write_lock(self) -> Generator[None]:
        """Let the writes of this process take turns, which is cheaper than to ask the database for its lock."""
        if not self._write_lock.acquire(timeout=self._busy_seconds):
            raise UnavailableError(
                "Another write is still running; nothing was changed.", hint="Try again in a moment."
            )
        try:
            yield
        finally:
            self._write_lock.release()

    @contextmanager
    def _set_current(self, session: Session) -> Generator[Session]:
        token = self._current.set(session)
        try:
            yield session
        finally:
            self._current.reset(token)
