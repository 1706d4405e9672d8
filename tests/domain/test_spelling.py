"""Spelling: what one slip makes of a word is put right, and what is far from every word is left alone."""

import random
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from panorama.domain.text.spelling import allowed_edits, best_match, edit_distance, first_letter_variants, iter_splits

words = st.text("abcdeilnorst", min_size=1, max_size=9)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def slow_distance(one: str, other: str) -> int:
    """Return the distance by its definition, without bounds."""
    rows = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for at in range(len(one) + 1):
        for place in range(len(other) + 1):
            if not at or not place:
                rows[at][place] = at + place
                continue
            rows[at][place] = min(
                rows[at - 1][place] + 1,
                rows[at][place - 1] + 1,
                rows[at - 1][place - 1] + (one[at - 1] != other[place - 1]),
            )
            if at > 1 and place > 1 and one[at - 1] == other[place - 2] and one[at - 2] == other[place - 1]:
                rows[at][place] = min(rows[at][place], rows[at - 2][place - 2] + 1)
    return rows[-1][-1]


def slip(word: str, chance: random.Random) -> str:
    """Return a word with one letter left out, put in, replaced or swapped with its neighbour."""
    at = chance.randrange(len(word) - 1)
    ways: tuple[Callable[[], str], ...] = (
        lambda: word[:at] + word[at + 1 :],
        lambda: word[:at] + chance.choice(LETTERS) + word[at:],
        lambda: word[:at] + chance.choice(LETTERS) + word[at + 1 :],
        lambda: word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    )
    return chance.choice(ways)()


@given(one=words, other=words, most=st.integers(0, 3))
def test_the_distance_is_that_of_the_definition_up_to_its_bound(one: str, other: str, most: int) -> None:
    assert edit_distance(one, other, most) == min(most + 1, slow_distance(one, other))


@given(one=words, other=words)
def test_the_distance_is_the_same_from_both_sides(one: str, other: str) -> None:
    assert edit_distance(one, other, 2) == edit_distance(other, one, 2)


@given(one=words, other=words)
def test_near_to_a_beginning_is_the_best_of_all_beginnings(one: str, other: str) -> None:
    best = min(slow_distance(one[:length], other) for length in range(len(one) + 1))

    assert edit_distance(one, other, 2, begun=True) == min(3, best)


@given(word=st.text(LETTERS, min_size=5, max_size=12), seed=st.integers())
def test_one_slip_is_put_right(word: str, seed: int) -> None:
    wrong = slip(word, random.Random(seed))
    assume(wrong != word and allowed_edits(wrong))

    assert best_match(wrong, [(word, 1), ("quitedifferent", 90)]) == word


@given(word=st.text(LETTERS, min_size=4, max_size=12), seed=st.integers())
def test_a_slip_in_the_first_two_letters_is_among_what_is_looked_for(word: str, seed: int) -> None:
    wrong = slip(word[:3], random.Random(seed)) + word[3:]
    assume(wrong[:2] != word[:2] and len(wrong) >= 4 and edit_distance(wrong, word, 1) == 1)

    assert word in set(first_letter_variants(wrong))


@pytest.mark.parametrize(
    ("wrong", "known", "right"),
    [
        ("recieve", ["receive", "relieve"], "receive"),
        ("desicion", ["decision", "division"], "decision"),
        ("lissabon", ["lisbon"], "lisbon"),
        ("gardn", ["garden", "gone"], "garden"),
        ("coche", ["caches"], ""),
        ("cat", ["car"], ""),
        ("nachtzug", ["achtzig"], ""),
        ("tomatoe", ["tomato", "tomatoes"], "tomatoes"),
    ],
)
def test_a_word_becomes_the_nearest_that_is_known(wrong: str, known: list[str], right: str) -> None:
    count = {"tomatoes": 9}

    assert best_match(wrong, [(word, count.get(word, 1)) for word in known]) == right


def test_of_words_alike_the_one_that_more_items_hold_is_taken() -> None:
    assert best_match("plam", [("plum", 2), ("plan", 9), ("palm", 5)]) == "plan"


@given(word=st.text(LETTERS, max_size=12))
def test_the_halves_of_a_word_are_the_whole_word(word: str) -> None:
    assert all(first + second == word and min(len(first), len(second)) >= 3 for first, second in iter_splits(word))
