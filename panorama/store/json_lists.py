"""Lists of values in statements that are compiled once."""

from typing import Any

from sqlalchemy import Integer, Select, bindparam, cast, func, select


def json_values(name: str) -> Select[Any]:
    """Return the values of a list that is passed as JSON under a name, for `IN`.

    Building and expanding a list of two hundred values takes as long as reading the rows.
    """
    return select(func.json_each(bindparam(name)).table_valued("value").c.value)


def json_numbers(name: str) -> Select[Any]:
    """Return the numbers of a list that is passed as JSON under a name, for `IN`."""
    return select(cast(func.json_each(bindparam(name)).table_valued("value").c.value, Integer))
