"""The query language: exact questions to any collection."""

from collections.abc import Mapping
from typing import Any, Literal

from panorama.domain.items import kind_of
from panorama.domain.plain import is_list, is_object
from panorama.domain.references import Reference
from panorama.domain.results import Page, Slice
from panorama.errors import InvalidInputError
from panorama.services.base import Service
from panorama.services.references import resolve
from panorama.store import query
from panorama.store.engine import Session

Collection = Literal["projects", "tasks", "notes", "links", "reminders", "journal", "files", "changes", "calls"]
_NAMED: dict[str, Reference] = {"project": Reference("project"), "parent": Reference("task"), "item": Reference(None)}


class Query(Service):
    """Asks any collection."""

    def query(
        self,
        collection: Collection,
        page: Slice,
        where: Mapping[str, Any] = {},
        select: tuple[str, ...] = (),
        sort: tuple[str, ...] = (),
        group_by: tuple[str, ...] = (),
        count: bool = False,
        sum: tuple[str, ...] = (),
    ) -> Page[dict[str, Any]]:
        """Filter, sort, count and sum any collection exactly.

        Operators: eq ne lt lte gt gte in nin contains, joined by and, or, not. A group has its `count`. To find by
        words use search. Unknown fields are errors that list the right ones.

        Args:
            where: {"status": "todo", "deadline": {"lt": "2026-06-01"}, "or": [{…}, {…}]}
            select: Fields.
            sort: Fields; -field for the largest first.
            group_by: Fields.
            count: Only how many there are.
            sum: Number fields.
        """
        with self._reading() as session:
            meant = _resolved(session, where)
            request = query.Request(collection, meant, select, sort, group_by, sum, count)
            return query.ask(session, request, page, self._clock())


_OTHERS = {
    **dict.fromkeys(("like", "ilike", "includes", "has", "icontains", "search", "startswith", "endswith"), "contains"),
    **dict.fromkeys(("not_in", "notin", "not in"), "nin"), **dict.fromkeys(("is", "equals", "=", "=="), "eq"),
    **dict.fromkeys(("not", "neq", "!=", "<>", "is_not"), "ne"), "<": "lt", "<=": "lte", "le": "lte", ">": "gt",
    ">=": "gte", "ge": "gte", "any": "in", "between": "gte",
}  # fmt: skip
"""What operators are called elsewhere, and here."""


def _resolved(session: Session, where: Any) -> Any:
    """Put ids where projects and parents are called by name."""
    if is_list(where):
        return [_resolved(session, each) for each in where]
    if not is_object(where):
        return where
    return {name: _meant(session, name, asked) for name, asked in where.items()}


def _meant(session: Session, name: str, asked: Any) -> Any:
    if name in ("and", "or", "not"):
        return _resolved(session, asked)
    if is_object(asked) and (said := next((each for each in asked if _plainly(each) in _OTHERS), "")):
        raise InvalidInputError(
            f"where: there is no operator {said!r}.",
            hint=f"Did you mean {_OTHERS[_plainly(said)]}? There are {', '.join(query.OPERATORS)}, and, or, not.",
        )
    if name not in _NAMED:
        return asked
    if isinstance(asked, str) and asked and kind_of(asked) is None:
        return resolve(session, _NAMED[name], asked, f"where.{name}")
    if is_list(asked):
        return [_meant(session, name, each) for each in asked]
    if is_object(asked):
        return {
            operator: value if operator == "contains" else _meant(session, name, value)
            for operator, value in asked.items()
        }
    return asked


def _plainly(operator: str) -> str:
    """Return an operator without the signs that other languages put in front."""
    return operator.lower().lstrip("$_")
