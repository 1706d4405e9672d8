"""The indexed words, read through `fts5vocab`, which never lags."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import text

from panorama.domain.text.tokens import Term
from panorama.store.backend import Session
from panorama.store.words.word_vocabulary import (
    MAX_BUCKET,
    MAX_PLACES,
    MAX_TEXTS,
    READ_CHARS,
    TermRange,
    WordVocabulary,
)

LARGE_STORE_PARTS, SAMPLE_PARTS, COMMON_SHARE = 20_000, 1000, 0.2
"""In a store of this many parts, a word in a fifth of the last thousand is not counted."""

_COUNT_LAST = (
    "SELECT asked.key, (SELECT count(*) FROM search_words WHERE search_words MATCH asked.value "
    "AND rowid >= (SELECT max(id) FROM search_parts) - ?) FROM json_each(?) AS asked"
)
_COUNTS = "SELECT term, doc FROM search_words_vocabulary WHERE term IN ({})"
_BUCKET = text(
    "SELECT term FROM search_words_vocabulary WHERE term >= :low AND term < :high "
    f"AND length(term) BETWEEN :shortest AND :longest LIMIT {MAX_BUCKET}"
)
_PLACES = text(f"SELECT doc, col FROM search_words_places WHERE term = :stem LIMIT {MAX_PLACES}")
_TEXTS = {
    column: text(f"SELECT substr({column}, 1, {READ_CHARS}) FROM search_words WHERE rowid = :part")
    for column in ("title", "body")
}


class Fts5Vocabulary(WordVocabulary):
    """The words of FTS5."""

    def count_parts(self, session: Session, stems: Sequence[str]) -> dict[str, int]:
        """Return how many parts contain each stem, without unknown ones.

        The cost is proportional to the number of parts: 13 ms for a word in 100,000 notes, 0.1 ms at 3,000.
        """
        if not stems:
            return {}
        statement = _COUNTS.format(", ".join("?" * len(stems)))
        return {row[0]: row[1] for row in session.connection.exec_driver_sql(statement, tuple(stems))}

    def measure(self, session: Session, words: Mapping[str, str]) -> tuple[int, dict[str, int]]:
        """Return how many parts there are, and how many contain some words, given by stem; of very common ones about.

        In a large store counting a common word takes too long; its share of the last parts is taken.
        """
        total = session.full_text.count_all(session)
        common = _count_common(session, words, total) if total >= LARGE_STORE_PARTS else {}
        return total, common | self.count_parts(session, [stem for stem in words if stem not in common])

    def list_terms(self, session: Session, span: TermRange) -> Iterable[str]:
        """Return stems of the index in a range, at most MAX_BUCKET."""
        return session.connection.execute(_BUCKET, span._asdict()).scalars()

    def filter_known(self, session: Session, stems: Collection[str]) -> Collection[str]:
        """Return those of some stems that the index has."""
        return self.count_parts(session, list(dict.fromkeys(stems)))

    def read_texts(self, session: Session, counts: Mapping[str, int]) -> Mapping[str, Sequence[str]]:
        """Return the beginnings of the first titles and texts with each stem."""
        return {stem: _read_texts_with(session, stem) for stem in counts}


def _count_common(session: Session, words: Mapping[str, str], total: int) -> dict[str, int]:
    """Return the stems of words in very many parts, with an estimated count."""
    asked = {stem: session.full_text.build_expression([Term((word,))], every=True) for stem, word in words.items()}
    rows = session.connection.exec_driver_sql(_COUNT_LAST, (SAMPLE_PARTS, json.dumps(asked))).all()
    return {row[0]: row[1] * total // SAMPLE_PARTS for row in rows if row[1] > COMMON_SHARE * SAMPLE_PARTS}


def _read_texts_with(session: Session, stem: str) -> list[str]:
    places = session.connection.execute(_PLACES, {"stem": stem}).all()
    first = list(dict.fromkeys((row[0], row[1]) for row in places))[:MAX_TEXTS]
    texts = [session.connection.execute(_TEXTS[column], {"part": part}).scalar_one_or_none() for part, column in first]
    return [entry or "" for entry in texts]
