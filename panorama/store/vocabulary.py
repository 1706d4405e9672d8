"""The vocabulary: which words the store knows, how many parts hold them, and what a misspelt one may have been.

The full text keeps stems (`porter unicode61 remove_diacritics 2`); they are read through `fts5vocab`, which never lags.
"""

import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import islice

from sqlalchemy import bindparam, text

from panorama.domain import spelling
from panorama.domain.words import SMALL, folded_in_place
from panorama.store import fulltext
from panorama.store.engine import Session

NEAREST = 16
"""Stems near to a misspelt word whose written forms are looked up."""

FARTHER = 4
PLACES = 60
"""Places of a stem, and of them so many parts, that are read to see how it is written."""

PARTS = 3
READ_CHARS = 20_000
BUCKET = 20_000
"""The most stems with the same two first letters that are compared."""

_COUNTS = text("SELECT term, doc FROM search_words_vocabulary WHERE term IN :stems").bindparams(
    bindparam("stems", expanding=True)
)
_BUCKET = text(
    "SELECT term, doc FROM search_words_vocabulary WHERE term >= :low AND term < :high "
    "AND length(term) BETWEEN :shortest AND :longest LIMIT :most"
)
_PLACES = text("SELECT doc, col FROM search_words_places WHERE term = :stem LIMIT :most")
_TEXTS = {
    column: text(f"SELECT substr({column}, 1, {READ_CHARS}) FROM search_words WHERE rowid = :part")
    for column in ("title", "body")
}
_LAST = "\U0010ffff"


class _Tokenizer:
    """FTS5's own tokenizer, in a database of its own in memory: what it makes of a word is what the index holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        tokenize = "porter unicode61 remove_diacritics 2"
        self._database.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, tokenize = '{tokenize}')")
        self._database.execute("CREATE VIRTUAL TABLE places USING fts5vocab(words, instance)")

    def stems(self, words: str) -> tuple[str, ...]:
        with self._lock:
            self._database.execute("INSERT INTO words (rowid, text) VALUES (1, ?)", (words,))
            found = self._database.execute('SELECT term FROM places ORDER BY "offset"').fetchall()
            self._database.execute("DELETE FROM words WHERE rowid = 1")
        return tuple(row[0] for row in found)


_tokenizer = cache(_Tokenizer)


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the form in which the index keeps a word, "" if it is no single word to it."""
    found = _tokenizer().stems(word)
    return found[0] if len(found) == 1 else ""


def counts(session: Session, stems: Sequence[str]) -> dict[str, int]:
    """Return how many parts hold each of some stems; those that none holds are left out.

    It costs what the word's list is long: 13 ms for one that stands in each of 100,000 notes, 0.1 ms at 3,000.
    """
    if not stems:
        return {}
    return {row[0]: row[1] for row in session.connection.execute(_COUNTS, {"stems": list(stems)})}


def repaired(session: Session, word: str) -> str:
    """Return the known word that an unknown one most likely was, as it is written, "" if there is none."""
    said = folded_in_place(word)
    if not said.isalpha() or len(said) < spelling.SHORTEST or said in SMALL:
        return ""
    count: Counter[str] = Counter()
    spelt: dict[str, str] = {}
    for near in _near(session, said):
        for each in _written(session, near):
            count[folded_in_place(each)] += 1
            spelt.setdefault(folded_in_place(each), each)
    return spelt.get(spelling.closest(said, [each for each in count.items() if each[0] not in SMALL]), "")


def _near(session: Session, said: str) -> list[str]:
    """Stems that are near to a beginning of a word, the nearest first, then the most frequent.

    The stem of a word that ends in y ends in i; that i is not compared.
    """
    most = spelling.slips(said)
    letters = set(said)
    alike: dict[str, int] = {}
    for low, high in _ranges(said[:2]):
        seek = {"low": low, "high": high, "shortest": (len(said) + 1) // 2, "longest": len(said) + most, "most": BUCKET}
        for row in session.connection.execute(_BUCKET, seek):
            if len(set(row[0]) - letters) <= most and len(letters - set(row[0])) <= most + 3:
                alike[row[0]] = row[1]
    starts = _tokenizer().stems(" ".join(spelling.otherwise_begun(said)))
    alike |= counts(session, list(dict.fromkeys(starts)))
    ranked = [
        (spelling.distance(said, each.removesuffix("i"), most, begun=True), abs(len(said) - len(each)), -count, each)
        for each, count in alike.items()
        if each not in SMALL
    ]
    near = sorted((2 * wrong + short, count, each) for wrong, short, count, each in ranked if wrong <= most)
    return [each for far, _, each in near[:NEAREST] if far <= near[0][0] + FARTHER]


def _ranges(begin: str) -> list[tuple[str, str]]:
    """The ranges between the small words with a beginning: to pass over `the` costs more than over all the others."""
    found: list[tuple[str, str]] = []
    low = begin
    for small in sorted(word for word in SMALL if word.startswith(begin)):
        found.append((low, small[:-1] + chr(ord(small[-1]) - 1) + _LAST))
        low = small + " "
    return [*found, (low, begin + _LAST)]


def _written(session: Session, near: str) -> list[str]:
    """The forms in which a stem is written in a few parts that hold it, in lower case, as often as they are there."""
    places = session.connection.execute(_PLACES, {"stem": near, "most": PLACES}).all()
    begun = re.compile(rf"\b{re.escape(near[: max(2, len(near) - 1)])}\w*")
    found: list[str] = []
    for part, column in list(dict.fromkeys((row[0], row[1]) for row in places))[:PARTS]:
        written = session.connection.execute(_TEXTS[column], {"part": part}).scalar_one_or_none() or ""
        matches = islice(begun.finditer(folded_in_place(written)), PLACES)
        found += [written[each.start() : each.end()].lower() for each in matches if stem(each[0]) == near]
    return found


def split(session: Session, word: str) -> str:
    """Return the two words that an unknown one may be, if they stand together somewhere, else ""."""
    said = folded_in_place(word)
    ways = [way for way in spelling.halves(said) if not SMALL.intersection(way)] if said.isalpha() else []
    stems = {half: stem(half) for way in ways for half in way}
    known = counts(session, [each for each in dict.fromkeys(stems.values()) if each])
    for first, second in ways:
        if stems[first] in known and stems[second] in known and fulltext.count(session, f'"{first} {second}"', most=1):
            return f"{first} {second}"
    return ""


def parted(session: Session, code: str) -> tuple[tuple[str, str], ...]:
    """Return the two parts in which a code of letters and digits is written somewhere: QX-83K2 for qx83k2."""
    ways = spelling.halves(folded_in_place(code), shortest=1)
    return tuple(way for way in ways if fulltext.count(session, f'"{way[0]} {way[1]}"', most=1))
