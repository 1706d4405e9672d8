"""Fuses the results of several searches into one ranking. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DAMPING = 1
"""The damping of lower ranks: rank 1 scores a half, rank 2 a third, rank 5 a sixth.

Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009) uses 60, for many long and similar lists. Here there
are two different lists, and the first result of each should be visible.
"""

COVERAGE_POWER = 1.5
"""The exponent of the coverage: a keyword hit with half of the query counts a third of a complete one."""

WEIGHTS = {"keyword": 1.0, "semantic": 0.5}
"""The weights of the two searches: a keyword hit with two thirds of the query equals the nearest vector.

These, the exponent and the damping were tuned on `tests/retrieval/tuning.jsonl`; nearby values do as well.
"""

MIN_RELATIVE_SCORE = 0.4
"""Hits with less than this share of the best score of their search are dropped."""

MIN_SHARE_OF_BEST, MIN_SHARE_OF_WHOLE = 0.2, 0.45
"""Fused hits below this share of the best score are noise; the second value applies if the best hit has full coverage.

Both were tuned on `tests/retrieval/tuning.jsonl`: 4.4 rows of ten remain, and the first five lose nothing.
"""

WHOLE_COVERAGE = 0.8
"""Hits with at least this coverage are never noise."""

RECENCY_BOOST = 0.02
"""The bonus of an item changed just now; less than one rank among the first thirty.

It falls to half in `HALF_LIFE_DAYS`.
"""

HALF_LIFE_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class RankedItem:
    """An item with its score, and the searches that found it."""

    item: str
    score: float
    why: tuple[str, ...]


def coverage_weight(coverage: float) -> float:
    """Return the weight of a keyword hit with this coverage of the query."""
    return min(1.0, max(0.0, coverage)) ** COVERAGE_POWER


def drop_noise(ranked: tuple[RankedItem, ...], coverage: Mapping[str, float]) -> tuple[RankedItem, ...]:
    """Return the items of both searches, best first, without those far behind the best.

    Args:
        coverage: The share of the query that each item contains, by id.
    """
    if not ranked:
        return ranked

    def is_whole(hit: RankedItem) -> bool:
        return coverage.get(hit.item, 0.0) >= WHOLE_COVERAGE or "title" in hit.why

    best = next((hit for hit in ranked if "id" not in hit.why), ranked[0])
    least = best.score * (MIN_SHARE_OF_WHOLE if is_whole(best) else MIN_SHARE_OF_BEST)
    return tuple(hit for hit in ranked if hit.score >= least or is_whole(hit))


def fuse(
    arms: Mapping[str, Sequence[tuple[str, float]]], age_days: Mapping[str, float] | None = None
) -> tuple[RankedItem, ...]:
    """Fuse the results of several searches into one order, the best first.

    Each rank scores weight x certainty / (1 + rank), so an uncertain hit, such as one common word of five, ranks below
    a good one of the other search even if it is the best of its own.

    Args:
        arms: The results of each search, best first, with their certainty from 0 to 1; each item once.
        age_days: Days since items were last changed; only orders nearly equal scores.
    """
    score: dict[str, float] = {}
    why: dict[str, list[str]] = {}
    for arm in sorted(arms):
        for place, (item, sure) in enumerate(arms[arm], start=1):
            worth = WEIGHTS.get(arm, 1.0) * sure * (DAMPING + 1) / (DAMPING + place)
            score[item] = score.get(item, 0.0) + worth
            why.setdefault(item, []).append(arm)
    for item, age in (age_days or {}).items():
        if item in score:
            score[item] *= 1 + RECENCY_BOOST * 0.5 ** (max(0.0, age) / HALF_LIFE_DAYS)
    order = sorted(score, key=lambda item: (-score[item], item))
    return tuple(RankedItem(item, score[item], tuple(why[item])) for item in order)
