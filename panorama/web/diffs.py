"""Differences of two texts as rows of a table."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

CONTEXT_LINES = 3
MAX_WORDS = 400
"""The words of a line up to which the changed words are marked."""

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
    is_paired = len(removed) == len(added)
    pairs = [_mark_words(one, other) for one, other in zip(removed, added, strict=True)] if is_paired else []
    for n, line in enumerate(removed):
        yield DiffLine("-", i + n + 1, None, pairs[n][0] if pairs else ((line, False),))
    for n, line in enumerate(added):
        yield DiffLine("+", None, j + n + 1, pairs[n][1] if pairs else ((line, False),))


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
