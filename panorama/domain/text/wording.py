"""Counts and lists in words."""

from collections.abc import Sequence


def pluralize(count: int, one: str, many: str = "") -> str:
    """Format a count with its noun: «1 row», «2 rows»."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def capitalize(text: str) -> str:
    """Return a text with its first letter in upper case, and the rest as it is."""
    return text[:1].upper() + text[1:]


def join_words(words: Sequence[str]) -> str:
    """Join words to a list: «a, b and c»."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
