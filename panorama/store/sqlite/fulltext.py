"""Full text (FTS5) of every living item, written in the item's transaction.

SQLite indexes 10 MB in one to three seconds, for which all other writes would wait. So a transaction writes and removes
parts for a short time only; the others follow in short transactions, before the call is answered (see
`panorama.store.items.long_texts`). Parts that are to be removed have no kind meanwhile, which no search asks for.
"""

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select, text, update

from panorama.domain.changes import digest
from panorama.domain.text.tokens import PART_CHARS, Term, index_text, iter_parts
from panorama.store.backend import Hit, ItemText, Match, Session
from panorama.store.tables import search_parts

TITLE_WEIGHT = 4.0
"""The weight of a word in the title relative to the body."""

MAX_WAITING_CHARS = 1 << 15
"""Parts that are written by one statement have so many characters together, or one more part."""

FEW_PARTS = 3
"""Parts that are removed at once; of more none is."""

LONG_CHARS = FEW_PARTS * PART_CHARS
"""Of a longer text only the first part is indexed at once."""

DELETED_AT_ONCE = 16
"""Parts that are deleted before the next look at the time."""

MAX_INDEX_SECONDS = 0.06
"""After so long a transaction writes and removes no further parts; each takes up to 20 ms."""

HIDDEN_KIND = ""
"""The kind of parts that are to be removed."""

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
_KNOWN = select(search_parts.c.digest, search_parts.c.id, search_parts.c.kind).where(
    search_parts.c.item == bindparam("item_")
)
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
# The sign keeps the list out of the full text, which would search once for each part in it.
_MATCHING = (
    "SELECT rowid FROM search_words WHERE search_words MATCH ? AND rowid BETWEEN ? AND ? "
    "AND +rowid IN (SELECT value FROM json_each(?))"
)
_COUNT_RANGE = "SELECT count(*) FROM search_words WHERE search_words MATCH ? AND rowid BETWEEN ? AND ?"
_COUNT_ALL = "SELECT count(*) FROM search_words_docsize"  # as long as search_parts, and a tenth of its size
_COUNT = "SELECT count(*) FROM (SELECT rowid FROM search_words WHERE search_words MATCH ? LIMIT ?)"
_MATCH = text(
    "SELECT p.item, p.kind, r.score FROM "
    "(SELECT rowid AS id, bm25(search_words, :title, 1.0) AS score FROM search_words "
    "WHERE search_words MATCH :query ORDER BY score LIMIT :limit) AS r "
    "JOIN search_parts AS p ON p.id = r.id ORDER BY r.score, p.id"
)


@dataclass(frozen=True, slots=True)
class _KnownPart:
    """A part that is indexed, or hidden because it is to be removed."""

    id: int
    kind: str


class _NewPart(NamedTuple):
    """A part to write: its item, kind and name, and the words of the title and of the text."""

    item: str
    kind: str
    name: str
    title: str
    text: str


def set_words(session: Session, texts: Sequence[ItemText], *, new: bool = False) -> None:
    """Make the index hold these words for some items, and only these; parts that did not change are left alone.

    What takes too long for one transaction is left to `sync_parts`; the item is then in `session.long_texts`.
    """
    known = {} if new else _list_all_known(session, [text_.item for text_ in texts])
    waiting, waiting_chars = list[_NewPart](), 0
    outdated: dict[str, list[int]] = {}
    for entry in texts:
        is_long, stored = len(entry.body) > LONG_CHARS, known.get(entry.item, {})
        parts = dict(islice(make_parts(entry.title, (entry.body,)), 1 if is_long else None))
        for name, part in parts.items():
            if name in stored:
                if stored[name].kind != entry.kind:
                    _set_kind(session, [stored[name].id], entry.kind)
                continue
            if waiting_chars > MAX_WAITING_CHARS:
                _write_parts(session, waiting)
                waiting, waiting_chars = [], 0
            if session.index_seconds > MAX_INDEX_SECONDS:
                is_long = True
                break
            waiting.append(_NewPart(entry.item, entry.kind, name, index_text(entry.title), part))
            waiting_chars += len(part)
        if is_long:
            session.long_texts.add(entry.item)
        else:
            outdated[entry.item] = [part.id for name, part in stored.items() if name not in parts]
    _write_parts(session, waiting)
    _remove_parts(session, outdated)


def remove(session: Session, items: Sequence[str]) -> None:
    """Forget the words of some items; parts for which there is no time are hidden now and removed by `sync_parts`."""
    known = _list_all_known(session, items)
    _remove_parts(session, {item: [part.id for part in parts.values()] for item, parts in known.items()})


def make_parts(title: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the parts in which texts are indexed, each with its digest and the title's as its name."""
    for number, text_ in enumerate(texts):
        if text_ or not number:
            yield from _make_parts_of(title, number, text_)


def _make_parts_of(title: str, number: int, text_: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of one of several texts; the names of all but the first contain the number."""
    for part in iter_parts(text_):
        yield digest(f"{title}\n{number}\n{part}" if number else f"{title}\n{part}"), index_text(part)


def replace_texts(
    session: Session, kind: str, item: str, title: str, old: Mapping[int, str], new: Mapping[int, str]
) -> None:
    """Index some of an item's texts again, by number; the others are not read.

    What takes too long for one transaction is left to `sync_parts`; the item is then in `session.long_texts`.
    """
    outdated = {name for number, text_ in old.items() for name, _ in _make_parts_of(title, number, text_)}
    parts = dict(part for number, text_ in new.items() for part in _make_parts_of(title, number, text_))
    known = _list_known(session, item, {*outdated, *parts})
    for name, part in parts.items():
        if session.index_seconds > MAX_INDEX_SECONDS:
            session.long_texts.add(item)
            return
        _set_part(session, kind, item, name, title, part, known.get(name))
    _remove_parts(session, {item: [known[name].id for name in outdated - parts.keys() if name in known]})


def sync_parts(session: Session, kind: str, item: str, title: str, parts: Mapping[str, str], *, seconds: float) -> bool:
    """Write and remove parts until the index holds these for an item, for some seconds; return whether it does."""
    end = time.monotonic() + seconds
    known = _list_known(session, item)
    for name, part in parts.items():
        if time.monotonic() > end:
            return False
        _set_part(session, kind, item, name, title, part, known.get(name))
    for name, part in known.items():
        if time.monotonic() > end:
            return False
        if name not in parts:
            _delete_parts(session, [part.id])
    return True


def _list_known(session: Session, item: str, names: Collection[str] | None = None) -> dict[str, _KnownPart]:
    """Return the indexed parts of an item by name: all, or those of some names."""
    statement = _KNOWN if names is None else _KNOWN.where(search_parts.c.digest.in_(names))
    return {row[0]: _KnownPart(row[1], row[2]) for row in session.connection.execute(statement, {"item_": item})}


def _list_all_known(session: Session, items: Sequence[str]) -> dict[str, dict[str, _KnownPart]]:
    """Return the indexed parts of some items by item and name."""
    known: dict[str, dict[str, _KnownPart]] = {}
    for row in session.connection.exec_driver_sql(_ALL_KNOWN, (json.dumps(items),)):
        known.setdefault(row[0], {})[row[1]] = _KnownPart(row[2], row[3])
    return known


def _set_part(
    session: Session, kind: str, item: str, name: str, title: str, part: str, known: _KnownPart | None
) -> None:
    """Write a part that is not indexed yet, or show one that is hidden."""
    if known is None:
        _write_parts(session, [_NewPart(item, kind, name, index_text(title), part)])
    elif known.kind != kind:
        _set_kind(session, [known.id], kind)


def _write_parts(session: Session, parts: Sequence[_NewPart]) -> None:
    """Write parts that are not indexed yet."""
    if not parts:
        return
    begun, execute = time.monotonic(), session.connection.exec_driver_sql
    if len(parts) == 1:
        ids = [execute(_ADD, parts[0][:3]).lastrowid]
    else:
        added = execute(_ADD_ALL, (json.dumps([part[:3] for part in parts]),)).all()
        numbers = {(item, name): id_ for item, name, id_ in added}
        ids = [numbers[part.item, part.name] for part in parts]
    _execute_each(session, _INSERT, [(id_, part.title, part.text) for id_, part in zip(ids, parts, strict=True)])
    session.index_seconds += time.monotonic() - begun


def _remove_parts(session: Session, ids_of: Mapping[str, Sequence[int]]) -> None:
    """Remove parts of some items; many of one item, and those for which there is no time, are only hidden."""
    few = {item: ids for item, ids in ids_of.items() if len(ids) <= FEW_PARTS}
    waiting = [id_ for ids in few.values() for id_ in ids]
    while waiting and session.index_seconds <= MAX_INDEX_SECONDS:
        _delete_parts(session, waiting[:DELETED_AT_ONCE])
        del waiting[:DELETED_AT_ONCE]
    left = set(waiting)
    for item, ids in ids_of.items():
        if hidden := [id_ for id_ in ids if item not in few or id_ in left]:
            _set_kind(session, hidden, HIDDEN_KIND)
            session.long_texts.add(item)


def _set_kind(session: Session, ids: Sequence[int], kind: str) -> None:
    session.connection.execute(update(search_parts).where(search_parts.c.id.in_(ids)).values(kind=kind))


def _delete_parts(session: Session, ids: Sequence[int]) -> None:
    begun, values = time.monotonic(), [(id_,) for id_ in ids]
    _execute_each(session, _DELETE, values)
    _execute_each(session, _REMOVE, values)
    session.index_seconds += time.monotonic() - begun


def _execute_each(session: Session, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Execute a statement for each of some rows of parameters."""
    session.connection.exec_driver_sql(statement, list(rows) if len(rows) > 1 else rows[0])


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

    Ranking a match costs about 2 us, and a common word has a hundred thousand; skipping one costs a tenth of that.
    """
    return [Match(*row) for row in session.connection.exec_driver_sql(_BEST, (query, reach, limit)).all()]


def list_matching_parts(session: Session, query: str, parts: Collection[int]) -> list[int]:
    """Return those of some parts that match an expression."""
    if not parts:
        return []
    values = (query, min(parts), max(parts), json.dumps(list(parts)))
    return [row[0] for row in session.connection.exec_driver_sql(_MATCHING, values).all()]


def count_range(session: Session, query: str, first: int, last: int) -> int:
    """Return how many of the parts from `first` to `last` match an expression."""
    return session.connection.exec_driver_sql(_COUNT_RANGE, (query, first, last)).scalar_one()


def count_all(session: Session) -> int:
    """Return how many parts there are."""
    return session.connection.exec_driver_sql(_COUNT_ALL).scalar_one()


def count(session: Session, query: str, *, most: int) -> int:
    """Return how many parts match an expression, counted up to `most`."""
    return session.connection.exec_driver_sql(_COUNT, (query, most)).scalar_one()


def build_expression(terms: Sequence[Term], *, every: bool) -> str:
    """Return the FTS5 expression for all terms, or any of them."""
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
