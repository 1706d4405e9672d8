"""Hybrid search: finds anything by words and by meaning, in one ranking."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from panorama.domain.items.item import (
    KINDS,
    Item,
    Kind,
    extract_definite_ids,
    is_id,
    kind_of,
    normalize_id,
)
from panorama.domain.items.references import ItemRef, ProjectRef
from panorama.domain.paging import Page, PageRequest
from panorama.domain.text import ranking
from panorama.domain.text.ranking import RankedItem
from panorama.domain.text.tokens import SNIPPET_CHARS, Term, contains, drop_stop_words, extract_snippet, parse_terms
from panorama.domain.time import times
from panorama.errors import InvalidInputError
from panorama.index.points import NO_PROJECT, Filter
from panorama.services.base import Service, ServiceContext
from panorama.services.search import hints as remarks
from panorama.services.search import named_items
from panorama.services.search.query_parser import (
    MAX_QUERY_CHARS,
    NO_WORDS,
    ParsedQuery,
    build_id_query,
    parse_query,
    pick_informative_terms,
)
from panorama.services.search.results import SearchHit
from panorama.services.search.semantic import SemanticSearch
from panorama.services.search.semantic_results import SemanticHit, SemanticResult
from panorama.store import read_limit
from panorama.store.backend import Session
from panorama.store.items import passages, rows, search
from panorama.store.items.passages import Passage
from panorama.store.items.search import Filters, Hit

Mode = Literal["hybrid", "keyword", "semantic"]
MAX_OFFSET = 1000
"""The maximum number of hits that can be paged through."""

FUSION_DEPTH = 100
"""Hits of each search that are fused; the other keyword hits follow unchanged, so that pages do not overlap."""

MAX_PASSAGES = 120
"""Passages requested from the index: some items have several among the nearest."""

MIN_COSINES = {"duo": 0.1, "trio": 0.15, "minilm": 0.15}
"""Cosines below which hits are noise; only measured for these models."""

MIN_SNIPPET_SHARE = 0.5
"""Rows with less than this share of the best score have no snippet; that of others shortens with the square of it."""

DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class _RankedResult:
    """The ranked hits, the passages found by meaning, and the searches that ran."""

    ranked: tuple[RankedItem, ...]
    passages: Mapping[str, int]
    index: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The results of the searches; `hits` or `nearest` is None if that search was not made.

    `named` are the items that the query names, and `living` is the last change of some that pass the filters.
    """

    wording: ParsedQuery = NO_WORDS
    hits: Sequence[Hit] | None = None
    nearest: SemanticResult | None = None
    named: tuple[RankedItem, ...] = ()
    living: Mapping[str, datetime] = field(default_factory=dict[str, datetime])


class Search(Service):
    """Finds items of every kind."""

    def __init__(self, context: ServiceContext, meaning: SemanticSearch) -> None:
        super().__init__(context)
        self._meaning = meaning

    def search(
        self,
        query: str,
        page: PageRequest,
        kinds: tuple[Kind, ...] = (),
        project: ProjectRef | None = None,
        since: str = "",
        until: str = "",
        mode: Mode = "hybrid",
    ) -> Page[SearchHit]:
        """Find anything by its words and its meaning: projects, tasks, notes, links, reminders, journal, files.

        Use it to recall or look up. Write words or a question; "quoted words" must be adjacent. For exact filters and
        counts use query.

        Args:
            since: Changed on this day or later.
            until: Changed on this day or earlier.
            mode: keyword for words alone, semantic for meaning alone.
        """
        with self._reading() as session:
            if not parse_terms(query[:MAX_QUERY_CHARS]):
                hint = "The query has no letters or digits to look for."
                return Page((), (), 0, more=False, hint=hint, index={"ran": []})
            filters = self._build_filters(kinds, project, since, until)
            known = named_items.find_by_id(session, query, filters)
            unknown = _find_unknown_ids(query, known)
            lost = () if known else unknown
            found = self._find(session, query, filters, page, mode, known, lost)
            answer, wording = self._fuse(session, found, filters), found.wording
            if known and is_id(query):
                answer = replace(answer, ranked=known)
            missing = remarks.join_hints("" if lost else remarks.missing_ids_hint(session, unknown), wording.hint)
            if lost:
                hint = remarks.unknown_ids_hint(session, unknown, query, found.hits or ())
            elif not answer.ranked:
                hint = remarks.no_results_hint(session, wording, found.hits, filters, mode)
            else:
                hint = "" if found.named else remarks.partial_match_hint(session, wording, found.hits, found.nearest)
            partial = remarks.describe_limits(wording, filters, hint, is_empty=not answer.ranked)
            answer = replace(answer, index={**answer.index, **partial})
            hint = remarks.join_hints(missing, hint, named_items.describe_person(found.named))
            return self._build_page(session, page, answer, wording.terms, hint)

    def search_similar(
        self, item: ItemRef, page: PageRequest, kinds: tuple[Kind, ...] = (), project: ProjectRef | None = None
    ) -> Page[SearchHit]:
        """Find items with a similar meaning: related notes, tasks on the same matter, duplicates.

        To find by words or a question use search.
        """
        with self._reading() as session:
            filters = self._build_filters(kinds, project, "", "")
            nearest = self._meaning.search_similar(item, MAX_PASSAGES, _to_index_filter(filters))
            if nearest.has_run and not _is_keyword_only(page):
                return self._build_page(session, page, self._fuse(session, _Found(nearest=nearest), filters), (), "")
            example: Item = rows.load(session, kind_of(item) or "", item)
            asked = pick_informative_terms(session, *rows.read_rows(session, example).search_text())
            hits = search.search_items(session, asked, filters, needed=_end_offset(page) + 1)
            found = _Found(hits=[hit for hit in hits if hit.item != item], nearest=nearest)
            answer = self._fuse(session, found, filters)
            terms = tuple(term.term for term in asked)
            return self._build_page(session, page, answer, terms, "These share distinctive words with it.")

    def _find(
        self,
        session: Session,
        query: str,
        filters: Filters,
        page: PageRequest,
        mode: Mode,
        known: tuple[RankedItem, ...],
        lost: tuple[str, ...],
    ) -> _Found:
        """Search by words and by meaning at once.

        Args:
            known: The items whose ids are in the query.
            lost: The ids in the query if none of them exists; then only their words are searched.
        """
        typed = query[:MAX_QUERY_CHARS]
        is_literal = (
            mode == "keyword"
            or bool(lost)
            or _is_keyword_only(page)
            or (mode == "hybrid" and all(term.quoted for term in drop_stop_words(parse_terms(typed))))
        )
        # Keyword search finds misspelt words; a foreign word or a synonym loses its meaning when it is corrected.
        asked = None if is_literal or mode == "semantic" else self._begin_search(typed, filters)
        titles = named_items.ask_titles(session, query, filters)
        wording = build_id_query(session, lost) if lost else parse_query(session, query)
        if mode == "semantic" and not is_literal:
            asked = self._begin_search(wording.query, filters)
            if (nearest := asked()).has_run:
                return _Found(wording=wording, nearest=nearest, named=known)
        # All of this runs while semantic search is pending.
        hits = search.search_items(session, wording.asked, filters, needed=_end_offset(page))
        named = known or named_items.find_by_name(session, query, filters, self._now(), self._context.zone, titles)
        keyword = [hit.item for hit in _select_confident(hits)[:FUSION_DEPTH]]
        living = search.filter_living(session, keyword, filters)
        nearest = asked() if asked else None
        if wording.is_unsure and not hits and not (nearest and nearest.has_run):
            wording = parse_query(session, query, is_last_try=True)
            hits = search.search_items(session, wording.asked, filters, needed=_end_offset(page))
        return _Found(wording=wording, hits=hits, named=named, living=living, nearest=nearest)

    def _begin_search(self, query: str, filters: Filters) -> Callable[[], SemanticResult]:
        return self._meaning.begin_search(query, MAX_PASSAGES, _to_index_filter(filters))

    def _fuse(self, session: Session, found: _Found, filters: Filters) -> _RankedResult:
        """Merge named items, the first hundred fused hits of both searches, and the other keyword hits."""
        hits, nearest, wording = found.hits, found.nearest, found.wording
        near = _best_hit_per_item(nearest)
        confident = _select_confident(hits or ())
        keyword, rest = confident[:FUSION_DEPTH], confident[FUSION_DEPTH:]
        unchecked = {*near, *(hit.item for hit in keyword)} - found.living.keys()
        alive = {**found.living, **search.filter_living(session, list(unchecked), filters)}
        now, weights = self._now(), ranking.get_weights(nearest.model if nearest else "")
        fused = ranking.fuse(
            {
                "keyword": [(hit.item, ranking.coverage_weight(hit.coverage, weights)) for hit in keyword],
                "semantic": [(item, 1.0) for item in near if item in alive][:FUSION_DEPTH],
            },
            {item: (now - at).total_seconds() / DAY_SECONDS for item, at in alive.items()},
            weights,
        )
        best = {item: hit.position for item, hit in near.items()}
        ranked, index = _merge_ranked(found.named, fused, rest), _describe_index(hits, nearest)
        if len(index["ran"]) == 1:  # each search has its own threshold
            return _RankedResult(ranked, best, index)
        coverage = {hit.item: hit.coverage for hit in confident}
        cosines = {item: hit.score for item, hit in near.items()}
        terms = () if wording.repairs else wording.terms
        is_name = _is_name(session, ranked, terms)
        unread = (
            passages.filter_changed(session, nearest.last_change, [*coverage]) if nearest and nearest.pending else ()
        )
        words = sum(len(term.words) for term in wording.terms)
        strong = ranking.drop_noise(
            ranked, coverage, cosines, weights, unread=unread, terms=len(terms) or None, words=words, is_name=is_name
        )
        weaker = {"weaker": len(ranked) - len(strong)} if len(strong) < len(ranked) else {}
        return _RankedResult(strong, best, {**index, **weaker})

    def _build_filters(self, kinds: Sequence[Kind], project: str | None, since: str, until: str) -> Filters:
        zone, now = self._context.zone, self._now()
        first = times.start_of_day(times.parse_date(since, "since", now=now, zone=zone), zone) if since else None
        last = (
            times.start_of_day(times.next_day(times.parse_date(until, "until", now=now, zone=zone)), zone)
            if until
            else None
        )
        if first and last and first >= last:
            raise InvalidInputError("since must not be later than until.", hint="Give the earlier day as since.")
        return Filters(kinds=kinds or KINDS, project=project or None, since=first, until=last)

    def _build_page(
        self, session: Session, page: PageRequest, answer: _RankedResult, terms: tuple[Term, ...], hint: str
    ) -> Page[SearchHit]:
        start = _start_offset(page)
        if not 0 <= start < MAX_OFFSET:
            return Page((), (), 0, more=False, index=answer.index)
        shown = answer.ranked[start : start + page.limit]
        items = search.load_items(session, [hit.item for hit in shown])
        chosen = [(hit.item, answer.passages[hit.item]) for hit in shown if hit.item in answer.passages]
        places = {place.item: place for place in passages.load_at(session, chosen).values()}
        best = max((hit.score for hit in answer.ranked), default=0.0)
        results = tuple(
            _to_search_hit(rows.read_rows(session, items[hit.item]), hit, terms, places.get(hit.item), best)
            for hit in shown
            if hit.item in items
        )
        minimum = int("semantic" in answer.index["ran"])
        keys = tuple((start + at + 1, minimum) for at in range(len(results)))
        more = len(answer.ranked) > start + page.limit
        return Page(results, keys, None, more=more, hint=hint, index=answer.index)


def _is_name(session: Session, ranked: Sequence[RankedItem], terms: tuple[Term, ...]) -> bool:
    """Return whether a query consists of words of the best item's title."""
    if not ranked or not terms:
        return False
    title: str = search.load_items(session, [ranked[0].item])[ranked[0].item].label
    return all(contains(title, (term,)) for term in terms)


def _find_unknown_ids(query: str, known: Sequence[RankedItem]) -> tuple[str, ...]:
    """Return the ids in a query that match no item."""
    items = {item.item for item in known}
    return tuple(id_ for id_ in extract_definite_ids(query[:MAX_QUERY_CHARS]) if normalize_id(id_) not in items)


def _start_offset(page: PageRequest) -> int:
    return (page.get_start_key(int, int) or (0, 1))[0]


def _is_keyword_only(page: PageRequest) -> bool:
    """Return whether earlier pages were found without meaning; then all are, so that rows neither repeat nor go
    missing.
    """
    return (page.get_start_key(int, int) or (0, 1))[1] == 0


def _end_offset(page: PageRequest) -> int:
    return min(max(0, _start_offset(page)), MAX_OFFSET) + page.limit + 1


def _to_index_filter(filters: Filters) -> Filter:
    every = len(filters.kinds) == len(KINDS)
    return Filter(
        kinds=() if every else tuple(kind for kind in KINDS if kind in filters.kinds),
        project=NO_PROJECT if filters.project == "" else filters.project,
        since=filters.since,
        until=filters.until,
    )


def _select_confident(hits: Sequence[Hit]) -> list[Hit]:
    """Return the keyword hits without those that contain much less of the query than the best."""
    least = ranking.MIN_RELATIVE_SCORE * max((hit.coverage for hit in hits), default=0.0)
    return [hit for hit in hits if hit.coverage >= least]


def _best_hit_per_item(nearest: SemanticResult | None) -> dict[str, SemanticHit]:
    """Return the nearest passage of each item, best first, without those far behind the best."""
    best: dict[str, SemanticHit] = {}
    if nearest is not None and nearest.hits:
        least = max(MIN_COSINES.get(nearest.model, 0.0), ranking.MIN_RELATIVE_SCORE * nearest.hits[0].score)
        for near in nearest.hits:
            if near.score >= least:
                best.setdefault(near.item, near)
    return best


def _merge_ranked(
    named: tuple[RankedItem, ...], fused: tuple[RankedItem, ...], rest: Sequence[Hit]
) -> tuple[RankedItem, ...]:
    merged = {hit.item: hit for hit in named}
    for hit in fused:
        known = merged.get(hit.item)
        merged[hit.item] = replace(known, why=(*known.why, *hit.why)) if known else hit
    for hit in rest:
        merged.setdefault(hit.item, RankedItem(hit.item, 0.0, ("keyword",)))
    return tuple(merged.values())


def _describe_index(hits: Sequence[Hit] | None, nearest: SemanticResult | None) -> Mapping[str, Any]:
    """Return the searches that ran, the number of changes not in the index, and what to do if it did not run."""
    ran = [] if hits is None else ["keyword"]
    if nearest is None:
        return {"ran": ran}
    do = {"do": nearest.hint} if nearest.hint else {}
    if nearest.has_run:
        pending = {"pending": nearest.pending} if nearest.pending else {}
        changing = {"changing_to": nearest.successor} if nearest.successor else {}
        return {"ran": [*ran, "semantic"], **pending, "model": nearest.model, **changing, **do}
    return {"ran": ran, "missing": nearest.missing, **do}


def _to_search_hit(
    item: Item, ranked: RankedItem, query: tuple[Term, ...], place: Passage | None, best: float
) -> SearchHit:
    body = item.search_text()[1]
    share = ranked.score / best if best else 1.0
    chars = round(SNIPPET_CHARS * share**2) if share >= MIN_SNIPPET_SHARE else 0
    if place is not None and "semantic" in ranked.why:
        body = _choose_passage(body, place, query)
    return SearchHit(
        id=item.id,
        kind=item.KIND,
        title=item.label,
        snippet=extract_snippet(body, query, chars=chars, check=read_limit.check_limit) if chars else "",
        project=getattr(item, "project", None),
        why=ranked.why,
        score=round(ranked.score, 3),
        updated_at=item.updated_at,
    )


def _choose_passage(body: str, place: Passage, query: tuple[Term, ...]) -> str:
    """Return the nearest passage, unless the query's words occur only elsewhere in the text."""
    near = body[place.begins : place.ends]
    return near if contains(near, query) or not contains(body, query, read_limit.check_limit) else body
