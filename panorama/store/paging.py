"""Pages of rows, continued by the sort values of the last row."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, Row, Select, and_, case, func, literal, or_, select, tuple_

from panorama.domain.paging import Key, Page, PageRequest
from panorama.store.backend import Session

T = TypeVar("T")

Rows = Select[*tuple[Any, ...]]
"""A statement, whatever its columns."""

Order = tuple[ColumnElement[Any], bool]
"""An expression that is never null, and whether the largest comes first."""


def ascending(*expressions: ColumnElement[Any]) -> list[Order]:
    """Sort by these, the smallest first."""
    return [(expression, False) for expression in expressions]


def nulls_last(column: ColumnElement[Any], *, stand_in: Any, descending: bool = False) -> list[Order]:
    """Sort by a column that may be null; rows without a value come last in either direction."""
    return [(case((column.is_(None), 1), else_=0), False), (func.coalesce(column, stand_in), descending)]


def fetch_page(
    session: Session,
    statement: Rows,
    order: Sequence[Order],
    part: PageRequest,
    make: Callable[[Row[Any]], T],
    *,
    count: bool = True,
) -> Page[T]:
    """Return the part of a statement's rows that is wanted; the last order must tell any two rows apart.

    A row that is written or deleted meanwhile neither hides nor repeats another.
    """
    keyed = statement.add_columns(*(expression for expression, _ in order))
    after = part.get_start_key(*(_python_type(expression) for expression, _ in order))
    if after is not None:
        keyed = keyed.where(_after_condition(order, after))
    sorted_ = keyed.order_by(*(e.desc() if descending else e.asc() for e, descending in order))
    rows = session.connection.execute(sorted_.limit(part.limit + 1)).all()
    shown = rows[: part.limit]
    more = len(rows) > part.limit
    total = (
        None
        if not (count and part.counts)
        else _count_total(session, statement)
        if more or after is not None
        else len(shown)
    )
    width = len(order)
    return Page(tuple(make(row) for row in shown), tuple(tuple(row[-width:]) for row in shown), total, more)


def _python_type(expression: ColumnElement[Any]) -> type | tuple[type, ...]:
    kind = expression.type.python_type
    return (int, float) if kind in (int, float) else kind


def _after_condition(order: Sequence[Order], after: Key) -> ColumnElement[bool]:
    """Tell which rows come after a place: in a form that finds it in an index, where one holds the whole order."""
    columns = [expression for expression, _ in order]
    place = [literal(value, expression.type) for expression, value in zip(columns, after, strict=True)]
    first, descending = order[0]
    if any(direction != descending for _, direction in order):
        beyond = _mixed_after_condition(order, place)
    else:
        beyond = tuple_(*columns) < tuple_(*place) if descending else tuple_(*columns) > tuple_(*place)
        if isinstance(first, Column):
            return beyond
    # SQLite seeks an expression by itself alone, not as part of a row of values.
    return and_(first <= place[0] if descending else first >= place[0], beyond)


def _mixed_after_condition(order: Sequence[Order], place: Sequence[ColumnElement[Any]]) -> ColumnElement[bool]:
    """(a, b) behind (x, y): a > x, or a = x and b > y; < where the largest comes first."""
    choices: list[ColumnElement[bool]] = []
    for at, (expression, descending) in enumerate(order):
        same = [e == value for (e, _), value in zip(order[:at], place[:at], strict=True)]
        beyond = expression < place[at] if descending else expression > place[at]
        choices.append(and_(*same, beyond))
    return or_(*choices)


def _count_total(session: Session, statement: Rows) -> int:
    return session.connection.execute(
        select(func.count()).select_from(statement.order_by(None).subquery())
    ).scalar_one()
