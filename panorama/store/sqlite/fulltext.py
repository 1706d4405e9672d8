"""Full text (FTS5) of every living item, written in the item's transaction."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from panorama.domain.text.tokens import Term
from panorama.store.backend import MAX_COMPARED, Hit, KnownParts, Match, Session
from panorama.store.words.part_index import TITLE_WEIGHT, NewPart, PartIndex, group_known

MERGE_PAGES = 64
"""Pages of the index that are rewritten in one step, some ten milliseconds."""

_ADD = "INSERT INTO search_parts (item, kind, digest) VALUES (?, ?, ?)"
_ADD_ALL = (
    "INSERT INTO search_parts (item, kind, digest) "
    "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]') "
    "FROM json_each(?) RETURNING item, digest, id"
)
_INSERT = "INSERT INTO search_words (rowid, title, body) VALUES (?, ?, ?)"
_DELETE = "DELETE FROM search_words WHERE rowid = ?"
_REMOVE = "DELETE FROM search_parts WHERE id = ?"
_ALL_KNOWN = (
    "SELECT item, digest, id, kind FROM search_parts WHERE item IN (SELECT value FROM json_each(?)) ORDER BY id"
)
# Rank and limit before the join: joining first costs three times as much at 100,000 notes.
_BEST = (
    "SELECT p.item, p.kind, -r.score, r.id FROM "
    f"(SELECT id, score FROM (SELECT rowid AS id, bm25(search_words, {TITLE_WEIGHT}, 1.0) AS score FROM search_words "
    "WHERE search_words MATCH ? ORDER BY rowid DESC LIMIT ?) ORDER BY score LIMIT ?) AS r "
    "JOIN search_parts AS p ON p.id = r.id ORDER BY r.score, p.id DESC"
)
# CROSS JOIN asks for one expression after another. The sign keeps the list out of the full text, which would search
# once for each part in it.
_MATCHING = (
    "SELECT asked.key, words.rowid FROM json_each(?) AS asked CROSS JOIN search_words AS words "
    "WHERE words.search_words MATCH asked.value AND words.rowid BETWEEN ? AND ? "
    "AND +words.rowid IN (SELECT value FROM json_each(?))"
)
_COUNT_ALL = "SELECT count(*) FROM search_words_docsize"  # as long as search_parts, and a tenth of its size
# FTS5's record of totals, which begins with the number of rows; within a transaction it lags behind its own writes.
_TOTALS = "SELECT block FROM search_words_data WHERE id = 1"
_COUNT = "SELECT count(*) FROM (SELECT rowid FROM search_words WHERE search_words MATCH ? LIMIT ?)"
_MATCH = text(
    "SELECT p.item, p.kind, r.score FROM "
    "(SELECT rowid AS id, bm25(search_words, :title, 1.0) AS score FROM search_words "
    "WHERE search_words MATCH :query ORDER BY score LIMIT :limit) AS r "
    "JOIN search_parts AS p ON p.id = r.id ORDER BY r.score, p.id"
)


class Fts5FullText(PartIndex):
    """The words in a virtual table of FTS5, whose rows have the numbers of the parts."""

    def ask_known(self, session: Session, items: Sequence[str]) -> KnownParts:
        """Return a function that reads the indexed parts of some items."""
        return lambda: group_known(session.connection.exec_driver_sql(_ALL_KNOWN, (json.dumps(items),)))

    def insert_parts(self, session: Session, parts: Sequence[NewPart]) -> None:
        """Insert parts that are not indexed yet, at least one."""
        execute = session.connection.exec_driver_sql
        if len(parts) == 1:
            ids = [execute(_ADD, parts[0][:3]).lastrowid]
        else:
            added = execute(_ADD_ALL, (json.dumps([part[:3] for part in parts]),)).all()
            numbers = {(item, name): id_ for item, name, id_ in added}
            ids = [numbers[part.item, part.name] for part in parts]
        _execute_each(session, _INSERT, [(id_, part.title, part.text) for id_, part in zip(ids, parts, strict=True)])

    def delete_parts(self, session: Session, ids: Sequence[int]) -> None:
        """Delete some parts and their words."""
        values = [(id_,) for id_ in ids]
        _execute_each(session, _DELETE, values)
        _execute_each(session, _REMOVE, values)

    def search_terms(self, session: Session, query: tuple[Term, ...], *, every: bool, limit: int) -> list[Hit]:
        """Return the best parts that hold every term, or any of them; at most `limit`, the best first."""
        if not query:
            return []
        rows = session.connection.execute(
            _MATCH, {"query": self.build_expression(query, every=every), "title": TITLE_WEIGHT, "limit": limit}
        )
        return [Hit(row[0], row[1], row[2]) for row in rows]

    def search_expression(
        self, session: Session, query: str, *, limit: int, reach: int, terms: Sequence[str] = ()
    ) -> list[Match]:
        """Return the best parts that an expression of FTS5 finds among the `reach` last written ones, the best first.

        Ranking a match costs about 2 us, and a common word has a hundred thousand; skipping one costs a tenth of that.
        """
        matches = session.connection.exec_driver_sql(_BEST, (query, reach, limit)).all()
        holds: dict[int, list[int]] = {row[3]: [] for row in matches[:MAX_COMPARED]}
        if holds and terms:
            values = (json.dumps(list(terms)), min(holds), max(holds), json.dumps(list(holds)))
            for place, part in session.connection.exec_driver_sql(_MATCHING, values).all():
                holds[part].append(place)
        return [Match(*row, holds=holds.get(row[3], ())) for row in matches]

    def count_all(self, session: Session) -> int:
        """Return how many parts there are; counting the rows of a large store takes a millisecond."""
        if session.origin is None and (totals := session.connection.exec_driver_sql(_TOTALS).scalar()):
            return _decode_varint(totals)
        return session.connection.exec_driver_sql(_COUNT_ALL).scalar_one()

    def count(self, session: Session, query: str, *, most: int) -> int:
        """Return how many parts match an expression, counted up to `most`."""
        return session.connection.exec_driver_sql(_COUNT, (query, most)).scalar_one()

    def build_expression(self, terms: Sequence[Term], *, every: bool) -> str:
        """Return the FTS5 expression for all terms, or any of them."""
        return "(" + (" AND " if every else " OR ").join(_render_term(term) for term in terms) + ")"

    def join_expressions(self, *expressions: str) -> str:
        """Return the expression for parts that match all of these."""
        return " AND ".join(expressions)

    def has_all_parts(self, session: Session) -> bool:
        """Return whether the list of parts has as many rows as the index has documents."""
        stray = session.connection.exec_driver_sql(
            "SELECT (SELECT count(*) FROM search_parts) - (SELECT count(*) FROM search_words_docsize)"
        ).scalar_one()
        return stray == 0

    def merge(self, session: Session, *, begin: bool) -> bool:
        """Rewrite a portion of the index without removed words; return whether there is more to do."""
        before = session.connection.exec_driver_sql("SELECT total_changes()").scalar_one()
        pages = -MERGE_PAGES if begin else MERGE_PAGES
        session.connection.exec_driver_sql(
            "INSERT INTO search_words (search_words, rank) VALUES ('merge', ?)", (pages,)
        )
        after = session.connection.exec_driver_sql("SELECT total_changes()").scalar_one()
        return after - before >= 2  # sqlite.org/fts5.html#the_merge_command: less means that there was nothing to do


def _render_term(term: Term) -> str:
    phrase = _render_phrase(term.words)
    ways = [phrase, *map(_render_phrase, term.others)]
    if term.prefix:  # the whole word beside its beginning, so that an exact hit ranks above a longer word
        ways.append(f"{phrase}*")
    return f"({' OR '.join(ways)})" if len(ways) > 1 else phrase


def _render_phrase(words: Sequence[str]) -> str:
    return '"' + " ".join(word.replace('"', '""') for word in words) + '"'


def _decode_varint(record: bytes) -> int:
    """Return the number at the beginning of a record: seven bits in each byte, the highest first."""
    number = 0
    for byte in record:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number


def _execute_each(session: Session, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Execute a statement for each of some rows of parameters."""
    session.connection.exec_driver_sql(statement, list(rows) if len(rows) > 1 else rows[0])
