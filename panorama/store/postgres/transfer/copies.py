"""Copies a space to an SQLite file, and the rows of such a file into a space.

A backup of a space is the same file that SQLite's is, so that it is checked, restored and exported in the same way.
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from psycopg import Connection, DataError, IntegrityError
from psycopg.sql import SQL, Identifier
from sqlalchemy import Column, Integer, Table

from panorama.errors import InvalidInputError, UnavailableError
from panorama.store.archive.full_index import index_living_items
from panorama.store.backend import ProgressCallback, noop
from panorama.store.disk import sync
from panorama.store.items.passages import INDEXER
from panorama.store.migrate import create_tables
from panorama.store.postgres.contents import content_rows
from panorama.store.postgres.transfer.stored_rows import (
    FiniteNumbers,
    RowDigest,
    StoredRow,
    insert_stored,
    select_stored,
)
from panorama.store.postgres.transfer.word_copies import copy_parts
from panorama.store.sqlite.engine import SUFFIXES, SqliteDatabase
from panorama.store.sqlite.row_loader import RowLoader
from panorama.store.sqlite.snapshots import open_readonly
from panorama.store.sqlite.stored_rows import StoredRows
from panorama.store.tables import daemons, marks, metadata, search_parts

Row = TypeVar("Row")

REPORT_ROWS = 100
"""Rows between two reports of progress."""

RowDigests = dict[str, tuple[int, int]]
"""The number of rows of each table, and their digest."""

_LAST_NUMBERS = SQL(
    "SELECT t.relname, pg_sequence_last_value(s.oid) FROM pg_class AS s "
    "JOIN pg_depend AS d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') "
    "JOIN pg_class AS t ON t.oid = d.refobjid "
    "WHERE s.relkind = 'S' AND t.relnamespace = current_schema()::regnamespace"
)
_NO_LIMITS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"
_PREPARE = f"{_NO_LIMITS}; SET LOCAL maintenance_work_mem = '256MB'"


def write_copy(driver: Connection[Any], target: Path, progress: ProgressCallback = noop) -> None:
    """Write what the open transaction sees to a file that has its name only when it is whole.

    Raises:
        UnavailableError: The disk is full, or the folder cannot be written.
    """
    part = target.with_suffix(".part")
    try:
        remove_file(part)  # of a process that was killed
        write_snapshot(driver, part, progress)
        part.replace(target)
    except OSError as error:
        raise unwritable_error(target, error) from error
    finally:
        remove_file(part)


def unwritable_error(path: Path, error: OSError) -> UnavailableError:
    """Return the error for a file that cannot be written."""
    return UnavailableError(
        f"{path} cannot be written: {error.strerror}.", hint="Free some space, and check the folder's owner."
    )


def remove_file(path: Path) -> None:
    """Remove an SQLite file that nobody has open, with its log."""
    for ending in SUFFIXES:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def write_snapshot(driver: Connection[Any], target: Path, progress: ProgressCallback = noop) -> RowDigests:
    """Write what the open transaction sees to a new SQLite file; return the digests of the rows.

    The words are indexed again, because PostgreSQL keeps no text of them.

    Raises:
        UnavailableError: The disk is full, or the folder cannot be written.
    """
    driver.execute(_NO_LIMITS)
    handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        size = _size_bytes(driver)
        counter = _Counter(_count_rows(driver), lambda done, total: progress(size * done // total, size))
        with closing(SqliteDatabase(target, is_durable=False)) as copy:
            create_tables(copy)
        tables = list_copied_tables()
        digests = _fill_file(driver, target, [table for table in tables if table is not marks], counter)
        with closing(SqliteDatabase(target, is_durable=False)) as copy:
            index_living_items(copy, INDEXER, report=counter.report_part)
        digests |= _fill_file(driver, target, [marks], counter)  # last, because indexing clears marks
        sync(handle)
    finally:
        os.close(handle)
    return digests


def _fill_file(driver: Connection[Any], target: Path, tables: list[Table], counter: "_Counter") -> RowDigests:
    digests: RowDigests = {}
    with closing(RowLoader(target)) as loader:
        for table in tables:
            digest = RowDigest()
            loader.insert(table, counter.count_each(digest.add_each(select_stored(driver, table))))
            digests[table.name] = digest.value
        loader.set_sequences(list_sequences(driver))
    return digests


def load_rows(driver: Connection[Any], source: StoredRows, progress: ProgressCallback = noop) -> tuple[str, ...]:
    """Fill the empty tables of the connection's space with the rows of an SQLite database, and compare them.

    Everything happens in the open transaction. The words are not indexed again: SQLite keeps the text of each part.
    Returns remarks on values that PostgreSQL cannot hold and that were replaced.

    Raises:
        InvalidInputError: A row refers to a missing one, or has a value that PostgreSQL cannot hold.
        UnavailableError: A table holds other rows than were read.
    """
    driver.execute(_PREPARE)
    total = source.count()
    counter, digests, numbers = _Counter(3 * total, progress), RowDigests(), FiniteNumbers()
    for table in list_copied_tables():
        digest = RowDigest()
        with _translate_refusal(table):
            rows = numbers.replace(table, source.iter_table(table))
            insert_stored(driver, table, counter.count_each(digest.add_each(rows)))
        digests[table.name] = digest.value
    require_same_rows(driver, digests, counter.count_each)
    copy_parts(driver, counter.count_each(source.iter_parts()))
    _set_sequences(driver, source.read_sequences())
    names = SQL(", ").join(map(Identifier, metadata.tables))
    driver.execute(SQL("ANALYZE {}, search_words").format(names))
    return numbers.describe()


@contextmanager
def _translate_refusal(table: Table) -> Generator[None]:
    try:
        yield
    except (DataError, IntegrityError) as error:
        raise InvalidInputError(
            f"The table {table.name} has a row that PostgreSQL refuses: {error.diag.message_primary}.",
            hint="Look for another copy in the folder backups.",
        ) from error


def require_same_rows(
    driver: Connection[Any], digests: RowDigests, watch: Callable[[Iterator[StoredRow]], Iterable[StoredRow]] = iter
) -> None:
    """Compare the rows of the connection's space with the digests of others.

    Raises:
        UnavailableError: A table holds other rows.
    """
    _require_same(lambda table: watch(select_stored(driver, table)), digests)


def require_same_file(file: Path, digests: RowDigests) -> None:
    """Compare the rows of an SQLite file that nobody has open with the digests of others.

    Raises:
        UnavailableError: A table holds other rows.
    """
    with closing(open_readonly(file)) as opened:
        _require_same(StoredRows(opened).iter_table, digests)


def _require_same(read: Callable[[Table], Iterable[StoredRow]], digests: RowDigests) -> None:
    for table in list_copied_tables():
        digest = RowDigest()
        for _ in digest.add_each(read(table)):
            pass
        if digest.value != digests[table.name]:
            raise UnavailableError(
                f"The rows of {table.name} are not the same in both databases; nothing was changed.",
                hint="Run `panorama doctor`, and report this with its output.",
            )


def list_copied_tables() -> list[Table]:
    """Return the tables whose rows are the same in every database, referenced tables first."""
    return [table for table in metadata.sorted_tables if table not in (search_parts, daemons)]


def list_sequences(driver: Connection[Any]) -> dict[str, int]:
    """Return the last number of each table whose numbers are never given again, as SQLite's own list does."""
    lasting = {table.name for table in metadata.sorted_tables if table.dialect_options["sqlite"]["autoincrement"]}
    return {name: last for name, last in driver.execute(_LAST_NUMBERS) if name in lasting and last is not None}


def _set_sequences(driver: Connection[Any], numbers: dict[str, int]) -> None:
    """Continue the generated numbers of each table behind the last one."""
    for table in metadata.sorted_tables:
        if (key := table.autoincrement_column) is None or not _is_generated(key):
            continue
        statement = SQL(
            "SELECT setval(pg_get_serial_sequence({}, {}), greatest(max({}), %s, 1), greatest(max({}), %s, 0) > 0) "
            "FROM {}"
        ).format(table.name, key.name, Identifier(key.name), Identifier(key.name), Identifier(table.name))
        last = numbers.get(table.name)
        driver.execute(statement, (last, last))


def _is_generated(column: Column[Any]) -> bool:
    return column.autoincrement is True and isinstance(column.type, Integer)


def _size_bytes(driver: Connection[Any]) -> int:
    query = (
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 1)::bigint FROM pg_class "
        "WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> ALL({})"
    )
    return _read_number(driver, SQL(query).format(list(content_rows.TABLES)))


def _count_rows(driver: Connection[Any]) -> int:
    return sum(
        _read_number(driver, SQL("SELECT count(*) FROM {}").format(Identifier(name))) for name in metadata.tables
    )


def _read_number(driver: Connection[Any], query: Any) -> int:
    row = driver.execute(query).fetchone()
    return int(row[0]) if row else 0


class _Counter:
    """Counts rows, and reports the progress now and then."""

    def __init__(self, total: int, progress: ProgressCallback) -> None:
        self._total = max(1, total)
        self._progress = progress
        self._done = 0

    def count_each(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            yield row
            self._done += 1
            if self._done % REPORT_ROWS == 0:
                self._progress(min(self._done, self._total), self._total)

    def report_part(self, done: int, total: int) -> None:
        """Report the share of the last part of the work: what the rows before it left of the total."""
        self._progress(self._done + (self._total - self._done) * done // max(1, total), self._total)
