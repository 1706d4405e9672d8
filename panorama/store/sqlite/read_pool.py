"""A pool of read connections, cheaper than SQLAlchemy's."""

import sqlite3
from contextlib import suppress
from contextvars import ContextVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from panorama.errors import PanoramaError
from panorama.store.backend import Session
from panorama.store.read_limit import current_limit
from panorama.store.sqlite.dialect import DIALECT
from panorama.store.sqlite.driver import STEPS_BETWEEN_CHECKS, discard, sqlite_connection
from panorama.store.sqlite.errors import raise_translated


class ReadPool:
    """A pool of read connections; at most `keeps` stay open between two views."""

    def __init__(self, engine: Engine, *, keeps: int) -> None:
        self._engine = engine
        self._keeps = keeps
        self._idle: list[Connection] = []
        self._closed = False

    def acquire(self) -> Connection:
        """Open a snapshot of the data, taken at the first read; the caller passes it to `release`."""
        if self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread was faster
                return self._open()
            try:
                sqlite_connection(connection).run_statement("BEGIN")
            except BaseException:
                discard(connection)
                raise
            return connection
        return self._open()

    def _open(self) -> Connection:
        connection = self._engine.connect()
        connection.begin()  # for SQLAlchemy the transaction stays open; each view begins and ends at the driver
        return connection

    def release(self, connection: Connection, error: BaseException | None = None) -> None:
        """Close a view; its connection is reused unless an error may have broken it."""
        if error is not None and not isinstance(error, PanoramaError):
            discard(connection)
            return
        try:
            behind = sqlite_connection(connection)
            behind.close_cursors()
            behind.run_statement("COMMIT")
        except BaseException:
            discard(connection)
            raise
        if self._closed:
            discard(connection)
        elif len(self._idle) >= self._keeps:
            connection.close()
        else:
            self._idle.append(connection)
            if self._closed:  # since it was checked
                self.close()

    def close(self) -> None:
        """Close the idle connections; the others close when their view ends."""
        self._closed = True
        with suppress(IndexError):
            while True:
                discard(self._idle.pop())


class ReadScope:
    """A view that is open during a block, and its session."""

    __slots__ = ("_connection", "_current", "_has_limit", "_token", "_views")

    def __init__(self, views: ReadPool, current: ContextVar[Session | None]) -> None:
        self._views = views
        self._current = current

    def __enter__(self) -> Session:
        try:
            self._connection = self._views.acquire()
        except (DBAPIError, sqlite3.Error) as error:
            raise_translated(error)
            raise
        self._has_limit = (limit := current_limit()) is not None
        if limit:
            sqlite_connection(self._connection).set_progress_handler(limit, STEPS_BETWEEN_CHECKS)
        session = Session(self._connection, None, DIALECT)
        self._token = self._current.set(session)
        return session

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self._current.reset(self._token)
            if self._has_limit:
                sqlite_connection(self._connection).set_progress_handler(None, 0)
        finally:
            try:
                self._views.release(self._connection, error)
            except (DBAPIError, sqlite3.Error) as failed:
                raise_translated(failed)
                raise
        if isinstance(error, DBAPIError | sqlite3.Error):
            raise_translated(error)
