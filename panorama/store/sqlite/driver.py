"""SQLite connections that can close their open cursors."""

import sqlite3
from typing import Any
from weakref import WeakSet

from sqlalchemy import Connection


class SqliteConnection(sqlite3.Connection):
    """An SQLite connection that can close its open cursors.

    While a partly read result is referenced (for example by a traceback), SQLite keeps the connection's old snapshot,
    and rejects writes once the data have changed.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def cursor(self, factory: Any = sqlite3.Cursor) -> Any:
        """Return a cursor, which `close_cursors` closes at the latest."""
        created = super().cursor(factory)
        self._cursors.add(created)
        return created

    def close_cursors(self) -> None:
        """Close all open cursors."""
        while self._cursors:
            self._cursors.pop().close()

    def run_statement(self, statement: str) -> None:
        """Execute a statement without a result."""
        super().cursor().execute(statement)


def sqlite_connection(connection: Connection) -> SqliteConnection:
    """Return SQLite's connection behind one of SQLAlchemy's."""
    driver_connection: Any = connection.connection.dbapi_connection
    return driver_connection


def discard(connection: Connection) -> None:
    """Close a connection for good instead of giving it back to the pool."""
    if not connection.invalidated:
        sqlite_connection(connection).close_cursors()
        connection.invalidate()
    connection.close()
