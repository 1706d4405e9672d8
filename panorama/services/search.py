"""Search: finds anything by its words."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from panorama.domain import times
from panorama.domain.items import KINDS, Item, Kind, kind_of
from panorama.domain.references import ProjectRef
from panorama.domain.results import Page, Slice
from panorama.domain.words import Term, snippet, terms
from panorama.services.base import Service
from panorama.services.views import Found
from panorama.store import names, search
from panorama.store.engine import Session
from panorama.store.fulltext import Hit
from panorama.store.search import Filters

Mode = Literal["hybrid", "keyword", "semantic"]
RAN: Mapping[str, Any] = {"ran": ["keyword"]}
QUERY_CHARS = 1000
FARTHEST = 1000
"""How many hits may be paged through."""


class Search(Service):
    """Finds items of every kind."""

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
        """Find anything by its words: projects, tasks, notes, links, reminders, journal.

        Every word must occur, the last may be only begun; "quoted words" stand together. If nothing has them all,
        any word counts. For exact filters and counts use query.

        Args:
            since: First day of the last change.
            until: Last day of it.
            mode: Only keywords run in this version.
        """
        wanted = terms(query[:QUERY_CHARS])
        start = (page.begins(int) or (0,))[0]
        if not wanted or not 0 <= start < FARTHEST:
            hint = "" if wanted else "The query has no letters or digits to look for."
            return Page((), (), 0, more=False, hint=hint, index=RAN)
        with self._reading() as session:
            filters = self._filters(kinds, project, since, until)
            found, every = self._hits(session, query, wanted, filters, start + page.limit + 1)
            shown = found[start : start + page.limit]
            items = search.loaded(session, shown)
        rows = tuple(_found(items[hit.item], hit, wanted) for hit in shown if hit.item in items)
        keys = tuple((start + at + 1,) for at in range(len(rows)))
        hint = "" if every or not rows else "No item holds every word; these hold some of them."
        hint = "These are keyword hits: search by meaning is not part of this version." if mode == "semantic" else hint
        return Page(rows, keys, None, more=len(found) > start + page.limit, hint=hint, index=RAN)

    def _hits(
        self, session: Session, query: str, wanted: tuple[Term, ...], filters: Filters, count: int
    ) -> tuple[list[Hit], bool]:
        exact = self._named(session, query, filters)
        found = search.hits(session, wanted, filters, every=True, wanted=count)
        every = bool(found or exact)
        if not every and len(wanted) > 1:
            found = search.hits(session, wanted, filters, every=False, wanted=count)
        first = {hit.item for hit in exact}
        return [*exact, *(hit for hit in found if hit.item not in first)], every

    def _named(self, session: Session, query: str, filters: Filters) -> list[Hit]:
        """Items whose id the query is come first."""
        kind = kind_of(query.strip())
        if kind is None or kind not in filters.kinds:
            return []
        known = names.labels(session, [(kind, query.strip())])
        return [Hit(id_, kind, -100.0) for id_ in known]

    def _filters(self, kinds: Sequence[Kind], project: str | None, since: str, until: str) -> Filters:
        zone, now = self._desk.zone, self._now()
        first = times.start_of(times.day(since, "since", now=now, zone=zone), zone) if since else None
        last = times.start_of(times.next_day(times.day(until, "until", now=now, zone=zone)), zone) if until else None
        return Filters(kinds=kinds or KINDS, project=project or None, since=first, until=last)


def _found(item: Item, hit: Hit, query: tuple[Term, ...]) -> Found:
    return Found(
        id=item.id,
        kind=hit.kind,
        title=item.label,
        snippet=snippet(item.words()[1], query),
        project=getattr(item, "project", None),
        score=round(-hit.score, 2),
        updated_at=item.updated_at,
    )
