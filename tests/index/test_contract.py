"""What every index promises; each test runs on all of them."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from panorama.errors import InvalidInputError
from panorama.index.points import NO_PROJECT, Filter, Point
from panorama.ports import Index

from .conftest import TOLERANCE
from .making_points import DAY, OTHER, SMALL, by_a_plain_loop, many, point, toward

ALL = Filter()


def chunks(index: Index, *numbers: float, limit: int = 10, **expected: object) -> list[str]:
    return [hit.chunk for hit in index.search(toward(*numbers), limit, Filter(**expected))]


def test_an_empty_index_finds_nothing(index: Index) -> None:
    assert index.search(toward(1), 10, ALL) == []
    assert (index.count(), list(index.iter_digests())) == (0, [])


def test_the_nearest_comes_first_with_its_item_and_its_cosine(index: Index) -> None:
    index.upsert([point("n_a:0", 0, 1), point("n_b:0", 3, 3), point("n_c:1", 2)])

    found = index.search(toward(5), 2, ALL)

    assert [(hit.chunk, hit.item) for hit in found] == [("n_c:1", "n_c"), ("n_b:0", "n_b")]
    assert [hit.score for hit in found] == pytest.approx([1, 0.5**0.5], abs=TOLERANCE)


def test_what_is_far_has_a_negative_score(index: Index) -> None:
    index.upsert([point("n_a:0", -1)])

    assert index.search(toward(1), 1, ALL)[0].score == pytest.approx(-1, abs=TOLERANCE)


def test_a_vector_of_zeros_is_as_far_as_can_be_told(index: Index) -> None:
    index.upsert([point("n_a:0", 0), point("n_b:0", 1)])

    assert [round(hit.score, 5) for hit in index.search(toward(1), 9, ALL)] == [1, 0]
    assert [hit.score for hit in index.search(toward(0), 9, ALL)] == [0, 0]


def test_those_alike_come_in_the_order_of_their_ids_wherever_the_list_is_cut(index: Index) -> None:
    alike = [point(f"n_{at:03d}:0", 1, 2, 3) for at in range(60)]
    index.upsert([*reversed(alike), point("n_best:0", 1)])

    for limit in (1, 2, 30, 60):
        names = ["n_best:0", *(hit.chunk for hit in alike)]
        assert [hit.chunk for hit in index.search(toward(1), limit, ALL)] == names[:limit]


def test_a_point_written_again_replaces_the_one_before(index: Index) -> None:
    index.upsert([point("n_a:0", 1), point("n_b:0", 0, 1)])
    index.upsert([point("n_a:0", 0, 0, 1, digest="new", kind="task")])

    assert index.count() == 2
    assert dict(index.iter_digests()) == {"n_a:0": "new", "n_b:0": "d-n_b:0"}
    assert chunks(index, 0, 0, 1, limit=1) == ["n_a:0"]
    assert chunks(index, 1, kinds=("task",)) == ["n_a:0"]


def test_a_point_twice_in_one_batch_is_one_the_later(index: Index) -> None:
    index.upsert([point("n_a:0", 1), point("n_a:0", 1, digest="later")])

    assert list(index.iter_digests()) == [("n_a:0", "later")]


def test_what_is_deleted_is_not_found_and_may_be_deleted_again(index: Index) -> None:
    index.upsert([point(f"n_{name}:0", 1) for name in "abcd"])

    index.delete(["n_b:0", "n_d:0", "n_nobody:0"])
    index.delete(["n_b:0"])

    assert chunks(index, 1) == ["n_a:0", "n_c:0"]
    assert sorted(chunk for chunk, _ in index.iter_digests()) == ["n_a:0", "n_c:0"]


def test_filters_by_kind_project_and_time(index: Index) -> None:
    index.upsert(
        [
            point("n_a:0", 1, project="p_1"),
            point("t_b:0", 1, kind="task", project="p_1", at=DAY + timedelta(days=1)),
            point("t_c:0", 1, kind="task", at=DAY + timedelta(days=2)),
        ]
    )

    assert chunks(index, 1, kinds=("task",)) == ["t_b:0", "t_c:0"]
    assert chunks(index, 1, kinds=("task", "note"), project="p_1") == ["n_a:0", "t_b:0"]
    assert chunks(index, 1, project=NO_PROJECT) == ["t_c:0"]
    assert chunks(index, 1, project="p_9") == []
    assert chunks(index, 1, kinds=("link",)) == []


def test_a_span_of_time_holds_its_beginning_but_not_its_end(index: Index) -> None:
    index.upsert([point(f"n_{at}:0", 1, at=DAY + timedelta(microseconds=at)) for at in range(4)])

    first, last = DAY + timedelta(microseconds=1), DAY + timedelta(microseconds=3)

    assert chunks(index, 1, since=first, until=last) == ["n_1:0", "n_2:0"]
    assert chunks(index, 1, since=last) == ["n_3:0"]
    assert chunks(index, 1, until=first) == ["n_0:0"]


def test_hundreds_of_points_are_found_as_by_a_plain_loop(index: Index) -> None:
    points = many(600)
    index.upsert(points[:256])
    index.upsert(points[256:])
    recent = Filter(since=DAY + timedelta(hours=200))

    expected = by_a_plain_loop(points, toward(0.3, 0.8), recent)
    found = index.search(toward(0.3, 0.8), 25, recent)

    assert [hit.score for hit in found] == pytest.approx([score for _, score in expected[:25]], abs=TOLERANCE)
    assert len({hit.chunk for hit in found} & {chunk for chunk, _ in expected[:25]}) >= 24
    assert (index.count(), len(dict(index.iter_digests()))) == (600, 600)


def test_more_is_asked_for_than_there_is(index: Index) -> None:
    index.upsert([point("n_a:0", 1)])

    assert chunks(index, 1, limit=500) == ["n_a:0"]


@pytest.mark.parametrize(
    ("vector", "why"),
    [
        (toward(1, size=4), "4 dimensions instead of 8"),
        (b"", "0 dimensions"),
        (toward(1)[:-1], "7.75 dimensions"),
        (toward(float("nan")), "not a number"),
        (toward(1, float("-inf")), "not a number"),
    ],
)
def test_vectors_that_cannot_be_the_models_are_refused_and_nothing_is_written(
    index: Index, vector: bytes, why: str
) -> None:
    with pytest.raises(InvalidInputError, match=why):
        index.upsert([point("n_a:0", 1), point("n_b:0", vector=vector)])
    with pytest.raises(InvalidInputError, match=why):
        index.search(vector, 3, ALL)

    assert index.count() == 0


def test_nothing_may_be_written_and_deleted(index: Index) -> None:
    index.upsert([])
    index.delete([])
    index.flush()

    assert index.count() == 0


def test_a_build_replaces_everything(own: Index) -> None:
    own.upsert([point("n_old:0", 1), point("n_both:0", 1)])

    own.build(iter([point("n_new:0", 1), point("n_both:0", 1, digest="new")]))

    assert dict(own.iter_digests()) == {"n_new:0": "d-n_new:0", "n_both:0": "new"}
    assert chunks(own, 1) == ["n_both:0", "n_new:0"]


def test_what_was_there_is_found_while_a_build_runs(own: Index) -> None:
    own.upsert([point("n_old:0", 1)])
    seen: list[list[str]] = []

    def slowly() -> Iterator[Point]:
        seen.append(chunks(own, 1))
        yield point("n_new:0", 1)
        seen.append(chunks(own, 1))

    own.build(slowly())

    assert all("n_old:0" in entry for entry in seen)
    assert chunks(own, 1) == ["n_new:0"]


def test_a_build_that_fails_leaves_what_was_there(own: Index) -> None:
    own.upsert([point("n_old:0", 1)])

    def broken() -> Iterator[Point]:
        yield point("n_old:0", 1)
        raise KeyError("the database is gone")

    with pytest.raises(KeyError, match="gone"):
        own.build(broken())
    assert chunks(own, 1) == ["n_old:0"]


def test_a_build_for_another_model_takes_vectors_of_its_size_from_then_on(own: Index) -> None:
    own.upsert([point("n_old:0", 1)])
    before = own.state()

    own.build([point("n_new:0", vector=toward(0, 1, size=4))], OTHER)

    assert [hit.chunk for hit in own.search(toward(0, 1, size=4), 3, ALL)] == ["n_new:0"]
    with pytest.raises(InvalidInputError, match="instead of 4"):
        own.search(toward(1), 3, ALL)
    assert (before.model, own.state().model) == (SMALL, OTHER)
    assert before.identity != own.state().identity


def test_a_build_of_nothing_empties_it(own: Index) -> None:
    own.upsert(many(30))

    own.build([])

    assert (own.count(), chunks(own, 1)) == (0, [])


def test_the_state_tells_engine_model_and_count(own: Index) -> None:
    own.upsert(many(3))
    own.count()

    state = own.state()

    assert (state.engine, state.status, state.model, state.count) == (own.state().engine, "ready", SMALL, 3)
    assert state.identity == own.state().identity


def test_closing_twice_is_harmless(own: Index) -> None:
    own.close()
    own.close()
