"""This process as one of the daemons of a space: locks on one connection, which the server releases with it.

The connection holds a lock on the space, one on the daemon's id and one for each duty. A thread asks every half second
for the duties that another daemon holds, so that a duty is handed over within a second.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

import psycopg
from psycopg.rows import dict_row
from sqlalchemy import Connection, Engine

from panorama.errors import PanoramaError
from panorama.store.backend.membership import LEASE_SECONDS, Daemon, Presence, RunningDaemon
from panorama.store.postgres.connections import discard, driver_connection, is_open
from panorama.store.postgres.errors import translate_errors
from panorama.store.postgres.sharing.space_lock import try_lock
from panorama.store.signals import Signal
from panorama.store.tables import HEAD

POLL_SECONDS = 0.5
"""How often it asks for duties; also how often it compares the revision of the tables."""

SEEN_SECONDS = 5.0
"""How often it records its presence."""

TRUST_SECONDS = 3.0
"""How long an answer of the server proves that it has not released the locks.

Shorter than `connections.MEMBER_IDLE_SECONDS`, after which it releases those of a process that is silent.
"""

_PRESENCE_LOCK = ""
"""The lock that a daemon holds while it runs, beside those of its duties."""

_REVISION = "SELECT version_num{locks} FROM alembic_version"
_WRITE = (
    "INSERT INTO daemons (id, machine, host, process, version, serves, duties, started_at, seen_at) "
    "VALUES (%(id)s, %(machine)s, %(host)s, %(process)s, %(version)s, %(serves)s, %(duties)s, "
    "clock_timestamp(), clock_timestamp()) ON CONFLICT (id) DO UPDATE SET machine = excluded.machine, "
    "host = excluded.host, process = excluded.process, version = excluded.version, serves = excluded.serves, "
    "duties = excluded.duties, seen_at = excluded.seen_at"
)
_REMOVE = "DELETE FROM daemons WHERE id = %s"
_IS_RECENT = f"seen_at > clock_timestamp() - interval '{LEASE_SECONDS} seconds'"
_REMOVE_GONE = f"DELETE FROM daemons WHERE NOT {_IS_RECENT}".encode()
_HELD = (
    "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 "
    "AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_PRESENCE = (f"SELECT %s IN ({_HELD}), EXISTS (SELECT 1 FROM daemons WHERE id = %s AND {_IS_RECENT})").encode()
_LIST = "SELECT * FROM daemons ORDER BY started_at, id"
_log = logging.getLogger(__name__)


class SpaceMembership:
    """The membership of one process in a space.

    Args:
        engine: Opens the connection that holds the locks.
        connect: Opens any connection, for questions about other daemons.
    """

    is_shared = True

    def __init__(
        self, engine: Engine, connect: Callable[[], AbstractContextManager[psycopg.Connection[Any]]], schema: str
    ) -> None:
        self._engine = engine
        self._connect = connect
        self._schema = schema
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._is_serving = self._is_alone = False
        self._can_write = True
        self._daemon: Daemon | None = None
        self._asked: dict[str, int] = {}
        self._held: set[str] = set()
        self._written_at = self._answered_at = 0.0
        self._gained = Signal[[]]()
        self._leaving = threading.Event()
        self._thread: threading.Thread | None = None
        self.newer_revision = ""

    # Serving.

    @contextmanager
    def serve(self) -> Generator[None]:
        """Serve the space inside the block, beside other daemons.

        Raises:
            UnavailableError: Another process has locked the space.
        """
        with self._hold(is_alone=False):
            yield

    @contextmanager
    def serve_alone(self) -> Generator[None]:
        """Keep all daemons from the space inside the block.

        Raises:
            UnavailableError: Another process serves it.
        """
        with self._hold(is_alone=True):
            yield

    @contextmanager
    def _hold(self, *, is_alone: bool) -> Generator[None]:
        self._is_serving, self._is_alone = True, is_alone
        try:
            self.renew()
            yield
        finally:
            self.leave()

    def renew(self) -> None:
        """Take the lock on the space again if its connection was lost; costs a few microseconds if it was not.

        Raises:
            UnavailableError: Another process has locked the space by now.
        """
        if self._is_serving:
            with self._lock, translate_errors():
                self._ensure_open()

    def leave(self) -> None:
        """Release every lock, and end the listing."""
        self._leaving.set()
        if self._thread:
            self._thread.join()
            self._thread = None
        with self._lock:
            self._is_serving = False
            if self._daemon and self._connection:
                with suppress(psycopg.Error):  # the others find out by the lock
                    driver_connection(self._connection).execute(_REMOVE, (self._daemon.id,))
            self._daemon = None
            self._asked.clear()
            self._release()

    def _ensure_open(self) -> psycopg.Connection[Any] | None:
        """Return the connection that holds the lock on the space; None if there is no space yet."""
        if self._connection and is_open(driver_connection(self._connection)):
            return driver_connection(self._connection)
        self._release()
        connection = self._engine.connect()
        try:
            is_taken = try_lock(driver_connection(connection), is_alone=self._is_alone)
        except BaseException:
            discard(connection)
            raise
        if not is_taken:
            connection.close()
            return None
        self._connection = connection
        return driver_connection(connection)

    def _release(self) -> None:
        self._held.clear()
        self._written_at = 0.0
        if self._connection:
            discard(self._connection)
            self._connection = None

    # Duties.

    def register(self, daemon: Daemon) -> None:
        """List this process as a daemon until the end of `serve`.

        Raises:
            UnavailableError: The server cannot be reached.
        """
        self._daemon = daemon
        self._asked[_PRESENCE_LOCK] = self._presence_lock(daemon.id)
        with translate_errors():
            self._poll()
        self._leaving.clear()
        self._thread = threading.Thread(target=self._run, name="membership", daemon=True)
        self._thread.start()

    def holds(self, duty: str) -> bool:
        """Return whether this process has a duty now; the first call asks for it."""
        if self._daemon is None:
            return True
        with self._lock:
            is_known = duty in self._asked
            if not is_known:
                self._asked[duty] = self._duty_lock(duty)
            if is_known and (duty not in self._held or self._is_trusted()):
                return duty in self._held
            try:
                self._ask()
            except (PanoramaError, psycopg.Error):
                return False
            return duty in self._held

    def _is_trusted(self) -> bool:
        connection = self._connection
        is_recent = time.monotonic() - self._answered_at < TRUST_SECONDS
        return connection is not None and is_recent and is_open(driver_connection(connection))

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a listener whenever this process gets a duty; return how to unsubscribe."""
        return self._gained.subscribe(listener)

    def _run(self) -> None:
        is_failing = False
        while not self._leaving.wait(POLL_SECONDS):
            try:
                with translate_errors():
                    self._poll()
                is_failing = False
            except PanoramaError as error:
                if not is_failing:
                    _log.warning("this daemon cannot ask for its duties: %s", error.message)
                is_failing = True
            except Exception:  # a bug of ours: it is logged once, and asked again
                if not is_failing:
                    _log.exception("this daemon cannot ask for its duties")
                is_failing = True

    def _poll(self) -> None:
        """Ask for the duties that another daemon holds, and notify the listeners."""
        with self._lock:
            has_gained = self._ask()
        if has_gained:
            self._gained.notify()

    def _ask(self) -> bool:
        """Ask for the missing locks in one round trip; return whether there was one to get."""
        driver = self._ensure_open()
        if driver is None or self._daemon is None:
            return False
        if not self._written_at:
            self._can_write = self._try_to_write(driver, self._daemon)
        missing = [duty for duty in self._asked if duty not in self._held] if self._can_write else []
        query = _REVISION.format(locks=", pg_try_advisory_lock(%s)" * len(missing))
        row = driver.execute(query.encode(), [self._asked[duty] for duty in missing]).fetchone()
        if row is None:
            return False
        self._answered_at = time.monotonic()
        self.newer_revision = row[0] if row[0] > HEAD else ""
        gained = [duty for duty, is_mine in zip(missing, row[1:], strict=True) if is_mine]
        self._held.update(gained)
        if gained or time.monotonic() - self._written_at > SEEN_SECONDS:
            self._can_write = self._try_to_write(driver, self._daemon)
        return bool(gained)

    def _try_to_write(self, driver: psycopg.Connection[Any], daemon: Daemon) -> bool:
        """Record the presence of this daemon; return false if it may only read, because it then gets no duty."""
        try:
            self._write(driver, daemon)
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction):
            self._written_at = time.monotonic()
            return False
        return True

    def _write(self, driver: psycopg.Connection[Any], daemon: Daemon) -> None:
        duties = sorted(self._held - {_PRESENCE_LOCK})
        driver.execute(_WRITE, {**asdict(daemon), "duties": json.dumps(duties)})
        driver.execute(_REMOVE_GONE)
        self._written_at = time.monotonic()

    # Others.

    def find_presence(self, daemon: str) -> Presence:
        """Return whether the daemon with an id is there."""
        with translate_errors(), self._connect() as driver:
            row = driver.execute(_PRESENCE, (self._presence_lock(daemon), daemon)).fetchone() or (False, False)
        return "connected" if row[0] else "recent" if row[1] else "gone"

    def list_daemons(self) -> Sequence[RunningDaemon]:
        """Return the daemons that are connected, the oldest first."""
        with translate_errors(), self._connect() as driver:
            locks = {row[0] for row in driver.execute(_HELD)}
            rows = driver.cursor(row_factory=dict_row).execute(_LIST).fetchall()
        return [self._to_daemon(row, locks) for row in rows if self._presence_lock(row["id"]) in locks]

    def _to_daemon(self, row: dict[str, Any], locks: Collection[int]) -> RunningDaemon:
        duties = [duty for duty in row.pop("duties") if self._duty_lock(duty) in locks]
        return RunningDaemon(**row, duties=duties)

    def _presence_lock(self, daemon: str) -> int:
        return _lock_number(f"{self._schema} daemon {daemon}")

    def _duty_lock(self, duty: str) -> int:
        return _lock_number(f"{self._schema} duty {duty}")


def _lock_number(name: str) -> int:
    """Return the number of a lock: 64 bits of a digest, so that nobody else uses it by chance."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8, person=b"panorama").digest(), "big", signed=True)
