"""Whatever is written and deleted, an index finds what a plain loop over a dictionary finds."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from panorama.index.filters import from_payload, to_payload
from panorama.index.points import NO_PROJECT, Filter, Point, pack_vector
from panorama.ports import Index

from .conftest import LAWS, TOLERANCE, emptied
from .making_points import DAY, SIZE, by_a_plain_loop

pytestmark = pytest.mark.slow  # they build many indexes

chunks = some.sampled_from([f"{kind}_{at}:{part}" for kind in "ntp" for at in range(4) for part in range(2)])
numbers = some.integers(-2, 2) | some.floats(-1, 1, width=32)
vectors = some.lists(numbers, min_size=SIZE, max_size=SIZE).map(pack_vector)
kinds = some.sampled_from(["note", "task", "project"])
projects = some.sampled_from([None, "p_1", "p_2"])
moments = some.integers(0, 5).map(lambda days: DAY + timedelta(days=days)) | some.datetimes(
    min_value=DAY.replace(tzinfo=None, year=1900), max_value=DAY.replace(tzinfo=None, year=2200)
).map(lambda at: at.replace(tzinfo=DAY.tzinfo))
digests = some.sampled_from(["a" * 32, "b" * 32])
points = some.builds(
    Point, chunk=chunks, item=chunks, kind=kinds, project=projects, at=moments, digest=digests, vector=vectors
)
filters = some.builds(
    Filter,
    kinds=some.lists(kinds, max_size=2, unique=True).map(tuple),
    project=some.sampled_from([None, None, NO_PROJECT, "p_1", "p_9"]),
    since=some.none() | moments,
    until=some.none() | moments,
)
steps = some.lists(
    some.tuples(some.just("upsert"), some.lists(points, max_size=8))
    | some.tuples(some.just("delete"), some.lists(chunks, max_size=5))
    | some.tuples(some.just("search"), some.tuples(vectors, some.integers(1, 30), filters)),
    min_size=1,
    max_size=12,
)


@given(some.data())
@LAWS
def test_any_index_finds_what_a_plain_loop_finds(own: Index, data: some.DataObject) -> None:
    with emptied(own) as index:
        truth: dict[str, Point] = {}
        for does, what in data.draw(steps):
            _step(index, truth, does, what)

        assert dict(index.iter_digests()) == {chunk: value.digest for chunk, value in truth.items()}
        assert index.count() == len(truth)


def _step(index: Index, truth: dict[str, Point], does: str, what: Any) -> None:
    match does:
        case "upsert":
            index.upsert(what)
            truth.update({step.chunk: step for step in what})
        case "delete":
            index.delete(what)
            for chunk in what:
                truth.pop(chunk, None)
        case _:
            _compare(index, truth, *what)


def _compare(index: Index, truth: Mapping[str, Point], vector: bytes, limit: int, target: Filter) -> None:
    expected = by_a_plain_loop(truth.values(), vector, target)

    found = index.search(vector, limit, target)

    scores = dict(expected)
    assert [hit.score for hit in found] == pytest.approx([score for _, score in expected[:limit]], abs=TOLERANCE)
    assert [hit.score for hit in found] == pytest.approx([scores[hit.chunk] for hit in found], abs=TOLERANCE)
    assert len({hit.chunk for hit in found}) == len(found)
    assert all(truth[hit.chunk].item == hit.item for hit in found)
    assert found == sorted(found, key=lambda hit: (-hit.score, hit.chunk))


@given(points)
@LAWS
def test_a_point_comes_back_from_its_payload(point: Point) -> None:
    assert from_payload(to_payload(point), point.vector) == point
