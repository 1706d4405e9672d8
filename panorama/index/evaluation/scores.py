"""Retrieval scores: ranks of the right answers. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

ALL = "all"
RECALL_DEPTH, MRR_DEPTH = 5, 10
_DIGITS = 6
"""Beyond these, two similarities differ by rounding alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The queries of a kind: the shares that were right at the first place and among the first five, and MRR@10.

    The mean reciprocal rank is the mean of 1 / rank, 0 where nothing right is among the first ten.
    """

    kind: str
    queries: int
    recall_1: float
    recall_5: float
    mrr_10: float


def rank(similarities: Sequence[float], relevant: Collection[int]) -> int:
    """Return the place of the best right text, 1 for the first; behind every wrong one that is as similar.

    So a model that finds everything alike is not taken for a good one.
    """
    best = max(round(similarities[place], _DIGITS) for place in relevant)
    return 1 + sum(round(entry, _DIGITS) >= best for place, entry in enumerate(similarities) if place not in relevant)


def score_ranks(ranks: Iterable[tuple[str, int]]) -> tuple[Score, ...]:
    """Return the scores of ranks by kind, in the order of the kinds, and of all together if there are several."""
    every = list(ranks)
    by_kind: dict[str, list[int]] = {}
    for kind, place in every:
        by_kind.setdefault(kind, []).append(place)
    results = [_score(kind, places) for kind, places in by_kind.items()]
    return (*results, _score(ALL, [place for _, place in every])) if len(results) > 1 else tuple(results)


def _score(kind: str, ranks: Sequence[int]) -> Score:
    count = len(ranks)
    return Score(
        kind=kind,
        queries=count,
        recall_1=sum(place == 1 for place in ranks) / count,
        recall_5=sum(place <= RECALL_DEPTH for place in ranks) / count,
        mrr_10=sum(1 / place for place in ranks if place <= MRR_DEPTH) / count,
    )
