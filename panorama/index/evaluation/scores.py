"""Retrieval scores: ranks of the right answers. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

ALL = "all"
RECALL_DEPTH, MRR_DEPTH = 5, 10
_DIGITS = 6
"""Differences in later digits are rounding errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The scores of a kind of query: recall at 1 and 5, and MRR@10.

    The mean reciprocal rank is the mean of 1 / rank, 0 without a relevant text among the first ten.
    """

    kind: str
    queries: int
    recall_1: float
    recall_5: float
    mrr_10: float


def rank(similarities: Sequence[float], relevant: Collection[int]) -> int:
    """Return the rank of the best relevant text from 1; ties with other texts rank it lower.

    So a model that finds everything equally similar gets a low score.
    """
    best = max(round(similarities[place], _DIGITS) for place in relevant)
    return 1 + sum(round(entry, _DIGITS) >= best for place, entry in enumerate(similarities) if place not in relevant)


def score_ranks(ranks: Iterable[tuple[str, int]]) -> tuple[Score, ...]:
    """Return the scores by kind, in order, and the total if there are several kinds."""
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
