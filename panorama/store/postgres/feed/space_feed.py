"""Notifies other processes of commits in this one, and this one of theirs, with one thread and one connection."""

import logging
import secrets
import selectors
import socket
import threading
import time
from collections.abc import Callable, Collection, Generator, Sequence, Set
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from panorama.domain.changes import ItemChange
from panorama.errors import PanoramaError
from panorama.store.backend import RowListener, RowTopic, Topic
from panorama.store.postgres.connections import discard, driver_connection
from panorama.store.postgres.errors import translate_errors
from panorama.store.postgres.feed.foreign_rows import ROW_TOPICS, ForeignRows
from panorama.store.postgres.feed.own_transactions import OwnTransactions
from panorama.store.signals import Signal

GATHER_SECONDS = 0.05
"""Commits within this time are one notification, and notifications within it are one look."""

LOOK_SECONDS = 3.0
"""How often it looks without a notification: the process that wrote may have died before it sent one, and a standby
passes none on.
"""

CLOSE_SECONDS = 5.0
"""How long the last notification may take when the process ends."""

MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.25, 5.0
_TOPICS: Set[Topic] = {"items", *ROW_TOPICS}
_log = logging.getLogger(__name__)


class SpaceFeed:
    """The notifications of a space, sent and received. Thread-safe.

    A notification only says which tables to look at; what was written is read from them. So a lost or a false one
    costs time, and never a change. The thread starts with the first listener or the first commit.
    """

    def __init__(
        self, open_engine: Callable[[], Engine], channel: str, deliver: Callable[[Sequence[ItemChange]], None]
    ) -> None:
        """Create it; `deliver` receives the changes of items by other processes, and must be quick."""
        self._open_engine = open_engine
        self._channel = channel
        self._deliver = deliver
        self.own = OwnTransactions()
        self._rows = ForeignRows(self.own)
        self._signals: dict[RowTopic, Signal[Collection[str]]] = {topic: Signal() for topic in ROW_TOPICS}
        self._sender = secrets.token_hex(6)
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._thread: threading.Thread | None = None
        self._waker: tuple[socket.socket, socket.socket] | None = None
        self._outgoing: set[Topic] = set()
        self._closing = threading.Event()
        self._retry_seconds = MIN_RETRY_SECONDS
        self.is_listening = False

    def listen(self) -> None:
        """Listen from now on."""
        with self._lock:
            if not self.is_listening:
                # If this fails, the thread takes what is there when it is connected.
                with suppress(PanoramaError, DBAPIError), self._connect(self._ensure_engine()) as connection:
                    self._rows.begin(connection)
                self.is_listening = True
                self._start()
        self._wake()

    def subscribe(self, topic: RowTopic, listener: RowListener) -> Callable[[], None]:
        """Call a listener with the keys of rows that others wrote; return how to unsubscribe."""
        return self._signals[topic].subscribe(listener)

    def announce(self, topic: Topic) -> None:
        """Notify other processes soon; call it after the commit. It never waits."""
        with self._lock:
            is_first = not self._outgoing
            self._outgoing.add(topic)
            self._start()
        if is_first:
            self._wake()

    def close(self) -> None:
        """Send what is pending, and end."""
        self._closing.set()
        self._wake()
        if self._thread:
            self._thread.join(CLOSE_SECONDS)
        if self._engine:
            self._engine.dispose()

    def _start(self) -> None:
        if self._thread is None and not self._closing.is_set():
            self._waker = socket.socketpair()
            for end in self._waker:
                end.setblocking(False)
            self._thread = threading.Thread(target=self._run, args=(self._ensure_engine(),), name="feed", daemon=True)
            self._thread.start()

    def _ensure_engine(self) -> Engine:
        self._engine = self._engine or self._open_engine()
        return self._engine

    def _wake(self) -> None:
        if self._waker:
            with suppress(OSError):  # it is full, so the thread wakes anyway; or closed
                self._waker[0].send(b"\0")

    # The thread.

    def _run(self, engine: Engine) -> None:
        while not self._closing.is_set() or self._outgoing:
            try:
                with self._connect(engine) as connection:
                    self._exchange(connection)
            except PanoramaError as error:
                self._report(error.message.partition(";")[0])  # what was changed is another matter
            except Exception as error:  # a bug of ours must not end the thread
                self._report(f"{type(error).__name__}", exc_info=error)
            if self._closing.wait(self._retry_seconds):
                break
        for end in self._waker or ():
            end.close()

    def _report(self, reason: str, exc_info: BaseException | None = None) -> None:
        """Log the first failure of several."""
        if self._retry_seconds == MIN_RETRY_SECONDS:
            _log.warning("changes by other daemons arrive late: %s", reason, exc_info=exc_info)
        self._retry_seconds = min(MAX_RETRY_SECONDS, self._retry_seconds * 2)

    @contextmanager
    def _connect(self, engine: Engine) -> Generator[Connection]:
        """Open the connection; after an error it is closed."""
        with translate_errors():
            connection = engine.connect()
            try:
                yield connection
            except BaseException:
                discard(connection)
                raise
            connection.close()

    def _exchange(self, connection: Connection) -> None:
        """Send and receive until the process ends or the connection is lost."""
        driver = driver_connection(connection)
        heard, next_look, is_registered = set[Topic](), 0.0, False
        with selectors.DefaultSelector() as selector:
            selector.register(driver.fileno(), selectors.EVENT_READ)
            if self._waker:
                selector.register(self._waker[1], selectors.EVENT_READ)
            while True:
                is_sent = self._send(driver)
                if self._closing.is_set():
                    return
                if self.is_listening and not is_registered:
                    is_registered = self._register(driver)
                if time.monotonic() >= next_look:
                    heard, next_look = set(_TOPICS), time.monotonic() + LOOK_SECONDS
                is_read = bool(heard)
                heard = self._look(connection, heard) if heard and self.is_listening else set[Topic]()
                self._retry_seconds = MIN_RETRY_SECONDS
                if is_sent or is_read:
                    self._closing.wait(GATHER_SECONDS)
                heard |= self._receive(driver)
                if not heard and not self._outgoing:
                    self._wait(selector, next_look - time.monotonic())
                    heard |= self._receive(driver)

    def _register(self, driver: psycopg.Connection[Any]) -> bool:
        """Ask for notifications; return false on a standby, which has none before it is promoted."""
        try:
            driver.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
        except psycopg.errors.ReadOnlySqlTransaction:
            return False
        return True

    def _wait(self, selector: selectors.BaseSelector, seconds: float) -> None:
        """Wait for a notification, something to send, or the end."""
        selector.select(max(0.0, seconds))
        with suppress(OSError):  # nothing to read
            while self._waker and self._waker[1].recv(64):
                pass

    def _send(self, driver: psycopg.Connection[Any]) -> bool:
        """Send one notification for all that was announced; return whether there was anything."""
        with self._lock:
            topics, self._outgoing = self._outgoing, set()
        if not topics:
            return False
        try:
            driver.execute("SELECT pg_notify(%s, %s)", (self._channel, " ".join([self._sender, *sorted(topics)])))
        except psycopg.Error:
            with self._lock:
                self._outgoing |= topics
            raise
        return True

    def _receive(self, driver: psycopg.Connection[Any]) -> set[Topic]:
        """Return the topics of the notifications that have arrived from others."""
        heard: set[str] = set()
        for notification in driver.notifies(timeout=0):
            sender, *topics = notification.payload.split(" ")
            heard.update(topics if sender != self._sender else ())
        return {topic for topic in _TOPICS if topic in heard}

    def _look(self, connection: Connection, topics: set[Topic]) -> set[Topic]:
        """Read the changes of other processes and call the listeners; return the topics with more to read."""
        committed = self.own.list_committed() if topics == _TOPICS else ()
        news = self._rows.look(connection, topics)
        if news.changes:
            self._deliver(news.changes)
        for topic, keys in news.rows.items():
            if keys:
                self._signals[topic].notify(keys)
        if news.has_more:
            return {"items"}
        self.own.forget(committed)
        return set()
