"""Ranking: neither arm's junk outranks the other's certainty, and the order depends on nothing else."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.text.ranking import RankedItem, coverage_weight, drop_noise, fuse, get_weights

Arm = Sequence[tuple[str, float]]
ITEMS = [f"n_{number}" for number in range(12)]
sure = st.floats(0, 1)
certain = st.floats(0.9, 1)
arms = st.lists(st.tuples(st.sampled_from(ITEMS), sure), unique_by=lambda hit: hit[0], max_size=8)


def order(arms: Mapping[str, Arm], ages: Mapping[str, float] | None = None) -> list[str]:
    return [score.item for score in fuse(arms, ages)]


@given(keyword=arms, semantic=arms, first=certain)
def test_what_is_first_in_both_arms_is_first(keyword: Arm, semantic: Arm, first: float) -> None:
    both = {"keyword": [("first", first), *keyword], "semantic": [("first", first), *semantic]}

    assert order(both)[0] == "first"


@given(semantic=arms, junk=st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.floats(0, 0.4)), max_size=1))
def test_a_junk_hit_of_keywords_stands_behind_the_nearest_in_meaning(semantic: Arm, junk: Arm) -> None:
    both = {"keyword": [(item, coverage_weight(share)) for item, share in junk], "semantic": [("near", 1.0), *semantic]}

    assert order(both)[0] == "near"


@given(keyword=arms, semantic=arms)
def test_what_holds_every_word_stands_before_all_that_meaning_alone_found(keyword: Arm, semantic: Arm) -> None:
    others = [hit for hit in semantic if hit[0] not in dict(keyword)]

    found = order({"keyword": [("whole", 1.0), *keyword], "semantic": others})

    assert all(found.index("whole") < found.index(item) for item, _ in others)


@given(keyword=arms, semantic=arms)
def test_every_hit_is_there_once_with_the_arms_that_found_it(keyword: Arm, semantic: Arm) -> None:
    found = fuse({"keyword": keyword, "semantic": semantic})

    assert sorted(item.item for item in found) == sorted({*dict(keyword), *dict(semantic)})
    assert all(("keyword" in item.why) == (item.item in dict(keyword)) for item in found)
    assert all(("semantic" in item.why) == (item.item in dict(semantic)) for item in found)


@given(keyword=arms, semantic=arms)
def test_the_order_does_not_depend_on_the_order_of_the_arms(keyword: Arm, semantic: Arm) -> None:
    one = fuse({"keyword": keyword, "semantic": semantic})

    assert one == fuse({"semantic": semantic, "keyword": keyword})


@given(arm=st.lists(st.sampled_from(ITEMS), unique=True))
def test_one_arm_alone_keeps_its_order(arm: Sequence[str]) -> None:
    assert order({"semantic": [(item, 1.0) for item in arm]}) == list(arm)


@given(keyword=arms, semantic=arms, more=sure)
def test_a_hit_of_the_other_arm_never_moves_an_item_down(keyword: Arm, semantic: Arm, more: float) -> None:
    added = [*semantic, ("item", more)]

    before = order({"keyword": [("item", 0.5), *keyword], "semantic": semantic})
    after = order({"keyword": [("item", 0.5), *keyword], "semantic": added})

    assert after.index("item") <= before.index("item")


def test_of_two_alike_the_one_changed_last_stands_first() -> None:
    alike = {"keyword": [("old", 1.0)], "semantic": [("new", 1.0), ("older", 1.0)]}
    level = {"keyword": [("old", 0.5)], "semantic": [("new", 1.0)]}

    assert order(level, {"old": 400.0, "new": 0.0}) == ["new", "old"]
    assert order(level, {"old": 0.0, "new": 400.0}) == ["old", "new"]
    assert order(alike, {"old": 4000.0, "new": 4000.0, "older": 0.0}) == ["old", "new", "older"]


@given(share=st.floats(-1, 2))
def test_certainty_grows_with_the_coverage(share: float) -> None:
    assert 0 <= coverage_weight(share) <= coverage_weight(share + 0.1) <= 1


def remaining(coverage: Mapping[str, float], cosines: Mapping[str, float], words: int = 5) -> list[str]:
    """Return the items left of those that both searches found, in the order of their cosines."""
    ranked = tuple(RankedItem(item, 1.0, ("semantic",)) for item in cosines)
    return [hit.item for hit in drop_noise(ranked, coverage, cosines, get_weights("duo"), terms=5, words=words)]


def test_the_nearest_item_by_far_comes_alone_if_hardly_a_word_was_found() -> None:
    far, near = {"best": 0.6, "other": 0.42}, {"best": 0.6, "other": 0.48}

    assert remaining({}, far) == ["best"]
    assert remaining({"other": 0.1}, far) == ["best"]
    assert remaining({}, near) == ["best", "other"]


def test_an_item_with_some_words_of_the_query_brings_others() -> None:
    assert remaining({"best": 0.5}, {"best": 0.6, "other": 0.42}) == ["best", "other"]


def test_a_single_word_never_leaves_the_nearest_item_alone() -> None:
    assert remaining({}, {"best": 0.6, "other": 0.42}, words=1) == ["best", "other"]


def test_an_item_that_the_index_has_not_read_stays_beside_one_that_is_far_ahead() -> None:
    ranked = (RankedItem("best", 1.0, ("semantic",)), RankedItem("new", 0.5, ("keyword",)))

    left = drop_noise(ranked, {"new": 0.1}, {"best": 0.6}, get_weights("duo"), unread=["new"])

    assert [hit.item for hit in left] == ["best", "new"]
