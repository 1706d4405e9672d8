"""The indexed words: a list of all that were ever written, and how frequent they are."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, text

from panorama.domain.text.tokens import Term
from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.postgres.fulltext import COUNT_ALL, EXACT_COUNT
from panorama.store.postgres.lexemes import LEXEME_CHARS, split_lexemes
from panorama.store.words.part_index import HIDDEN_KIND
from panorama.store.words.word_vocabulary import MAX_BUCKET, MAX_TEXTS, READ_CHARS, TermRange, WordVocabulary

MIN_COMMON = 500
"""Words that the server estimates in more parts are not counted."""

_BUCKET = text(
    "SELECT term FROM search_terms WHERE term >= :low AND term < :high "
    f"AND length(term) BETWEEN :shortest AND :longest LIMIT {MAX_BUCKET}"
)
_KNOWN = text("SELECT term FROM search_terms WHERE term = ANY(:terms)")
_COUNTS = text(
    "SELECT t.term, (SELECT count(*) FROM search_words WHERE words @@ CAST('''' || t.term || '''' AS tsquery)) "
    "FROM unnest(CAST(:terms AS text[])) AS t(term)"
)
# The statistics name the thousand most common words. Their frequencies are followed by those of the array itself.
_COMMON = text(
    "SELECT e.term, e.share FROM pg_stats AS s CROSS JOIN LATERAL "
    "unnest(CAST(CAST(s.most_common_elems AS text) AS text[]), s.most_common_elem_freqs) AS e(term, share) "
    "WHERE s.schemaname = current_schema() AND s.tablename = 'search_words' AND s.attname = 'words' "
    "AND e.term IS NOT NULL"
)
_FIRST_PARTS = text(
    "SELECT t.term, p.kind, p.item, p.digest FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS t(term, place) "
    "CROSS JOIN LATERAL (SELECT id FROM search_words WHERE words @@ CAST('''' || t.term || '''' AS tsquery) "
    f"LIMIT {MAX_TEXTS}) AS w JOIN search_parts AS p ON p.id = w.id WHERE p.kind <> '{HIDDEN_KIND}' "
    "ORDER BY t.place, p.id"
)


class Estimates(NamedTuple):
    """What the server's statistics say: how many parts there are, and how many contain the common words."""

    parts: int
    counts: Mapping[str, int]


class TsvectorVocabulary(WordVocabulary):
    """The words of the `tsvector` column.

    The server's estimates are kept until it makes new ones: reading them costs more than a search for a rare word.
    """

    def __init__(self) -> None:
        self._estimates: WeakKeyDictionary[Engine, Estimates] = WeakKeyDictionary()

    def count_parts(self, session: Session, stems: Sequence[str]) -> dict[str, int]:
        """Return how many parts contain each stem, without unknown ones; of common words an estimate."""
        return self.measure(session, dict.fromkeys(stems, ""))[1] if stems else {}

    def measure(self, session: Session, words: Mapping[str, str]) -> tuple[int, dict[str, int]]:
        """Return how many parts there are, and how many contain some words, given by stem; of common ones about."""
        estimates = self._load_estimates(session)
        total = session.ask(COUNT_ALL)
        cut = {stem[:LEXEME_CHARS]: stem for stem in words}
        counts = {term: estimates.counts[term] for term in cut if term in estimates.counts}
        if rare := [term for term in cut if term not in counts]:
            counts |= {row[0]: row[1] for row in session.connection.execute(_COUNTS, {"terms": rare})}
        parts: int = total()[0][0]
        if parts != estimates.parts and (estimates.counts or parts > EXACT_COUNT):
            self._estimates.pop(session.connection.engine, None)
        return parts, {cut[term]: count for term, count in counts.items() if count}

    def count_term(self, session: Session, term: Term, *, most: int) -> int:
        """Return how many parts contain a term, counted up to `most`; of a common prefix that many by estimates."""
        if term.prefix and not term.others and len(lexemes := split_lexemes(" ".join(term.words))) == 1:
            estimates = self._load_estimates(session)
            common = (count for word, count in estimates.counts.items() if word.startswith(lexemes[0]))
            if estimates.parts * (1 - prod(1 - count / estimates.parts for count in common)) >= most:
                return most
        return super().count_term(session, term, most=most)

    def _load_estimates(self, session: Session) -> Estimates:
        engine = session.connection.engine
        if engine not in self._estimates:
            total = session.ask(COUNT_ALL)
            shares = session.connection.execute(_COMMON).all()
            parts: int = total()[0][0]
            counts = {row[0]: round(row[1] * parts) for row in shares} if parts > EXACT_COUNT else {}
            common = {term: count for term, count in counts.items() if count > MIN_COMMON}
            self._estimates[engine] = Estimates(parts, common)
        return self._estimates[engine]

    def list_terms(self, session: Session, span: TermRange) -> Iterable[str]:
        """Return stems in a range, at most MAX_BUCKET; some may have left the index."""
        return session.connection.execute(_BUCKET, span._asdict()).scalars()

    def filter_known(self, session: Session, stems: Collection[str]) -> Collection[str]:
        """Return those of some stems that were ever written."""
        return session.connection.execute(_KNOWN, {"terms": list(stems)}).scalars().all()

    def read_texts(self, session: Session, counts: Mapping[str, int]) -> Mapping[str, Sequence[str]]:
        """Return the beginnings of the first titles and texts with each stem, as the items have them."""
        texts: dict[str, list[str]] = {stem: [] for stem in counts}
        for stem, kind, item, name in session.connection.execute(_FIRST_PARTS, {"terms": list(counts)}).all():
            texts[stem] += [entry for entry in _read_part(session, kind, item, name) if stem in split_lexemes(entry)]
        return {stem: entries[:MAX_TEXTS] for stem, entries in texts.items()}


def _read_part(session: Session, kind: str, item: str, name: str) -> list[str]:
    """Return the title of an item, and the beginning of a part of its text; nothing if it has changed since."""
    found = rows.find(session, kind, item)
    if found is None:
        return []
    title = found.search_text()[0]
    parts = session.full_text.make_parts(title, rows.read_rows(session, found).search_parts())
    return [entry for part_name, part in parts if part_name == name for entry in (title, part[:READ_CHARS])]
