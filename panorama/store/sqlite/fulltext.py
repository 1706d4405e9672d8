"""Full text (FTS5) of every living item, written in the item's transaction."""

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, select, text

from panorama.domain.changes import digest
from panorama.domain.text.tokens import Term, index_text, split_parts
from panorama.store.backend import Hit, Match, Session
from panorama.store.tables import search_parts

TITLE_WEIGHT = 4.0
"""How much more a word in the title counts than one in the body."""

MERGE_PAGES = 64
"""Pages of the index that are rewritten in one step, some ten milliseconds."""

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


def set_words(session: Session, kind: str, item: str, title: str, body: str, *, new: bool = False) -> None:
    """Make the index hold these words for an item, and only these; parts that did not change are left alone."""
    wanted = {digest(f"{title}\n{part}"): part for part in split_parts(body)}
    known = {} if new else {row[1]: row[0] for row in session.connection.execute(_KNOWN, {"item_": item})}
    for name, id_ in known.items():
        if name not in wanted:
            _delete_part(session, id_)
    for name, part in wanted.items():
        if name not in known:
            added = session.connection.exec_driver_sql(_ADD, (item, kind, name))
            session.connection.exec_driver_sql(_INSERT, (added.lastrowid, index_text(title), index_text(part)))


def remove(session: Session, item: str) -> None:
    """Forget the words of an item."""
    for row in session.connection.execute(_KNOWN, {"item_": item}).all():
        _delete_part(session, row[0])


def _delete_part(session: Session, id_: int) -> None:
    session.connection.exec_driver_sql(_DELETE, (id_,))
    session.connection.execute(delete(search_parts).where(search_parts.c.id == id_))


def search_terms(session: Session, query: tuple[Term, ...], *, every: bool, limit: int) -> list[Hit]:
    """Return the best parts that hold every term, or any of them; at most `limit`, the best first."""
    if not query:
        return []
    rows = session.connection.execute(
        _MATCH, {"query": build_expression(query, every=every), "title": TITLE_WEIGHT, "limit": limit}
    )
    return [Hit(row[0], row[1], row[2]) for row in rows]


def search_expression(session: Session, query: str, *, limit: int, reach: int) -> list[Match]:
    """Return the best parts that an expression of FTS5 finds among the `reach` last written ones, the best first.

    To rank a match costs some 2 us, and a common word has a hundred thousand; to pass over one costs a tenth of that.
    """
    values = {"query": query, "title": TITLE_WEIGHT, "limit": limit, "reach": reach}
    return [Match(*row) for row in session.connection.execute(_BEST, values).all()]


def list_matching_parts(session: Session, query: str, first: int, last: int) -> set[int]:
    """Return the parts from `first` to `last` that an expression finds."""
    found = session.connection.execute(_HOLDING, {"query": query, "first": first, "last": last})
    return set(found.scalars().all())  # all at once: thousands are common


def count(session: Session, query: str, *, most: int) -> int:
    """Return how many parts an expression finds; it is not counted further than `most`."""
    return session.connection.execute(_COUNT, {"query": query, "most": most}).scalar_one()


def build_expression(terms: Sequence[Term], *, every: bool) -> str:
    """Return terms as FTS5 takes them: every one, or any of them."""
    return "(" + (" AND " if every else " OR ").join(_render_term(term) for term in terms) + ")"


def join_expressions(*expressions: str) -> str:
    """Return the expression for parts that match all of these."""
    return " AND ".join(expressions)


def _render_term(term: Term) -> str:
    phrase = _render_phrase(term.words)
    ways = [phrase, *map(_render_phrase, term.others)]
    if term.prefix:  # the whole word beside its beginning, so that an exact hit ranks above a longer word
        ways.append(f"{phrase}*")
    return f"({' OR '.join(ways)})" if len(ways) > 1 else phrase


def _render_phrase(words: Sequence[str]) -> str:
    return '"' + " ".join(word.replace('"', '""') for word in words) + '"'


def has_all_parts(session: Session) -> bool:
    """Tell whether the list of parts is as long as the index they stand in."""
    stray = session.connection.exec_driver_sql(
        "SELECT (SELECT count(*) FROM search_parts) - (SELECT count(*) FROM search_words_docsize)"
    ).scalar_one()
    return stray == 0


def merge(session: Session, *, begin: bool) -> bool:
    """Rewrite a portion of the index without removed words; return whether there is more to do."""
    before = session.connection.exec_driver_sql("SELECT total_changes()").scalar_one()
    pages = -MERGE_PAGES if begin else MERGE_PAGES
    session.connection.exec_driver_sql("INSERT INTO search_words (search_words, rank) VALUES ('merge', ?)", (pages,))
    after = session.connection.exec_driver_sql("SELECT total_changes()").scalar_one()
    return after - before >= 2  # sqlite.org/fts5.html#the_merge_command: less means that there was nothing to do
