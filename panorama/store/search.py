"""Search rows: what keywords find, narrowed by kind, project and day, and how much of the query each hit holds."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, select

from panorama.domain.items import kind_of
from panorama.domain.words import Term
from panorama.store import fulltext, rows, vocabulary
from panorama.store.engine import Session
from panorama.store.fulltext import Match
from panorama.store.rows import NOUNS

COMPARED = 200
"""Matches, the best by bm25, that are compared with the whole query; those behind them stay in their order."""

ENOUGH = 100
"""Hits that pass the filters, after which no further matches are asked for."""

REACH = 4000
"""Matches that are ranked at most, those last written, divided by the terms that are looked for: some 8 ms."""

BEGUN = 3
"""Letters from which a last word is taken for the beginning of others; in a large store two begin too many."""

UNHELD = 0.5
"""What a word counts that nothing holds, for its weight: one of another language says little against a hit.

Chosen on `tests/retrieval/tuning.jsonl`, where the half costs nothing; less would take paraphrases from meaning.
"""

LARGE, SAMPLE, COMMON = 20_000, 1000, 0.2
"""In a store of so many parts, a word that stands in a fifth of the last thousand is not counted."""

FEW, FEWER = 5, 10
"""So many parts are a few, and so is a tenth of a store: by a small word that no more of them hold one can look."""

WIDER = 8
FARTHEST = 250_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What hits must be: of some kinds, of a project ("" none), last written in a period."""

    kinds: Sequence[str]
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A term, how many parts hold it, and how telling that makes it: the logarithm of how rare it is."""

    term: Term
    count: int
    weight: float


@dataclass(frozen=True, slots=True)
class Hit:
    """An item whose words match; `coverage` is the share of the query, by weight, that its best part holds."""

    item: str
    kind: str
    score: float
    coverage: float


def asked(session: Session, terms: Sequence[Term]) -> tuple[Asked, ...]:
    """Return terms with their weight; those that tell little are left out where others are there.

    A last word that the store knows as it stands is not taken for the beginning of a longer one.
    """
    told = [term for term in terms if not term.is_small] or list(terms)
    stems = {term: vocabulary.stem(term.words[0]) for term in told if len(term.words) == 1}
    total = session.connection.exec_driver_sql("SELECT count(*) FROM search_parts").scalar_one()
    common = _common(session, stems, total)
    rarer = [stem for stem in dict.fromkeys(stems.values()) if stem and stem not in common]
    known = common | vocabulary.counts(session, rarer)
    return tuple(_weighed(session, term, stems.get(term, ""), known, total) for term in dict.fromkeys(told))


def _common(session: Session, stems: Mapping[Term, str], total: int) -> dict[str, int]:
    """Return the stems that very many parts of a large store hold, and about how many: to count them takes too long."""
    if total < LARGE:
        return {}
    last = session.connection.exec_driver_sql("SELECT max(id) FROM search_parts").scalar_one()
    found: dict[str, int] = {}
    for term, stem in stems.items():
        word = fulltext.expression([Term(term.words)], every=True)
        held = len(fulltext.holding(session, word, last - SAMPLE, last))
        if held > COMMON * SAMPLE:
            found[stem] = held * total // SAMPLE
    return found


def _weighed(session: Session, term: Term, stem: str, known: Mapping[str, int], total: int) -> Asked:
    count = known.get(stem, 0)
    if term.guessed and (count or len(term.words[-1]) < BEGUN):
        term = replace(term, prefix=False)
    if term.prefix or term.others or not stem:
        count = fulltext.count(session, fulltext.expression([term], every=True), most=2 * REACH)
    weight = math.log1p((max(0, total - count) + 0.5) / (count + 0.5))
    return Asked(term, count, weight if count else weight * UNHELD)


def rare(session: Session, terms: Sequence[Term]) -> list[str]:
    """Return those of some single words that are held, by a few parts of this store."""
    total = session.connection.exec_driver_sql("SELECT count(*) FROM search_parts").scalar_one()
    few = max(FEW, total // FEWER)
    found: list[str] = []
    for term in terms:
        word = fulltext.expression([replace(term, prefix=False)], every=True)
        if 0 < fulltext.count(session, word, most=few + 1) <= few:
            found.append(term.words[0])
    return found


def hits(session: Session, query: Sequence[Asked], filters: Filters, *, wanted: int) -> list[Hit]:
    """Return the best items, each once, the best first: some more or fewer than `wanted`.

    An item's worth is its bm25 times its coverage. The index is asked for more only while the filters leave too little.
    """
    limit, reach = max(COMPARED, wanted), REACH
    while True:
        found = _matches(session, query, limit, reach)
        best = _narrowed(session, _once(found), filters)
        if len(best) >= max(wanted, ENOUGH) or len(found) < limit or limit >= FARTHEST:
            return best
        limit, reach = limit * WIDER, reach * WIDER


def _matches(session: Session, query: Sequence[Asked], limit: int, reach: int) -> list[tuple[Match, float]]:
    """Parts that hold any of the rarer terms, and those that hold every term, with the share of the query they hold.

    If enough hold every term there is, the others are not looked for.
    """
    known = [each for each in query if each.count]
    rare = _rare(known, reach)
    share = sum(each.weight for each in known) / (sum(each.weight for each in query) or 1.0)
    if len(rare) == len(known) == 1:
        return [(match, share) for match in _best(session, rare, limit, reach)]
    every: list[Match] = []
    if len(rare) < len(known):
        every = _best(session, known, limit, reach, every=True)
        if len(every) >= limit:
            return [(match, share) for match in every]
    found = _best(session, rare, limit, reach)
    whole = {match.part for match in every}
    compared = [match for match in found[:COMPARED] if match.part not in whole]
    covered = _covered(session, query, rare, compared)
    joined = [(match, share) for match in every] + [(match, covered[match.part]) for match in compared]
    rest = [(match, 0.0) for match in found[COMPARED:] if match.part not in whole]
    return sorted(joined, key=lambda each: -each[0].score * each[1]) + rest


def _best(session: Session, terms: Sequence[Asked], limit: int, reach: int, *, every: bool = False) -> list[Match]:
    if not terms:
        return []
    query = fulltext.expression([each.term for each in terms], every=every)
    return fulltext.best(session, query, limit=limit, reach=reach // len(terms) if every else reach)


def _rare(query: Sequence[Asked], reach: int) -> list[Asked]:
    """The rarest terms: as many as have no more matches than are ranked, and one at least."""
    found: list[Asked] = []
    left = reach
    for each in sorted(query, key=lambda each: each.count):
        left -= each.count
        if found and left < 0:
            break
        found.append(each)
    return found


def _covered(
    session: Session, query: Sequence[Asked], rare: Sequence[Asked], found: Sequence[Match]
) -> dict[int, float]:
    """Return the share of the query that parts hold, by part."""
    covered = dict.fromkeys((match.part for match in found), 0.0)
    if not found:
        return covered
    total = sum(each.weight for each in query)
    first, last = min(covered), max(covered)
    any_rare = fulltext.expression([each.term for each in rare], every=False)
    for each in query:
        if each.count:
            term = fulltext.expression([each.term], every=True)
            asked = term if each in rare else f"{any_rare} AND {term}"
            for part in fulltext.holding(session, asked, first, last) & covered.keys():
                covered[part] += each.weight / total
    return covered


def _once(found: Iterable[tuple[Match, float]]) -> list[Hit]:
    """Each item by its best part."""
    best: dict[str, Hit] = {}
    for match, coverage in found:
        best.setdefault(match.item, Hit(match.item, match.kind, match.score * coverage, coverage))
    return list(best.values())


def _narrowed(session: Session, found: list[Hit], filters: Filters) -> list[Hit]:
    kept = [hit for hit in found if hit.kind in filters.kinds]
    if filters.project is None and filters.since is None and filters.until is None:
        return kept
    passing = living(session, [hit.item for hit in kept], filters)
    return [hit for hit in kept if hit.item in passing]


def living(session: Session, ids: Sequence[str], filters: Filters) -> dict[str, datetime]:
    """Return those of some items that are alive and pass the filters, and when each was last changed."""
    found: dict[str, datetime] = {}
    by_kind: dict[str, list[str]] = {}
    for id_ in ids:
        by_kind.setdefault(kind_of(id_) or "", []).append(id_)
    for kind in filters.kinds:
        some = by_kind.get(kind, [])
        for start in range(0, len(some), 500):
            found |= _passing(session, kind, some[start : start + 500], filters)
    return found


def _passing(session: Session, kind: str, ids: Sequence[str], filters: Filters) -> dict[str, datetime]:
    table = NOUNS[kind].table
    where: list[ColumnElement[bool]] = []
    if filters.project is not None:
        if "project" not in table.c:
            return {}
        where.append(table.c.project == filters.project if filters.project else table.c.project.is_(None))
    if filters.since is not None:
        where.append(table.c.updated_at >= filters.since)
    if filters.until is not None:
        where.append(table.c.updated_at < filters.until)
    statement = _ALIVE[kind].where(*where) if where else _ALIVE[kind]
    return {row[0]: row[1] for row in session.connection.execute(statement, {"ids": list(ids)}).all()}


# Made once: to make a list of two hundred ids into a statement takes as long as to find them.
_ALIVE = {
    kind: select(noun.table.c.id, noun.table.c.updated_at).where(
        noun.table.c.id.in_(bindparam("ids", expanding=True)), noun.table.c.deleted_at.is_(None)
    )
    for kind, noun in NOUNS.items()
}


def loaded(session: Session, ids: Sequence[str]) -> dict[str, Any]:
    """Return some items by id."""
    items: dict[str, Any] = {}
    for kind in dict.fromkeys(kind_of(id_) for id_ in ids):
        if kind is not None:
            table = NOUNS[kind].table
            statement = select(*rows.columns(kind)).where(table.c.id.in_([id_ for id_ in ids if kind_of(id_) == kind]))
            items |= {row.id: rows.value(kind, row) for row in session.connection.execute(statement)}
    return items
