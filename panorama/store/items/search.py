"""Keyword search: ranks matches and narrows them by kind, project and day."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, select

from panorama.domain.items.item import kind_of
from panorama.domain.text.tokens import Term, drop_stop_words
from panorama.store.backend import MAX_COMPARED, Match, Rows, Session
from panorama.store.items import rows
from panorama.store.items.rows import NOUNS
from panorama.store.json_lists import json_values

ENOUGH_HITS = 100
"""The number of filtered hits after which no more matches are fetched."""

MAX_RANKED = 4000
"""The maximum number of matches ranked, the last written ones, divided by the number of terms (about 8 ms)."""

MIN_PREFIX_LETTERS = 3
"""The shortest last word that is treated as a prefix; in a large store, two letters match too many words."""

MISSING_WORD_FACTOR = 0.5
"""The share of its weight that an unknown word counts: a word in another language says little against a hit.

Tuned on `tests/retrieval/tuning.jsonl`, where a half costs nothing; less would hurt paraphrases.
"""

FEW_PARTS, FEW_DIVISOR = 5, 10
"""This many parts, or a tenth of the store, are few: a stop word in no more parts can be searched."""

WIDENING_FACTOR = 8
MAX_LIMIT = 250_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Filters for hits: kinds, a project ("" for none), and the period of the last write."""

    kinds: Sequence[str]
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A term, the number of parts with it, and its weight: the logarithm of its rarity."""

    term: Term
    count: int
    weight: float


@dataclass(frozen=True, slots=True)
class Hit:
    """An item whose words match; `coverage` is the weighted share of the query in its best part."""

    item: str
    kind: str
    score: float
    coverage: float


def weigh_terms(session: Session, terms: Sequence[Term]) -> tuple[WeightedTerm, ...]:
    """Return terms with their weights, without stop words if there are others.

    A last word that the store contains as a whole word is not treated as a prefix.
    """
    informative = drop_stop_words(terms)
    stems = {term: session.vocabulary.stem(term.words[0]) for term in informative if len(term.words) == 1}
    total, known = session.vocabulary.measure(session, {stem: term.words[0] for term, stem in stems.items() if stem})
    return tuple(_weigh_term(session, term, stems.get(term, ""), known, total) for term in dict.fromkeys(informative))


def _weigh_term(session: Session, term: Term, stem: str, known: Mapping[str, int], total: int) -> WeightedTerm:
    count = known.get(stem, 0)
    if term.guessed and (count or len(term.words[-1]) < MIN_PREFIX_LETTERS):
        term = replace(term, prefix=False)
    if term.prefix or term.others or not stem:
        count = session.vocabulary.count_term(session, term, most=2 * MAX_RANKED)
    weight = math.log1p((max(0, total - count) + 0.5) / (count + 0.5))
    return WeightedTerm(term, count, weight if count else weight * MISSING_WORD_FACTOR)


def find_rare_words(session: Session, terms: Sequence[Term]) -> list[str]:
    """Return those single words that occur in only a few parts of this store."""
    total = session.full_text.count_all(session)
    few = max(FEW_PARTS, total // FEW_DIVISOR)
    results: list[str] = []
    for term in terms:
        word = session.full_text.build_expression([replace(term, prefix=False)], every=True)
        if 0 < session.full_text.count(session, word, most=few + 1) <= few:
            results.append(term.words[0])
    return results


def search_items(session: Session, query: Sequence[WeightedTerm], filters: Filters, *, needed: int) -> list[Hit]:
    """Return the best items, each once, the best first: some more or fewer than `needed`.

    An item's score is its bm25 times its coverage. More matches are fetched only while the filters leave too few.
    """
    limit, reach = max(MAX_COMPARED, needed), MAX_RANKED
    while True:
        hits = _search_parts(session, query, limit, reach)
        best = _apply_filters(session, _best_per_item(hits), filters)
        if len(best) >= max(needed, ENOUGH_HITS) or len(hits) < limit or limit >= MAX_LIMIT:
            return best
        limit, reach = limit * WIDENING_FACTOR, reach * WIDENING_FACTOR


def _search_parts(session: Session, query: Sequence[WeightedTerm], limit: int, reach: int) -> list[tuple[Match, float]]:
    """Return parts with any of the rarer terms, and parts with every term, each with its coverage of the query.

    If enough parts have every term, the others are not searched.
    """
    known = [term for term in query if term.count]
    rare = _select_rare(known, reach)
    share = sum(term.weight for term in known) / (sum(term.weight for term in query) or 1.0)
    if len(rare) == len(known) == 1:
        return [(match, share) for match in _search_terms(session, rare, limit, reach)]
    every: list[Match] = []
    if len(rare) < len(known):
        every = _search_terms(session, known, limit, reach, every=True)
        if len(every) >= limit:
            return [(match, share) for match in every]
    compared_with = _list_compared(session, known, rare)
    matches = _search_terms(session, rare, limit, reach, compared_with=compared_with)
    total = sum(entry.weight for entry in query)
    whole = {match.part for match in every}
    joined = [(match, share) for match in every] + [
        (match, sum(known[place].weight / total for place in match.holds))
        for match in matches[:MAX_COMPARED]
        if match.part not in whole
    ]
    rest = [(match, 0.0) for match in matches[MAX_COMPARED:] if match.part not in whole]
    return sorted(joined, key=lambda pair: -pair[0].score * pair[1]) + rest


def _search_terms(
    session: Session,
    terms: Sequence[WeightedTerm],
    limit: int,
    reach: int,
    *,
    every: bool = False,
    compared_with: Sequence[str] = (),
) -> list[Match]:
    if not terms:
        return []
    query = session.full_text.build_expression([entry.term for entry in terms], every=every)
    return session.full_text.search_expression(
        session, query, limit=limit, reach=reach // len(terms) if every else reach, terms=compared_with
    )


def _select_rare(query: Sequence[WeightedTerm], reach: int) -> list[WeightedTerm]:
    """Return the rarest terms whose matches fit into the limit, at least one."""
    results: list[WeightedTerm] = []
    left = reach
    for term in sorted(query, key=lambda term_: term_.count):
        left -= term.count
        if results and left < 0:
            break
        results.append(term)
    return results


def _list_compared(session: Session, known: Sequence[WeightedTerm], rare: Sequence[WeightedTerm]) -> list[str]:
    """Return an expression for each term of the query that matches of the rare terms are compared with."""
    any_rare = session.full_text.build_expression([entry.term for entry in rare], every=False)
    terms = [(session.full_text.build_expression([entry.term], every=True), entry in rare) for entry in known]
    return [term if is_rare else session.full_text.join_expressions(any_rare, term) for term, is_rare in terms]


def _best_per_item(matches: Iterable[tuple[Match, float]]) -> list[Hit]:
    """Return the best part of each item."""
    best: dict[str, Hit] = {}
    for match, coverage in matches:
        best.setdefault(match.item, Hit(match.item, match.kind, match.score * coverage, coverage))
    return list(best.values())


def _apply_filters(session: Session, hits: list[Hit], filters: Filters) -> list[Hit]:
    selected = [hit for hit in hits if hit.kind in filters.kinds]
    if filters.project is None and filters.since is None and filters.until is None:
        return selected
    passing = filter_living(session, [hit.item for hit in selected], filters)
    return [hit for hit in selected if hit.item in passing]


def filter_living(session: Session, ids: Sequence[str], filters: Filters) -> dict[str, datetime]:
    """Return the living items that pass the filters, and when each was last changed."""
    by_kind: dict[str, list[str]] = {}
    for id_ in ids:
        by_kind.setdefault(kind_of(id_) or "", []).append(id_)
    asked: list[Rows] = []
    for kind in filters.kinds:
        batch = by_kind.get(kind, [])
        if filters.project is None or "project" in NOUNS[kind].table.c:
            asked += [
                _ask_living(session, kind, batch[start : start + 500], filters) for start in range(0, len(batch), 500)
            ]
    return {row[0]: row[1] for rows_ in asked for row in rows_()}


def _ask_living(session: Session, kind: str, ids: Sequence[str], filters: Filters) -> Rows:
    table = NOUNS[kind].table
    where: list[ColumnElement[bool]] = []
    if filters.project is not None:
        where.append(table.c.project == filters.project if filters.project else table.c.project.is_(None))
    if filters.since is not None:
        where.append(table.c.updated_at >= filters.since)
    if filters.until is not None:
        where.append(table.c.updated_at < filters.until)
    statement = _ALIVE[kind].where(*where) if where else _ALIVE[kind]
    return session.ask(statement, {"ids": json.dumps(list(ids))})


_ALIVE = {
    kind: select(noun.table.c.id, noun.table.c.updated_at).where(
        noun.table.c.id.in_(json_values("ids")), noun.table.c.deleted_at.is_(None)
    )
    for kind, noun in NOUNS.items()
}
_ITEMS = {
    kind: select(*rows.columns(kind)).where(noun.table.c.id.in_(json_values("ids"))) for kind, noun in NOUNS.items()
}


def load_items(session: Session, ids: Sequence[str]) -> dict[str, Any]:
    """Return some items by id."""
    asked: list[tuple[str, Rows]] = []
    for kind in dict.fromkeys(kind_of(id_) for id_ in ids):
        if kind is not None:
            values = {"ids": json.dumps([id_ for id_ in ids if kind_of(id_) == kind])}
            asked.append((kind, session.ask(_ITEMS[kind], values)))
    return {row[0]: rows.to_item(kind, tuple(row)) for kind, found in asked for row in found()}
