"""The tables of a dry run: temporary copies that hide the space's tables from the statements of one connection.

A copy in `pg_temp` is seen by its connection only, and the server drops it with the connection, also after a crash.
Others never wait for it: a transaction that is rolled back in the end would hold locks on the rows it wrote.
"""

from collections.abc import Callable
from functools import partial
from threading import Event

from sqlalchemy import URL, Connection, Engine, text

from panorama.errors import UnavailableError
from panorama.store.backend import noop
from panorama.store.postgres.connections import create_single
from panorama.store.postgres.contents import content_rows

TEMPORARY = "pg_temp"
"""The schema of the copies, which is searched first."""

PORTION_BLOCKS = 4096
"""Blocks that one statement copies, 32 MB: it is asked between two of them whether to go on."""

_SETTINGS = (
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    "SET LOCAL maintenance_work_mem = '256MB'",
    "SET LOCAL temp_buffers = '64MB'",
    "SET LOCAL default_statistics_target = 10",
    "SET LOCAL search_path = pg_temp",  # the definitions of constraints then name the space's tables with their schema
)
_QUOTED = text("SELECT quote_ident(:space)")
_TABLES = text(
    "SELECT quote_ident(relname), pg_relation_size(oid) / current_setting('block_size')::int FROM pg_class "
    "WHERE relnamespace = to_regnamespace(quote_ident(:space)) AND relkind = 'r' AND relname <> ALL(:left) "
    "ORDER BY relname"
)
_INDEXES = text(
    "SELECT quote_ident(t.relname), pg_get_indexdef(i.indexrelid), quote_ident(c.conname), pg_get_constraintdef(c.oid) "
    "FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid "
    "LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.conrelid = t.oid AND c.contype IN ('p', 'u', 'x') "
    "WHERE t.relnamespace = to_regnamespace(quote_ident(:space)) AND t.relname <> ALL(:left) ORDER BY 1, 2"
)
_FOREIGN_KEYS = text(
    "SELECT quote_ident(t.relname), quote_ident(c.conname), pg_get_constraintdef(c.oid) "
    "FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid "
    "WHERE t.relnamespace = to_regnamespace(quote_ident(:space)) AND t.relname <> ALL(:left) AND c.contype = 'f' "
    "ORDER BY 1, 2"
)


def open_scratch_tables(url: URL, schema: str, check_cancel: Callable[[], None] = noop) -> Engine:
    """Copy the tables of a space; return an engine with the one connection that sees them.

    Calls take turns for the connection. Without its copies another connection would write the space itself, so there
    is none after it.

    Args:
        check_cancel: Called between portions; an exception that it raises ends the copying.
    """
    is_copied = Event()
    engine = create_single(url, f"{TEMPORARY},{schema}", partial(_refuse_after, is_copied))
    try:
        with engine.connect() as connection:
            _copy_tables(connection.execution_options(isolation_level="REPEATABLE READ"), schema, check_cancel)
    except BaseException:
        engine.dispose()
        raise
    is_copied.set()
    return engine


def _refuse_after(is_copied: Event) -> None:
    if is_copied.is_set():
        raise UnavailableError(
            "The connection to the database was lost, and with it what this dry run had written; nothing was changed.",
            hint="Run it again.",
        )


def _copy_tables(connection: Connection, space: str, check_cancel: Callable[[], None]) -> None:
    """Copy the tables of a space as they are now into the connection's own temporary schema, and commit.

    Numbers still come from the space's sequences, so that none is given twice. Foreign keys hold between the copies.
    """
    with connection.begin():
        for setting in _SETTINGS:
            connection.exec_driver_sql(setting)
        source: str = connection.execute(_QUOTED, {"space": space}).scalar_one()
        names: list[str] = []
        for table, blocks in connection.execute(_TABLES, _parameters(space)).all():
            _copy_table(connection, source, table, blocks, check_cancel)
            names.append(f"{TEMPORARY}.{table}")
        for statement in [*_list_indexes(connection, space, source), *_list_foreign_keys(connection, space, source)]:
            check_cancel()
            connection.exec_driver_sql(statement.replace("%", "%%"))
        check_cancel()
        connection.exec_driver_sql(f"ANALYZE {', '.join(names)}")


def _parameters(space: str) -> dict[str, object]:
    """Return the parameters of a query for the tables to copy: all but contents, which a dry run stores aside."""
    return {"space": space, "left": list(content_rows.TABLES)}


def _copy_table(connection: Connection, source: str, table: str, blocks: int, check_cancel: Callable[[], None]) -> None:
    """Copy a table without its indexes, which are created faster when it is full."""
    connection.exec_driver_sql(
        f"CREATE TEMPORARY TABLE {table} (LIKE {source}.{table} INCLUDING ALL EXCLUDING INDEXES)"
    )
    for first in range(0, blocks, PORTION_BLOCKS):
        check_cancel()
        connection.exec_driver_sql(
            f"INSERT INTO {TEMPORARY}.{table} SELECT * FROM {source}.{table} "
            f"WHERE ctid >= '({first},0)' AND ctid < '({first + PORTION_BLOCKS},0)'"
        )


def _list_indexes(connection: Connection, space: str, source: str) -> list[str]:
    """Return the statements for primary keys, unique constraints and indexes."""
    return [
        f"ALTER TABLE {TEMPORARY}.{table} ADD CONSTRAINT {name} {constraint}"
        if name
        else index.replace(f" ON {source}.", f" ON {TEMPORARY}.", 1)
        for table, index, name, constraint in connection.execute(_INDEXES, _parameters(space))
    ]


def _list_foreign_keys(connection: Connection, space: str, source: str) -> list[str]:
    """Return the statements for foreign keys; the copied rows have met them, so they are not checked again."""
    return [
        f"ALTER TABLE {TEMPORARY}.{table} ADD CONSTRAINT {name} "
        f"{constraint.replace(f' REFERENCES {source}.', f' REFERENCES {TEMPORARY}.', 1)} NOT VALID"
        for table, name, constraint in connection.execute(_FOREIGN_KEYS, _parameters(space))
    ]
