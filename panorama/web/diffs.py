"""Differences of two texts as rows of a table."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

CONTEXT_LINES = 3
MAX_WORDS = 400
"""The words of a line up to which the changed words are marked."""

MAX_PAIRS = 2_500
"""How many pairs of lines of a changed block are compared, to match old lines with new ones."""

LEAST_ALIKE = 0.5
"""The minimum share of common words for two lines to count as the same line, changed."""

_WORD = re.compile(r"\s+|\w+|\W")
Part = tuple[str, bool]
"""A piece of a line, and whether it changed."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference, with its numbers in the old and the new text."""

    sign: Literal[" ", "-", "+"]
    old: int | None
    new: int | None
    parts: tuple[Part, ...]


def compare_texts(old: str, new: str) -> list[DiffLine | int]:
    """Return the lines of a difference; a number stands for so many lines that are the same and left out."""
    a, b = old.splitlines(), new.splitlines()
    rows: list[DiffLine | int] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            rows += _iter_same(a, i1, i2, j1, is_first=i1 == 0, is_last=i2 == len(a))
        else:
            rows += _iter_changed(a[i1:i2], b[j1:j2], i1, j1)
    return rows


def _iter_same(
    a: Sequence[str], i1: int, i2: int, j1: int, *, is_first: bool, is_last: bool
) -> Iterator[DiffLine | int]:
    head, tail = (0 if is_first else CONTEXT_LINES), (0 if is_last else CONTEXT_LINES)
    hidden = i2 - i1 - head - tail
    for n in range(i1, i2):
        if hidden > 1 and i1 + head <= n < i2 - tail:
            if n == i1 + head:
                yield hidden
            continue
        yield DiffLine(" ", n + 1, n + 1 - i1 + j1, ((a[n], False),))


def _iter_changed(removed: Sequence[str], added: Sequence[str], i: int, j: int) -> Iterator[DiffLine]:
    parts = {(n, m): _mark_words(removed[n], added[m]) for n, m in _pair_lines(removed, added)}
    olds, news = {n: pair[0] for (n, _), pair in parts.items()}, {m: pair[1] for (_, m), pair in parts.items()}
    for n, line in enumerate(removed):
        yield DiffLine("-", i + n + 1, None, olds.get(n, ((line, False),)))
    for n, line in enumerate(added):
        yield DiffLine("+", None, j + n + 1, news.get(n, ((line, False),)))


def _pair_lines(removed: Sequence[str], added: Sequence[str]) -> list[tuple[int, int]]:
    """Return which removed line became which added one: each in turn, or those alike if their numbers differ.

    The pairs are in order and have together the most words in common.
    """
    if len(removed) == len(added):
        return [(n, n) for n in range(len(removed))]
    if len(removed) * len(added) > MAX_PAIRS:
        return []
    olds, news = ([set(re.findall(r"\w+", line)) for line in lines] for lines in (removed, added))
    alike = [[_compare_words(old, new) for new in news] for old in olds]
    best = [[0.0] * (len(news) + 1) for _ in range(len(olds) + 1)]
    for n in reversed(range(len(olds))):
        for m in reversed(range(len(news))):
            best[n][m] = max(best[n + 1][m], best[n][m + 1], best[n + 1][m + 1] + alike[n][m])
    n = m = 0
    pairs: list[tuple[int, int]] = []
    while n < len(olds) and m < len(news):
        if alike[n][m] and best[n][m] == best[n + 1][m + 1] + alike[n][m]:
            pairs.append((n, m))
            n, m = n + 1, m + 1
        elif best[n][m] == best[n + 1][m]:
            n += 1
        else:
            m += 1
    return pairs


def _compare_words(old: set[str], new: set[str]) -> float:
    """Return how alike two lines are, from the least for a pair to 1; 0 if they are not alike."""
    share = 2 * len(old & new) / (len(old) + len(new)) if old and new else 0.0
    return share if share >= LEAST_ALIKE else 0.0


def _mark_words(one: str, other: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    a, b = _WORD.findall(one), _WORD.findall(other)
    if max(len(a), len(b)) > MAX_WORDS:
        return ((one, False),), ((other, False),)
    left: list[Part] = []
    right: list[Part] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if i2 > i1:
            left.append(("".join(a[i1:i2]), tag != "equal"))
        if j2 > j1:
            right.append(("".join(b[j1:j2]), tag != "equal"))
    return tuple(left), tuple(right)
