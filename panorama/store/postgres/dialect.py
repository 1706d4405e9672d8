"""The parts of a transaction that are specific to PostgreSQL."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Executable, Table, func, select

from panorama.store import bulk_writes
from panorama.store.backend import Dialect, FullText, ProgressCallback, Rows, Session, Vocabulary, noop
from panorama.store.column_types import Utc
from panorama.store.postgres.connections import driver_connection
from panorama.store.postgres.fulltext import TsvectorFullText
from panorama.store.postgres.transfer import copies
from panorama.store.postgres.transfer.stored_rows import select_stored
from panorama.store.postgres.vocabulary import TsvectorVocabulary

_CLOCK = select(func.clock_timestamp(type_=Utc))
_WAITING_READ = {"delay": "read"}


class PostgresDialect:
    """Words in `tsvector` columns, many rows in one statement, and copies as SQLite files."""

    full_text: FullText = TsvectorFullText()
    vocabulary: Vocabulary = TsvectorVocabulary()
    insert_rows = staticmethod(bulk_writes.insert_rows)
    update_rows = staticmethod(bulk_writes.update_rows)

    def ask(self, connection: Connection, statement: Executable, values: Mapping[str, Any] | None) -> Rows:
        """Read rows with the next statement, or when they are needed."""
        return connection.execute(statement, values, execution_options=_WAITING_READ).all

    def send(self, connection: Connection, statement: Executable, values: Mapping[str, Any] | None) -> None:
        """Execute a statement with the next one, or with the commit."""
        connection.execute(statement, values, execution_options=bulk_writes.WAITING_WRITE)

    def write_snapshot(self, session: Session, target: Path, progress: ProgressCallback = noop) -> None:
        """Write what a session sees to a new SQLite file, while others go on writing."""
        copies.write_snapshot(driver_connection(session.connection), target, progress)

    def iter_stored_rows(self, session: Session, table: Table) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table in the order of their key, with the values that SQLite stores for them."""
        return select_stored(driver_connection(session.connection), table, is_ordered=True)

    def reading_long_texts(self, session: Session) -> AbstractContextManager[None]:  # noqa: ARG002
        """Do nothing: the server cancels a statement wherever it is."""
        return nullcontext()

    def read_clock(self, session: Session) -> datetime:
        """Return the server's time, which is the same for the daemons of all machines."""
        return session.connection.execute(_CLOCK).scalar_one()

    def list_sequences(self, session: Session) -> dict[str, int]:
        """Return the last number that each table with generated numbers gave."""
        return copies.list_sequences(driver_connection(session.connection))


DIALECT: Dialect = PostgresDialect()
