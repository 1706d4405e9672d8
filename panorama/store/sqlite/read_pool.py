"""A pool of read connections, cheaper than SQLAlchemy's."""

from contextlib import suppress

from sqlalchemy import Connection, Engine

from panorama.errors import PanoramaError
from panorama.store.sqlite.driver import discard, sqlite_connection


class ReadPool:
    """Read connections; at most `keeps` stay open between two views."""

    def __init__(self, engine: Engine, *, keeps: int) -> None:
        self._engine = engine
        self._keeps = keeps
        self._idle: list[Connection] = []
        self._closed = False

    def acquire(self) -> Connection:
        """Open a snapshot of the data, taken at the first read; the caller passes it to `leave`."""
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
