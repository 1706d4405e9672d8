"""Ranking: neither arm's junk outranks the other's certainty, and the order depends on nothing else."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.text.ranking import coverage_weight, fuse

Arm = Sequence[tuple[str, float]]
ITEMS = [f"n_{number}" for number in range(12)]
sure = st.floats(0, 1)
certain = st.floats(0.9, 1)
arms = st.lists(st.tuples(st.sampled_from(ITEMS), sure), unique_by=lambda hit: hit[0], max_size=8)


def order(arms: Mapping[str, Arm], ages: Mapping[str, float] | None = None) -> list[str]:
    return [each.item for each in fuse(arms, ages)]


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

    assert sorted(each.item for each in found) == sorted({*dict(keyword), *dict(semantic)})
    assert all(("keyword" in each.why) == (each.item in dict(keyword)) for each in found)
    assert all(("semantic" in each.why) == (each.item in dict(semantic)) for each in found)


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
