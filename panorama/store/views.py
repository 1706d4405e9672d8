"""Views: connections that are kept for reading, since the pool and SQLAlchemy's own BEGIN take most of a short read."""

import sqlite3
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Engine


class Views:
    """Connections that read; at most `keeps` stay open between two views."""

    def __init__(self, engine: Engine, *, keeps: int) -> None:
        self._engine = engine
        self._keeps = keeps
        self._idle: list[Connection] = []
        self._closed = False

    def take(self) -> Connection:
        """Open a view of the data as it is when it is first read; to be given to `leave` in the end."""
        if self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread was faster
                return self._opened()
            try:
                _driver(connection).execute("BEGIN")
            except BaseException:
                drop(connection)
                raise
            return connection
        return self._opened()

    def _opened(self) -> Connection:
        connection = self._engine.connect()
        connection.begin()  # for SQLAlchemy it lasts from now on; what begins and ends each view goes to the driver
        return connection

    def leave(self, connection: Connection, error: BaseException | None = None) -> None:
        """Close a view; the connection is kept for the next, but not after an error."""
        if error is not None:
            drop(connection)
            return
        try:
            _driver(connection).execute("COMMIT")
        except BaseException:
            drop(connection)
            raise
        if self._closed:
            drop(connection)
        elif len(self._idle) >= self._keeps:
            connection.close()
        else:
            self._idle.append(connection)
            if self._closed:  # since it was looked at
                self.close()

    def close(self) -> None:
        """Close those that nobody reads through; the others close when they are left."""
        self._closed = True
        with suppress(IndexError):
            while True:
                drop(self._idle.pop())


def drop(connection: Connection) -> None:
    """Close a connection for good instead of giving it back to the pool.

    An error holds on to the results that were being read where it was raised, and as long as one of them is read
    halfway, SQLite shows its connection the data as they were then, and lets it write nothing once they have changed.
    """
    connection.invalidate()
    connection.close()


def _driver(connection: Connection) -> sqlite3.Connection:
    found: Any = connection.connection.dbapi_connection
    return found
