"""The SQLite file: its connections, transactions and log."""

import errno
import json
import os
import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from panorama.domain.changes import Origin
from panorama.errors import PanoramaError, UnavailableError
from panorama.store.backend import (
    ProgressCallback,
    Session,
    noop,
)
from panorama.store.backend.scratch import Scratch
from panorama.store.backend.sole_membership import SoleMembership
from panorama.store.contents.folder import FolderContents
from panorama.store.sqlite.dialect import DIALECT
from panorama.store.sqlite.driver import SqliteConnection, discard, sqlite_connection, watch_limit
from panorama.store.sqlite.errors import translate_errors, unavailable_error
from panorama.store.sqlite.file import APPLICATION_ID, database_size_bytes, is_ours
from panorama.store.sqlite.online_backup import copy_database
from panorama.store.sqlite.read_pool import ReadPool, ReadScope
from panorama.store.sqlite.scratch_copy import copy_for_scratch
from panorama.store.transactions import Transactions

POOL_SIZE = 8
"""Connections that stay open for readers, and as many for all else."""

SUFFIXES = ("", "-wal", "-shm")
"""The suffixes of the database's files: data, write-ahead log, and shared memory."""

_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",  # commits survive a power cut, not only a killed process
    "foreign_keys=ON",
    "secure_delete=ON",  # deleted data is overwritten, as a purge requires; many builds do that by default
    "temp_store=MEMORY",
    # Up to sixteen connections stay open: at most 4 MB each, and 32 MB of the file mapped, keep a daemon small.
    "cache_size=-4000",
    "mmap_size=33554432",
)
_VOLATILE_PRAGMAS = (*_PRAGMAS, "synchronous=OFF")

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

TRUNCATE_WAIT_MS = 200
"""How long truncating the log waits for readers; writers wait too."""

PORTION_PAGES = 1024
"""Pages of an internal copy that are flushed at once: 4 MB; other writers wait up to 80 ms for it."""


class SqliteDatabase(Transactions):
    """The file, its connections, and its transactions. Safe to use from several threads.

    Writes of one process queue on a lock instead of polling SQLite's; waits up to `busy_seconds` for other processes.
    """

    def __init__(self, path: Path, *, busy_seconds: float = 10.0, is_durable: bool = True) -> None:
        super().__init__(busy_seconds)
        self.path = path
        self._opened: tuple[int, int] | None = None
        self._engine = _create_engine(
            path, busy_seconds, self._remember_file, _PRAGMAS if is_durable else _VOLATILE_PRAGMAS
        )
        event.listen(self._engine, "do_connect", self._forbid_creation)
        self._writer = self._engine.execution_options(sqlite_begin="IMMEDIATE")
        self._views = ReadPool(self._engine, keeps=POOL_SIZE)
        self._membership = SoleMembership()

    @contextmanager
    def _open_write(self, origin: Origin) -> Generator[Session]:
        with self._hold_write_lock(), translate_errors(), self._begin_write() as connection:
            with watch_limit(connection):
                yield Session(connection, origin, DIALECT)
            self._check_file()

    @contextmanager
    def _begin_write(self) -> Generator[Connection]:
        connection = self._writer.connect()
        try:
            with connection.begin():
                yield connection
        except PanoramaError:
            sqlite_connection(connection).close_cursors()
            connection.close()
            raise
        except BaseException:
            discard(connection)
            raise
        sqlite_connection(connection).close_cursors()
        connection.close()

    @property
    def membership(self) -> SoleMembership:
        """This process, which is the only one that serves the file."""
        return self._membership

    def is_current(self) -> bool:
        """Return whether the open file is still the one at its path."""
        try:
            stat = os.stat(self.path)
        except OSError:
            return self._opened is None
        return self._opened in (None, (stat.st_dev, stat.st_ino))

    def _forbid_creation(
        self, _dialect: object, _record: object, arguments: list[str], options: dict[str, Any]
    ) -> None:
        """Open further connections only if the file exists, because SQLite would create an empty one."""
        if self._opened:
            arguments[0] = f"{self.path.absolute().as_uri()}?mode=rw"
            options["uri"] = True

    def _check_file(self) -> None:
        if not self.is_current():
            raise UnavailableError(
                "The database was removed or replaced while it was open; nothing was changed.",
                hint="Retry: Panorama will open the new file.",
            )

    def _remember_file(self) -> None:
        """Record which file is open, and make it readable only by its owner."""
        if self._opened is None:
            with suppress(OSError):
                stat = os.stat(self.path)
                self._opened = stat.st_dev, stat.st_ino
                if stat.st_mode & 0o077 and stat.st_uid == os.getuid():
                    for file in (self.path.with_name(self.path.name + ending) for ending in SUFFIXES):
                        if file.exists():
                            file.chmod(stat.st_mode & 0o700)

    def _open_view(self) -> ReadScope:
        """Open a view; opening and closing one that reads nothing takes 5 µs."""
        return ReadScope(self._views, self._current)

    is_copied_before_migration = True

    def require_migratable(self) -> None:
        """Do nothing: every user who may write the file may migrate it."""

    @contextmanager
    def migrating(self) -> Generator[Connection]:
        """Open a write transaction for a migration, and mark the file as ours in it."""
        with self._hold_write_lock(), translate_errors(), self._writer.begin() as connection:
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
        if not is_ours(self.path):
            raise UnavailableError(
                f"{self.path.name} belongs to another program; it was not changed.",
                hint="Choose another folder with PANORAMA_HOME.",
            )
        with translate_errors(), closing(sqlite3.connect(f"{self.path.as_uri()}?mode=rw", uri=True)) as file:
            tables = {row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            row = file.execute("SELECT version_num FROM alembic_version").fetchone() if tables else None
            return str(row[0]) if row else ""

    def copy_to(self, target: Path, progress: ProgressCallback = noop, *, is_awaited: bool = False) -> None:
        """Write a consistent copy while others go on; what `progress` raises ends that and removes the copy.

        Raises:
            UnavailableError: The disk is full or the folder cannot be written; a part of a copy is not left behind.
        """
        part = target.with_suffix(".part")
        try:
            with translate_errors(), self._engine.begin() as connection:
                copy_database(connection, part, progress, portion=None if is_awaited else PORTION_PAGES)
            part.replace(target)
        except OSError as error:
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise unavailable_error(sqlite3.SQLITE_FULL if is_full else sqlite3.SQLITE_CANTOPEN) from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def create_scratch(self, folder: Path, check_cancel: Callable[[], None] = noop) -> Scratch:
        """Return a private view for a dry run; what `check_cancel` raises ends the copying."""

        def create_copy() -> SqliteDatabase:
            return SqliteDatabase(copy_for_scratch(self, folder, check_cancel), is_durable=False)

        return Scratch(self, folder, create_copy)

    def contents(self, folder: Path) -> FolderContents:
        """Return the store of the contents of files, which are in a folder."""
        return FolderContents(folder)

    def size_bytes(self) -> int:
        """Return the size of the file and its log."""
        return database_size_bytes(self.path)

    def truncate_log(self) -> None:
        """Checkpoint and truncate the write-ahead log, so that it holds no deleted data; not while others read."""
        with translate_errors(), self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)").all()  # most of it, while others write
            connection.exec_driver_sql(f"PRAGMA busy_timeout={TRUNCATE_WAIT_MS}")
            try:
                with self._hold_write_lock():
                    connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout={self._busy_seconds * 1000:.0f}")

    def check(self) -> str:
        """Return "ok", or what SQLite's quick check of the file found."""
        with translate_errors(), self._engine.connect() as connection:
            return str(connection.exec_driver_sql("PRAGMA quick_check(5)").scalar_one())

    def close(self) -> None:
        """Close every connection; the write-ahead log is folded into the file by the last one."""
        self._views.close()
        self._engine.dispose()
        self._opened = None


def _create_engine(path: Path, busy_seconds: float, opened: Callable[[], None], pragmas: Sequence[str]) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}",
        poolclass=QueuePool,
        pool_size=POOL_SIZE,
        max_overflow=56,
        connect_args={
            "timeout": busy_seconds,
            "check_same_thread": False,
            "isolation_level": None,
            "factory": SqliteConnection,
        },
        json_serializer=_COMPACT.encode,
        hide_parameters=True,  # user data stays out of logs
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        opened()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A deferred transaction that writes later fails immediately if another wrote meanwhile; an immediate one waits.
        connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get('sqlite_begin', 'DEFERRED')}")

    return engine
