"""A pool of connections for reads, cheaper than the one of SQLAlchemy."""

from contextlib import suppress

from sqlalchemy import Connection, Engine

from panorama.errors import PanoramaError
from panorama.store.sqlite.driver import discard, sqlite_connection


class ReadPool:
    """Connections that read; at most `keeps` stay open between two views."""

    def __init__(self, engine: Engine, *, keeps: int) -> None:
        self._engine = engine
        self._keeps = keeps
        self._idle: list[Connection] = []
        self._closed = False

    def acquire(self) -> Connection:
        """Open a view of the data as it is when it is first read; to be given to `leave` in the end."""
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
        connection.begin()  # for SQLAlchemy it lasts from now on; what begins and ends each view goes to the driver
        return connection

    def release(self, connection: Connection, error: BaseException | None = None) -> None:
        """Close a view, after an error perhaps; the connection is kept for the next unless it may be out of order."""
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
            if self._closed:  # since it was looked at
                self.close()

    def close(self) -> None:
        """Close those that nobody reads through; the others close when they are left."""
        self._closed = True
        with suppress(IndexError):
            while True:
                discard(self._idle.pop())
