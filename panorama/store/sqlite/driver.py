"""SQLite connections that can close their open cursors, and that stop at the limit of their call."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from sqlalchemy import Connection

from panorama.store.read_limit import current_limit, is_beyond_limit

STEPS_BETWEEN_CHECKS = 20_000
"""Virtual machine steps between two checks: one or two milliseconds, unless the steps read long texts."""

STEPS_IN_LONG_TEXTS = 500
"""The same for statements that search in texts: one step may take 10 ms. SQLite checks at most once per row."""


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


@contextmanager
def watch_limit(connection: Connection) -> Generator[None]:
    """Apply the limit of this context, and those set inside, to the statements of a write; never to its commit."""
    driver = sqlite_connection(connection)
    driver.set_progress_handler(is_beyond_limit, STEPS_BETWEEN_CHECKS)
    try:
        yield
    finally:
        driver.set_progress_handler(None, 0)


@contextmanager
def check_more_often(connection: Connection) -> Generator[None]:
    """Check the limit of this context, if there is one, more often for the statements inside."""
    if current_limit() is None:
        yield
        return
    driver = sqlite_connection(connection)
    driver.set_progress_handler(is_beyond_limit, STEPS_IN_LONG_TEXTS)
    try:
        yield
    finally:
        driver.set_progress_handler(is_beyond_limit, STEPS_BETWEEN_CHECKS)
