"""The indexed words, read through `fts5vocab`, which never lags."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import text

from panorama.store.backend import Session
from panorama.store.words.word_vocabulary import (
    MAX_BUCKET,
    MAX_PLACES,
    MAX_TEXTS,
    READ_CHARS,
    TermRange,
    WordVocabulary,
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

    def list_terms(self, session: Session, span: TermRange) -> Iterable[str]:
        """Return stems of the index in a range, at most MAX_BUCKET."""
        return session.connection.execute(_BUCKET, span._asdict()).scalars()

    def filter_known(self, session: Session, stems: Collection[str]) -> Collection[str]:
        """Return those of some stems that the index has."""
        return self.count_parts(session, list(dict.fromkeys(stems)))

    def read_texts(self, session: Session, counts: Mapping[str, int]) -> Mapping[str, Sequence[str]]:
        """Return the beginnings of the first titles and texts with each stem."""
        return {stem: _read_texts_with(session, stem) for stem in counts}


def _read_texts_with(session: Session, stem: str) -> list[str]:
    places = session.connection.execute(_PLACES, {"stem": stem}).all()
    first = list(dict.fromkeys((row[0], row[1]) for row in places))[:MAX_TEXTS]
    texts = [session.connection.execute(_TEXTS[column], {"part": part}).scalar_one_or_none() for part, column in first]
    return [entry or "" for entry in texts]
