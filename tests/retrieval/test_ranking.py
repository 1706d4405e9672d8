"""The product finds better than each of its arms, and better than both joined plainly."""

import sys
from collections.abc import Iterator, Mapping
from statistics import fmean, median

import pytest

from panorama.domain.paging import PageRequest
from panorama.domain.text import ranking

from .measuring import SPOKEN, WHOLE, Library, Query, Scores, library, queries, scores, table

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ARMS = ("keyword arm", "semantic arm")
SHARE = 0.95
ON_THE_EDGE = {"paraphrase": 0.88}
"""Kinds that miss the share, and what they reach: of 21 paraphrases the product finds 16, meaning alone 18.

Notes that share words with a paraphrase come before two of them. Nothing that the sets to tune by could choose between
changes it.
"""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The corpus, written and embedded once."""
    with library(tmp_path_factory.mktemp("library") / "home") as open_library:
        yield open_library


@pytest.fixture(scope="module")
def found_among_decoys(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Scores]:
    """How the product does on both judging halves with the decoys and the notes in other languages in the store."""
    halves = ("judging", "world-judging")
    with library(tmp_path_factory.mktemp("whole") / "home", documents=WHOLE) as shelf:
        scored = {half: scores(queries(half), lambda query: shelf.found("hybrid", query)) for half in halves}
    for half, of in scored.items():
        sys.stdout.write(f"\nall documents, {half}\n{table({'product, hybrid': of})}\n")
    return scored


@pytest.fixture(scope="module")
def found(shelf: Library) -> Mapping[str, Scores]:
    """How every way of searching does on the judging half."""
    asked = queries("judging")
    measured = {name: scores(asked, way) for name, way in shelf.ways().items()}
    sys.stdout.write("\n" + table(measured) + "\n")
    return measured


LEAST = {
    "all": (0.93, 0.84), "bilingual": (0.85, 0.69), "exact": (0.97, 0.97), "paraphrase": (0.75, 0.55),
    "question": (0.95, 0.87), "rare": (0.97, 0.97), "typo": (0.97, 0.95),
}  # fmt: skip
"""The least recall@5 and MRR@10 of the product by kind, a little below what it reaches."""


def test_the_product_finds_what_it_found_when_it_was_judged(found: Mapping[str, Scores]) -> None:
    product = {kind: (recall, mrr) for kind, (mrr, recall) in found["product, hybrid"].items()}

    missed = {kind: of for kind, of in product.items() if of[0] < LEAST[kind][0] or of[1] < LEAST[kind][1]}
    assert missed == {}


def test_decoys_and_notes_in_other_languages_cost_little(found_among_decoys: Mapping[str, Scores]) -> None:
    assert found_among_decoys["judging"]["all"][1] >= 0.9
    assert found_among_decoys["world-judging"]["foreign"][1] >= 0.7


def test_the_product_beats_both_arms_and_their_plain_join(found: Mapping[str, Scores]) -> None:
    ours = found["product, hybrid"]["all"][0]

    assert ours >= 1.08 * max(found[arm]["all"][0] for arm in ARMS)
    assert ours >= 1.05 * found["plain RRF, k = 60"]["all"][0]


def test_no_kind_of_query_is_found_worse_than_by_the_better_arm(found: Mapping[str, Scores]) -> None:
    better = {kind: max(found[arm][kind][1] for arm in ARMS) for kind in found[ARMS[0]]}
    shares = {kind: recall / better[kind] for kind, (_, recall) in found["product, hybrid"].items()}

    assert {kind: share for kind, share in shares.items() if share < ON_THE_EDGE.get(kind, SHARE)} == {}


@pytest.mark.parametrize(("kind", "least"), [("typo", 0.95), ("exact", 0.97), ("rare", 0.97)])
def test_what_is_spelt_or_misspelt_in_the_text_is_found(found: Mapping[str, Scores], kind: str, least: float) -> None:
    assert found["product, hybrid"][kind][1] >= least


def test_the_floor_takes_at_most_a_hundredth_of_what_a_page_recalls(
    shelf: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = queries("judging")
    with_floor = page_recall(shelf, asked)
    monkeypatch.setattr(ranking, "drop_noise", lambda ranked, *_, **__: ranked)

    assert with_floor >= page_recall(shelf, asked) - 0.01


def test_every_answer_to_a_query_with_one_true_row_costs_at_most_900_characters(shelf: Library) -> None:
    single = [query for query in queries("judging") if len(query.relevant) == 1]

    costs = sorted(len(shelf.app.calls.call("search", {"query": query.text}, SPOKEN).text) for query in single)

    sys.stdout.write(f"\ncharacters: {median(costs)} in the median, {costs[-1]} at most\n")
    assert costs[-1] <= 900


def page_recall(shelf: Library, asked: list[Query]) -> float:
    """Return the mean share of the relevant documents that the first ten rows hold."""
    pages = ((query.relevant, shelf.found("hybrid", query.text)[:10]) for query in asked)
    return fmean(len(relevant & set(rows)) / min(10, len(relevant)) for relevant, rows in pages)


def test_every_query_of_the_tuning_half_answers_alike_however_it_is_paged(shelf: Library) -> None:
    for query in queries("tuning")[::5]:
        whole = [row.id for row in shelf.search.search(query.text, PageRequest(limit=30)).items]
        first = shelf.search.search(query.text, PageRequest(limit=7))
        rest = shelf.search.search(query.text, PageRequest(limit=23, after=first.keys[-1])) if first.more else None

        assert [row.id for row in (*first.items, *(rest.items if rest else ()))] == whole
