"""Points for tests: by name, in a small space, some alike."""

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from panorama.index.filters import is_match
from panorama.index.points import Filter, Model, Point, Vector, pack_vector

SIZE = 8
SMALL = Model(id="small", digest="5e1f00d5e1f00d00", size=SIZE)
OTHER = Model(id="other", digest="07e4000000000000", size=4)
DAY = datetime(2026, 5, 20, tzinfo=UTC)


def toward(*numbers: float, size: int = SIZE) -> Vector:
    """Return a vector that begins with these numbers."""
    return pack_vector([*numbers, *[0.0] * (size - len(numbers))])


def point(chunk: str, *numbers: float, **changed: Any) -> Point:
    """Return a point; its item is what stands before the colon."""
    about: dict[str, Any] = {
        "item": chunk.partition(":")[0], "kind": "note", "project": None, "at": DAY, "digest": f"d-{chunk}",
        "vector": toward(*(numbers or (1.0,))),
    }  # fmt: skip
    return Point(chunk=chunk, **about | changed)


def many(count: int) -> list[Point]:
    """Return points around a circle, one after another in time."""
    angles = [at * 2.4 for at in range(count)]
    return [
        point(f"n_{at:05d}:0", math.cos(angle), math.sin(angle), at=DAY + timedelta(hours=at))
        for at, angle in enumerate(angles)
    ]


def cosine(one: Vector, two: Vector) -> float:
    """Return the cosine of two vectors, 0 if one of them is nothing but zeros."""
    first, second = memoryview(one).cast("f").tolist(), memoryview(two).cast("f").tolist()
    lengths = math.hypot(*first) * math.hypot(*second)
    return sum(a * b for a, b in zip(first, second, strict=True)) / lengths if lengths else 0.0


def by_a_plain_loop(points: Iterable[Point], vector: Vector, expected: Filter) -> Sequence[tuple[str, float]]:
    """Return every chunk that a filter lets through with its score, best first."""
    found = [(item.chunk, cosine(item.vector, vector)) for item in points if is_match(item, expected)]
    return sorted(found, key=lambda item: (-item[1], item[0]))
