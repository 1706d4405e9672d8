"""Matches the task lines of a changed file to those of its previous version: by id, position, title or similarity."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from panorama.domain.items.item import normalize_name

MIN_LIKENESS = 0.6
"""The least similarity of a reworded line, from 0 to 1."""

SAME_GAP_BONUS = 0.2
"""The bonus for a line between the same neighbours."""

MAX_PAIRS = 20_000
"""The most pairs of lines whose similarity is computed; each takes about 20 microseconds."""


MAX_EQUALS = 200_000
"""The most pairs of lines with equal titles whose order is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBox:
    """The parts of a task line used for matching: its title and its own id, if any."""

    title: str
    anchor: str = ""


@dataclass(slots=True)
class _Matching:
    """The matches so far (new index to old index), and the unmatched lines in file order."""

    old: Sequence[TaskBox]
    new: Sequence[TaskBox]
    pairs: dict[int, int] = field(default_factory=dict[int, int])

    def left_old(self) -> list[int]:
        matched = set(self.pairs.values())
        return [at for at in range(len(self.old)) if at not in matched]

    def left_new(self) -> list[int]:
        return [at for at in range(len(self.new)) if at not in self.pairs]


def match_tasks(old: Sequence[TaskBox], new: Sequence[TaskBox]) -> dict[int, int]:
    """Return the old line of each new line, by index; lines without a match are missing."""
    matching = _Matching(old, new)
    _match_anchors(matching)
    _match_places(matching)
    _match_titles(matching)
    _match_likeness(matching)
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


def _match_titles(matching: _Matching) -> None:
    """Match equal titles that moved, in their order."""
    places: dict[str, list[int]] = {}
    for at in matching.left_old():
        places.setdefault(normalize_name(matching.old[at].title), []).append(at)
    for at in matching.left_new():
        if same := places.get(normalize_name(matching.new[at].title)):
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
    gaps_before, gaps_after = _gaps(matching)
    is_small = len(old) * len(new) <= MAX_PAIRS
    sizes = Counter(gaps_before[at] for at in old)
    pairs = 0
    for at in new:
        is_near = is_small or pairs + sizes[gaps_after[at]] <= MAX_PAIRS
        for earlier in old if is_near else ():
            is_same_gap = gaps_before[earlier] == gaps_after[at]
            if is_same_gap or is_small:
                pairs += 1
                likeness = _likeness(matching.old[earlier].title, matching.new[at].title)
                yield likeness + SAME_GAP_BONUS * is_same_gap, at, earlier


def _gaps(matching: _Matching) -> tuple[list[int], list[int]]:
    """Return for each old and new line the matched old line above it, -1 at the top."""
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


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()
