"""Views: connections that are kept for reading, since the pool and SQLAlchemy's own BEGIN take most of a short read."""

import sqlite3
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Engine

from panorama.errors import PanoramaError


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
                connection.close()
                raise
            return connection
        return self._opened()

    def _opened(self) -> Connection:
        connection = self._engine.connect()
        connection.begin()  # for SQLAlchemy it lasts from now on; what begins and ends each view goes to the driver
        return connection

    def leave(self, connection: Connection, error: BaseException | None = None) -> None:
        """Close a view, after an error perhaps; the connection is kept for the next unless it may be out of order."""
        if error is not None and not isinstance(error, PanoramaError):
            connection.close()
            return
        try:
            _driver(connection).execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        if self._closed or len(self._idle) >= self._keeps:
            connection.close()
        else:
            self._idle.append(connection)

    def close(self) -> None:
        """Close those that nobody reads through; the others close when they are left."""
        self._closed = True
        with suppress(IndexError):
            while True:
                self._idle.pop().close()


def _driver(connection: Connection) -> sqlite3.Connection:
    found: Any = connection.connection.dbapi_connection
    return found
