"""The database file: the only module, beside full text, that knows it is SQLite."""

import errno
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from panorama.domain.changes import Origin, Touch
from panorama.errors import PanoramaError, UnavailableError
from panorama.store import hearing
from panorama.store.causes import retell, translated, unavailable
from panorama.store.copying import Told, copied, silent
from panorama.store.driver import Driver, driver, drop
from panorama.store.hearing import Ears
from panorama.store.views import Views

APPLICATION_ID = 0x50414E4F
"""Marks the file as ours (`PRAGMA application_id`): "PANO" in ASCII."""

POOLED = 8
"""Connections that stay open for readers, and as many for all else."""

_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",  # a commit that was answered survives a power cut, not only a killed process
    "foreign_keys=ON",
    "secure_delete=ON",  # what is deleted is overwritten, so that a purge forgets it; many builds have that anyway
    "temp_store=MEMORY",
    # Up to sixteen connections stay open: at most 4 MB each, and 32 MB of the file mapped, keep a daemon small.
    "cache_size=-4000",
    "mmap_size=33554432",
)
_FLEETING = (*_PRAGMAS, "synchronous=OFF")

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

EMPTYING_MS = 200
"""How long emptying the log waits for those who read: others who write wait with it."""

PORTION = 1024
"""Pages of a copy for ourselves that go to the disk at once: 4 MB; others' writes wait up to 80 ms for it."""

Listener = Callable[[Sequence[Touch]], None]
Elsewhere = Callable[[bool], "Database | None"]
"""Chooses the database that a transaction is opened in, told whether it writes; None for the one that was asked."""


@dataclass(slots=True)
class Session:
    """One open transaction; `origin` is who writes, None when only reading; `touched` has an entry per change line.

    What is put into `later` is called once it is kept; it must be quick, and its errors are only logged.
    """

    connection: Connection
    origin: Origin | None
    touched: list[Touch] = field(default_factory=list[Touch])
    later: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    @property
    def wrote(self) -> int:
        """How many change lines it has written."""
        return len(self.touched)


@dataclass(slots=True)
class Acting:
    """On whose behalf several transactions are opened one after another; `wrote` counts their change lines."""

    origin: Origin
    wrote: int = 0


class Database:
    """The file, its connections, and its transactions. Safe to use from several threads.

    Writes of one process queue up on a lock instead of polling SQLite's; writes of other processes are waited for
    `busy_seconds`.
    """

    def __init__(self, path: Path, *, busy_seconds: float = 10.0, is_durable: bool = True) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._opened: tuple[int, int] | None = None
        self._engine = _engine(path, busy_seconds, self._note_file, _PRAGMAS if is_durable else _FLEETING)
        self._writer = self._engine.execution_options(sqlite_begin="IMMEDIATE")
        self._views = Views(self._engine, keeps=POOLED)
        self._write_lock = threading.Lock()
        self._current: ContextVar[Session | None] = ContextVar("session", default=None)
        self._acting: ContextVar[Acting | None] = ContextVar("acting", default=None)
        self._elsewhere: ContextVar[Elsewhere | None] = ContextVar("elsewhere", default=None)
        self._listeners = Ears[Sequence[Touch]]()

    @contextmanager
    def transaction(self, origin: Origin) -> Generator[Session]:
        """Open a write transaction, or join the one that is open; all of it is kept or none.

        Inside `acting`, the origin given there stands above the one given here.

        Raises:
            UnavailableError: The database is locked, full, read-only or damaged.
        """
        if other := self._other(writes=True):
            with other.transaction(origin) as session:
                yield session
            return
        if current := self._current.get():
            if current.origin is None:
                raise RuntimeError("a write inside a read")
            yield current
            return
        acting = self._acting.get()
        with self._exclusive(), translated(), self._written() as connection:
            session = Session(connection, acting.origin if acting else origin)
            with self._as_current(session):
                yield session
            self._check_file()
        if acting:
            acting.wrote += session.wrote
        if session.touched:
            self._listeners.tell(session.touched)
        for each in session.later:
            hearing.tell(each)

    @contextmanager
    def _written(self) -> Generator[Connection]:
        connection = self._writer.connect()
        try:
            with connection.begin():
                yield connection
        except PanoramaError:
            driver(connection).end_reading()
            connection.close()
            raise
        except BaseException:
            drop(connection)
            raise
        driver(connection).end_reading()
        connection.close()

    def tell(self, listener: Listener) -> Callable[[], None]:
        """Tell a listener what every later transaction touched; return how to stop that.

        It is called once per transaction, after the commit and outside the lock, in the thread that wrote; so it must
        be quick. What is rolled back, or touches no item, is not told. An error of the listener is only logged.
        """
        return self._listeners.add(listener)

    def is_there(self) -> bool:
        """Tell whether the file that is open is still the one at its path, so that others see what is written."""
        try:
            found = os.stat(self.path)
        except OSError:
            return self._opened is None
        return self._opened in (None, (found.st_dev, found.st_ino))

    def _check_file(self) -> None:
        if not self.is_there():
            raise UnavailableError(
                "The database was removed or replaced while it was open; nothing was changed.",
                hint="Send the call again: Panorama begins anew with what is there now.",
            )

    def _note_file(self) -> None:
        """Remember which file is open, and keep it for its owner alone."""
        if self._opened is None:
            with suppress(OSError):
                found = os.stat(self.path)
                self._opened = found.st_dev, found.st_ino
                if found.st_mode & 0o077 and found.st_uid == os.getuid():
                    for each in (self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm"))):
                        if each.exists():
                            each.chmod(found.st_mode & 0o700)

    @contextmanager
    def acting(self, origin: Origin) -> Generator[Acting]:
        """Let the transactions that are opened inside be one unit's, each kept for itself."""
        if other := self._other(writes=True):
            with other.acting(origin) as acting:
                yield acting
            return
        acting = Acting(origin)
        token = self._acting.set(acting)
        try:
            yield acting
        finally:
            self._acting.reset(token)

    def reading(self) -> AbstractContextManager[Session]:
        """Open a consistent view of the data, or join the transaction that is open.

        Opening and closing one that reads nothing takes 5 µs.
        """
        if other := self._other(writes=False):
            return other.reading()
        if current := self._current.get():
            return nullcontext(current)
        return _Reading(self._views, self._current)

    @contextmanager
    def elsewhere(self, chosen: Elsewhere) -> Generator[None]:
        """Let what is opened inside be opened in another database, as far as `chosen` returns one."""
        token = self._elsewhere.set(chosen)
        try:
            yield
        finally:
            self._elsewhere.reset(token)

    def _other(self, *, writes: bool) -> "Database | None":
        chosen = self._elsewhere.get()
        return chosen(writes) if chosen else None

    @contextmanager
    def _as_current(self, session: Session) -> Generator[Session]:
        token = self._current.set(session)
        try:
            yield session
        finally:
            self._current.reset(token)

    @contextmanager
    def _exclusive(self) -> Generator[None]:
        if not self._write_lock.acquire(timeout=self._busy_seconds):
            raise UnavailableError(
                "Another write is still running; nothing was changed.", hint="Try again in a moment."
            )
        try:
            yield
        finally:
            self._write_lock.release()

    @contextmanager
    def migrating(self) -> Generator[Connection]:
        """Open a write transaction for a migration, and mark the file as ours in it."""
        with self._exclusive(), translated(), self._writer.begin() as connection:
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            yield connection

    def revision(self) -> str | None:
        """Return the schema's revision, "" for an empty or missing file.

        Read without the engine, so that a start without a migration costs a few milliseconds.

        Raises:
            UnavailableError: The file belongs to another program, or cannot be read.
        """
        if not self.path.exists() or (self.path.is_file() and self.path.stat().st_size == 0):
            return ""
        if not self._is_ours():
            raise UnavailableError(
                f"{self.path.name} is a database of another program; it was not touched.",
                hint="Choose another folder with PANORAMA_HOME.",
            )
        with translated(), closing(sqlite3.connect(f"{self.path.as_uri()}?mode=rw", uri=True)) as file:
            tables = {row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            row = file.execute("SELECT version_num FROM alembic_version").fetchone() if tables else None
            return str(row[0]) if row else ""

    def _is_ours(self) -> bool:
        """Tell by the file's first bytes whether it is ours, without opening it as a database.

        SQLite's header is 100 bytes, the application id at 68 (sqlite.org/fileformat2.html). A new store that was
        killed has its first page in the log beside it: such a file is opened to be told.
        """
        try:
            with self.path.open("rb") as file:
                head = file.read(100)
        except OSError as error:
            raise unavailable(sqlite3.SQLITE_CANTOPEN) from error
        if not head.startswith(b"SQLite format 3\0"):
            raise unavailable(sqlite3.SQLITE_NOTADB)
        if int.from_bytes(head[68:72]) == APPLICATION_ID:
            return True
        if not self.path.with_name(self.path.name + "-wal").exists():
            return False
        with translated(), closing(sqlite3.connect(f"{self.path.as_uri()}?mode=rw", uri=True)) as opened:
            empty = opened.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            return empty or opened.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID

    def copy_to(self, target: Path, told: Told = silent) -> None:
        """Write a consistent copy while others go on; what `told` raises ends that, and no part of it is left.

        Raises:
            UnavailableError: The disk is full or the folder cannot be written; a part of a copy is not left behind.
        """
        part = target.with_suffix(".part")
        try:
            with translated(), self._engine.begin() as connection:
                copied(connection, part, told, portion=PORTION)
            part.replace(target)
        except OSError as error:
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise unavailable(sqlite3.SQLITE_FULL if is_full else sqlite3.SQLITE_CANTOPEN) from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def empty_log(self) -> None:
        """Fold the write-ahead log into the file and empty it, so that it holds nothing old; not while others read."""
        with translated(), self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)").all()  # most of it, while others write
            connection.exec_driver_sql(f"PRAGMA busy_timeout={EMPTYING_MS}")
            try:
                with self._exclusive():
                    connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout={self._busy_seconds * 1000:.0f}")

    def check(self) -> str:
        """Return "ok", or what SQLite's quick check of the file found."""
        with translated(), self._engine.connect() as connection:
            return str(connection.exec_driver_sql("PRAGMA quick_check(5)").scalar_one())

    def close(self) -> None:
        """Close every connection; the write-ahead log is folded into the file by the last one."""
        self._views.close()
        self._engine.dispose()
        self._opened = None


class _Reading:
    """A view that is open for the length of a block, and the session of whatever is read in it."""

    __slots__ = ("_connection", "_current", "_token", "_views")

    def __init__(self, views: Views, current: ContextVar[Session | None]) -> None:
        self._views = views
        self._current = current

    def __enter__(self) -> Session:
        try:
            self._connection = self._views.take()
        except (DBAPIError, sqlite3.Error) as error:
            retell(error)
            raise
        session = Session(self._connection, None)
        self._token = self._current.set(session)
        return session

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self._current.reset(self._token)
        finally:
            try:
                self._views.leave(self._connection, error)
            except (DBAPIError, sqlite3.Error) as failed:
                retell(failed)
                raise
        if isinstance(error, DBAPIError | sqlite3.Error):
            retell(error)


def _engine(path: Path, busy_seconds: float, opened: Callable[[], None], pragmas: Sequence[str]) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}",
        poolclass=QueuePool,
        pool_size=POOLED,
        max_overflow=56,
        connect_args={"timeout": busy_seconds, "check_same_thread": False, "isolation_level": None, "factory": Driver},
        json_serializer=_COMPACT.encode,
        hide_parameters=True,  # what a person wrote stays out of logs
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        opened()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A deferred transaction that writes later fails at once when another wrote meanwhile; an immediate one waits.
        connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get('sqlite_begin', 'DEFERRED')}")

    return engine
