"""The product finds better than each of its arms, and better than both joined plainly."""

import sys
from collections.abc import Iterator, Mapping
from statistics import fmean, median

import pytest

from panorama.domain.paging import PageRequest
from panorama.domain.text import ranking

from .measuring import SPOKEN, Library, Query, Scores, library, queries, scores, table

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ARMS = ("keyword arm", "semantic arm")
SHARE = 0.95
ON_THE_EDGE = {"paraphrase": 0.94}
"""Kinds that miss the share on some processors, and what they reach there: we find 16 of 21 paraphrases.

Meaning alone finds 16 or 17 of them, as the processor's arithmetic with 8 bits rounds. Nothing that the tuning half
could choose between changes it, so it stays as it is.
"""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The corpus, written and embedded once."""
    with library(tmp_path_factory.mktemp("library") / "home") as open_library:
        yield open_library


@pytest.fixture(scope="module")
def found(shelf: Library) -> Mapping[str, Scores]:
    """How every way of searching does on the judging half."""
    asked = queries("judging")
    measured = {name: scores(asked, way) for name, way in shelf.ways().items()}
    sys.stdout.write("\n" + table(measured) + "\n")
    return measured


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
    monkeypatch.setattr(ranking, "drop_noise", lambda ranked, _: ranked)

    assert with_floor >= page_recall(shelf, asked) - 0.01


def test_half_of_the_answers_to_queries_with_one_true_row_cost_at_most_900_characters(shelf: Library) -> None:
    single = [query for query in queries("judging") if len(query.relevant) == 1]

    costs = [len(shelf.app.calls.call("search", {"query": query.text}, SPOKEN).text) for query in single]

    assert median(costs) <= 900


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
