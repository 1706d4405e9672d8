"""The query language: any collection, filtered, sorted and counted; unknown words are errors."""

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Date,
    DateTime,
    Float,
    Integer,
    Select,
    Table,
    and_,
    false,
    func,
    not_,
    or_,
    select,
    true,
    type_coerce,
)  # fmt: skip
from sqlalchemy.exc import OperationalError
from sqlalchemy.types import String

from panorama.domain.plain import is_list, is_object
from panorama.domain.projects import ProjectStatus
from panorama.domain.results import Page, Slice
from panorama.domain.tasks import OPEN, TaskStatus
from panorama.domain.times import day_or_moment, start_of
from panorama.errors import InvalidInputError
from panorama.store import column_types, tables
from panorama.store.engine import Session
from panorama.store.pages import Order, page
from panorama.store.projects import escaped, tagged
from panorama.store.tasks import Clock, due_before

COLLECTIONS: dict[str, Table] = {
    "projects": tables.projects, "tasks": tables.tasks, "notes": tables.notes, "links": tables.links,
    "reminders": tables.reminders, "journal": tables.journal, "files": tables.files, "changes": tables.changes,
    "calls": tables.calls,
}  # fmt: skip

OPERATORS = ("eq", "ne", "lt", "lte", "gt", "gte", "in", "nin", "contains")
DEPTH = 12
"""How deep `and`, `or` and `not` may be nested."""

LONGEST_LIST = 500
MOST_NAMES = 50
MOST_TERMS = 1000
"""How many conditions, objects that hold them and values of lists a `where` may have; SQLite takes no deeper a tree."""

_STATUSES = {"tasks": get_args(TaskStatus), "projects": get_args(ProjectStatus)}
_HIDDEN = {"key", "deleted_at", "number"}
_LONG = {"notes", "content", "description", "body", "before", "after", "arguments"}


@dataclass(frozen=True, slots=True)
class Request:
    """A question to one collection; `sort` names fields, `-field` for the largest first."""

    collection: str
    where: Mapping[str, Any]
    select: Sequence[str]
    sort: Sequence[str]
    group_by: Sequence[str]
    sum: Sequence[str]
    count: bool = False


def ask(session: Session, request: Request, part: Slice, clock: Clock) -> Page[dict[str, Any]]:
    """Return the rows, or the groups with their `count` and sums.

    Raises:
        InvalidInputError: A collection, field, operator or value is not known; the nearest are named.
    """
    _check_names(request)
    try:
        return _asked(session, request, part, clock)
    except OperationalError as error:
        if "Expression tree is too large" in str(error.orig):
            raise _too_many("too many") from error
        raise


def _asked(session: Session, request: Request, part: Slice, clock: Clock) -> Page[dict[str, Any]]:
    table = _collection(request.collection)
    condition = _Where(request.collection, table, clock).of(request.where)
    alive = table.c.deleted_at.is_(None) if request.collection not in ("changes", "calls") else true()
    if request.group_by or request.sum or request.count:
        return _groups(session, table, request, and_(alive, condition), part)
    names = [_field(table, name, "select").name for name in request.select] or _usual(table)
    columns = [_field(table, name, "select") for name in names]
    rows = select(*columns).where(alive, condition)
    return page(session, rows, _order(table, request.sort), part, lambda row: dict(zip(names, row, strict=False)))


def _check_names(request: Request) -> None:
    for part, names in (
        ("select", request.select), ("sort", request.sort), ("group_by", request.group_by), ("sum", request.sum),
    ):  # fmt: skip
        if len(names) > MOST_NAMES:
            raise InvalidInputError(f"{part} names more than {MOST_NAMES} fields.", hint="Name each field once.")


def fields(collection: str) -> list[str]:
    """Return the names of a collection's fields."""
    return [column.name for column in _collection(collection).c if column.name not in _HIDDEN]


def _collection(name: str) -> Table:
    if name in COLLECTIONS:
        return COLLECTIONS[name]
    raise InvalidInputError(f"There is no collection {name!r}.", hint=f"There are {', '.join(COLLECTIONS)}.")


def _field(table: Table, name: object, where: str) -> ColumnElement[Any]:
    known = [column.name for column in table.c if column.name not in _HIDDEN]
    if isinstance(name, str) and name in known:
        return table.c[name]
    near = difflib.get_close_matches(str(name), known, 3, 0.5)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise InvalidInputError(
        f"{where}: {table.name} has no field {str(name)[:60]!r}.", hint=f"{hint}Its fields are {', '.join(known)}."
    )


def _usual(table: Table) -> list[str]:
    return [name for name in (column.name for column in table.c) if name not in _HIDDEN | _LONG]


def _order(table: Table, sort: Sequence[str]) -> list[Order]:
    found: list[Order] = []
    for name in sort:
        column = _field(table, name.removeprefix("-"), "sort")
        found += _never_null(column, descending=name.startswith("-"))
    last = table.c.number if "number" in table.c else table.c.id
    return [*found, (last, bool(sort) and sort[-1].startswith("-"))]


def _never_null(column: ColumnElement[Any], *, descending: bool) -> list[Order]:
    stand_in: Any = ""
    if isinstance(column.type, Integer | Float | Boolean):
        stand_in = 0
    elif isinstance(column.type, column_types.Utc):
        stand_in = datetime(1970, 1, 1, tzinfo=UTC)
    elif isinstance(column.type, Date):
        stand_in = date(1970, 1, 1)
    plain = type_coerce(column, String) if isinstance(column.type, column_types.Due) else column
    return [(column.is_(None), False), (func.coalesce(plain, stand_in), descending)]


def _groups(
    session: Session, table: Table, request: Request, condition: ColumnElement[bool], part: Slice
) -> Page[dict[str, Any]]:
    if request.select:
        raise InvalidInputError(
            "select does not go with group_by, count or sum.",
            hint="Leave it out: a group shows its fields, count and sums.",
        )
    groups = [_field(table, name, "group_by") for name in request.group_by]
    sums = [func.sum(_number(table, name)).label(f"sum_{name}") for name in request.sum]
    names = [*request.group_by, "count", *(f"sum_{name}" for name in request.sum)]
    inner: Select[Any] = select(*groups, func.count().label("count"), *sums).where(condition)
    rows = inner.group_by(*groups).subquery()
    order = _group_order(rows, request, names)
    return page(session, select(rows), order, part, lambda row: dict(zip(names, row, strict=False)))


def _group_order(rows: Any, request: Request, names: Sequence[str]) -> list[Order]:
    order: list[Order] = []
    for name in request.sort:
        if name.removeprefix("-") not in names:
            raise InvalidInputError(
                f"sort: the groups have no field {name[:60]!r}.", hint=f"They have {', '.join(names)}."
            )
        order += _never_null(rows.c[name.removeprefix("-")], descending=name.startswith("-"))
    if not request.sort:
        order.append((rows.c.count, True))
    for name in request.group_by:
        order += _never_null(rows.c[name], descending=False)
    return order


def _number(table: Table, name: str) -> ColumnElement[Any]:
    column = _field(table, name, "sum")
    if isinstance(column.type, Integer | Float) and not isinstance(column.type, Boolean):
        return column
    raise InvalidInputError(f"sum: {name} is not a number.", hint="Sum a field such as scheduled_minutes, rank or ms.")


def _too_many(number: str) -> InvalidInputError:
    hint = "Use in and nin instead of many ors, or ask in several calls."
    return InvalidInputError(f"where has {number} conditions and values.", hint=hint)


class _Where:
    """Turns a `where` into a condition; what a plain loop over the rows would find, this finds."""

    def __init__(self, collection: str, table: Table, clock: Clock) -> None:
        self._collection = collection
        self._table = table
        self._clock = clock
        self._left = MOST_TERMS

    def _count(self, terms: int) -> None:
        self._left -= terms
        if self._left < 0:
            raise _too_many(f"more than {MOST_TERMS:,}")

    def of(self, where: object, depth: int = 0) -> ColumnElement[bool]:
        if not is_object(where):
            raise InvalidInputError(f"where: {str(where)[:60]!r} is not an object.", hint=_EXAMPLE)
        if depth > DEPTH:
            raise InvalidInputError(f"where is nested deeper than {DEPTH}.", hint="Use in and nin instead of many ors.")
        self._count(1 + len(where))
        return and_(true(), *(self._one(name, asked, depth) for name, asked in where.items()))

    def _one(self, name: str, asked: object, depth: int) -> ColumnElement[bool]:
        if name in ("and", "or"):
            return self._all(name, asked, depth)
        if name == "not":
            return not_(func.coalesce(self.of(asked, depth + 1), false()))
        column = _field(self._table, name, "where")
        if not is_object(asked):
            return self._compare(column, "eq", asked)
        self._count(len(asked) - 1)
        if not asked:
            raise InvalidInputError(f"where: {name} has no operator.", hint=_EXAMPLE)
        return and_(*(self._compare(column, operator, value) for operator, value in asked.items()))

    def _all(self, name: str, asked: object, depth: int) -> ColumnElement[bool]:
        if not is_list(asked) or not asked:
            raise InvalidInputError(f"where: {name} takes a list of conditions.", hint=_EXAMPLE)
        parts: list[ColumnElement[bool]] = [self.of(each, depth + 1) for each in asked]
        return and_(*parts) if name == "and" else or_(*parts)

    def _compare(self, column: ColumnElement[Any], operator: str, value: object) -> ColumnElement[bool]:
        if operator not in OPERATORS:
            near = difflib.get_close_matches(str(operator), OPERATORS, 1, 0.4)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise InvalidInputError(
                f"where: there is no operator {str(operator)[:40]!r}.",
                hint=f"{hint}There are {', '.join(OPERATORS)}, and, or, not.",
            )
        if operator in ("in", "nin"):
            return self._among(column, operator, value)
        if operator == "contains":
            return self._contains(column, value)
        if isinstance(column.type, column_types.Due) and value is not None:
            return self._due(column, operator, value)
        plain = self._value(column, value)
        if isinstance(plain, date) and not isinstance(plain, datetime) and isinstance(column.type, column_types.Utc):
            return self._on_day(column, operator, plain)
        if operator not in ("eq", "ne") and (plain is None or isinstance(plain, bool)):
            raise InvalidInputError(
                f"where: {operator} cannot compare with {str(value).lower()}.", hint="Use eq or ne."
            )
        return _TESTS[operator](column, plain)

    def _among(self, column: ColumnElement[Any], operator: str, value: object) -> ColumnElement[bool]:
        if not is_list(value) or len(value) > LONGEST_LIST:
            raise InvalidInputError(f"where: {operator} takes a list of at most {LONGEST_LIST} values.", hint=_EXAMPLE)
        self._count(len(value))
        each: list[object] = value
        any_ = or_(false(), *(self._compare(column, "eq", one) for one in each))
        return any_ if operator == "in" else not_(func.coalesce(any_, false()))

    def _contains(self, column: ColumnElement[Any], value: object) -> ColumnElement[bool]:
        if isinstance(column.type, Integer | Float | Boolean | DateTime | Date | column_types.Utc):
            raise InvalidInputError(
                f"where: contains looks into fields that hold text; {column.name} holds none.", hint=_EXAMPLE
            )
        if not isinstance(value, str):
            raise InvalidInputError(f"where: contains takes one text, not {str(value)[:60]!r}.", hint=_SEVERAL)
        if isinstance(column.type, column_types.Words):
            return tagged(column, value.lstrip("#"))
        return type_coerce(column, String).ilike(f"%{escaped(value)}%", escape="\\")

    def _due(self, column: ColumnElement[Any], operator: str, value: object) -> ColumnElement[bool]:
        when = day_or_moment(_text(column, value), "deadline", now=self._clock.now, zone=self._clock.zone)
        if isinstance(when, datetime):
            return _TESTS[operator](type_coerce(column, String), column_types.written(when))
        return self._by_day(lambda day: due_before(column, day, self._clock.zone), column, operator, when)

    def _on_day(self, column: ColumnElement[Any], operator: str, day: date) -> ColumnElement[bool]:
        return self._by_day(lambda at: column < start_of(at, self._clock.zone), column, operator, day)

    def _by_day(
        self, before: Callable[[date], ColumnElement[bool]], column: ColumnElement[Any], operator: str, day: date
    ) -> ColumnElement[bool]:
        following = day + timedelta(days=1)
        there = column.is_not(None)
        on = and_(there, before(following), not_(before(day)))
        by_operator = {
            "eq": on, "ne": or_(~there, not_(on)), "lt": before(day), "lte": before(following),
            "gt": and_(there, not_(before(following))), "gte": and_(there, not_(before(day))),
        }  # fmt: skip
        return and_(by_operator[operator])

    def _value(self, column: ColumnElement[Any], value: object) -> Any:
        kind = column.type
        if value is None:
            return None
        if isinstance(kind, column_types.Words):
            raise InvalidInputError(
                "where: tags are searched with contains.", hint='Example: {"tags": {"contains": "home"}}.'
            )
        if isinstance(kind, Boolean):
            return _checked(column, value, bool)
        if isinstance(kind, Integer | Float):
            return _checked(column, value, int, float)
        if isinstance(kind, column_types.Utc):
            return day_or_moment(_text(column, value), str(column.name), now=self._clock.now, zone=self._clock.zone)
        if isinstance(kind, Date):
            return day_or_moment(_text(column, value), str(column.name), now=self._clock.now, zone=self._clock.zone)
        return self._chosen(column, _text(column, value))

    def _chosen(self, column: ColumnElement[Any], value: str) -> str:
        """Return a text that may stand in a column: of a status there are few."""
        known = _STATUSES.get(self._collection, ()) if column.name == "status" else ()
        if not known or value in known:
            return value
        hint = f"It is one of {', '.join(known)}."
        if value == "open" and self._collection == "tasks":
            hint = f'Open are {{"in": {json.dumps(OPEN)}}}. {hint}'
        raise InvalidInputError(f"where: no status of {self._collection} is {value[:60]!r}.", hint=hint)


def _text(column: ColumnElement[Any], value: object) -> str:
    return _checked(column, value, str)


def _checked(column: ColumnElement[Any], value: object, *types: type) -> Any:
    if isinstance(value, types) and (bool in types or not isinstance(value, bool)):
        return value
    wanted = {bool: "true or false", int: "a number", str: "text"}[types[0]]
    raise InvalidInputError(f"where: {column.name} is compared with {wanted}, not {str(value)[:60]!r}.", hint=_EXAMPLE)


_EXAMPLE = 'Example: {"status": {"in": ["todo", "in_progress"]}, "deadline": {"lt": "2026-06-01"}}.'
_SEVERAL = 'For several: {"and": [{"tags": {"contains": "home"}}, {"tags": {"contains": "garden"}}]}, or "or".'
_TESTS: dict[str, Callable[[ColumnElement[Any], Any], ColumnElement[bool]]] = {
    "eq": lambda column, value: column.is_not_distinct_from(value),
    "ne": lambda column, value: column.is_distinct_from(value),
    "lt": lambda column, value: column < value,
    "lte": lambda column, value: column <= value,
    "gt": lambda column, value: column > value,
    "gte": lambda column, value: column >= value,
}
