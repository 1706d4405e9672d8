"""Cancels statements on the server once the call that sent them has run out of time or was cancelled."""

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from panorama.store.read_limit import current_limit

LOOK_SECONDS = 0.05
CANCEL_SECONDS = 2.0
"""How long the server may take to answer a request to cancel."""

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Watched:
    """A connection whose statements have a limit; `is_cancelled` once it was asked to stop one."""

    connection: psycopg.Connection[Any]
    is_beyond: Callable[[], bool]
    is_cancelled: bool = field(default=False)


class StatementWatch:
    """One thread, which runs while a limited statement may run, and looks at all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._watched: set[Watched] = set()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    @contextmanager
    def limit(self, connection: psycopg.Connection[Any]) -> Generator[Watched | None]:
        """Apply the limit of this context, if there is one, to the statements inside; never to a commit after it."""
        limit = current_limit()
        if limit is None:
            yield None
            return
        watched = Watched(connection, limit)
        self._add(watched)
        try:
            yield watched
        finally:
            with self._lock:
                self._watched.discard(watched)

    def close(self) -> None:
        """End the thread."""
        with self._lock:
            self._is_closed = True
            self._wake.notify()
            thread = self._thread
            self._thread = None
        if thread:
            thread.join()

    def _add(self, watched: Watched) -> None:
        with self._lock:
            self._watched.add(watched)
            if self._thread is None:
                self._is_closed = False
                self._thread = threading.Thread(target=self._run, name="statement watch", daemon=True)
                self._thread.start()
            elif len(self._watched) == 1:
                self._wake.notify()

    def _run(self) -> None:
        with self._lock:
            while not self._is_closed:
                self._wake.wait(LOOK_SECONDS if self._watched else None)
                # The lock is held while a statement is cancelled, so that no other call has the connection by then.
                for watched in self._watched:
                    if not watched.is_cancelled and watched.is_beyond():
                        watched.is_cancelled = True
                        _cancel(watched.connection)


def _cancel(connection: psycopg.Connection[Any]) -> None:
    try:
        connection.cancel_safe(timeout=CANCEL_SECONDS)
    except psycopg.Error:
        _log.warning("a statement could not be cancelled", exc_info=True)
