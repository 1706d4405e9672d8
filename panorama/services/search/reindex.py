"""Reindexing: brings search by meaning up to date in the foreground; resumes after a stop."""

import time
from collections.abc import Callable
from typing import Literal, Protocol

from panorama.domain.items.item import Kind
from panorama.domain.items.references import ProjectRef
from panorama.domain.text.sizes import format_span
from panorama.errors import UnavailableError
from panorama.index.points import in_batches
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.jobs.progress import Progress, report_progress
from panorama.services.search.index_sync import IndexSync
from panorama.services.search.results import ReindexResult
from panorama.services.search.semantic import SemanticSearch
from panorama.store.items import passages
from panorama.store.items.passages import ALL_ITEMS, INDEXER, ItemScope
from panorama.store.log import marks

Scope = Literal["changes", "index", "everything"]

REPORT_INTERVAL_SECONDS = 0.25
"""The interval of progress reports."""

INDEX_STEPS = 1
"""The share of the progress for updating the index after the items are embedded."""

WAIT_SECONDS = 0.5
"""How often it looks how far another daemon is that embeds the changes."""

DELETE_BATCH = 500
"""Unused vectors deleted in one step; others can write in between."""


class ReindexService(Service):
    """Rebuilds search by meaning."""

    def __init__(self, context: ServiceContext, meaning: SemanticSearch, progress: Progress = report_progress) -> None:
        super().__init__(context)
        self._meaning = meaning
        self._progress = progress

    def plan_reindex(self, **_: object) -> Plan:
        """Check the arguments before the job starts.

        Raises:
            UnavailableError: Search by meaning is off.
        """
        if self._meaning.is_off:
            self._meaning.ensure_open()
        return Plan()

    def reindex(self, scope: Scope = "changes", project: ProjectRef = "", kind: Kind | None = None) -> ReindexResult:
        """Update search by meaning now instead of in the background; keyword search needs no update.

        It runs until everything is done and reports its progress. Search works as before meanwhile. If it is stopped,
        the next call continues; texts that are already embedded are not embedded again.

        Args:
            scope: `changes` embeds pending changes; `index` also rebuilds the index from the stored vectors;
                `everything` first splits every item again, and deletes vectors that no item needs.
            project: Split the items of one project again, and rebuild the index.
            kind: The same for the items of one kind.

        Raises:
            UnavailableError: The model or the index is out of order, or search by meaning is off.
        """
        indexing = self._meaning.ensure_open().chosen.indexing
        watch = ReindexProgress(self._report, indexing)
        part = ItemScope(kind or "", project)
        is_part = part != ALL_ITEMS
        cuts_anew = scope == "everything" or is_part
        self._catch_up(indexing, watch, self._count_items(part) if cuts_anew else 0)
        if cuts_anew:
            self._rechunk(indexing, watch, part)
        watch.start_phase(INDEX_STEPS)
        if scope != "changes" or is_part:
            watch.set_message("the index is built")
            indexing.rebuild(counted=watch.add_built_points)
        if scope == "everything":
            self._delete_unused_vectors(watch)
        self._meaning.follow()
        watch.finish()
        with self._reading() as session:
            count = passages.count(session)
        return ReindexResult(
            scope=scope, model=indexing.model.id, passages=count, embedded=watch.embedded_texts, items=watch.done,
            resumed_at=watch.resumed_at, seconds=round(watch.elapsed_seconds, 1),
        )  # fmt: skip

    def _report(self, current: int, total: int, message: str) -> None:
        if self._meaning.is_leaving:
            raise UnavailableError("Panorama is restarting; finished work is kept.", hint="Run it again to continue.")
        self._progress(current, total, message)

    def _count_items(self, part: ItemScope, mark: str = "") -> int:
        """Count the items of a scope after a mark."""
        with self._reading() as session:
            return passages.count_created(session, marks.get_mark(session, mark), part)

    def _rechunk(self, indexing: IndexSync, watch: "ReindexProgress", part: ItemScope) -> None:
        mark = " ".join(filter(None, (f"anew {indexing.name}", part.kind, part.project)))
        total = self._count_items(part)
        watch.resumed_at = total - self._count_items(part, mark)
        watch.start_phase(total, watch.resumed_at, later=INDEX_STEPS)
        while cut := indexing.reembed_next(mark, watch.report_embedded, part):
            watch.advance(len(cut.passages))
        with self._context.database.transaction(INDEXER) as session:
            marks.clear_mark(session, mark)

    def _catch_up(self, indexing: IndexSync, watch: "ReindexProgress", later: int) -> None:
        waiting = indexing.measure_lag().unread
        watch.start_phase(waiting, later=later + INDEX_STEPS)

        def report_step() -> None:  # also while the background thread works: its mark shows the progress
            nonlocal waiting
            left = indexing.measure_lag().unread
            watch.advance(max(0, waiting - left))
            waiting = left

        self._meaning.catch_up(report=watch.report_embedded, moved=report_step)
        report_step()
        while waiting and not indexing.embeds:  # another daemon embeds
            time.sleep(WAIT_SECONDS)
            report_step()

    def _delete_unused_vectors(self, watch: "ReindexProgress") -> None:
        with self._reading() as session:
            unused = passages.list_unused_vectors(session)
        for batch in in_batches(unused, DELETE_BATCH):
            watch.set_message("deleting unused vectors")
            with self._context.database.transaction(INDEXER) as session:
                passages.delete_vectors(session, batch)


class EmbeddingCounter(Protocol):
    """The sync that embeds, shared with others."""

    embedded: int
    """The number of embedded texts so far."""


class ReindexProgress:
    """Progress and speed, reported a few times a second."""

    def __init__(
        self, progress: Progress, embedding: EmbeddingCounter, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._progress = progress
        self._embedding = embedding
        self._before = embedding.embedded
        self._clock = clock
        self._begun = self._phase_begun = self._moved = clock()
        self._reported_at = 0.0
        self._total = self._end = self._at = self._first = 0
        self.done = self.resumed_at = self._points = 0

    @property
    def elapsed_seconds(self) -> float:
        """How long it has been running."""
        return self._clock() - self._begun

    @property
    def embedded_texts(self) -> int:
        """The number of texts embedded meanwhile, here or in the background."""
        return self._embedding.embedded - self._before

    def start_phase(self, total: int, at: int = 0, later: int = 0) -> None:
        """Start a phase with more items, some of which are done, and some of which follow it."""
        self._first = self._at = self._end + at
        self._end += total
        self._total = self._end + later
        self._phase_begun = self._moved = self._clock()
        self._report(self._format_rate(), at_once=True)

    def advance(self, count: int) -> None:
        """Count finished items."""
        self._at = min(self._end, self._at + count)
        self.done += count
        self._moved = self._clock() if count else self._moved
        self._report(self._format_rate())

    def report_embedded(self, _: int) -> None:
        """Report embedded texts, or that another thread works."""
        self._report(self._format_rate())

    def finish(self) -> None:
        """Report completion."""
        self._at = self._end
        self._report("search by meaning is up to date", at_once=True)

    def add_built_points(self, count: int) -> None:
        """Count points added to the index."""
        self._points += count
        self._report(f"the index is built: {self._points:,} passages")

    def set_message(self, what: str) -> None:
        """Report the current step."""
        self._report(what, at_once=True)

    def _format_rate(self) -> str:
        since, done = self._moved - self._phase_begun, self._at - self._first
        texts = self.embedded_texts
        rate = f"{texts:,} texts embedded" + (f", {texts / self.elapsed_seconds:,.0f} a second" if texts else "")
        left = since / done * (self._end - self._at) - (self._clock() - self._moved) if done else 0.0
        return f"{rate}, {format_span(left)} left" if left >= 1 else rate

    def _report(self, what: str, *, at_once: bool = False) -> None:
        if at_once or self._clock() - self._reported_at >= REPORT_INTERVAL_SECONDS:
            self._reported_at = self._clock()
            self._progress(self._at, self._total, what)
