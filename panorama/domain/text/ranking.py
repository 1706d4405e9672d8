"""Fuses the results of several searches into one ranking. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

DAMPING = 1
"""The damping of lower ranks: rank 1 scores a half, rank 2 a third, rank 5 a sixth.

Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009) uses 60, for many long and similar lists. Here there
are two different lists, and the first result of each should be visible.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingWeights:
    """How the two searches are weighed, by the quality of the model.

    `coverage_power` is the exponent of the coverage: with 1.5, a keyword hit with half of the query counts a third of a
    complete one. `semantic` is the weight of the nearest vector against a keyword hit with the whole query.
    `cosine_share` is the share of the best cosine below which a hit is noise if no hit has the whole query.
    `near_cosine` is the cosine that tells a hit from noise even if another hit has a short query word by word.
    `lone_cosine_share` is the share of the best cosine below which all others leave the best hit alone, if none has
    `LONE_COVERAGE`; 0 means never.

    All were tuned on the sets of `tests/retrieval` that do not judge, with the decoys in the store; nearby values do as
    well. With `trio`, a `near_cosine` of 0.3 and a least cosine of 0.15 find 0.877 of the answers among five rows
    (MRR 0.732), those of `duo` 0.871 (0.729). With a `lone_cosine_share` of 0.75, 16 of 16
    hits of `duo` that come alone are the only answer, with 0.8 21 of 22; with `trio`, 0.65 already loses an answer.
    """

    coverage_power: float = 1.5
    semantic: float = 0.5
    cosine_share: float = 0.55
    near_cosine: float = 0.5
    lone_cosine_share: float = 0.0


DEFAULT_WEIGHTS = RankingWeights()
MODEL_WEIGHTS: Mapping[str, RankingWeights] = {
    "duo": RankingWeights(coverage_power=2.0, semantic=0.9, near_cosine=0.35, lone_cosine_share=0.75),
    "trio": RankingWeights(coverage_power=2.0, semantic=0.9, near_cosine=0.3),
    "static": RankingWeights(cosine_share=0.85, near_cosine=0.8),
}

MIN_RELATIVE_SCORE = 0.4
"""Hits with less than this share of the best score of their search are dropped."""

MIN_COSINE_SHARE, SHORT_COSINE_SHARE = 0.4, 0.6
"""The share of the best cosine below which a hit is noise if the best hit has the whole query.

Decoys that repeat the words of a long query are nearer than the answer, so more is shown than without such a hit.
"""

SHORT_TERMS = 3
"""A query with at most this many words is short."""

FIRST_ROWS, LATER_COSINE_SHARE = 5, 0.65
"""Rows after this many need at least this share of the best cosine: few answers are there, and much noise."""

PARTIAL_COVERAGE = 0.4
"""Hits with at least this coverage are no noise if the best hit has less than the whole query."""

PRECISE_TERMS = 2
"""A query with at most this many words is a name or a rare word: if a hit has all of it, only others with `near_cosine`
are no noise. A query of words of the best title is such a name, too.
"""

LONE_COVERAGE = 0.2
"""If no hit has this coverage, the query is in another language or in other words, and only cosines count.

Hits that repeat words of a query may lead by far without being the only answer.
"""

WHOLE_COVERAGE = 0.8
"""Hits with at least this coverage are never noise."""

RECENCY_BOOST = 0.02
"""The bonus of an item changed just now; less than one rank among the first thirty.

It falls to half in `HALF_LIFE_DAYS`.
"""

HALF_LIFE_DAYS = 30.0

NAMED = frozenset({"id", "title", "name", "day"})
"""The reasons of hits that the query names."""


@dataclass(frozen=True, slots=True)
class RankedItem:
    """An item with its score, and the searches that found it."""

    item: str
    score: float
    why: tuple[str, ...]


def get_weights(model: str) -> RankingWeights:
    """Return the weights for a model."""
    return MODEL_WEIGHTS.get(model, DEFAULT_WEIGHTS)


def coverage_weight(coverage: float, weights: RankingWeights = DEFAULT_WEIGHTS) -> float:
    """Return the weight of a keyword hit with this coverage of the query."""
    return min(1.0, max(0.0, coverage)) ** weights.coverage_power


def drop_noise(
    ranked: tuple[RankedItem, ...],
    coverage: Mapping[str, float],
    cosines: Mapping[str, float],
    weights: RankingWeights = DEFAULT_WEIGHTS,
    *,
    unread: Collection[str] = (),
    terms: int | None = SHORT_TERMS,
    words: int = SHORT_TERMS,
    is_name: bool = False,
) -> tuple[RankedItem, ...]:
    """Return the items of both searches that may be an answer, best first.

    The best item stays, and those that the query names or that contain all of it. Others stay if their cosine is not
    far below the best. Only these stay if hardly a word was found and the best item is by far the nearest.

    Args:
        coverage: The share of the query that each item contains, by id.
        cosines: The cosine of the nearest passage of each item, by id.
        unread: Items that the index of meaning has not read since they changed, which have no cosine; they stay.
        terms: The number of terms that were looked for, None if some of them were corrected.
        words: The number of words in them; a single one never leaves an item alone.
        is_name: Whether all of them are in the title of the best item.
    """
    if not ranked:
        return ranked
    best = next((hit for hit in ranked if "id" not in hit.why), ranked[0])
    top, has_whole = max(cosines.values(), default=0.0), _is_whole(best, coverage)
    if words > 1 and _is_far_ahead(best.item, coverage, cosines, weights):
        return tuple(hit for hit in ranked if hit is best or _is_whole(hit, coverage) or hit.item in unread)
    least_coverage = WHOLE_COVERAGE if has_whole else PARTIAL_COVERAGE
    is_name = is_name or "title" in best.why
    least_cosine = _find_least_cosine(top, terms if has_whole else None, weights, is_name=is_name)

    results: list[RankedItem] = []
    for hit in ranked:
        least = least_cosine if len(results) < FIRST_ROWS else max(least_cosine, LATER_COSINE_SHARE * top)
        is_near = hit.item in cosines and cosines[hit.item] >= least
        covers = coverage.get(hit.item, 0.0) >= least_coverage
        if hit is best or is_near or _is_whole(hit, coverage) or covers or hit.item in unread:
            results.append(hit)
    return tuple(results)


def _is_whole(hit: RankedItem, coverage: Mapping[str, float]) -> bool:
    """Return whether the query names the item, or the item contains all of the query."""
    return coverage.get(hit.item, 0.0) >= WHOLE_COVERAGE or bool(NAMED & set(hit.why))


def _is_far_ahead(
    item: str, coverage: Mapping[str, float], cosines: Mapping[str, float], weights: RankingWeights
) -> bool:
    """Return whether hardly a word of the query was found, and all other items have a much lower cosine."""
    second = max((cosine for other, cosine in cosines.items() if other != item), default=0.0)
    is_foreign = max(coverage.values(), default=0.0) < LONE_COVERAGE
    return is_foreign and second < weights.lone_cosine_share * cosines.get(item, 0.0)


def _find_least_cosine(top: float, terms: int | None, weights: RankingWeights, *, is_name: bool) -> float:
    """Return the cosine that other items need beside the best.

    Args:
        top: The highest cosine.
        terms: The number of words if the best item contains all of them as they were typed, else None.
        is_name: Whether all of them are in its title.
    """
    if terms is None:
        return weights.cosine_share * top
    if is_name or terms <= PRECISE_TERMS:
        return max(SHORT_COSINE_SHARE * top, weights.near_cosine)
    return (SHORT_COSINE_SHARE if terms <= SHORT_TERMS else MIN_COSINE_SHARE) * top


def fuse(
    arms: Mapping[str, Sequence[tuple[str, float]]],
    age_days: Mapping[str, float] | None = None,
    weights: RankingWeights = DEFAULT_WEIGHTS,
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
            worth = (weights.semantic if arm == "semantic" else 1.0) * sure * (DAMPING + 1) / (DAMPING + place)
            score[item] = score.get(item, 0.0) + worth
            why.setdefault(item, []).append(arm)
    for item, age in (age_days or {}).items():
        if item in score:
            score[item] *= 1 + RECENCY_BOOST * 0.5 ** (max(0.0, age) / HALF_LIFE_DAYS)
    order = sorted(score, key=lambda item: (-score[item], item))
    return tuple(RankedItem(item, score[item], tuple(why[item])) for item in order)
