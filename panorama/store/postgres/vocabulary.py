"""The indexed words: a list of all that were ever written, and how frequent they are."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import text

from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.postgres.fulltext import COUNT_ALL
from panorama.store.postgres.lexemes import LEXEME_CHARS, split_lexemes
from panorama.store.words.part_index import HIDDEN_KIND
from panorama.store.words.word_vocabulary import MAX_BUCKET, MAX_TEXTS, READ_CHARS, TermRange, WordVocabulary

LARGE_TABLE_PARTS = 20_000
"""From so many parts on the server's statistics are asked for the most common words."""

MIN_COMMON = 8_000
"""Words that the server estimates in more parts are not counted."""

_BUCKET = text(
    "SELECT term FROM search_terms WHERE term >= :low AND term < :high "
    f"AND length(term) BETWEEN :shortest AND :longest LIMIT {MAX_BUCKET}"
)
_KNOWN = text("SELECT term FROM search_terms WHERE term = ANY(:terms)")
# The statistics name the thousand most common words. Their frequencies are followed by those of the array itself.
_COUNTS = text(
    "WITH common AS MATERIALIZED (SELECT e.term, CAST(e.share * c.parts AS bigint) AS parts FROM "
    "(SELECT reltuples AS parts, relname, relnamespace FROM pg_class WHERE oid = to_regclass('search_words') "
    f"AND reltuples >= {LARGE_TABLE_PARTS} OFFSET 0) AS c "
    "CROSS JOIN LATERAL (SELECT most_common_elems, most_common_elem_freqs FROM pg_stats "
    "WHERE schemaname = c.relnamespace::regnamespace::text AND tablename = c.relname AND attname = 'words') AS s "
    "CROSS JOIN LATERAL unnest(CAST(CAST(s.most_common_elems AS text) AS text[]), s.most_common_elem_freqs) "
    f"AS e(term, share) WHERE e.term = ANY(:terms) AND e.share * c.parts > {MIN_COMMON}) "
    "SELECT t.term, coalesce(common.parts, (SELECT count(*) FROM search_words "
    "WHERE words @@ CAST('''' || t.term || '''' AS tsquery))) "
    "FROM unnest(CAST(:terms AS text[])) AS t(term) LEFT JOIN common ON common.term = t.term"
)
_FIRST_PARTS = text(
    "SELECT t.term, p.kind, p.item, p.digest FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS t(term, place) "
    "CROSS JOIN LATERAL (SELECT id FROM search_words WHERE words @@ CAST('''' || t.term || '''' AS tsquery) "
    f"LIMIT {MAX_TEXTS}) AS w JOIN search_parts AS p ON p.id = w.id WHERE p.kind <> '{HIDDEN_KIND}' "
    "ORDER BY t.place, p.id"
)


class TsvectorVocabulary(WordVocabulary):
    """The words of the `tsvector` column."""

    def count_parts(self, session: Session, stems: Sequence[str]) -> dict[str, int]:
        """Return how many parts contain each stem, without unknown ones; of very common words an estimate."""
        if not stems:
            return {}
        cut = {stem[:LEXEME_CHARS]: stem for stem in stems}
        counts = session.connection.execute(_COUNTS, {"terms": list(cut)})
        return {cut[row[0]]: row[1] for row in counts if row[1]}

    def measure(self, session: Session, words: Mapping[str, str]) -> tuple[int, dict[str, int]]:
        """Return how many parts there are, and how many contain some words, given by stem."""
        total = session.ask(COUNT_ALL)
        counts = self.count_parts(session, list(words))
        return total()[0][0], counts

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
