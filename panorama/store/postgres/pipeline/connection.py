"""A connection whose statements can wait for the next one; one round trip then carries all of them.

The driver's pipeline sends statements without waiting for the answers in between. The first error of a statement that
waited is raised by the statement it was sent with; what follows it is not executed, and the transaction cannot commit.
"""

import logging
import select
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Self, cast, overload

import psycopg
from psycopg import ServerCursor
from psycopg.pq import TransactionStatus

from panorama.store.backend import count_bytes

Delay = Literal["", "read", "write"]
"""Whether a statement waits: for a `read` a result is returned when its rows are asked for, for a `write` none is."""

MAX_WAITING_BYTES = 1 << 16
"""The maximum number of bytes of parameters that wait; more are sent at once."""

ANSWER_SECONDS = 20.0
"""How long the answer to the end of a view may take before its connection counts as lost."""

Statement = tuple["QueueingCursor", Any, Any]

logging.getLogger("psycopg").setLevel(logging.ERROR)  # its warnings repeat an error of a pipeline that is raised anyway


class QueueingConnection(psycopg.Connection[Any]):
    """A connection with a queue of statements that were not sent yet."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.cursor_factory = QueueingCursor
        self.server_cursor_factory = _StreamingCursor
        self._queue: list[Statement] = []
        self._waiting_bytes = 0
        self._is_ending = False
        self.server_start = ""
        """When the server started or recovered from a crash; the same for all connections until the next time."""

    def queue(self, statement: bytes) -> "QueueingCursor":
        """Let a statement wait for the next one; return the cursor that will have its result."""
        cursor = QueueingCursor(self)
        cursor.delay = "read"
        return cursor.execute(statement)

    def add(self, cursor: "QueueingCursor", query: Any, params: Any) -> None:
        """Let a statement of a cursor wait for the next one."""
        self._queue.append((cursor, query, params))
        self._waiting_bytes += count_bytes(params)
        if self._waiting_bytes > MAX_WAITING_BYTES:
            self.send_queue()

    @property
    def has_queue(self) -> bool:
        """Whether statements wait."""
        return bool(self._queue)

    def send_queue(self, *last: Statement) -> None:
        """Send the statements that wait, and a last one: one round trip.

        Raises:
            psycopg.Error: One of them failed; those after it were not executed.
        """
        statements = (*self._queue, *last)
        self.drop_queue()
        if statements:
            with self.pipeline():
                for cursor, query, params in statements:
                    cursor.send(query, params)

    def drop_queue(self) -> None:
        """Forget the statements that wait."""
        self._queue.clear()
        self._waiting_bytes = 0

    def rollback(self) -> None:
        """Roll back; the pool calls it whenever a connection is given back."""
        self.drop_queue()
        if not self._is_ending:
            super().rollback()

    def end_view(self) -> None:
        """End a transaction that wrote nothing, without waiting for the answer."""
        self.drop_queue()
        if self.pgconn.transaction_status == TransactionStatus.INTRANS:
            self.pgconn.send_query(b"COMMIT")
            self.pgconn.flush()
            self._is_ending = True

    def finish_ending(self) -> None:
        """Receive the answer to the end of a view; it has arrived already unless the view has just ended.

        Raises:
            psycopg.OperationalError: The connection is lost.
        """
        if not self._is_ending:
            return
        while self.pgconn.is_busy():
            if not is_readable(self.fileno(), ANSWER_SECONDS):
                raise psycopg.OperationalError("the server does not answer")
            self.pgconn.consume_input()
        while self.pgconn.get_result():
            pass
        self._is_ending = False


class QueueingCursor(psycopg.Cursor[Any]):
    """A cursor whose statement waits if it has a `delay`; any other is sent with those that wait."""

    delay: Delay = ""
    _is_waiting = False

    @property
    def connection(self) -> QueueingConnection:
        """The connection, whose queue it uses."""
        return cast("QueueingConnection", self._conn)

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Execute a statement, or let it wait."""
        if self.delay:
            self._is_waiting = True
            # Its result is not asked for: SQLAlchemy closes the cursor at once.
            cursor = self if self.delay == "read" else QueueingCursor(self.connection)
            self.connection.add(cursor, query, params)
            return self
        if not self.connection.has_queue:
            return super().execute(query, params, **options)
        if params is None and _holds_several(query):
            self.connection.send_queue()
            return super().execute(query, params, **options)
        self.connection.send_queue((self, query, params))
        return self

    def send(self, query: Any, params: Any) -> None:
        """Execute a statement in the pipeline."""
        self._is_waiting = False
        super().execute(query, params)

    def executemany(self, query: Any, params_seq: Iterable[Any], *, returning: bool = False) -> None:
        """Execute a statement with several sets of parameters, after those that wait."""
        self.connection.send_queue()
        super().executemany(query, params_seq, returning=returning)

    @contextmanager
    def copy(self, statement: Any, params: Any = None, **options: Any) -> Generator[psycopg.Copy]:
        """Copy rows, after the statements that wait."""
        self.connection.send_queue()
        with super().copy(statement, params, **options) as copy:
            yield copy

    def stream(self, query: Any, params: Any = None, **options: Any) -> Iterator[Any]:
        """Yield rows as they come, after the statements that wait."""
        self.connection.send_queue()
        return super().stream(query, params, **options)

    @property
    def description(self) -> Any:
        """The columns of the result; those of a read that waits are asked for when they are looked at."""
        if not self._is_waiting:
            return super().description
        return _LaterColumns(self) if self.delay == "read" else None

    def fetchone(self) -> Any:
        """Return the next row."""
        self._receive()
        return super().fetchone()

    def fetchmany(self, size: int = 0) -> list[Any]:
        """Return the next rows."""
        self._receive()
        return super().fetchmany(size)

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""
        self._receive()
        return super().fetchall()

    def _receive(self) -> None:
        if self._is_waiting:
            self.connection.send_queue()


class _StreamingCursor(ServerCursor[Any]):
    """A server-side cursor; its statement is sent after those that wait."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Execute a statement."""
        cast("QueueingConnection", self._conn).send_queue()
        return super().execute(query, params, **options)


class _LaterColumns(Sequence[psycopg.Column]):
    """The columns of a result that is not there yet: SQLAlchemy looks at them the first time it runs a statement."""

    def __init__(self, cursor: QueueingCursor) -> None:
        self._cursor = cursor

    def __len__(self) -> int:
        return len(self._load())

    @overload
    def __getitem__(self, index: int) -> psycopg.Column: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[psycopg.Column]: ...

    def __getitem__(self, index: int | slice) -> psycopg.Column | Sequence[psycopg.Column]:
        return self._load()[index]

    def _load(self) -> Sequence[psycopg.Column]:
        self._cursor.connection.send_queue()
        columns: Sequence[psycopg.Column] = self._cursor.description
        return columns


def is_readable(descriptor: int, seconds: float = 0.0) -> bool:
    """Return whether something can be read from a socket, within some seconds."""
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([descriptor], [], [], seconds)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _holds_several(query: object) -> bool:
    """Return whether a text may hold several statements, of which the pipeline takes one at a time."""
    return b";" in query if isinstance(query, bytes) else isinstance(query, str) and ";" in query
