"""Runs of words in a line."""

from collections.abc import Iterator, Sequence

MAX_WORDS = 60
"""Of a longer line only the last words are looked at."""

MAX_SPAN = 10
"""The maximum number of words of one date or repetition."""


def iter_spans(words: Sequence[str], *, whole: bool) -> Iterator[tuple[str, ...]]:
    """Yield runs of words, the longest first, and of one length the last first; not all words unless `whole`."""
    near = words[-MAX_WORDS:]
    for length in range(min(MAX_SPAN, len(words) - (not whole)), 0, -1):
        for start in range(len(near) - length, -1, -1):
            yield tuple(near[start : start + length])


def find_place(words: Sequence[str], span: tuple[str, ...]) -> int:
    """Return where a run of words begins, the last place if there are several."""
    starts = range(len(words) - len(span), -1, -1)
    return next(start for start in starts if tuple(words[start : start + len(span)]) == span)


def remove_span(words: Sequence[str], span: tuple[str, ...]) -> list[str]:
    """Return words without a run of them."""
    if not span:
        return list(words)
    start = find_place(words, span)
    return [*words[:start], *words[start + len(span) :]]


def clean_span(span: Sequence[str]) -> str:
    """Return a run of words as text, without punctuation at its end."""
    return " ".join(span).rstrip(",;:")
