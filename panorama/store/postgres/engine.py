"""A space of a PostgreSQL database: its connections and transactions."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import URL, Connection

from panorama.domain.changes import Origin
from panorama.errors import PanoramaError, UnavailableError
from panorama.store.backend import ProgressCallback, ScratchStore, Session, noop
from panorama.store.postgres import spaces
from panorama.store.postgres.claim import SpaceClaim
from panorama.store.postgres.commit import commit
from panorama.store.postgres.connections import create_readers, create_writers, discard, driver_connection, release
from panorama.store.postgres.dialect import DIALECT
from panorama.store.postgres.errors import translate_errors
from panorama.store.postgres.functions import create_functions
from panorama.store.postgres.statement_watch import StatementWatch
from panorama.store.transactions import Transactions

_SIZE = (
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c "
    "WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r'"
)


class PostgresDatabase(Transactions):
    """One space, its connections, and its transactions. Safe to use from several threads.

    The writes of a space take turns, by a lock in the database, so changes are numbered in the order of their commits.
    Writes of one process queue before it on a lock of their own; both waits last up to `busy_seconds`.
    """

    def __init__(self, url: URL, space: str, *, busy_seconds: float = 10.0) -> None:
        super().__init__(busy_seconds)
        self.schema = spaces.schema_name(space)
        self._readers = create_readers(url, self.schema)
        self._writers = create_writers(url, self.schema, busy_seconds)
        self._claim = SpaceClaim(self._writers)
        self._watch = StatementWatch()

    @contextmanager
    def _open_write(self, origin: Origin) -> Generator[Session]:
        with self._hold_write_lock(), translate_errors(), self._connect(self._writers.connect()) as connection:
            self._claim.renew()
            driver = driver_connection(connection)
            number = _begin_write(driver)
            with self._watch.limit(driver):
                yield Session(connection, origin, DIALECT)
            commit(driver, number, self.connect)

    @contextmanager
    def _connect(self, connection: Connection) -> Generator[Connection]:
        """Give a connection back at the end; after an error that may have broken it, it is closed."""
        try:
            yield connection
        except PanoramaError:
            release(connection)
            raise
        except BaseException:
            discard(connection)
            raise
        release(connection)

    @contextmanager
    def connect(self) -> Generator[psycopg.Connection[Any]]:
        """Open a connection outside of any transaction."""
        with self._writers.connect() as connection:
            yield driver_connection(connection)

    @contextmanager
    def _open_view(self) -> Generator[Session]:
        with translate_errors(), self._connect(self._readers.connect()) as connection:
            with self._watch.limit(driver_connection(connection)) as watched:
                session = Session(connection, None, DIALECT)
                with self._set_current(session):
                    yield session
            if watched and watched.is_cancelled:
                driver_connection(connection).close()  # the request may still reach its next statement

    def is_current(self) -> bool:
        """Return true: a space that is dropped and made again is the same to whoever has it open."""
        return True

    def revision(self) -> str:
        """Return the schema's revision, "" if the space does not exist or is empty.

        Raises:
            UnavailableError: The schema belongs to another program, or the server cannot be reached.
        """
        with translate_errors(), self.connect() as driver:
            return spaces.find_revision(driver, self.schema)

    @contextmanager
    def migrating(self) -> Generator[Connection]:
        """Open a write transaction for a migration, which creates the space if it does not exist."""
        with self._hold_write_lock(), translate_errors(), self._connect(self._writers.connect()) as connection:
            driver = driver_connection(connection)
            spaces.check_server(driver)
            driver.execute("BEGIN")
            spaces.create_schema(driver, self.schema)
            create_functions(connection)
            yield connection
            driver.execute("COMMIT")

    def copy_to(self, target: Path, progress: ProgressCallback = noop, *, is_awaited: bool = False) -> None:
        """Write a copy of the space as an SQLite file."""
        raise NotImplementedError

    def create_scratch(self, folder: Path, check_cancel: Callable[[], None] = noop) -> ScratchStore:
        """Return a private view for a dry run."""
        raise NotImplementedError

    def size_bytes(self) -> int:
        """Return how much space the tables and indexes of the space take on the server's disk."""
        with translate_errors(), self.connect() as driver:
            row = driver.execute(_SIZE, (self.schema,)).fetchone()
            return int(row[0]) if row else 0

    def truncate_log(self) -> None:
        """Do nothing: the server keeps its log, and overwrites it when it needs the room."""

    @contextmanager
    def serving(self) -> Generator[None]:
        """Hold the space for this process, so that no other serves it meanwhile.

        Raises:
            UnavailableError: Another one does.
        """
        self._claim.take()
        try:
            yield
        finally:
            self._claim.give_up()

    def close(self) -> None:
        """Close every connection."""
        self._claim.give_up()
        self._watch.close()
        self._readers.dispose()
        self._writers.dispose()


def _begin_write(driver: psycopg.Connection[Any]) -> str:
    """Begin a transaction, take the space's lock, and return the transaction's number: one round trip."""
    cursor = driver.execute(spaces.BEGIN_WRITE)
    cursor.nextset()
    row = cursor.fetchone()
    if row is None:
        raise UnavailableError(
            "The space does not exist in this database; nothing was changed.", hint="Check the setting `space`."
        )
    return str(row[1])
