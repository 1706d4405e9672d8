"""The parts of a transaction that are specific to SQLite."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Executable, Table, text

from panorama.store import bulk_writes
from panorama.store.archive.jsonl import BATCH_ROWS
from panorama.store.backend import Dialect, FullText, ProgressCallback, Rows, Session, Vocabulary, noop
from panorama.store.sqlite.driver import check_more_often
from panorama.store.sqlite.fulltext import Fts5FullText
from panorama.store.sqlite.online_backup import copy_database
from panorama.store.sqlite.vocabulary import Fts5Vocabulary


class SqliteDialect:
    """FTS5, many rows in one statement, and copies by SQLite's online backup."""

    full_text: FullText = Fts5FullText()
    vocabulary: Vocabulary = Fts5Vocabulary()
    insert_rows = staticmethod(bulk_writes.insert_rows)
    update_rows = staticmethod(bulk_writes.update_rows)

    def ask(self, connection: Connection, statement: Executable, values: Mapping[str, Any] | None) -> Rows:
        """Read rows when they are needed: there is no way to save."""
        return lambda: connection.execute(statement, values).all()

    def send(self, connection: Connection, statement: Executable, values: Mapping[str, Any] | None) -> None:
        """Execute a statement at once."""
        connection.execute(statement, values)

    def write_snapshot(self, session: Session, target: Path, progress: ProgressCallback = noop) -> None:
        """Write what a session sees to a new file, while others go on writing."""
        copy_database(session.connection, target, progress)

    def iter_stored_rows(self, session: Session, table: Table) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table in the order of their key, as they are stored."""
        names, key = (", ".join(f'"{column.name}"' for column in columns) for columns in (table.c, table.primary_key))
        statement = text(f'SELECT {names} FROM "{table.name}" ORDER BY {key}').execution_options(yield_per=BATCH_ROWS)
        return map(tuple, session.connection.execute(statement))

    def reading_long_texts(self, session: Session) -> AbstractContextManager[None]:
        """Check the limit every few hundred steps: a step that searches in a long text takes up to 20 ms."""
        return check_more_often(session.connection)

    def read_clock(self, session: Session) -> None:
        """Return none: the clock of this machine is the only one."""

    def list_sequences(self, session: Session) -> dict[str, int]:
        """Return the last number that each table with generated numbers gave."""
        rows = session.connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence").all()
        return {row[0]: row[1] for row in rows}


DIALECT: Dialect = SqliteDialect()
