"""Operations for exact queries of any collection."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.items.choices import OPEN_STATUSES
from panorama.domain.items.item import kind_of
from panorama.domain.items.references import Reference
from panorama.domain.paging import Page, PageRequest
from panorama.domain.text.json_types import is_list, is_object
from panorama.errors import InvalidInputError
from panorama.kinds import Collection
from panorama.services.base import Service
from panorama.services.references import resolve
from panorama.store.backend import Session
from panorama.store.items import query

OPEN = "open"
_REFERENCES: dict[str, Reference] = {
    "project": Reference("project"),
    "parent": Reference("task"),
    "item": Reference(None),
    "team": Reference("team"),
    **dict.fromkeys(("assignee", "waiting_for", "manager"), Reference("person")),
}


class Query(Service):
    """Queries any collection."""

    def query(
        self,
        collection: Collection,
        page: PageRequest,
        where: Mapping[str, Any] = {},
        select: tuple[str, ...] = (),
        sort: tuple[str, ...] = (),
        group_by: tuple[str, ...] = (),
        count: bool = False,
        sum: tuple[str, ...] = (),
    ) -> Page[dict[str, Any]]:
        """Filter, sort, count and sum any collection exactly.

        Operators: eq ne lt lte gt gte in nin contains, joined by and, or, not. A group has its `count`. To find by
        words use search.

        Args:
            where: {"status": "todo", "deadline": {"lt": "2026-06-01"}, "or": [{…}, {…}]}
            sort: Fields; -field for the largest first.
            count: Only how many.
        """
        with self._reading() as session:
            zone = self._context.zone
            condition = _resolve_names(session, _expand_open(where) if collection == "tasks" else where, zone)
            request = query.QueryRequest(collection, condition, select, sort, group_by, sum, count)
            return query.run_query(session, request, page, self._clock())


_OPERATOR_ALIASES = {
    **dict.fromkeys(("like", "ilike", "includes", "has", "icontains", "search", "startswith", "endswith"), "contains"),
    **dict.fromkeys(("not_in", "notin", "not in"), "nin"), **dict.fromkeys(("is", "equals", "=", "=="), "eq"),
    **dict.fromkeys(("not", "neq", "!=", "<>", "is_not"), "ne"), "<": "lt", "<=": "lte", "le": "lte", ">": "gt",
    ">=": "gte", "ge": "gte", "any": "in", "between": "gte",
}  # fmt: skip
"""Operator names of other query languages, and ours."""


def _expand_open(where: Any) -> Any:
    """Replace `open` by the states of open tasks, as list_tasks does."""
    if is_list(where):
        return [_expand_open(part) for part in where]
    if not is_object(where):
        return where
    return {
        name: _expand_open_status(asked) if name == "status" else _expand_open(asked) for name, asked in where.items()
    }


def _expand_open_status(asked: Any) -> Any:
    if asked == OPEN:
        return {"in": [*OPEN_STATUSES]}
    if not is_object(asked):
        return asked
    several = {"eq": "in", "ne": "nin"}
    return {
        several.get(operator, operator) if value == OPEN else operator: _open_to_statuses(value)
        for operator, value in asked.items()
    }


def _open_to_statuses(value: Any) -> Any:
    if value == OPEN:
        return [*OPEN_STATUSES]
    if not is_list(value):
        return value
    return [status for status_ in value for status in (OPEN_STATUSES if status_ == OPEN else (status_,))]


def _resolve_names(session: Session, where: Any, zone: ZoneInfo) -> Any:
    """Replace the names of projects, parents and people by ids."""
    if is_list(where):
        return [_resolve_names(session, part, zone) for part in where]
    if not is_object(where):
        return where
    return {name: _resolve_value(session, name, asked, zone) for name, asked in where.items()}


def _resolve_value(session: Session, name: str, asked: Any, zone: ZoneInfo) -> Any:
    if name in ("and", "or", "not"):
        return _resolve_names(session, asked, zone)
    if is_object(asked) and (
        operator := next((key for key in asked if _normalize_operator(key) in _OPERATOR_ALIASES), "")
    ):
        raise InvalidInputError(
            f"where: there is no operator {operator!r}.",
            hint=f"Did you mean {_OPERATOR_ALIASES[_normalize_operator(operator)]}? "
            f"There are {', '.join(query.OPERATORS)}, and, or, not.",
        )
    if name not in _REFERENCES:
        return asked
    if isinstance(asked, str) and asked and kind_of(asked) is None:
        return resolve(session, _REFERENCES[name], asked, f"where.{name}", zone)
    if is_list(asked):
        return [_resolve_value(session, name, entry, zone) for entry in asked]
    if is_object(asked):
        return {
            operator: value if operator == "contains" else _resolve_value(session, name, value, zone)
            for operator, value in asked.items()
        }
    return asked


def _normalize_operator(operator: str) -> str:
    """Return an operator without prefixes of other query languages."""
    return operator.lower().lstrip("$_")
