"""Texts as `tsvector` and terms as `tsquery`, with the words that FTS5 makes of them.

So both databases match the same parts, and nothing depends on the server's text search configuration.
"""

import re
from collections.abc import Sequence

from panorama.domain.text.tokens import Term
from panorama.store.words.tokenizer import get_tokenizer

LEXEME_CHARS = 500
"""A lexeme has less than 2 KB in PostgreSQL; longer words are cut."""

LAST_PLACE = 16_383
"""The largest place that a `tsvector` can hold; words behind it have it too."""

MAX_PLACES = 255
"""The maximum number of places of a lexeme in a `tsvector`."""

TITLE_GAP = 2
"""The body begins so many places behind the title, so that no phrase spans both."""

MAX_CACHED_RUNS = 1 << 16
MAX_CACHED_CHARS = 40
"""Longer runs are rarely repeated."""

NOTHING = "'~'"
"""A lexeme that no text has, for words of which nothing is indexed."""

_SEPARATORS = (
    r"\x00-/:-@\[-`{-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\u2000-\u2027\u202f-\u205e\u3000-\u3003\u3008-\u3011\ufe0f"
)
"""Characters at which FTS5 parts words, but not all of them: a run between them may have several words."""

_RUN = re.compile(f"[^{_SEPARATORS}]+")
_stems_of: dict[str, tuple[str, ...]] = {}


def split_lexemes(text: str) -> list[str]:
    """Return the words of a text in the form in which they are indexed, in order.

    FTS5 is asked only about runs of characters that were not seen lately, which takes a fifth of the time.
    """
    runs = _RUN.findall(text)
    stems = {run: _stems_of.get(run) for run in set(runs)}
    missing = [run for run, known in stems.items() if known is None]
    if missing:
        added = {
            run: tuple(word[:LEXEME_CHARS] for word in words)
            for run, words in zip(missing, get_tokenizer().stems_of_each(missing), strict=True)
        }
        stems |= added
        if len(_stems_of) > MAX_CACHED_RUNS:
            _stems_of.clear()
        _stems_of.update((run, words) for run, words in added.items() if len(run) <= MAX_CACHED_CHARS)
    return [word for run in runs for word in stems[run] or ()]


def render_vector(title: str, body: str) -> tuple[str, set[str]]:
    """Return the `tsvector` of a part as text, the title's words with weight A, and its lexemes."""
    places: dict[str, list[str]] = {}
    titles = split_lexemes(title)
    for place, word in enumerate(titles, start=1):
        places.setdefault(word, []).append(f"{min(place, LAST_PLACE)}A")
    for place, word in enumerate(split_lexemes(body), start=len(titles) + TITLE_GAP):
        of_word = places.setdefault(word, [])
        if len(of_word) < MAX_PLACES:
            of_word.append(str(min(place, LAST_PLACE)))
    return " ".join(f"{quote(word)}:{','.join(of_word[:MAX_PLACES])}" for word, of_word in places.items()), set(places)


def quote(lexeme: str) -> str:
    """Return a lexeme as a `tsquery`; it has only letters, digits and signs of private use."""
    return f"'{lexeme}'"


def render_term(term: Term) -> str:
    """Return the `tsquery` of a term as text."""
    ways = [_render_phrase(words) for words in (term.words, *term.others)]
    if term.prefix and ways[0] != NOTHING:  # beside the whole word, so that an exact hit ranks above a longer word
        ways.append(f"{ways[0]}:*")
    return f"({' | '.join(ways)})"


def _render_phrase(words: Sequence[str]) -> str:
    return " <-> ".join(map(quote, split_lexemes(" ".join(words)))) or NOTHING
