"""The retrieval check: the built-in set is sound, ranks are honest, and a person's notes make a set of their own."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from panorama.index.embedders.static import StaticEmbedder
from panorama.index.evaluation import sets
from panorama.index.evaluation.scores import rank, score_ranks
from panorama.index.evaluation.sets import EvaluationSet, Query, from_notes, load_built_in
from panorama.index.evaluation.trial import evaluate, measure_speed

LONG = "A body that says enough for anybody to find it by what it tells of the sea and the wind. " * 2


class Letters:
    """An embedder that counts letters, or finds everything alike."""

    id = "letters"
    size = 26

    def __init__(self, *, blind: bool = False) -> None:
        self._blind = blind

    def load(self) -> None:
        """Be ready."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return how often each letter occurs."""
        counts = Counter(text.lower())
        row = np.array([1 if self._blind else counts[chr(97 + at)] for at in range(26)], np.float32)
        return row / np.sqrt(row @ row)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the same of each text."""
        return np.stack([self.embed_query(text) for text in texts])


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.lower()))


def test_the_built_in_set_has_sixty_notes_and_ten_queries_of_each_kind() -> None:
    check = load_built_in()

    assert (len(check.texts), len(set(check.texts))) == (60, 60)
    assert Counter(query.kind for query in check.queries) == dict.fromkeys(
        ("name", "rare word", "paraphrase", "question"), 10
    )


def test_a_paraphrase_shares_no_word_with_its_note_and_a_rare_word_stands_in_one_note_only() -> None:
    check = load_built_in()

    for query in check.queries:
        (place,) = query.wanted
        if query.kind == "paraphrase":
            assert _words(query.text) & _words(check.texts[place]) == set(), query.text
        if query.kind == "rare word":
            assert [at for at, text in enumerate(check.texts) if query.text in text] == [place]


def test_a_rank_counts_what_is_as_similar_as_better() -> None:
    assert rank([0.9, 0.5, 0.1], {0}) == 1
    assert rank([0.9, 0.5, 0.5], {1}) == 3
    assert rank([0.9, 0.5, 0.1], {1, 2}) == 2


def test_scores_are_given_by_kind_and_for_all() -> None:
    found = score_ranks([("name", 1), ("name", 4), ("question", 11)])

    assert [(item.kind, item.queries) for item in found] == [("name", 2), ("question", 1), ("all", 3)]
    assert (found[0].recall_1, found[0].recall_5, found[0].mrr_10) == (0.5, 1.0, 0.625)
    assert (found[1].recall_5, found[1].mrr_10) == (0.0, 0.0)


def test_a_model_that_finds_everything_alike_finds_nothing() -> None:
    check = EvaluationSet(("ab", "cd", "ef"), tuple(Query("name", "ab", frozenset({place})) for place in range(3)))

    assert [evaluate(Letters(blind=blind), check).scores[-1].recall_1 for blind in (False, True)] == [1 / 3, 0.0]


def test_a_trial_tells_how_far_it_is_and_how_fast() -> None:
    check, told = load_built_in(), list[tuple[int, int]]()

    found = evaluate(StaticEmbedder(), check, lambda done, total: told.append((done, total)))

    assert (told[-1], sorted(told)) == ((100, 100), told)
    assert (found.model, found.size, found.texts) == ("static", 256, 60)
    assert min(found.texts_per_second, found.query_ms) > 0
    assert found.scores[-1].recall_5 > 0.8


def test_the_pace_of_a_model_is_found_in_the_time_given() -> None:
    assert measure_speed(Letters(), 0.01) > 0


def test_the_titles_of_notes_are_looked_for_in_their_bodies() -> None:
    check = from_notes([("Sea", LONG), ("Wind", LONG + "It blows.")])

    assert [(query.text, set(query.wanted)) for query in check.queries] == [("Sea", {0}), ("Wind", {1})]
    assert check.texts[0] == LONG.strip()


@pytest.mark.parametrize(
    "note", [("", LONG), ("🌊", LONG), ("2026-05-20", LONG), ("Sea", "Short."), ("Sea", "x" * 500)]
)
def test_notes_without_title_or_text_are_passed_over(note: tuple[str, str]) -> None:
    assert from_notes([note]).texts == ()


def test_a_heading_that_repeats_the_title_does_not_help() -> None:
    assert from_notes([("The Sea", f"# the sea\n\n{LONG}")]).texts == (LONG.strip(),)


def test_notes_of_one_title_are_all_right() -> None:
    check = from_notes([("Sea", LONG), ("sea", LONG + "More.")])

    assert [set(query.wanted) for query in check.queries] == [{0, 1}]


def test_no_more_notes_are_read_than_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "MAX_NOTES", 2)
    notes = iter([("a sea", LONG), ("b sea", LONG), ("c sea", LONG)])

    assert len(from_notes(notes).texts) == 2
    assert next(notes) == ("c sea", LONG)
