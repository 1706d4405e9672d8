"""Matches the task lines of a changed file to those of its previous version: by id, position, title or similarity."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import groupby

from panorama.domain.items.item import normalize_name

MIN_LIKENESS = 0.6
"""The least similarity of a reworded line, from 0 to 1."""

SAME_GAP_BONUS = 0.2
"""The bonus for a line between the same neighbours."""

MAX_PAIRS = 20_000
"""The maximum number of pairs of lines whose similarity is computed; each takes about 20 microseconds."""


MAX_EQUALS = 200_000
"""The maximum number of pairs of lines with equal titles whose order is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBox:
    """The parts of a task line used for matching: its title and its own id, if any.

    `gap` is the number of lines above it that stayed in both texts; None if only the task lines are known.
    """

    title: str
    anchor: str = ""
    gap: int | None = None


@dataclass(slots=True)
class _Matching:
    """The matches so far (new index to old index), and the unmatched lines in file order."""

    old: Sequence[TaskBox]
    new: Sequence[TaskBox]
    pairs: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def has_gaps(self) -> bool:
        """Whether the gaps of all lines are given."""
        return all(box.gap is not None for box in (*self.old, *self.new))

    def left_old(self) -> list[int]:
        matched = set(self.pairs.values())
        return [at for at in range(len(self.old)) if at not in matched]

    def left_new(self) -> list[int]:
        return [at for at in range(len(self.new)) if at not in self.pairs]


def match_tasks(old: Sequence[TaskBox], new: Sequence[TaskBox]) -> dict[int, int]:
    """Return the old line of each new line, by index; lines without a match are missing."""
    matching = _Matching(old, new)
    _match_anchors(matching)
    if not matching.has_gaps:  # else the lines that stayed in their order are matched already
        _match_places(matching)
    _match_titles(matching, only_unique=True)
    _match_likeness(matching)
    _match_titles(matching)
    return matching.pairs


def _match_anchors(matching: _Matching) -> None:
    places = {box.anchor: at for at, box in enumerate(matching.old) if box.anchor}
    for at, box in enumerate(matching.new):
        if box.anchor in places:
            matching.pairs[at] = places.pop(box.anchor)


def _match_places(matching: _Matching) -> None:
    """Match equal titles that stand in the same order."""
    old, new = matching.left_old(), matching.left_new()
    before = [normalize_name(matching.old[at].title) for at in old]
    after = [normalize_name(matching.new[at].title) for at in new]
    counts = Counter(before)
    if sum(counts[title] for title in after) > MAX_EQUALS:
        return
    for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            matching.pairs[new[block.b + step]] = old[block.a + step]


def _match_titles(matching: _Matching, *, only_unique: bool = False) -> None:
    """Match equal titles that moved: in their order, or those that are there once."""
    places: dict[str, list[int]] = {}
    for at in matching.left_old():
        places.setdefault(normalize_name(matching.old[at].title), []).append(at)
    left = [(at, normalize_name(matching.new[at].title)) for at in matching.left_new()]
    counts = Counter(title for _, title in left)
    for at, title in left:
        same = places.get(title)
        if same and not (only_unique and (len(same) > 1 or counts[title] > 1)):
            matching.pairs[at] = same.pop(0)


def _match_likeness(matching: _Matching) -> None:
    """Match reworded lines, the most similar first."""
    scored = sorted(_iter_scores(matching), key=lambda scored: (-scored[0], *scored[1:]))
    matched: set[int] = set()
    for score, new, old in scored:
        if score >= MIN_LIKENESS and new not in matching.pairs and old not in matched:
            matching.pairs[new] = old
            matched.add(old)


def _iter_scores(matching: _Matching) -> Iterator[tuple[float, int, int]]:
    old, new = matching.left_old(), matching.left_new()
    if not old:
        return
    gaps_before, gaps_after = _gaps(matching)
    if len(old) * len(new) <= MAX_PAIRS:
        for at in new:
            bonuses = ((earlier, SAME_GAP_BONUS * (gaps_before[earlier] == gaps_after[at])) for earlier in old)
            yield from _score_line(matching, at, bonuses)
        return
    near: dict[int, list[int]] = {}
    for earlier in old:
        near.setdefault(gaps_before[earlier], []).append(earlier)
    pairs = 0
    for gap, lines in groupby(new, key=lambda at: gaps_after[at]):
        later, earlier = list(lines), near.get(gap, [])
        is_large = pairs + len(later) * len(earlier) > MAX_PAIRS
        pairs += 0 if is_large else len(later) * len(earlier)
        for place, at in enumerate(later):
            # A large block of as many lines as before was changed line by line.
            chosen = earlier if not is_large else earlier[place : place + 1] if len(later) == len(earlier) else []
            if chosen:
                yield from _score_line(matching, at, ((line, SAME_GAP_BONUS) for line in chosen))


def _score_line(matching: _Matching, at: int, bonuses: Iterable[tuple[int, float]]) -> Iterator[tuple[float, int, int]]:
    """Yield the scores of a new line with old ones that are high enough for a match."""
    matcher = SequenceMatcher(None, "", matching.new[at].title.casefold(), autojunk=False)
    for earlier, bonus in bonuses:
        matcher.set_seq1(matching.old[earlier].title.casefold())
        least = MIN_LIKENESS - bonus
        if matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least:
            yield matcher.ratio() + bonus, at, earlier


def _gaps(matching: _Matching) -> tuple[list[int], list[int]]:
    """Return for each old and new line its gap: if it is not given, the matched old line above it, -1 at the top."""
    if matching.has_gaps:
        return [box.gap or 0 for box in matching.old], [box.gap or 0 for box in matching.new]
    matched = set(matching.pairs.values())
    before: list[int] = []
    after: list[int] = []
    last = -1
    for at in range(len(matching.old)):
        last = at if at in matched else last
        before.append(last)
    last = -1
    for at in range(len(matching.new)):
        last = matching.pairs.get(at, last)
        after.append(last)
    return before, after
