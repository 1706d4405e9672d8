"""The items above an item by one of its columns: its owner, the owner of that, and so on."""

from typing import Any

from sqlalchemy import Column, literal, select

from panorama.store.backend import Session

MAX_DEPTH = 100_000
"""The maximum number of steps of a walk, so that it ends in a cycle too."""


def list_chain(session: Session, column: Column[Any], id_: str) -> list[str]:
    """Return the ids that a column leads to from an item, the nearest first, each once.

    One statement finds them all, because thousands of items may be above one.
    """
    table = column.table
    first = select(column.label("id"), literal(1).label("depth")).where(table.c.id == id_, column.is_not(None))
    chain = first.cte("chain", recursive=True)
    above = select(column, chain.c.depth + 1).join(chain, table.c.id == chain.c.id)
    chain = chain.union_all(above.where(column.is_not(None), chain.c.depth < MAX_DEPTH))
    statement = select(chain.c.id).order_by(chain.c.depth)
    return list(dict.fromkeys(session.connection.execute(statement).scalars()))
