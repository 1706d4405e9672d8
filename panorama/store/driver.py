"""SQLite's connections: they know what is still being read through them, and can end that."""

import sqlite3
from typing import Any
from weakref import WeakSet

from sqlalchemy import Connection


class Driver(sqlite3.Connection):
    """SQLite's own connection, which can end what is still being read through it.

    As long as a result is read halfway and somebody holds on to it (an error does, to those where it was raised),
    SQLite shows its connection the data as they were then, and lets it write nothing once they have changed.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def cursor(self, factory: Any = sqlite3.Cursor) -> Any:
        """Return a cursor, to be closed by `end_reading` at the latest."""
        made = super().cursor(factory)
        self._cursors.add(made)
        return made

    def end_reading(self) -> None:
        """Close what is still being read."""
        while self._cursors:
            self._cursors.pop().close()

    def do(self, statement: str) -> None:
        """Execute what has no result."""
        super().cursor().execute(statement)


def driver(connection: Connection) -> Driver:
    """Return SQLite's connection behind one of SQLAlchemy's."""
    found: Any = connection.connection.dbapi_connection
    return found


def drop(connection: Connection) -> None:
    """Close a connection for good instead of giving it back to the pool."""
    if not connection.invalidated:
        driver(connection).end_reading()
        connection.invalidate()
    connection.close()
