"""Full text: the words of every living item, in the same transaction as its row (SQLite's FTS5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, select, text

from panorama.domain.changes import digest
from panorama.domain.words import Term, indexed, parts
from panorama.store.engine import Session
from panorama.store.tables import search_parts

TITLE_WEIGHT = 4.0
"""How much more a word in the title counts than one in the body."""

_ADD = "INSERT INTO search_parts (item, kind, digest) VALUES (?, ?, ?)"
_INSERT = "INSERT INTO search_words (rowid, title, body) VALUES (?, ?, ?)"
_DELETE = "DELETE FROM search_words WHERE rowid = ?"
_KNOWN = select(search_parts.c.id, search_parts.c.digest).where(search_parts.c.item == bindparam("item_"))
# Rank and limit first, look at rows after: joining before ordering costs three times as much at 100,000 notes.
_BEST = text(
    "SELECT p.item, p.kind, -r.score, r.id FROM "
    "(SELECT id, score FROM (SELECT rowid AS id, bm25(search_words, :title, 1.0) AS score FROM search_words "
    "WHERE search_words MATCH :query ORDER BY rowid DESC LIMIT :reach) ORDER BY score LIMIT :limit) AS r "
    "JOIN search_parts AS p ON p.id = r.id ORDER BY r.score, p.id DESC"
)
_HOLDING = text("SELECT rowid FROM search_words WHERE search_words MATCH :query AND rowid BETWEEN :first AND :last")
_COUNT = text("SELECT count(*) FROM (SELECT rowid FROM search_words WHERE search_words MATCH :query LIMIT :most)")
_MATCH = text(
    "SELECT p.item, p.kind, r.score FROM "
    "(SELECT rowid AS id, bm25(search_words, :title, 1.0) AS score FROM search_words "
    "WHERE search_words MATCH :query ORDER BY score LIMIT :limit) AS r "
    "JOIN search_parts AS p ON p.id = r.id ORDER BY r.score, p.id"
)


@dataclass(frozen=True, slots=True)
class Hit:
    """An item whose words match; a smaller score is a better match."""

    item: str
    kind: str
    score: float


@dataclass(frozen=True, slots=True)
class Match:
    """A part of an item whose words match; a larger score is a better match."""

    item: str
    kind: str
    score: float
    part: int


def put(session: Session, kind: str, item: str, title: str, body: str, *, new: bool = False) -> None:
    """Make the index hold these words for an item, and only these; parts that did not change are left alone."""
    wanted = {digest(f"{title}\n{part}"): part for part in parts(body)}
    known = {} if new else {row[1]: row[0] for row in session.connection.execute(_KNOWN, {"item_": item})}
    for name, id_ in known.items():
        if name not in wanted:
            _drop(session, id_)
    for name, part in wanted.items():
        if name not in known:
            added = session.connection.exec_driver_sql(_ADD, (item, kind, name))
            session.connection.exec_driver_sql(_INSERT, (added.lastrowid, indexed(title), indexed(part)))


def remove(session: Session, item: str) -> None:
    """Forget the words of an item."""
    for row in session.connection.execute(_KNOWN, {"item_": item}).all():
        _drop(session, row[0])


def _drop(session: Session, id_: int) -> None:
    session.connection.exec_driver_sql(_DELETE, (id_,))
    session.connection.execute(delete(search_parts).where(search_parts.c.id == id_))


def matches(session: Session, query: tuple[Term, ...], *, every: bool, limit: int) -> list[Hit]:
    """Return the best parts that hold every term, or any of them; at most `limit`, the best first."""
    if not query:
        return []
    rows = session.connection.execute(
        _MATCH, {"query": expression(query, every=every), "title": TITLE_WEIGHT, "limit": limit}
    )
    return [Hit(row[0], row[1], row[2]) for row in rows]


def best(session: Session, query: str, *, limit: int, reach: int) -> list[Match]:
    """Return the best parts that an expression of FTS5 finds among the `reach` last written ones, the best first.

    To rank a match costs some 2 us, and a common word has a hundred thousand; to pass over one costs a tenth of that.
    """
    values = {"query": query, "title": TITLE_WEIGHT, "limit": limit, "reach": reach}
    return [Match(*row) for row in session.connection.execute(_BEST, values).all()]


def holding(session: Session, query: str, first: int, last: int) -> set[int]:
    """Return the parts from `first` to `last` that an expression finds."""
    found = session.connection.execute(_HOLDING, {"query": query, "first": first, "last": last})
    return set(found.scalars().all())  # all at once: thousands are common


def count(session: Session, query: str, *, most: int) -> int:
    """Return how many parts an expression finds; it is not counted further than `most`."""
    return session.connection.execute(_COUNT, {"query": query, "most": most}).scalar_one()


def expression(terms: Sequence[Term], *, every: bool) -> str:
    """Return terms as FTS5 takes them: every one, or any of them."""
    return "(" + (" AND " if every else " OR ").join(_written(term) for term in terms) + ")"


def _written(term: Term) -> str:
    phrase = _phrase(term.words)
    ways = [phrase, *map(_phrase, term.others)]
    if term.prefix:  # the whole word beside its beginning, so that an exact hit ranks above a longer word
        ways.append(f"{phrase}*")
    return f"({' OR '.join(ways)})" if len(ways) > 1 else phrase


def _phrase(words: Sequence[str]) -> str:
    return '"' + " ".join(word.replace('"', '""') for word in words) + '"'


def parts_match(session: Session) -> bool:
    """Tell whether the list of parts is as long as the index they stand in."""
    stray = session.connection.exec_driver_sql(
        "SELECT (SELECT count(*) FROM search_parts) - (SELECT count(*) FROM search_words_docsize)"
    ).scalar_one()
    return stray == 0
