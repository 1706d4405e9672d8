"""The query language: filters, sorts and counts any collection."""

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Table,
    and_,
    cast,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    true,
    type_coerce,
)
from sqlalchemy.exc import OperationalError
from sqlalchemy.types import JSON, Boolean, Date, DateTime, Float, Integer, String, Text

from panorama.domain.items.choices import ProjectStatus, TaskStatus
from panorama.domain.paging import Page, PageRequest
from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.time.times import parse_deadline, start_of_day
from panorama.errors import InvalidInputError
from panorama.kinds import Collection
from panorama.store import column_types, tables
from panorama.store.backend import Session
from panorama.store.items.projects import escape_like, has_tag
from panorama.store.items.tasks import Clock, due_before
from panorama.store.paging import Order, fetch_page

COLLECTIONS: dict[str, Table] = {name: tables.metadata.tables[name] for name in get_args(Collection)}

OPERATORS = ("eq", "ne", "lt", "lte", "gt", "gte", "in", "nin", "contains")
MAX_PAGE_CHARS = 1 << 20
"""The largest amount of text on one page; a page of longer rows has fewer, at least one."""

MAX_DEPTH = 12
"""How deep `and`, `or` and `not` may be nested."""

MAX_LIST = 500
MAX_NAMES = 50
MAX_TERMS = 1000
"""The maximum number of conditions, objects and list values in a `where`; SQLite limits the expression depth."""

_STATUS_VALUES = {"tasks": get_args(TaskStatus), "projects": get_args(ProjectStatus)}
_HIDDEN = {"key", "deleted_at", "number"}
_LONG = {"notes", "content", "description", "body", "before", "after", "arguments"}


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A query of one collection; `sort` names fields, `-field` sorts descending."""

    collection: str
    where: Mapping[str, Any]
    select: Sequence[str]
    sort: Sequence[str]
    group_by: Sequence[str]
    sum: Sequence[str]
    count: bool = False


def run_query(session: Session, request: QueryRequest, part: PageRequest, clock: Clock) -> Page[dict[str, Any]]:
    """Return the rows, or the groups with their `count` and sums.

    Raises:
        InvalidInputError: A collection, field, operator or value is unknown; the closest are listed.
    """
    _check_names(request)
    try:
        with session.dialect.reading_long_texts(session):
            return _run_query(session, request, part, clock)
    except OperationalError as error:
        if "Expression tree is too large" in str(error.orig):
            raise _too_many_error("too many") from error
        raise


def _run_query(session: Session, request: QueryRequest, part: PageRequest, clock: Clock) -> Page[dict[str, Any]]:
    table = _get_table(request.collection)
    condition = _ConditionBuilder(request.collection, table, clock).build(request.where)
    alive = table.c.deleted_at.is_(None) if request.collection not in ("changes", "calls") else true()
    if request.group_by or request.sum or request.count:
        return _query_groups(session, table, request, and_(alive, condition), part)
    names = [_get_column(table, name, "select").name for name in request.select] or _default_names(table)
    columns = [_get_column(table, name, "select") for name in names]
    order = _build_order(table, request.sort)
    if not _LONG.intersection(names):
        rows = select(*columns).where(alive, condition)
        return fetch_page(session, rows, order, part, lambda row: dict(zip(names, row, strict=False)))
    key = next(iter(table.primary_key.columns))
    page = fetch_page(session, select(key).where(alive, condition), order, part, lambda row: row[0])
    loaded = _load_rows(session, names, select(*columns), key, page.items)
    return Page(tuple(loaded), page.keys[: len(loaded)], page.total, more=page.more or len(loaded) < len(page.items))


def _load_rows(
    session: Session, names: Sequence[str], rows: Select[Any], key: ColumnElement[Any], ids: Sequence[Any]
) -> list[dict[str, Any]]:
    """Yield the rows of a page one by one until the text limit; sorting whole rows would load all of them."""
    loaded: list[dict[str, Any]] = []
    chars = 0
    for id_ in ids:
        row = session.connection.execute(rows.where(key == id_)).one()
        loaded.append(dict(zip(names, row, strict=False)))
        chars += sum(len(value) for value in row if isinstance(value, str))
        if chars >= MAX_PAGE_CHARS:
            break
    return loaded


def _check_names(request: QueryRequest) -> None:
    for part, names in (
        ("select", request.select), ("sort", request.sort), ("group_by", request.group_by), ("sum", request.sum),
    ):  # fmt: skip
        if len(names) > MAX_NAMES:
            raise InvalidInputError(f"{part} names more than {MAX_NAMES} fields.", hint="Name each field once.")


def _get_table(name: str) -> Table:
    if name in COLLECTIONS:
        return COLLECTIONS[name]
    raise InvalidInputError(f"There is no collection {name!r}.", hint=f"Use one of {', '.join(COLLECTIONS)}.")


def _get_column(table: Table, name: object, where: str) -> ColumnElement[Any]:
    known = [column.name for column in table.c if column.name not in _HIDDEN]
    if isinstance(name, str) and name in known:
        return table.c[name]
    near = difflib.get_close_matches(str(name), known, 3, 0.5)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise InvalidInputError(
        f"{where}: {table.name} has no field {str(name)[:60]!r}.", hint=f"{hint}Its fields are {', '.join(known)}."
    )


def list_collections() -> dict[str, list[str]]:
    """Return the names of the collections with their fields."""
    return {
        name: [column.name for column in table.c if column.name not in _HIDDEN] for name, table in COLLECTIONS.items()
    }


def _default_names(table: Table) -> list[str]:
    return [name for name in (column.name for column in table.c) if name not in _HIDDEN | _LONG]


def _build_order(table: Table, sort: Sequence[str]) -> list[Order]:
    results: list[Order] = []
    for name in sort:
        column = _get_column(table, name.removeprefix("-"), "sort")
        results += _order_nulls_last(column, descending=name.startswith("-"))
    last = table.c.number if "number" in table.c else table.c.id
    return [*results, (last, bool(sort) and sort[-1].startswith("-"))]


def _order_nulls_last(column: ColumnElement[Any], *, descending: bool) -> list[Order]:
    column = _to_comparable(column)
    stand_in: Any = ""
    if isinstance(column.type, Integer | Float):
        stand_in = 0
    elif isinstance(column.type, Boolean):
        stand_in = False
    elif isinstance(column.type, column_types.Utc):
        stand_in = datetime(1970, 1, 1, tzinfo=UTC)
    elif isinstance(column.type, Date):
        stand_in = date(1970, 1, 1)
    plain = type_coerce(column, String) if isinstance(column.type, column_types.DeadlineText) else column
    return [(column.is_(None), False), (func.coalesce(plain, stand_in), descending)]


def _to_comparable(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return an expression that every database compares and sorts: the text of JSON, and all else as it is."""
    return cast(column, Text).label(column.key) if isinstance(column.type, JSON) else column


def _query_groups(
    session: Session, table: Table, request: QueryRequest, condition: ColumnElement[bool], part: PageRequest
) -> Page[dict[str, Any]]:
    if request.select:
        raise InvalidInputError(
            "select cannot be combined with group_by, count or sum.",
            hint="Leave it out: a group shows its fields, count and sums.",
        )
    columns = [_get_column(table, name, "group_by") for name in request.group_by]
    groups = [_to_comparable(column) for column in columns]
    documents = [name for name, column in zip(request.group_by, columns, strict=True) if isinstance(column.type, JSON)]
    sums = [func.sum(_get_numeric_column(table, name)).label(f"sum_{name}") for name in request.sum]
    names = [*request.group_by, "count", *(f"sum_{name}" for name in request.sum)]
    inner: Select[Any] = select(*groups, func.count().label("count"), *sums).where(condition)
    rows = inner.group_by(*groups).subquery()
    order = _build_group_order(rows, request, names)

    def to_group(row: Row[Any]) -> dict[str, Any]:
        group = dict(zip(names, row, strict=False))
        return group | {name: json.loads(group[name]) for name in documents}

    return fetch_page(session, select(rows), order, part, to_group)


def _build_group_order(rows: Any, request: QueryRequest, names: Sequence[str]) -> list[Order]:
    order: list[Order] = []
    for name in request.sort:
        if name.removeprefix("-") not in names:
            raise InvalidInputError(
                f"sort: the groups have no field {name[:60]!r}.", hint=f"They have {', '.join(names)}."
            )
        order += _order_nulls_last(rows.c[name.removeprefix("-")], descending=name.startswith("-"))
    if not request.sort:
        order.append((rows.c.count, True))
    for name in request.group_by:
        order += _order_nulls_last(rows.c[name], descending=False)
    return order


def _get_numeric_column(table: Table, name: str) -> ColumnElement[Any]:
    column = _get_column(table, name, "sum")
    if isinstance(column.type, Integer | Float) and not isinstance(column.type, Boolean):
        return column
    raise InvalidInputError(f"sum: {name} is not a number.", hint="Sum a field such as scheduled_minutes, rank or ms.")


def _too_many_error(number: str) -> InvalidInputError:
    hint = "Use in and nin instead of many ors, or ask in several calls."
    return InvalidInputError(f"where has {number} conditions and values.", hint=hint)


class _ConditionBuilder:
    """Converts a `where` to an SQL condition with the same result as a plain loop over the rows."""

    def __init__(self, collection: str, table: Table, clock: Clock) -> None:
        self._collection = collection
        self._table = table
        self._clock = clock
        self._left = MAX_TERMS

    def _count_terms(self, terms: int) -> None:
        self._left -= terms
        if self._left < 0:
            raise _too_many_error(f"more than {MAX_TERMS:,}")

    def build(self, where: object, depth: int = 0) -> ColumnElement[bool]:
        if not is_object(where):
            raise InvalidInputError(f"where: {str(where)[:60]!r} is not an object.", hint=_EXAMPLE)
        if depth > MAX_DEPTH:
            raise InvalidInputError(
                f"where is nested deeper than {MAX_DEPTH}.", hint="Use in and nin instead of many ors."
            )
        self._count_terms(1 + len(where))
        return and_(true(), *(self._build_one(name, asked, depth) for name, asked in where.items()))

    def _build_one(self, name: str, asked: object, depth: int) -> ColumnElement[bool]:
        if name in ("and", "or"):
            return self._build_all(name, asked, depth)
        if name == "not":
            return not_(func.coalesce(self.build(asked, depth + 1), false()))
        column = _get_column(self._table, name, "where")
        if not is_object(asked):
            return self._compare(column, "eq", asked)
        self._count_terms(len(asked) - 1)
        if not asked:
            raise InvalidInputError(f"where: {name} has no operator.", hint=_EXAMPLE)
        return and_(*(self._compare(column, operator, value) for operator, value in asked.items()))

    def _build_all(self, name: str, asked: object, depth: int) -> ColumnElement[bool]:
        if not is_list(asked) or not asked:
            raise InvalidInputError(f"where: {name} takes a list of conditions.", hint=_EXAMPLE)
        parts: list[ColumnElement[bool]] = [self.build(entry, depth + 1) for entry in asked]
        return and_(*parts) if name == "and" else or_(*parts)

    def _compare(self, column: ColumnElement[Any], operator: str, value: object) -> ColumnElement[bool]:
        if operator not in OPERATORS:
            near = difflib.get_close_matches(str(operator), OPERATORS, 1, 0.4)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise InvalidInputError(
                f"where: there is no operator {str(operator)[:40]!r}.",
                hint=f"{hint}Use one of {', '.join(OPERATORS)}, and, or, not.",
            )
        if operator in ("in", "nin"):
            return self._compare_list(column, operator, value)
        if operator == "contains":
            return self._compare_contains(column, value)
        if isinstance(column.type, column_types.DeadlineText) and value is not None:
            return self._compare_deadline(column, operator, value)
        plain = self._to_value(column, value)
        if isinstance(plain, date) and not isinstance(plain, datetime) and isinstance(column.type, column_types.Utc):
            return self._compare_day(column, operator, plain)
        if operator not in ("eq", "ne") and (plain is None or isinstance(plain, bool)):
            raise InvalidInputError(
                f"where: {operator} cannot compare with {str(value).lower()}.", hint="Use eq or ne."
            )
        if isinstance(column.type, JSON):
            column, plain = _to_comparable(column), None if plain is None else json.dumps(plain, ensure_ascii=False)
        if isinstance(plain, float):
            plain = literal(plain, Float)  # it is compared as it is with whole numbers too
        return _COMPARISONS[operator](column, plain)

    def _compare_list(self, column: ColumnElement[Any], operator: str, value: object) -> ColumnElement[bool]:
        if not is_list(value) or len(value) > MAX_LIST:
            raise InvalidInputError(f"where: {operator} takes a list of at most {MAX_LIST} values.", hint=_EXAMPLE)
        self._count_terms(len(value))
        values: list[object] = value
        any_ = or_(false(), *(self._compare(column, "eq", one) for one in values))
        return any_ if operator == "in" else not_(func.coalesce(any_, false()))

    def _compare_contains(self, column: ColumnElement[Any], value: object) -> ColumnElement[bool]:
        if isinstance(column.type, Integer | Float | Boolean | DateTime | Date | column_types.Utc):
            raise InvalidInputError(f"where: contains works on text fields; {column.name} is not one.", hint=_EXAMPLE)
        if not isinstance(value, str):
            raise InvalidInputError(f"where: contains takes one text, not {str(value)[:60]!r}.", hint=_SEVERAL)
        if isinstance(column.type, column_types.TagList):
            return has_tag(column, value.lstrip("#"))
        plain = _to_comparable(column) if isinstance(column.type, JSON) else type_coerce(column, String)
        return plain.like(f"%{escape_like(value)}%", escape="\\")  # ignores ASCII case in both databases

    def _compare_deadline(self, column: ColumnElement[Any], operator: str, value: object) -> ColumnElement[bool]:
        when = parse_deadline(_require_text(column, value), "deadline", now=self._clock.now, zone=self._clock.zone)
        if isinstance(when, datetime):
            return _COMPARISONS[operator](type_coerce(column, String), column_types.format_deadline(when))
        return self._compare_by_day(lambda day: due_before(column, day, self._clock.zone), column, operator, when)

    def _compare_day(self, column: ColumnElement[Any], operator: str, day: date) -> ColumnElement[bool]:
        return self._compare_by_day(lambda at: column < start_of_day(at, self._clock.zone), column, operator, day)

    def _compare_by_day(
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

    def _to_value(self, column: ColumnElement[Any], value: object) -> Any:
        kind = column.type
        if value is None:
            return None
        if isinstance(kind, column_types.TagList):
            raise InvalidInputError(
                "where: tags are searched with contains.", hint='Example: {"tags": {"contains": "home"}}.'
            )
        if isinstance(kind, Boolean):
            return _require_type(column, value, bool)
        if isinstance(kind, Integer | Float):
            return _require_type(column, value, int, float)
        if isinstance(kind, column_types.Utc):
            return parse_deadline(
                _require_text(column, value), str(column.name), now=self._clock.now, zone=self._clock.zone
            )
        if isinstance(kind, Date):
            return parse_deadline(
                _require_text(column, value), str(column.name), now=self._clock.now, zone=self._clock.zone
            )
        return self._check_status(column, _require_text(column, value))

    def _check_status(self, column: ColumnElement[Any], value: str) -> str:
        """Check a text value; a status must be one of the known ones."""
        known = _STATUS_VALUES.get(self._collection, ()) if column.name == "status" else ()
        if not known or value in known:
            return value
        hint = f"Use one of {', '.join(known)}{', or open' if self._collection == 'tasks' else ''}."
        raise InvalidInputError(f"where: no status of {self._collection} is {value[:60]!r}.", hint=hint)


def _require_text(column: ColumnElement[Any], value: object) -> str:
    return _require_type(column, value, str)


def _require_type(column: ColumnElement[Any], value: object, *types: type) -> Any:
    if isinstance(value, types) and (bool in types or not isinstance(value, bool)):
        return value
    expected = {bool: "true or false", int: "a number", str: "text"}[types[0]]
    raise InvalidInputError(
        f"where: {column.name} is compared with {expected}, not {str(value)[:60]!r}.", hint=_EXAMPLE
    )


_EXAMPLE = 'Example: {"status": {"in": ["todo", "in_progress"]}, "deadline": {"lt": "2026-06-01"}}.'
_SEVERAL = 'For several: {"and": [{"tags": {"contains": "home"}}, {"tags": {"contains": "garden"}}]}, or "or".'
_COMPARISONS: dict[str, Callable[[ColumnElement[Any], Any], ColumnElement[bool]]] = {
    "eq": lambda column, value: column.is_(None) if value is None else column == value,
    "ne": lambda column, value: column.is_distinct_from(value),
    "lt": lambda column, value: column < value,
    "lte": lambda column, value: column <= value,
    "gt": lambda column, value: column > value,
    "gte": lambda column, value: column >= value,
}
