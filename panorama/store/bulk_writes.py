"""Inserts and updates rows without SQLAlchemy's cost per row and per statement."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Dialect, Insert, Table, Update, and_, bindparam, insert, update

MAX_CACHED_STATEMENTS = 256
"""The size of the statement cache: each set of columns that are written together has one."""

BATCH_ROWS = 64
"""The maximum number of rows of one statement, a power of two.

Older SQLite takes 999 parameters, and no row here has 16 values.

The driver lets other threads run Python while SQLite steps, and has to wait for them after each step: written one by
one, rows cost them and itself a hand-over each.
"""

MAX_PARAMETERS = 999
WAITING_WRITE = {"delay": "write"}
"""The execution option for a write that need not be sent at once; a database on this machine ignores it."""

Column = tuple[int, Callable[[Any], Any] | None]
"""The index of a parameter's value in a row, and its conversion for the driver; None for no conversion."""


def insert_rows(
    connection: Connection,
    table: Table,
    names: tuple[str, ...],
    rows: Iterable[Sequence[Any]],
    *,
    skip_existing: bool = False,
    is_awaited: bool = True,
) -> int:
    """Insert rows, given as the values of some columns, as SQLAlchemy's insert does; return how many were inserted.

    None is also converted by its column's type: JSON stores `null`.

    Args:
        skip_existing: Leave out rows whose key is taken.
        is_awaited: Return only when they are inserted; otherwise they may be sent later, and the number is wrong.

    Raises:
        ValueError: The driver uses named parameters.
    """
    statement, columns = _prepare_insert(table, names, connection.dialect)
    ending = " ON CONFLICT DO NOTHING" if skip_existing else ""
    is_as_given = [at for at, process in columns if not process] == list(range(len(names)))
    created = list(rows) if is_as_given else [_to_parameters(columns, row) for row in rows]
    most, done, inserted = min(BATCH_ROWS, MAX_PARAMETERS // len(columns)), 0, 0
    options = None if is_awaited else WAITING_WRITE
    while done < len(created):
        count = 1 << min(most, len(created) - done).bit_length() - 1
        batch = tuple(chain.from_iterable(created[done : done + count]))
        repeated = _repeat_values(statement, count) + ending
        inserted += connection.exec_driver_sql(repeated, batch, execution_options=options).rowcount
        done += count
    return inserted


def update_rows(
    connection: Connection,
    table: Table,
    names: tuple[str, ...],
    keys: tuple[str, ...],
    rows: Sequence[Sequence[Any]],
) -> int:
    """Update rows, given as the values of some columns and of the key columns; return how many there were.

    Raises:
        ValueError: The driver uses named parameters.
    """
    statement, columns = _prepare_update(table, names, keys, connection.dialect)
    parameters = [_to_parameters(columns, row) for row in rows]
    return connection.exec_driver_sql(statement, parameters if len(parameters) > 1 else parameters[0]).rowcount


def _to_parameters(columns: Sequence[Column], row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([process(row[at]) if process else row[at] for at, process in columns])


@lru_cache(MAX_CACHED_STATEMENTS * BATCH_ROWS.bit_length())
def _repeat_values(statement: str, count: int) -> str:
    """Return a statement that inserts several rows instead of one."""
    one = statement.rindex("(")
    return statement + f", {statement[one:]}" * (count - 1)


@lru_cache(MAX_CACHED_STATEMENTS)
def _prepare_insert(table: Table, names: tuple[str, ...], dialect: Dialect) -> tuple[str, Sequence[Column]]:
    """Return the statement that inserts a row, and the index and conversion of each of its parameters."""
    return _compile(insert(table).inline(), table, names, names, dialect)


@lru_cache(MAX_CACHED_STATEMENTS)
def _prepare_update(
    table: Table, names: tuple[str, ...], keys: tuple[str, ...], dialect: Dialect
) -> tuple[str, Sequence[Column]]:
    """Return the statement that updates a row, and the index and conversion of each of its parameters."""
    where = and_(*(table.c[key] == bindparam(f"{key}_", type_=table.c[key].type) for key in keys))
    parameters = (*names, *(f"{key}_" for key in keys))
    return _compile(update(table).where(where), table, parameters, names, dialect)


def _compile(
    statement: Insert | Update, table: Table, parameters: tuple[str, ...], names: tuple[str, ...], dialect: Dialect
) -> tuple[str, Sequence[Column]]:
    """Compile a statement; a parameter that is not a column has the name of one and an underscore.

    Raises:
        ValueError: The driver uses named parameters.
    """
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    if compiled.positiontup is None:
        raise ValueError(f"the driver of {dialect.name} does not take parameters by their places")
    types = (
        (name, table.c[name if name in names else name.removesuffix("_")].type.dialect_impl(dialect))
        for name in compiled.positiontup
    )
    return str(compiled), tuple((parameters.index(name), kind.bind_processor(dialect)) for name, kind in types)
