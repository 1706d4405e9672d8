"""A space of a PostgreSQL database: its connections and transactions."""

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import URL, Connection
from sqlalchemy.exc import DBAPIError

from panorama.domain.changes import Origin
from panorama.errors import PanoramaError, UnavailableError
from panorama.store.backend import Listener, ProgressCallback, RowListener, RowTopic, Session, Topic, noop
from panorama.store.backend.scratch import Scratch
from panorama.store.postgres import spaces, word_tables
from panorama.store.postgres.administration import rights
from panorama.store.postgres.commit import Transaction, commit
from panorama.store.postgres.connections import (
    TURN_SECONDS,
    create_feed,
    create_members,
    create_readers,
    create_writers,
    discard,
    driver_connection,
    release,
)
from panorama.store.postgres.contents import content_rows
from panorama.store.postgres.contents.table_contents import TableContents
from panorama.store.postgres.dialect import DIALECT
from panorama.store.postgres.errors import lacks_right, translate_errors
from panorama.store.postgres.feed.space_feed import SpaceFeed
from panorama.store.postgres.functions import create_functions
from panorama.store.postgres.pipeline.connection import QueueingConnection
from panorama.store.postgres.scratch_tables import open_scratch_tables
from panorama.store.postgres.sharing.membership import SpaceMembership
from panorama.store.postgres.statement_watch import StatementWatch
from panorama.store.postgres.transfer import copies
from panorama.store.transactions import Transactions

_SIZE = (
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c "
    "WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r' AND c.relname <> ALL(%s)"
)


class PostgresDatabase(Transactions):
    """One space, its connections, and its transactions. Safe to use from several threads.

    The writes of a space take turns, by a lock in the database, so changes are numbered in the order of their commits.
    Writes of one process queue before it on a lock of their own; both waits last up to `busy_seconds`.
    """

    def __init__(self, url: URL, space: str, *, busy_seconds: float = 10.0) -> None:
        super().__init__(busy_seconds)
        self._url = url
        self.schema = spaces.schema_name(space)
        self._readers = create_readers(url, self.schema)
        self._writers = create_writers(url, self.schema, busy_seconds)
        self._members = create_members(url, self.schema)
        self._membership = SpaceMembership(self._members, self.connect, self.schema)
        self._feed = self._create_feed()
        self._watch = StatementWatch()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a listener after each later transaction of any process; see `Transactions.subscribe`."""
        self._feed.listen()
        return super().subscribe(listener)

    def announce(self, topic: Topic) -> None:
        """Tell other processes that serve the space of a write, once it is committed; it never waits."""
        if (session := self._current.get()) and session.origin:
            session.later.append(partial(self._feed.announce, topic))
        else:
            self._feed.announce(topic)

    def subscribe_to_others(self, topic: RowTopic, listener: RowListener) -> Callable[[], None]:
        """Call a listener with the rows that other processes wrote, from the first subscription to changes on."""
        return self._feed.subscribe(topic, listener)

    @property
    def membership(self) -> SpaceMembership:
        """This process as one of the daemons that serve the space."""
        return self._membership

    @contextmanager
    def _open_write(self, origin: Origin) -> Generator[Session]:
        with self._hold_write_lock(), translate_errors(), self._connect(self._writers.connect()) as connection:
            self._membership.renew()
            driver = driver_connection(connection)
            driver.queue(spaces.BEGIN_WRITE)
            lock = driver.queue(spaces.TAKE_LOCK)
            with self._watch.limit(driver), _name_missing_right(driver):
                session = Session(connection, origin, DIALECT)
                yield session
                ((_, number, may_write),) = lock.fetchall()  # sent only now if nothing was read
                if not may_write:
                    raise _read_only_error(driver)
            item = session.touched[0].id if session.touched else ""
            with self._mark_as_own(driver.server_start, number):
                commit(driver, Transaction(number, origin.call, item), self.connect)

    def _create_feed(self) -> SpaceFeed:
        return SpaceFeed(partial(create_feed, self._url, self.schema), self.schema, self._listeners.notify)

    @contextmanager
    def _mark_as_own(self, server_start: str, number: str) -> Generator[None]:
        """Let the feed skip what a transaction writes that commits inside, unless nobody knows whether it is kept."""
        if not self._feed.is_listening:
            yield
            return
        transaction = self._feed.own.begin(server_start, number)
        try:
            yield
        except BaseException:
            self._feed.own.discard(transaction)
            raise
        self._feed.own.commit(transaction)

    @contextmanager
    def _connect(self, connection: Connection) -> Generator[Connection]:
        """Give a connection back at the end; after an error that may have broken it, it is closed."""
        try:
            yield connection
        except PanoramaError:
            release(connection)
            raise
        except BaseException:
            self._discard(connection)
            raise
        release(connection)

    def _discard(self, connection: Connection) -> None:
        """Close a connection that may be broken."""
        discard(connection)

    def _close(self, driver: psycopg.Connection[Any]) -> None:
        """Close a connection whose statement was cancelled."""
        driver.close()

    @contextmanager
    def connect(self) -> Generator[QueueingConnection]:
        """Open a connection outside of any transaction."""
        with self._writers.connect() as connection:
            yield driver_connection(connection)

    @contextmanager
    def _open_view(self) -> Generator[Session]:
        with translate_errors(), self._connect(self._readers.connect()) as connection:
            driver = driver_connection(connection)
            driver.queue(spaces.BEGIN_VIEW)
            with self._watch.limit(driver) as watched, self._set_current(Session(connection, None, DIALECT)) as session:
                yield session
            if watched and watched.is_cancelled:
                self._close(driver)  # the request may still reach its next statement
            else:
                driver.end_view()

    def is_current(self) -> bool:
        """Return true: a space that is dropped and created again stays the same for its open connections."""
        return True

    def revision(self) -> str:
        """Return the schema's revision, "" if the space does not exist or is empty.

        Raises:
            UnavailableError: The schema belongs to another program, or the server cannot be reached.
        """
        with translate_errors(), self.connect() as driver:
            return spaces.find_revision(driver, self.schema)

    is_copied_before_migration = False  # a copy is an SQLite file of the current revision

    def require_migratable(self) -> None:
        """Check that the role may act as the owner of the space.

        Raises:
            UnavailableError: The role is not a member of the owner.
        """
        with translate_errors(), self.connect() as driver:
            spaces.require_owner(driver, self.schema)

    @contextmanager
    def migrating(self) -> Generator[Connection]:
        """Open a write transaction for a migration, which creates the space if it does not exist.

        Raises:
            UnavailableError: The role may not create the space, or not act as its owner.
        """
        with self._hold_write_lock(), translate_errors(), self._connect(self._writers.connect()) as connection:
            driver = driver_connection(connection)
            spaces.check_server(driver)
            driver.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            spaces.create_schema(driver, self.schema)
            spaces.lock(driver)  # writers of the space wait, and so does another daemon that migrates it
            create_functions(connection)
            yield connection
            word_tables.create_tables(connection)
            rights.protect_revision(driver, self.schema)
            driver.execute("COMMIT")
        self._membership.renew()  # there may have been no space to lock before

    def copy_to(
        self,
        target: Path,
        progress: ProgressCallback = noop,
        *,
        is_awaited: bool = False,  # noqa: ARG002 (only a copy of a file takes the disk from others)
    ) -> None:
        """Write a copy of the space as an SQLite file; a part of it is not left behind.

        Raises:
            UnavailableError: The disk is full or the folder cannot be written.
        """
        with self.reading() as session:
            copies.write_copy(driver_connection(session.connection), target, progress)

    def create_scratch(self, folder: Path, check_cancel: Callable[[], None] = noop) -> Scratch:
        """Return a private view for a dry run; what `check_cancel` raises ends the copying."""
        return Scratch(self, folder, lambda: ScratchSpace(self._url, self.schema, check_cancel))

    def contents(self, folder: Path) -> TableContents:  # noqa: ARG002 (nothing is stored on this machine)
        """Return the store of the contents of files: tables of the space."""
        return TableContents(self.connect)

    def size_bytes(self) -> int:
        """Return how much space the tables and indexes of the space take on the server's disk, without contents."""
        with translate_errors(), self.connect() as driver:
            row = driver.execute(_SIZE, (self.schema, list(content_rows.TABLES))).fetchone()
            return int(row[0]) if row else 0

    def truncate_log(self) -> None:
        """Do nothing: the server keeps its log, and overwrites it when it needs the room."""

    def close(self) -> None:
        """Close every connection."""
        self._feed.close()
        self._feed = self._create_feed()  # the space may be opened again
        self._membership.leave()
        self._watch.close()
        for engine in (self._readers, self._writers, self._members):
            engine.dispose()


class ScratchSpace(PostgresDatabase):
    """The copies of a space's tables that a dry run writes, behind one connection.

    Raises:
        UnavailableError: The server's disk is full, or it cannot be reached.
    """

    def __init__(self, url: URL, schema: str, check_cancel: Callable[[], None]) -> None:
        Transactions.__init__(self, TURN_SECONDS)
        self._url = url
        self.schema = schema
        with translate_errors():
            self._readers = self._writers = open_scratch_tables(url, schema, check_cancel)
        self._members = self._writers
        self._membership = SpaceMembership(self._members, self.connect, self.schema)
        self._feed = self._create_feed()
        self._watch = StatementWatch()

    def announce(self, topic: Topic) -> None:
        """Do nothing: nobody else sees the copies."""

    def _discard(self, connection: Connection) -> None:
        """Keep the only connection unless it is lost: the copies are gone with it."""
        with suppress(psycopg.Error):
            driver_connection(connection).rollback()
        release(connection)

    def _close(self, driver: psycopg.Connection[Any]) -> None:
        """Keep it: the server has answered the request to cancel by now."""


@contextmanager
def _name_missing_right(driver: psycopg.Connection[Any]) -> Generator[None]:
    """Say that the role may only read, where the space's lock or what was sent with it is refused.

    Raises:
        ReadOnlyRoleError: The role may not write.
    """
    try:
        yield
    except (DBAPIError, psycopg.Error) as error:
        if lacks_right(error):
            raise _read_only_error(driver) from error
        raise


def _read_only_error(driver: psycopg.Connection[Any]) -> UnavailableError:
    return spaces.ReadOnlyRoleError(
        f"The role {driver.info.user} may only read this space; nothing was changed.",
        hint="Ask the owner of the space for the right to write: panorama spaces grant SPACE ROLE",
    )
