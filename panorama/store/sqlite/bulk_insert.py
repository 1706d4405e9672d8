"""Inserts many rows without SQLAlchemy's cost per row."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Dialect, Table, insert

MAX_CACHED_STATEMENTS = 32
"""The size of the statement cache: only few tables get bulk inserts."""

BATCH_ROWS = 64
"""The most rows of one statement, a power of two: SQLite once took 999 parameters, and no row here has 16 values.

The driver lets other threads run Python while SQLite steps, and has to wait for them after each step: written one by
one, rows cost them and itself a hand-over each.
"""

Column = tuple[int, Callable[[Any], Any] | None]
"""The index of a parameter's value in a row, and its conversion for the driver; None for no conversion."""


def insert_rows(
    connection: Connection,
    table: Table,
    names: tuple[str, ...],
    rows: Iterable[Sequence[Any]],
    *,
    skip_existing: bool = False,
) -> None:
    """Insert rows, given as the values of some columns, with the same result as SQLAlchemy's insert.

    None is also converted by its column's type: JSON stores `null`.

    Args:
        skip_existing: Leave out rows whose key is taken.

    Raises:
        ValueError: The driver uses named parameters.
    """
    statement, columns = _prepare(table, names, "OR IGNORE" if skip_existing else "", connection.dialect)
    created = [tuple([process(row[at]) if process else row[at] for at, process in columns]) for row in rows]
    done = 0
    while done < len(created):
        count = min(BATCH_ROWS, 1 << (len(created) - done).bit_length() - 1)
        batch = tuple(chain.from_iterable(created[done : done + count]))
        connection.exec_driver_sql(_repeat_values(statement, count), batch)
        done += count


@lru_cache(MAX_CACHED_STATEMENTS * BATCH_ROWS.bit_length())
def _repeat_values(statement: str, count: int) -> str:
    """Return a statement that inserts several rows instead of one."""
    one = statement.rindex("(")
    return statement + f", {statement[one:]}" * (count - 1)


@lru_cache(MAX_CACHED_STATEMENTS)
def _prepare(table: Table, names: tuple[str, ...], prefix: str, dialect: Dialect) -> tuple[str, Sequence[Column]]:
    """Return the statement, and the index and conversion of each of its parameters.

    Raises:
        ValueError: The driver uses named parameters.
    """
    statement = insert(table).inline()
    statement = statement.prefix_with(prefix) if prefix else statement
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    if compiled.positiontup is None:
        raise ValueError(f"the driver of {dialect.name} does not take parameters by their places")
    types = ((name, table.c[name].type.dialect_impl(dialect)) for name in compiled.positiontup)
    return str(compiled), tuple((names.index(name), kind.bind_processor(dialect)) for name, kind in types)
