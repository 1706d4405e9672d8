"""Filters of each index engine, and the rule that they all follow; no I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from panorama.index.points import NO_PROJECT, Filter, Point, Vector, from_micros, to_micros

KEYWORD_FIELDS = ("kind", "project")
"""The fields that hold words; beside them stands `at`, in microseconds."""


@dataclass(frozen=True, slots=True)
class InFilter:
    """The field holds one of these words."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RangeFilter:
    """The field holds a number from `first` up to, but not, `end`; None is no bound."""

    field: str
    first: int | None
    end: int | None


Condition = InFilter | RangeFilter


def is_match(point: Point, wanted: Filter) -> bool:
    """Tell whether a filter lets a point through: the rule itself, which the engines' filters are tested against."""
    return (
        (not wanted.kinds or point.kind in wanted.kinds)
        and (wanted.project is None or point.project == (None if wanted.project == NO_PROJECT else wanted.project))
        and (wanted.since is None or wanted.since <= point.at)
        and (wanted.until is None or point.at < wanted.until)
    )


def to_conditions(wanted: Filter) -> tuple[Condition, ...]:
    """Return a filter as conditions on the fields of a payload, which must all hold."""
    results: list[Condition] = []
    if wanted.kinds:
        results.append(InFilter("kind", wanted.kinds))
    if wanted.project is not None:
        results.append(InFilter("project", ("" if wanted.project == NO_PROJECT else wanted.project,)))
    if wanted.since is not None or wanted.until is not None:
        first, end = (to_micros(at) if at is not None else None for at in (wanted.since, wanted.until))
        results.append(RangeFilter("at", first, end))
    return tuple(results)


def to_payload(point: Point) -> dict[str, Any]:
    """Return what Qdrant keeps beside a vector; the project is "" if there is none, since null cannot be asked for."""
    return {
        "chunk": point.chunk,
        "item": point.item,
        "kind": point.kind,
        "project": point.project or "",
        "at": to_micros(point.at),
        "digest": point.digest,
    }


def from_payload(kept: Mapping[str, Any], vector: Vector) -> Point:
    """Return the point of a payload."""
    values: dict[str, Any] = {**kept, "project": kept["project"] or None, "at": from_micros(kept["at"])}
    return Point(**values, vector=vector)


def to_qdrant(found: Iterable[Condition]) -> list[dict[str, Any]]:
    """Return conditions as they stand under "must" in Qdrant's REST interface."""
    return [_to_qdrant_condition(entry) for entry in found]


def _to_qdrant_condition(condition: Condition) -> dict[str, Any]:
    match condition:
        case InFilter(field, values):
            return {"key": field, "match": {"any": list(values)}}
        case RangeFilter(field, first, end):
            bounds = {"gte": first, "lt": end}
            return {"key": field, "range": {name: at for name, at in bounds.items() if at is not None}}
