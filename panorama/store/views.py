"""Views: connections that are kept for reading, since the pool and SQLAlchemy's own BEGIN take most of a short read.

Measured with `reading()`: 15 to 20 µs for one that reads nothing, where they took 55 to 60.
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
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

    @contextmanager
    def opened(self) -> Generator[Connection]:
        """Open a view of the data as it is when it is first read."""
        connection = self._taken()
        try:
            yield connection
        except PanoramaError:
            self._left(connection)
            raise
        except BaseException:  # whatever state it is in, nobody reads through it again
            connection.close()
            raise
        else:
            self._left(connection)

    def _taken(self) -> Connection:
        with suppress(IndexError):
            connection = self._idle.pop()
            try:
                _driver(connection).execute("BEGIN")
            except BaseException:
                connection.close()
                raise
            return connection
        connection = self._engine.connect()
        connection.begin()  # for SQLAlchemy it lasts from now on; what begins and ends each view goes to the driver
        return connection

    def _left(self, connection: Connection) -> None:
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
