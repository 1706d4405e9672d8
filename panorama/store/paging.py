"""Pages of rows, continued by the sort values of the last row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    tuple_,
)

from panorama.domain.paging import Key, Page, PageRequest
from panorama.store.backend import Session

T = TypeVar("T")

Rows = Select[*tuple[Any, ...]]
"""A statement, whatever its columns."""

Order = tuple[ColumnElement[Any], bool]
"""A non-null expression, and whether it sorts descending."""

MAX_CACHED_STATEMENTS = 128
"""How many lists of a kind keep their statements. To build and name them takes three times as long as to run them."""

_LIMIT = bindparam("page_limit", type_=Integer)


def ascending(*expressions: ColumnElement[Any]) -> list[Order]:
    """Sort ascending by these columns."""
    return [(expression, False) for expression in expressions]


def nulls_last(column: ColumnElement[Any], *, stand_in: Any, descending: bool = False) -> list[Order]:
    """Sort by a column that may be null; rows without a value come last in either direction."""
    return [(case((column.is_(None), 1), else_=0), False), (func.coalesce(column, stand_in), descending)]


@dataclass(frozen=True, slots=True)
class PageStatements:
    """The statements of a list and of its length, for pages of any size; kept, they are built and compiled once."""

    rows: Rows
    total: Rows
    order: tuple[Order, ...]
    types: tuple[type | tuple[type, ...], ...]
    """The types of the sort values."""


def build_page_statements(statement: Rows, order: Sequence[Order]) -> PageStatements:
    """Return the statements of a list sorted so; the last order must be unique."""
    keyed = statement.add_columns(*(expression for expression, _ in order))
    by = (expression.desc() if descending else expression.asc() for expression, descending in order)
    types = tuple(_python_type(expression) for expression, _ in order)
    total = select(func.count()).select_from(statement.order_by(None).subquery())
    return PageStatements(keyed.order_by(*by).limit(_LIMIT), total, tuple(order), types)


def fetch_page(
    session: Session,
    statement: Rows,
    order: Sequence[Order],
    part: PageRequest,
    make: Callable[[Any], T],
    *,
    count: bool = True,
) -> Page[T]:
    """Return one page of a statement's rows, as `ask_page` asks for it."""
    return ask_page(session, build_page_statements(statement, order), part, make, count=count)()


def ask_page(
    session: Session, statements: PageStatements, part: PageRequest, make: Callable[[Any], T], *, count: bool = True
) -> Callable[[], Page[T]]:
    """Ask for one page of a list.

    Rows written or deleted between two pages neither hide nor repeat others.
    """
    statement, after = statements.rows, part.get_start_key(*statements.types)
    if after is not None:
        statement = statement.where(_after_condition(statements.order, after))
    ask_rows = session.ask(statement, {_LIMIT.key: part.limit + 1})
    ask_total = session.ask(statements.total) if count and part.counts else None
    width = len(statements.order)

    def read() -> Page[T]:
        rows = ask_rows()
        shown, more = rows[: part.limit], len(rows) > part.limit
        total = None
        if ask_total:
            total = ask_total()[0][0] if more or after is not None else len(shown)
        return Page(tuple(make(row) for row in shown), tuple(tuple(row[-width:]) for row in shown), total, more)

    return read


def _python_type(expression: ColumnElement[Any]) -> type | tuple[type, ...]:
    kind = expression.type.python_type
    return (int, float) if kind in (int, float) else kind


def _after_condition(order: Sequence[Order], after: Key) -> ColumnElement[bool]:
    """Return the condition for the rows after a position, in a form that can use an index over the whole order."""
    columns = [expression for expression, _ in order]
    place = [literal(value, expression.type) for expression, value in zip(columns, after, strict=True)]
    first, descending = order[0]
    if any(direction != descending for _, direction in order):
        beyond = _mixed_after_condition(order, place)
    else:
        beyond = tuple_(*columns) < tuple_(*place) if descending else tuple_(*columns) > tuple_(*place)
        if isinstance(first, Column):
            return beyond
    # SQLite uses an index on an expression only for that expression, not as part of a row value.
    return and_(first <= place[0] if descending else first >= place[0], beyond)


def _mixed_after_condition(order: Sequence[Order], place: Sequence[ColumnElement[Any]]) -> ColumnElement[bool]:
    """Return the condition (a, b) after (x, y): a > x, or a = x and b > y; < if descending."""
    choices: list[ColumnElement[bool]] = []
    for at, (expression, descending) in enumerate(order):
        same = [e == value for (e, _), value in zip(order[:at], place[:at], strict=True)]
        beyond = expression < place[at] if descending else expression > place[at]
        choices.append(and_(*same, beyond))
    return or_(*choices)
