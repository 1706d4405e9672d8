"""Filters of each index engine, and their common definition; no I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from panorama.index.points import NO_PROJECT, Filter, Point, Vector, from_micros, to_micros

KEYWORD_FIELDS = ("kind", "project")
"""The text fields; there is also `at`, in microseconds."""


@dataclass(frozen=True, slots=True)
class InFilter:
    """The field is one of these words."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RangeFilter:
    """The field is a number from `first` to before `end`; None means no bound."""

    field: str
    first: int | None
    end: int | None


Condition = InFilter | RangeFilter


def is_match(point: Point, condition: Filter) -> bool:
    """Return whether a point passes a filter: the definition that the engines' filters are tested against."""
    return (
        (not condition.kinds or point.kind in condition.kinds)
        and (
            condition.project is None
            or point.project == (None if condition.project == NO_PROJECT else condition.project)
        )
        and (condition.since is None or condition.since <= point.at)
        and (condition.until is None or point.at < condition.until)
    )


def to_conditions(condition: Filter) -> tuple[Condition, ...]:
    """Convert a filter to conditions on a payload's fields, all of which must hold."""
    results: list[Condition] = []
    if condition.kinds:
        results.append(InFilter("kind", condition.kinds))
    if condition.project is not None:
        results.append(InFilter("project", ("" if condition.project == NO_PROJECT else condition.project,)))
    if condition.since is not None or condition.until is not None:
        first, end = (to_micros(at) if at is not None else None for at in (condition.since, condition.until))
        results.append(RangeFilter("at", first, end))
    return tuple(results)


def to_payload(point: Point) -> dict[str, Any]:
    """Return a point's payload for Qdrant; the project is "" if there is none, because null cannot be filtered."""
    return {
        "chunk": point.chunk,
        "item": point.item,
        "kind": point.kind,
        "project": point.project or "",
        "at": to_micros(point.at),
        "digest": point.digest,
    }


def from_payload(payload: Mapping[str, Any], vector: Vector) -> Point:
    """Return the point of a payload."""
    values: dict[str, Any] = {**payload, "project": payload["project"] or None, "at": from_micros(payload["at"])}
    return Point(**values, vector=vector)


def to_qdrant(conditions: Iterable[Condition]) -> list[dict[str, Any]]:
    """Convert conditions to the "must" list of Qdrant's REST API."""
    return [_to_qdrant_condition(entry) for entry in conditions]


def _to_qdrant_condition(condition: Condition) -> dict[str, Any]:
    match condition:
        case InFilter(field, values):
            return {"key": field, "match": {"any": list(values)}}
        case RangeFilter(field, first, end):
            bounds = {"gte": first, "lt": end}
            return {"key": field, "range": {name: at for name, at in bounds.items() if at is not None}}
