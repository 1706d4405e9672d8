"""Full text of every living item in a `tsvector` column, written in the item's transaction.

Connections need `plan_cache_mode = force_custom_plan`: a plan that serves any word is a hundred times slower for some.
"""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, column, text

from panorama.domain.text.tokens import Term
from panorama.store.backend import Hit, KnownParts, Match, Session
from panorama.store.postgres.lexemes import render_term, render_vector
from panorama.store.words.part_index import TITLE_WEIGHT, NewPart, PartIndex, group_known

PART_CHARS = 16_384
"""The longest text of one part: its words have different places, and few words more places than a `tsvector` holds."""

MAX_TERM_CHARS = 64
"""The longest word that serves to correct a misspelt one."""

MIN_IDEOGRAPH = "\u2e80"
"""Two characters from this one on are a pair of a longer text, not a word that somebody misspells."""

EXACT_COUNT = 10_000
"""Up to so many parts, and those with a word, are counted; of more the server's estimates are taken."""

RECENT_PARTS = 4_000
"""The last written parts that are read one by one for several words that stand in one part."""

MAX_NAMED = 20_000
"""The maximum number of matches ranked when an item is looked up by its words, the last written ones."""

TERMS_AT_ONCE = 500
"""Words that are looked at in one step when those are removed that no part has."""

_ALL_KNOWN = text("SELECT item, digest, id, kind FROM search_parts WHERE item = ANY(:items) ORDER BY id").columns(
    *map(column, ("item", "digest", "id", "kind"))
)
_INSERT = text(
    "WITH given AS (SELECT * FROM unnest(CAST(:items AS text[]), CAST(:kinds AS text[]), CAST(:names AS text[]), "
    "CAST(:vectors AS text[])) WITH ORDINALITY AS g(item, kind, digest, words, place)), "
    "parts AS (INSERT INTO search_parts (item, kind, digest) SELECT item, kind, digest FROM given ORDER BY place "
    "RETURNING id, item, digest), "
    "terms AS (INSERT INTO search_terms SELECT unnest(CAST(:terms AS text[])) ON CONFLICT DO NOTHING) "
    "INSERT INTO search_words (id, words) SELECT parts.id, CAST(given.words AS tsvector) "
    "FROM parts JOIN given ON given.item = parts.item AND given.digest = parts.digest"
)
_DELETE = text(
    "WITH gone AS (DELETE FROM search_words WHERE id = ANY(:ids)) DELETE FROM search_parts WHERE id = ANY(:ids)"
)
_WEIGHTS = "'{{{low}, {low}, {low}, 1}}'".format(low=1 / TITLE_WEIGHT)  # of D, C, B and A
# A title's word has weight A, any other D; 1 divides by the logarithm of the length.
_SCORE = f"ts_rank({_WEIGHTS}, words, CAST(:query AS tsquery), 1) AS score"
# Matches are ranked where they are read and sorted without their words, which would not fit into the server's memory
# for one sort. Rank and limit come before the join.
_RANK = (
    "SELECT p.item, p.kind, r.score, r.id{columns} FROM (SELECT id, score FROM ({matches}) AS m "
    "ORDER BY score DESC, id {order} LIMIT :limit) AS r "
    "JOIN search_parts AS p ON p.id = r.id ORDER BY r.score DESC, p.id {order}"
)
_LAST_MATCHES = (
    f"SELECT id, {_SCORE} FROM search_words WHERE words @@ CAST(:query AS tsquery) ORDER BY id DESC LIMIT :reach"
)
# The server cannot estimate how many parts have several words, and would read all parts from the last one on. So the
# last ones are read, and only if they are too few also those that the index of words finds (id + 0 makes it do so).
_JOINT_MATCHES = (
    f"WITH last AS MATERIALIZED (SELECT id, {_SCORE} FROM (SELECT id, words FROM search_words "
    f"ORDER BY id DESC LIMIT {RECENT_PARTS}) AS n WHERE words @@ CAST(:query AS tsquery)) "
    f"SELECT id, score FROM (SELECT id, score FROM last UNION ALL SELECT w.id, {_SCORE} FROM (SELECT id "
    "FROM search_words WHERE words @@ CAST(:query AS tsquery) AND (SELECT count(*) FROM last) < :limit "
    f"AND id + 0 < (SELECT id FROM search_words ORDER BY id DESC OFFSET {RECENT_PARTS - 1} LIMIT 1) "
    "ORDER BY id + 0 DESC LIMIT :reach) AS o JOIN search_words AS w ON w.id = o.id) AS j ORDER BY id DESC LIMIT :reach"
)
_HOLDS = (
    ", ARRAY(SELECT t.place - 1 FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS t(term, place) "
    "JOIN search_words AS w ON w.id = r.id WHERE w.words @@ CAST(t.term AS tsquery) ORDER BY t.place)"
)
_BEST = text(_RANK.format(columns=_HOLDS, order="DESC", matches=_LAST_MATCHES))
_BEST_JOINT = text(_RANK.format(columns=_HOLDS, order="DESC", matches=_JOINT_MATCHES))
_NAMED = text(_RANK.format(columns="", order="ASC", matches=_LAST_MATCHES))
COUNT_ALL = text(
    f"SELECT CASE WHEN reltuples > {EXACT_COUNT} THEN CAST(reltuples AS bigint) "
    "ELSE (SELECT count(*) FROM search_words) END FROM pg_class WHERE oid = to_regclass('search_words')"
).columns(column("parts"))
# MATERIALIZED: planned for all matches, not for the first few, which may be at the end of the table.
_COUNT = text(
    "WITH m AS MATERIALIZED (SELECT id FROM search_words WHERE words @@ CAST(:query AS tsquery)) "
    "SELECT count(*) FROM (SELECT id FROM m LIMIT :most) AS p"
)
_STRAY = text("SELECT (SELECT count(*) FROM search_parts) - (SELECT count(*) FROM search_words)")
_DELETE_TERMS = text(
    "WITH portion AS MATERIALIZED "
    f"(SELECT term FROM search_terms WHERE term > :after ORDER BY term LIMIT {TERMS_AT_ONCE}), "
    "gone AS (DELETE FROM search_terms AS t USING portion AS p WHERE t.term = p.term "
    "AND (SELECT 1 FROM search_words WHERE words @@ CAST('''' || t.term || '''' AS tsquery) LIMIT 1) IS NULL) "
    "SELECT max(term) FROM portion"
)


class TsvectorFullText(PartIndex):
    """The words in a table whose rows have the numbers of the parts, with a GIN index."""

    PART_CHARS = PART_CHARS

    def __init__(self) -> None:
        self._merged: WeakKeyDictionary[Engine, str] = WeakKeyDictionary()

    def ask_known(self, session: Session, items: Sequence[str]) -> KnownParts:
        """Ask for the indexed parts of some items."""
        rows = session.ask(_ALL_KNOWN, {"items": list(items)})
        return lambda: group_known(rows())

    def insert_parts(self, session: Session, parts: Sequence[NewPart]) -> None:
        """Insert parts that are not indexed yet, at least one, and their words for the vocabulary."""
        vectors = [render_vector(part.title, part.text) for part in parts]
        values = {
            "items": [part.item for part in parts],
            "kinds": [part.kind for part in parts],
            "names": [part.name for part in parts],
            "vectors": [vector for vector, _ in vectors],
            "terms": sorted(filter(is_correctable, set[str]().union(*(lexemes for _, lexemes in vectors)))),
        }
        session.send(_INSERT, values)

    def delete_parts(self, session: Session, ids: Sequence[int]) -> None:
        """Delete some parts and their words."""
        session.send(_DELETE, {"ids": list(ids)})

    def search_terms(self, session: Session, query: tuple[Term, ...], *, every: bool, limit: int) -> list[Hit]:
        """Return the best parts that hold every term, or any of them; at most `limit`, the best first.

        Only the MAX_NAMED last written of them are ranked, which takes some ten milliseconds.
        """
        if not query:
            return []
        values = {"query": self.build_expression(query, every=every), "limit": limit, "reach": MAX_NAMED}
        return [Hit(row[0], row[1], -row[2]) for row in session.connection.execute(_NAMED, values)]

    def search_expression(
        self, session: Session, query: str, *, limit: int, reach: int, terms: Sequence[str] = ()
    ) -> list[Match]:
        """Return the best parts that an expression finds among the `reach` last written ones, the best first.

        Ranking a match costs some 3 us, and a common word has a hundred thousand.
        """
        values = {"query": query, "limit": limit, "reach": reach, "terms": list(terms)}
        statement = _BEST_JOINT if " & " in query or " <-> " in query else _BEST
        return [Match(*row) for row in session.connection.execute(statement, values)]

    def count_all(self, session: Session) -> int:
        """Return how many parts there are, from EXACT_COUNT on as the server estimates."""
        return session.connection.execute(COUNT_ALL).scalar_one()

    def count(self, session: Session, query: str, *, most: int) -> int:
        """Return how many parts match an expression, counted up to `most`."""
        return session.connection.execute(_COUNT, {"query": query, "most": most}).scalar_one()

    def build_expression(self, terms: Sequence[Term], *, every: bool) -> str:
        """Return the `tsquery` for all terms, or any of them."""
        return f"({(' & ' if every else ' | ').join(map(render_term, terms))})"

    def join_expressions(self, *expressions: str) -> str:
        """Return the expression for parts that match all of these."""
        return " & ".join(expressions)

    def has_all_parts(self, session: Session) -> bool:
        """Return whether the list of parts is as long as the index they stand in."""
        return session.connection.execute(_STRAY).scalar_one() == 0

    def merge(self, session: Session, *, begin: bool) -> bool:
        """Delete a portion of the words that no part has any more; return whether there are more to look at.

        The server removes them from the index itself when it vacuums the table.
        """
        engine = session.connection.engine
        after = "" if begin else self._merged.get(engine, "")
        last = session.connection.execute(_DELETE_TERMS, {"after": after}).scalar_one()
        if last is not None:
            self._merged[engine] = last
        return last is not None


def is_correctable(term: str) -> bool:
    """Return whether a word serves to correct a misspelt one."""
    return term.isalpha() and 2 <= len(term) <= MAX_TERM_CHARS and (len(term) > 2 or term[0] < MIN_IDEOGRAPH)
