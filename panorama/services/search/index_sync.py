"""Keeps the vector index in sync with the store, in steps that can be repeated.

First changed items are split and embedded, and their passages and vectors are stored with the read mark. Then the
index is updated; its own mark moves once it has been flushed to disk. So a crash at any point only repeats a step, and
a lost index is rebuilt from the stored vectors.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property

from panorama.domain.items.item import KINDS
from panorama.errors import UnavailableError
from panorama.index.points import Filter, Hit, Model, Point, in_batches
from panorama.ports import Embedder, Index
from panorama.services.base import Service, ServiceContext
from panorama.services.search.callbacks import (
    OnEmbedded,
    ShouldStop,
    StepCallback,
    ignore_count,
    ignore_step,
    never_stop,
)
from panorama.services.search.chunk_batches import ChunkBatch, collect_items
from panorama.services.search.embedding_pipeline import CHANGES_PER_STEP, EmbeddingPipeline, mark_name
from panorama.services.search.points import checksum, float16_to_float32, load_points, to_float32_bytes, to_points
from panorama.store.backend.membership import embedding_duty
from panorama.store.items import passages
from panorama.store.items.passages import ALL_ITEMS, INDEXER, START, EmbeddedPassage, ItemScope
from panorama.store.log import marks

REBUILD_THRESHOLD = 2000
"""With more passages pending, a new index is built beside the one in use."""

SYNC_INTERVAL_SECONDS, SYNC_INTERVAL_FACTOR = 10.0, 5
"""During long embedding, the index is updated after this many seconds, and then after five times the last duration."""

SAMPLE_SIZE, SELF_SCORE = 32, 0.99
"""The size of the verification sample, and the cosine from which a vector counts as found."""

STOP_POLL_SECONDS, YIELD_SECONDS = 0.1, 0.005
"""How often a waiting thread checks for a stop, and how long it is let in between two steps of others."""


@dataclass(frozen=True, slots=True)
class Lag:
    """The lag of the index: changes not embedded yet, changes not in the index yet, and the last one in it."""

    unread: int
    unindexed: int
    last_indexed: int


@dataclass(slots=True)
class _SyncBatch:
    """An update of the index: the last change in it, the last embedded one, the purge count, and the removed chunks."""

    last: int = 0
    embedded: int = 0
    purges: int = 0
    gone: list[str] = field(default_factory=list[str])


class IndexSync(Service):
    """Syncs one index with one model; `stop` is checked between two batches."""

    def __init__(self, context: ServiceContext, embedder: Embedder, index: Index) -> None:
        super().__init__(context)
        self._embedder = embedder
        self._index = index
        self._turn = threading.RLock()
        self._waiting = 0
        self._listener = self._begun_as = ""
        self._takes_over = False
        self.is_built = False
        """Whether the index was built here and needs no verification."""
        self.embedded = 0
        """The number of texts embedded so far, by any caller."""

    @property
    def model(self) -> Model:
        """The model that makes the vectors."""
        return Model(id=self._embedder.id, digest=self._embedder.digest, size=self._embedder.size)

    @cached_property
    def name(self) -> str:
        """The stored name of the model's vectors."""
        return passages.model_name(self._embedder.id, self._embedder.digest)

    @property
    def embeds(self) -> bool:
        """Whether this process embeds changes; otherwise it indexes the vectors that another one stores."""
        return self._context.database.membership.holds(embedding_duty(self.name))

    def catch_up(
        self, stop: ShouldStop = never_stop, report: OnEmbedded = ignore_count, moved: StepCallback = ignore_step
    ) -> None:
        """Bring passages, vectors and index up to the last change.

        Args:
            report: Called with the number of embedded texts after each batch.
            moved: Called after each step in which changes were read.

        Raises:
            UnavailableError: The model or the index fails; finished work is kept.
        """
        with closing(self._open_pipeline(stop, report)) as reader:

            def embed_step() -> bool:
                return self._yield_and_embed(reader, stop, report, moved)

            if self.embeds and self.measure_lag().unread > REBUILD_THRESHOLD and self._is_ready():
                self.rebuild(embed_step)
            next_time = time.monotonic() + SYNC_INTERVAL_SECONDS
            while embed_step():
                if time.monotonic() > next_time:
                    started = time.monotonic()
                    self.sync_all(stop)
                    next_time = time.monotonic() + max(
                        SYNC_INTERVAL_SECONDS, SYNC_INTERVAL_FACTOR * (time.monotonic() - started)
                    )
        self.sync_all(stop)

    @contextmanager
    def _hold_turn(self, report: OnEmbedded) -> Generator[None]:
        """Wait for the other thread; report zero progress meanwhile, so that the wait can be cancelled."""
        self._waiting += 1
        try:
            while not self._turn.acquire(timeout=STOP_POLL_SECONDS):
                report(0)
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._turn.release()

    def measure_lag(self) -> Lag:
        """Return the lag of the index."""
        listener = self._listener or self._listener_name
        with self._reading() as session:
            newest = passages.last_change_id(session)
            positions = marks.get_marks(session, [mark_name(self.name), listener])
        embedded, indexed = positions.get(mark_name(self.name), 0), positions.get(listener, 0)
        # A purge may delete the last change, so that a reader is ahead of the newest.
        last = min(embedded, indexed)
        return Lag(max(0, newest - embedded), max(0, newest - last), last)

    def is_started(self) -> bool:
        """Return whether the index contains anything."""
        if self._takes_over and self._index.model == self.model:  # it was swapped; its mark is set at the next flush
            return True
        if self._listener and self._listener == self._begun_as:  # a reader may have started before the mark existed
            return True
        listener = self._listener or self._listener_name
        with self._reading() as session:
            has_begun = marks.has_mark(session, listener)
        self._begun_as = listener if has_begun else self._begun_as
        return has_begun

    def search_text(self, query: str, limit: int, condition: Filter) -> list[Hit]:
        """Return the passages closest in meaning to a query, best first.

        Raises:
            UnavailableError: The model or the index fails.
        """
        return self._search(to_float32_bytes(self._embedder.embed_query(query)), limit, condition)

    def search_passage(self, text: str, limit: int, condition: Filter) -> list[Hit]:
        """Return the passages closest in meaning to another passage, best first.

        Raises:
            UnavailableError: The model or the index fails.
        """
        return self._search(to_float32_bytes(self._embedder.embed_documents([text])[0]), limit, condition)

    def _search(self, vector: bytes, limit: int, condition: Filter) -> list[Hit]:
        hits = self._index.search(vector, limit, condition)
        if self._index.model != self.model:  # it was swapped meanwhile, so the results are invalid
            raise UnavailableError("The index is changing to another model.", hint="Ask again in a moment.")
        return hits

    def search_vectors(self, vectors: Sequence[bytes], limit: int, condition: Filter) -> list[Hit]:
        """Return the passages closest to any of some stored vectors, best first.

        Raises:
            UnavailableError: The index fails.
        """
        best: dict[str, Hit] = {}
        for vector in float16_to_float32(vectors):
            for hit in self._index.search(vector, limit, condition):
                if hit.chunk not in best or best[hit.chunk].score < hit.score:
                    best[hit.chunk] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.chunk))[:limit]

    # The passages and their vectors.

    def embed_next(self, stop: ShouldStop = never_stop, report: OnEmbedded = ignore_count) -> bool:
        """Split and embed the next changed items; return whether there were any.

        Args:
            report: Called with the number of embedded texts after each batch.

        Raises:
            UnavailableError: The model fails; finished vectors are stored.
        """
        with closing(self._open_pipeline(stop, report)) as reader:
            return self._embed_locked(reader, report, ahead=False)

    def embed_all(
        self, stop: ShouldStop = never_stop, report: OnEmbedded = ignore_count, moved: StepCallback = ignore_step
    ) -> None:
        """Split and embed all changed items, without updating the index.

        Args:
            report: Called with the number of embedded texts after each batch.
            moved: Called after each step.

        Raises:
            UnavailableError: As of `embed_next`.
        """
        with closing(self._open_pipeline(stop, report)) as reader:
            while self._yield_and_embed(reader, stop, report, moved):
                pass

    def reembed_next(self, mark: str, report: OnEmbedded, part: ItemScope = ALL_ITEMS) -> ChunkBatch | None:
        """Split the next items of a scope again and embed new texts; return None at the end.

        Args:
            mark: The mark of the position: the change that created the last item.

        Raises:
            UnavailableError: The model fails; finished vectors are stored.
        """
        with self._hold_turn(report), closing(self._open_pipeline(never_stop, report)) as reader:
            return reader.reembed_next(mark, part)

    def _yield_and_embed(
        self, reader: EmbeddingPipeline, stop: ShouldStop, report: OnEmbedded, moved: StepCallback
    ) -> bool:
        """Process the next changes, after other waiting threads; return whether there were any."""
        if self._waiting:
            time.sleep(YIELD_SECONDS)
        has_read = not stop() and self.embeds and self._embed_locked(reader, report)
        if has_read:
            moved()
        return has_read

    def _embed_locked(self, reader: EmbeddingPipeline, report: OnEmbedded, *, ahead: bool = True) -> bool:
        with self._hold_turn(report):
            return reader.embed_next(ahead=ahead)

    def _open_pipeline(self, stop: ShouldStop, report: OnEmbedded) -> EmbeddingPipeline:
        def on_embedded(count: int) -> None:
            self.embedded += count
            report(count)

        return EmbeddingPipeline(self._context, self._embedder, self.name, stop, on_embedded)

    # The index.

    @property
    def _listener_name(self) -> str:
        self._listener = f"index {self._index.state().identity} {self.name}"
        return self._listener

    def sync_all(self, stop: ShouldStop = never_stop) -> None:
        """Update the index with all embedded changes.

        Raises:
            UnavailableError: The index fails.
        """
        while not stop() and self.sync_next():
            pass

    def sync_next(self) -> bool:
        """Update the index with the next embedded changes; return whether there were any.

        Raises:
            UnavailableError: The index fails.
        """
        with self._turn:
            self._is_ready()  # otherwise it does not know its collection
            listener = self._listener_name
            with self._reading() as session:
                read, listener_mark = (
                    marks.get_mark(session, mark_name(self.name)),
                    marks.get_mark(session, listener),
                )
                builds = not marks.has_mark(session, listener) or passages.has_more_passages(
                    session, REBUILD_THRESHOLD, listener_mark, read
                )
                news = _SyncBatch(listener_mark, read, marks.count_purges(session))
            if builds:
                self.rebuild()
                return True
            points = self._next_points(news)
            if points is not None:
                self._write_points(listener, news, points)
            return points is not None

    def _next_points(self, news: _SyncBatch) -> list[Point] | None:
        """Return the points of the next embedded changes, None at the end."""
        with self._reading() as session:
            news.embedded = marks.get_mark(session, mark_name(self.name))
            changes = passages.list_changes(session, news.last, CHANGES_PER_STEP, until=news.embedded)
            items = collect_items(changes)
            points = load_points(session, self.name, items)
            deleted = passages.list_deleted_chunks(session, [id_ for _, id_ in items])
        living = {point.chunk for point in points}  # some chunks removed one step ago may exist again
        news.gone = [*(chunk for chunk in news.gone if chunk not in living), *deleted]
        if not changes:
            return None
        news.last = changes[-1][0]
        return points

    def _write_points(self, listener: str, news: _SyncBatch, points: Sequence[Point]) -> None:
        for chunk_ids in in_batches(news.gone):
            self._index.delete(chunk_ids, news.embedded)
        for batch in in_batches(points):
            self._index.upsert(batch, news.embedded)
        self._index.flush()
        with self._context.database.transaction(INDEXER) as session:
            if marks.count_purges(session) == news.purges:  # otherwise it may contain purged items, and is rebuilt
                marks.set_mark(session, listener, news.last)
        self._begun_as = listener

    def _is_ready(self) -> bool:
        """Return whether the index can be updated; False for a server not yet asked."""
        if self._index.state().status == "starting":
            with suppress(UnavailableError):
                self._index.count()
        return self._index.state().status == "ready"

    def rebuild(self, reads: Callable[[], bool] = never_stop, counted: OnEmbedded = ignore_count) -> None:
        """Rebuild the index from the stored vectors, beside the one in use.

        Args:
            counted: Called with numbers of points, a few hundred at a time; an exception ends the build.
            reads: Processes the next changes and returns whether there were any; called between two batches for ten
                seconds, so that the build includes new changes while the model works on the next ones.

        Raises:
            UnavailableError: The index or the model fails; the previous index stays in use.
        """
        with self._hold_turn(counted):
            self._takes_over = self._index.model != self.model or self.is_started()
            with self._reading() as session:
                start = marks.get_mark(session, mark_name(self.name))
                news = _SyncBatch(start, start, marks.count_purges(session))
            with closing(self._iter_all_points(news, reads)) as points:
                self._index.build(_report_points(points, counted), self.model, start)
            self._write_points(self._listener_name, news, [])
            self._takes_over, self.is_built = False, True

    def _iter_all_points(self, news: _SyncBatch, reads: Callable[[], bool]) -> Generator[Point]:
        for kind in KINDS:
            after = START
            while page := self._read_page(kind, after):
                yield from to_points(page)
                after = page[-1].item, page[-1].position
        end = time.monotonic() + SYNC_INTERVAL_SECONDS
        while time.monotonic() < end and not self._waiting and reads():
            while (points := self._next_points(news)) is not None:
                yield from points

    def _read_page(self, kind: str, after: tuple[str, int]) -> list[EmbeddedPassage]:
        """Return the next passages of a kind; later changes are synced again because of their higher numbers."""
        with self._reading() as session:
            return list(passages.list_embedded(session, self.name, kind, after=after))

    def is_consistent(self) -> bool:
        """Return whether the index has exactly the expected passages; nothing is compared while it lags.

        Also searches some vectors, because a damaged vector file returns wrong results.

        Raises:
            UnavailableError: The index fails.
        """
        with self._turn:
            if self.measure_lag().unindexed:
                return True
            with self._reading() as session:
                expected = checksum(passages.iter_digests(session, self.name))
                sample = passages.sample_vectors(session, self.name, SAMPLE_SIZE)
            return expected == checksum(self._index.iter_digests()) and all(map(self._can_find, sample))

    def _can_find(self, vector: bytes) -> bool:
        return not any(vector) or any(hit.score > SELF_SCORE for hit in self.search_vectors([vector], 1, Filter()))


def _report_points(points: Iterable[Point], report: OnEmbedded) -> Iterator[Point]:
    """Yield the points, and report them batch by batch."""
    for batch in in_batches(points):
        report(len(batch))
        yield from batch
