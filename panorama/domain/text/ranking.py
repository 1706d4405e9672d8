"""Fuses the results of several searches into one ranking. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DAMPING = 1
"""How slowly a place further down loses worth: the first is worth a half, the second a third, the fifth a sixth.

Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009) takes 60, for many lists that are long and alike. Here
are two that know different things, and what stands first in one of them should be seen.
"""

COVERAGE_POWER = 1.5
"""The power of the coverage: a keyword hit that holds half of what the query says is worth a third of a whole one."""

WEIGHTS = {"keyword": 1.0, "semantic": 0.5}
"""What a certain hit of each arm is worth: who holds two thirds of the query is level with the nearest.

This, the sharpness and the damping were chosen on `tests/retrieval/tuning.jsonl`; all values around do as well.
"""

MIN_RELATIVE_SCORE = 0.4
"""Hits with less than this share of what the best hit of their arm has are left out."""

MIN_SHARE_OF_BEST, MIN_SHARE_OF_WHOLE = 0.2, 0.45
"""Hits of both arms with a smaller share of the best hit's worth are noise; the second counts if the best is whole.

Both were chosen on `tests/retrieval/tuning.jsonl`: they leave 4.4 rows of ten, and the first five lose nothing.
"""

WHOLE_COVERAGE = 0.8
"""The coverage from which a hit is taken for one that holds what was asked; such a hit is never noise."""

RECENCY_BOOST = 0.02
"""How much more an item is worth that was changed just now; less than one place among the first thirty.

It falls to half in `HALF_LIFE_DAYS`.
"""

HALF_LIFE_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class RankedItem:
    """An item with its worth, and the arms that found it."""

    item: str
    score: float
    why: tuple[str, ...]


def coverage_weight(coverage: float) -> float:
    """Return how much a keyword hit counts that holds such a share of what the query says."""
    return min(1.0, max(0.0, coverage)) ** COVERAGE_POWER


def drop_noise(ranked: tuple[RankedItem, ...], coverage: Mapping[str, float]) -> tuple[RankedItem, ...]:
    """Return the items of both arms, best first, without those far behind the best.

    Args:
        coverage: The share of the query that items hold, by id.
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
    """Return the items of several arms in one order, the best first.

    Each place is worth weight x certainty / (1 + place): so a hit that is uncertain in itself, such as one common word
    of five, stands behind a good one of the other arm even if nothing better was found beside it.

    Args:
        arms: What each found, best first, and how certain a hit is, from 0 to 1; each item once.
        age_days: When items were last changed; only what is nearly alike is ordered by it.
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
