"""Filters: what each engine is asked for, and the rule that all of them follow; no I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from panorama.index.points import NONE, Filter, Point, Vector, micros, moment

KEYWORDS = ("kind", "project")
"""The fields that hold words; beside them stands `at`, in microseconds."""


@dataclass(frozen=True, slots=True)
class Among:
    """The field holds one of these words."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """The field holds a number from `first` up to, but not, `end`; None is no bound."""

    field: str
    first: int | None
    end: int | None


Condition = Among | Between


def matches(point: Point, wanted: Filter) -> bool:
    """Tell whether a filter lets a point through: the rule itself, which the engines' filters are tested against."""
    return (
        (not wanted.kinds or point.kind in wanted.kinds)
        and (wanted.project is None or point.project == (None if wanted.project == NONE else wanted.project))
        and (wanted.since is None or wanted.since <= point.at)
        and (wanted.until is None or point.at < wanted.until)
    )


def conditions(wanted: Filter) -> tuple[Condition, ...]:
    """Return a filter as conditions on the fields of a payload, which must all hold."""
    found: list[Condition] = []
    if wanted.kinds:
        found.append(Among("kind", wanted.kinds))
    if wanted.project is not None:
        found.append(Among("project", ("" if wanted.project == NONE else wanted.project,)))
    if wanted.since is not None or wanted.until is not None:
        first, end = (micros(at) if at is not None else None for at in (wanted.since, wanted.until))
        found.append(Between("at", first, end))
    return tuple(found)


def payload(point: Point) -> dict[str, Any]:
    """Return what Qdrant keeps beside a vector; the project is "" if there is none, since null cannot be asked for."""
    return {
        "chunk": point.chunk,
        "item": point.item,
        "kind": point.kind,
        "project": point.project or "",
        "at": micros(point.at),
        "digest": point.digest,
    }


def unpacked(kept: Mapping[str, Any], vector: Vector) -> Point:
    """Return the point of a payload."""
    values: dict[str, Any] = {**kept, "project": kept["project"] or None, "at": moment(kept["at"])}
    return Point(**values, vector=vector)


def qdrant(found: Iterable[Condition]) -> list[dict[str, Any]]:
    """Return conditions as they stand under "must" in Qdrant's REST interface."""
    return [_spelled(each) for each in found]


def _spelled(condition: Condition) -> dict[str, Any]:
    match condition:
        case Among(field, values):
            return {"key": field, "match": {"any": list(values)}}
        case Between(field, first, end):
            bounds = {"gte": first, "lt": end}
            return {"key": field, "range": {name: at for name, at in bounds.items() if at is not None}}
