"""Search: finds anything by its words and by what it means, in one order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from panorama.domain import ranking, times
from panorama.domain.items import KINDS, Item, Kind, as_kept, folded, ids_in, ids_surely_in, is_an_id, kind_of
from panorama.domain.ranking import Ranked
from panorama.domain.references import ItemRef, ProjectRef
from panorama.domain.results import Page, Slice
from panorama.domain.words import Term, holds, snippet
from panorama.errors import InvalidInputError
from panorama.index.points import NONE, Filter
from panorama.services import search_remarks as remarks
from panorama.services.base import Desk, Service
from panorama.services.meaning import Meaning
from panorama.services.nearest import Near, Nearest
from panorama.services.views import Found
from panorama.services.wording import QUERY_CHARS, mentioning, telling, worded
from panorama.store import names, passages, rows, search
from panorama.store.engine import Session
from panorama.store.passages import Passage
from panorama.store.search import Filters, Hit

Mode = Literal["hybrid", "keyword", "semantic"]
FARTHEST = 1000
"""How many hits may be paged through."""

DEPTH = 100
"""Hits of each arm that are fused; behind them come the other keyword hits as they are. So pages do not overlap."""

PASSAGES = 120
"""Passages that meaning is asked for: some items have several among the nearest."""

FLOORS = {"minilm": 0.15}
"""Cosines below which a model's hits are noise; of other models nobody measured it."""

DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was found, in order; the number of the passage by which meaning found an item; and what ran."""

    ranked: tuple[Ranked, ...]
    passages: Mapping[str, int]
    index: Mapping[str, Any]


class Search(Service):
    """Finds items of every kind."""

    def __init__(self, desk: Desk, meaning: Meaning) -> None:
        super().__init__(desk)
        self._meaning = meaning

    def search(
        self,
        query: str,
        page: Slice,
        kinds: tuple[Kind, ...] = (),
        project: ProjectRef | None = None,
        since: str = "",
        until: str = "",
        mode: Mode = "hybrid",
    ) -> Page[Found]:
        """Find anything by its words and its meaning: projects, tasks, notes, links, reminders, journal, files.

        Write what you look for as words or as a question; "quoted words" stand together, and a query of nothing else
        is not asked for its meaning. Misspelt words are repaired;
        the answer says so. For exact filters and counts use query.

        Args:
            since: First day of the last change.
            until: Last day of it.
            mode: keyword for words alone, semantic for meaning alone.
        """
        with self._reading() as session:
            wording = worded(session, query)
            if not wording.asked:
                hint = "The query has no letters or digits to look for."
                return Page((), (), 0, more=False, hint=hint, index={"ran": []})
            filters = self._filters(kinds, project, since, until)
            known = self._by_id(session, query, filters)
            unknown = _unknown(query, known)
            is_lost = bool(unknown) and not known
            if is_lost:
                wording = mentioning(session, unknown)
            is_literal = (
                mode == "keyword"
                or is_lost
                or _without_meaning(page)
                or (mode == "hybrid" and all(term.quoted for term in wording.terms))
            )
            asked = None if is_literal else self._meaning.asking(wording.query, PASSAGES, _filter(filters))
            # Words are looked for while meaning is asked, unless they may not be needed.
            hits = (
                None
                if mode == "semantic" and asked
                else search.hits(session, wording.asked, filters, wanted=_end(page))
            )
            nearest = asked() if asked else None
            alone = mode == "semantic" and nearest is not None and nearest.ran
            if hits is None and not alone:
                hits = search.hits(session, wording.asked, filters, wanted=_end(page))
            first = known or (() if alone else self._titled(session, query, filters))
            answer = self._fused(session, hits, nearest, filters, first)
            if known and is_an_id(query):
                answer = replace(answer, ranked=known)
            gone = remarks.joined("" if is_lost else remarks.gone(session, unknown), wording.hint)
            if is_lost:
                said = remarks.lost(session, unknown, query, hits or ())
            elif not answer.ranked:
                said = remarks.nothing(session, wording, hits, filters, mode)
            else:
                said = "" if first else remarks.partly(session, wording, hits, nearest)
            said = remarks.joined(gone, said, remarks.instead(nearest, mode))
            return self._page(session, page, answer, wording.terms, said)

    def similar(
        self, item: ItemRef, page: Slice, kinds: tuple[Kind, ...] = (), project: ProjectRef | None = None
    ) -> Page[Found]:
        """Find what is like one item in meaning: related notes, tasks on the same matter, duplicates.

        To find by words or a question use search.
        """
        with self._reading() as session:
            filters = self._filters(kinds, project, "", "")
            nearest = self._meaning.like(item, PASSAGES, _filter(filters))
            if nearest.ran and not _without_meaning(page):
                return self._page(session, page, self._fused(session, None, nearest, filters), (), "")
            told: Item = rows.load(session, kind_of(item) or "", item)
            asked = telling(session, *told.words())
            found = search.hits(session, asked, filters, wanted=_end(page) + 1)
            answer = self._fused(session, [hit for hit in found if hit.item != item], nearest, filters)
            hint = f"These share telling words with it. {nearest.missing} {nearest.hint}".strip()
            return self._page(session, page, answer, tuple(each.term for each in asked), hint)

    def _fused(
        self,
        session: Session,
        hits: Sequence[Hit] | None,
        nearest: Nearest | None,
        filters: Filters,
        first: tuple[Ranked, ...] = (),
    ) -> _Answer:
        """Join what was named with the first hundred of both arms by their worth, then the other keyword hits."""
        near = _nearby(nearest)
        least = ranking.TAIL * max((hit.coverage for hit in hits or ()), default=0.0)
        kept = [hit for hit in hits or () if hit.coverage >= least]
        keyword, rest = kept[:DEPTH], kept[DEPTH:]
        alive = search.living(session, list({*near, *(hit.item for hit in keyword)}), filters)
        now = self._now()
        fused = ranking.fused(
            {
                "keyword": [(hit.item, ranking.certainty(hit.coverage)) for hit in keyword],
                "semantic": [(item, 1.0) for item in near if item in alive][:DEPTH],
            },
            {item: (now - at).total_seconds() / DAY_SECONDS for item, at in alive.items()},
        )
        best = {item: each.position for item, each in near.items()}
        return _Answer(_named_first(first, fused, rest), best, _index(hits, nearest))

    def _titled(self, session: Session, query: str, filters: Filters) -> tuple[Ranked, ...]:
        """Items whose whole title is the query."""
        named = names.exact(session, filters.kinds, folded(query))
        alive = search.living(session, [id_ for _, id_, _ in named], filters)
        return tuple(
            Ranked(item, 2.0, ("title",)) for item in sorted(alive, key=lambda item: (alive[item], item))[::-1]
        )

    def _by_id(self, session: Session, query: str, filters: Filters) -> tuple[Ranked, ...]:
        """Items whose id stands in the query."""
        ids = ids_in(query[:QUERY_CHARS])
        alive = search.living(session, ids, filters)
        return tuple(Ranked(item, 2.0, ("id",)) for item in ids if item in alive)

    def _filters(self, kinds: Sequence[Kind], project: str | None, since: str, until: str) -> Filters:
        zone, now = self._desk.zone, self._now()
        first = times.start_of(times.day(since, "since", now=now, zone=zone), zone) if since else None
        last = times.start_of(times.next_day(times.day(until, "until", now=now, zone=zone)), zone) if until else None
        if first and last and first >= last:
            raise InvalidInputError("since is later than until.", hint="Give the earlier day as since.")
        return Filters(kinds=kinds or KINDS, project=project or None, since=first, until=last)

    def _page(self, session: Session, page: Slice, answer: _Answer, terms: tuple[Term, ...], hint: str) -> Page[Found]:
        start = _start(page)
        if not 0 <= start < FARTHEST:
            return Page((), (), 0, more=False, index=answer.index)
        shown = answer.ranked[start : start + page.limit]
        items = search.loaded(session, [each.item for each in shown])
        chosen = [(each.item, answer.passages[each.item]) for each in shown if each.item in answer.passages]
        places = {place.item: place for place in passages.at(session, chosen).values()}
        found = tuple(
            _found(items[each.item], each, terms, places.get(each.item)) for each in shown if each.item in items
        )
        meant = int("semantic" in answer.index["ran"])
        keys = tuple((start + at + 1, meant) for at in range(len(found)))
        more = len(answer.ranked) > start + page.limit
        return Page(found, keys, None, more=more, hint=hint, index=answer.index)


def _unknown(query: str, known: Sequence[Ranked]) -> tuple[str, ...]:
    """What can be nothing but ids in a query, and belongs to no item that was found."""
    found = {each.item for each in known}
    return tuple(id_ for id_ in ids_surely_in(query[:QUERY_CHARS]) if as_kept(id_) not in found)


def _start(page: Slice) -> int:
    return (page.begins(int, int) or (0, 1))[0]


def _without_meaning(page: Slice) -> bool:
    """Whether the pages before were found without meaning: then all are, so that none repeats or leaves out a row."""
    return (page.begins(int, int) or (0, 1))[1] == 0


def _end(page: Slice) -> int:
    return min(max(0, _start(page)), FARTHEST) + page.limit + 1


def _filter(filters: Filters) -> Filter:
    every = len(filters.kinds) == len(KINDS)
    return Filter(
        kinds=() if every else tuple(kind for kind in KINDS if kind in filters.kinds),
        project=NONE if filters.project == "" else filters.project,
        since=filters.since,
        until=filters.until,
    )


def _nearby(nearest: Nearest | None) -> dict[str, Near]:
    """The nearest passage of each item, best first; what stands far behind the best is left out."""
    found: dict[str, Near] = {}
    if nearest is not None and nearest.hits:
        least = max(FLOORS.get(nearest.model, 0.0), ranking.TAIL * nearest.hits[0].score)
        for near in nearest.hits:
            if near.score >= least:
                found.setdefault(near.item, near)
    return found


def _named_first(named: tuple[Ranked, ...], fused: tuple[Ranked, ...], rest: Sequence[Hit]) -> tuple[Ranked, ...]:
    found = {each.item: each for each in named}
    for each in fused:
        known = found.get(each.item)
        found[each.item] = replace(known, why=(*known.why, *each.why)) if known else each
    for hit in rest:
        found.setdefault(hit.item, Ranked(hit.item, 0.0, ("keyword",)))
    return tuple(found.values())


def _index(hits: Sequence[Hit] | None, nearest: Nearest | None) -> Mapping[str, Any]:
    """What ran, how many changes meaning has not heard of, and what to do if it did not run."""
    ran = [] if hits is None else ["keyword"]
    if nearest is None:
        return {"ran": ran}
    if nearest.ran:
        pending = {"pending": nearest.pending} if nearest.pending else {}
        return {"ran": [*ran, "semantic"], **pending, "model": nearest.model}
    do = {"do": nearest.hint} if nearest.hint else {}
    return {"ran": ran, "missing": nearest.missing, **do}


def _found(item: Item, ranked: Ranked, query: tuple[Term, ...], place: Passage | None) -> Found:
    body = item.words()[1]
    if place is not None and "semantic" in ranked.why:
        body = _passage(body, place, query)
    return Found(
        id=item.id,
        kind=item.KIND,
        title=item.label,
        snippet=snippet(body, query),
        project=getattr(item, "project", None),
        why=ranked.why,
        score=round(ranked.score, 3),
        updated_at=item.updated_at,
    )


def _passage(body: str, place: Passage, query: tuple[Term, ...]) -> str:
    """The passage that is near, unless words of the query stand elsewhere in the text alone."""
    near = body[place.begins : place.ends]
    return near if holds(near, query) or not holds(body, query) else body
