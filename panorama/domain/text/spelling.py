"""Finds the likely correction of a misspelt word. Pure."""

from collections.abc import Iterable, Iterator

MIN_WORD_CHARS = 4
"""The shortest word that is corrected; shorter ones have too many neighbours."""

LONG_WORD_CHARS = 8
"""From this length on, two edits are allowed, but not in the first letter."""

ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ", "αβγδεζηθικλμνξοπρσςτυφχψω",
)  # fmt: skip


def allowed_edits(word: str) -> int:
    """Return how many edits are allowed in a word of this length."""
    return 0 if len(word) < MIN_WORD_CHARS else 1 if len(word) < LONG_WORD_CHARS else 2


def edit_distance(word: str, other: str, limit: int, *, begun: bool = False) -> int:
    """Return the number of deletions, insertions, substitutions and transpositions; `limit` + 1 if more.

    The optimal string alignment of Damerau and Levenshtein: no piece is changed twice.

    Args:
        begun: Whether `other` may match a prefix of `word`, as a stem does.
    """
    beyond = limit + 1
    if len(other) - len(word) > limit or (not begun and len(word) - len(other) > limit):
        return beyond
    before: list[int] = []
    row = list(range(len(other) + 1))
    best = row[-1]
    for at, sign in enumerate(word, start=1):
        new = [at]
        for place, letter in enumerate(other, start=1):
            cost = min(row[place] + 1, new[-1] + 1, row[place - 1] + (sign != letter))
            if at > 1 and place > 1 and sign == other[place - 2] and word[at - 2] == letter:
                cost = min(cost, before[place - 2] + 1)
            new.append(cost)
        before, row = row, new
        best = min(best, row[-1])
        if min(row) > limit and min(before) > limit:
            break
    return min(beyond, best if begun else row[-1])


def best_match(word: str, candidates: Iterable[tuple[str, int]]) -> str:
    """Return the most likely correction, "" if no candidate is close enough.

    Prefers fewer edits, then the same first letter, then the word in more items.

    Args:
        candidates: Words as written, with the number of items that contain them.
    """
    limit = allowed_edits(word)
    near: list[tuple[int, bool, int, str]] = []
    for other, count in candidates:
        wrong = edit_distance(word, other, limit)
        if 0 < wrong <= limit and (wrong == 1 or other[0] == word[0]):
            near.append((wrong, other[0] != word[0], -count, other))
    return min(near)[3] if near else ""


def first_letter_variants(word: str) -> Iterator[str]:
    """Yield the words that differ by one edit in the first two letters."""
    alphabet = next((signs for signs in ALPHABETS if word[:1] in signs), "")
    if len(word) < MIN_WORD_CHARS:
        return
    yield word[1] + word[0] + word[2:]
    yield word[0] + word[2] + word[1] + word[3:]
    for at in (0, 1):
        yield word[:at] + word[at + 1 :]
        for sign in alphabet:
            yield word[:at] + sign + word[at:]
            if sign != word[at]:
                yield word[:at] + sign + word[at + 1 :]


def iter_splits(word: str, shortest: int = 3) -> Iterator[tuple[str, str]]:
    """Yield the ways to split a word into two."""
    for at in range(shortest, len(word) - shortest + 1):
        yield word[:at], word[at:]
