"""Indexing: makes the index of meanings hold what the store holds now, in steps that may each be repeated.

First the passages of what changed are cut and embedded, and kept in the database; then the mark of how far that has
come moves. Then the index is told of them; its own mark moves once it has written them to the disk. So a crash at any
point costs only the repetition of a step, and a lost index is built from vectors that are there.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from panorama.domain.items.item import KINDS
from panorama.errors import UnavailableError
from panorama.index.points import Filter, Hit, Model, Point, in_batches
from panorama.ports import Embedder, Index
from panorama.services.base import Service, ServiceContext
from panorama.services.search.chunk_batches import ChunkBatch, collect_items
from panorama.services.search.embedding_pipeline import (
    CHANGES_PER_STEP,
    EmbeddingPipeline,
    OnEmbedded,
    ShouldStop,
    mark_name,
)
from panorama.services.search.points import float16_to_float32, load_points, to_float32_bytes, to_points
from panorama.store.items import passages
from panorama.store.items.passages import ALL_ITEMS, INDEXER, START, EmbeddedPassage, ItemScope

REBUILD_THRESHOLD = 2000
"""With more passages to be told at once, the index is built anew beside the one that is searched."""

SYNC_INTERVAL_SECONDS, SYNC_INTERVAL_FACTOR = 10.0, 5
"""While much is read, the index is told of it after so many seconds, and five times as long as that took."""

SAMPLE_SIZE, SELF_SCORE = 32, 0.99
"""How many vectors are looked for to see that they are there, and the cosine from which on one has found itself."""

STOP_POLL_SECONDS, YIELD_SECONDS = 0.1, 0.005
"""How often who waits for its turn looks whether it should stop; how long it is let in between two steps of others."""

StepCallback = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Lag:
    """How far the index is behind: changes whose passages are not embedded, and changes that it has not heard of."""

    unread: int
    unheard: int


@dataclass(slots=True)
class _SyncBatch:
    """What the index is told: up to which change, after how many purges, and what is no more."""

    last: int = 0
    purges: int = 0
    gone: list[str] = field(default_factory=list[str])


def never_stop() -> bool:
    """Go on."""
    return False


def ignore_count(_: int) -> None:
    """Tell nobody how much was embedded."""


def ignore_step() -> None:
    """Tell nobody that changes were read."""


class IndexSync(Service):
    """Follows the changes with one model and one index; `stop` is asked between two batches."""

    def __init__(self, context: ServiceContext, embedder: Embedder, index: Index) -> None:
        super().__init__(context)
        self._embedder = embedder
        self._index = index
        self._turn = threading.RLock()
        self._waiting = 0
        self._heard_as = self._begun_as = ""
        self._takes_over = False
        self.is_built = False
        """Whether the index was built here, so that there is no need to compare it."""
        self.embedded = 0
        """How many texts were embedded so far, by whoever had it done."""

    @property
    def model(self) -> Model:
        """The model that makes the vectors."""
        return Model(id=self._embedder.id, digest=self._embedder.digest, size=self._embedder.size)

    @cached_property
    def name(self) -> str:
        """Under what the model's vectors are kept."""
        return passages.model_name(self._embedder.id, self._embedder.digest)

    def catch_up(
        self, stop: ShouldStop = never_stop, report: OnEmbedded = ignore_count, moved: StepCallback = ignore_step
    ) -> None:
        """Bring passages, vectors and index up to the last change.

        Args:
            told: Is called with the number of texts that were embedded, after each batch.
            moved: Is called after each step in which changes were read.

        Raises:
            UnavailableError: The model or the index is out of order; all that was done stays.
        """
        with closing(self._open_pipeline(stop, report)) as reader:

            def embed_step() -> bool:
                return self._yield_and_embed(reader, stop, report, moved)

            if self.measure_lag().unread > REBUILD_THRESHOLD and self._is_ready():
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
        """Wait for whoever else is at work, and tell of nothing new meanwhile, so that who waits can be stopped."""
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
        """Return how far the index is behind."""
        heard_as = self._heard_as or self._listener_name
        with self._reading() as session:
            newest = passages.last_change_id(session)
            read = passages.get_mark(session, mark_name(self.name))
            # A purge may take out the last change, so that who read it is ahead of the newest.
            return Lag(max(0, newest - read), max(0, newest - min(read, passages.get_mark(session, heard_as))))

    def is_started(self) -> bool:
        """Return whether the index holds anything that it was told of."""
        if self._takes_over and self._index.model == self.model:  # it was swapped; its mark follows with the flush
            return True
        if self._heard_as and self._heard_as == self._begun_as:  # who reads may have begun before the mark was there
            return True
        with self._reading() as session:
            return passages.has_mark(session, self._heard_as or self._listener_name)

    def search_text(self, query: str, limit: int, condition: Filter) -> list[Hit]:
        """Return the passages that are nearest to a query in meaning, best first.

        Raises:
            UnavailableError: The model or the index is out of order.
        """
        hits = self._index.search(to_float32_bytes(self._embedder.embed_query(query)), limit, condition)
        if self._index.model != self.model:  # it was swapped meanwhile, and what was found means nothing
            raise UnavailableError("The index is changing to another model.", hint="Ask again in a moment.")
        return hits

    def search_vectors(self, vectors: Sequence[bytes], limit: int, condition: Filter) -> list[Hit]:
        """Return the passages that are nearest to any of some vectors as the database keeps them, best first.

        Raises:
            UnavailableError: The index is out of order.
        """
        best: dict[str, Hit] = {}
        for vector in float16_to_float32(vectors):
            for hit in self._index.search(vector, limit, condition):
                if hit.chunk not in best or best[hit.chunk].score < hit.score:
                    best[hit.chunk] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.chunk))[:limit]

    # The passages and their vectors.

    def embed_next(self, stop: ShouldStop = never_stop, report: OnEmbedded = ignore_count) -> bool:
        """Cut and embed what the next changes touched; return whether there was anything.

        Args:
            told: Is called with the number of texts that were embedded, after each batch.

        Raises:
            UnavailableError: The model is out of order; the vectors that were made are kept.
        """
        with closing(self._open_pipeline(stop, report)) as reader:
            return self._embed_locked(reader, report, ahead=False)

    def embed_all(
        self, stop: ShouldStop = never_stop, report: OnEmbedded = ignore_count, moved: StepCallback = ignore_step
    ) -> None:
        """Cut and embed what all changes touched, and tell the index of nothing.

        Args:
            told: Is called with the number of texts that were embedded, after each batch.
            moved: Is called after each step.

        Raises:
            UnavailableError: As of `read`.
        """
        with closing(self._open_pipeline(stop, report)) as reader:
            while self._yield_and_embed(reader, stop, report, moved):
                pass

    def reembed_next(self, mark: str, report: OnEmbedded, part: ItemScope = ALL_ITEMS) -> ChunkBatch | None:
        """Cut the next items of a part again, and embed what is not known; None if there are no more.

        Args:
            mark: Where it is kept how far this has come: the change with which the last item began.

        Raises:
            UnavailableError: The model is out of order; the vectors that were made are kept.
        """
        with self._hold_turn(report), closing(self._open_pipeline(never_stop, report)) as reader:
            return reader.reembed_next(mark, part)

    def _yield_and_embed(
        self, reader: EmbeddingPipeline, stop: ShouldStop, report: OnEmbedded, moved: StepCallback
    ) -> bool:
        """Read the next changes, after others that wait for their turn; return whether there were any."""
        if self._waiting:
            time.sleep(YIELD_SECONDS)
        has_read = not stop() and self._embed_locked(reader, report)
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
        self._heard_as = f"index {self._index.state().identity} {self.name}"
        return self._heard_as

    def sync_all(self, stop: ShouldStop = never_stop) -> None:
        """Tell the index of all that was read.

        Raises:
            UnavailableError: The index is out of order.
        """
        while not stop() and self.sync_next():
            pass

    def sync_next(self) -> bool:
        """Tell the index of the next changes that were read; return whether there were any.

        Raises:
            UnavailableError: The index is out of order.
        """
        with self._turn:
            self._is_ready()  # or it does not know which collection it has
            listener = self._listener_name
            with self._reading() as session:
                read, listener_mark = (
                    passages.get_mark(session, mark_name(self.name)),
                    passages.get_mark(session, listener),
                )
                builds = not passages.has_mark(session, listener) or passages.has_more_passages(
                    session, REBUILD_THRESHOLD, listener_mark, read
                )
                news = _SyncBatch(listener_mark, passages.count_purges(session))
            if builds:
                self.rebuild()
                return True
            points = self._next_points(news)
            if points is not None:
                self._write_points(listener, news, points)
            return points is not None

    def _next_points(self, news: _SyncBatch) -> list[Point] | None:
        """Return the points of the next changes that were read, None if there are no more."""
        with self._reading() as session:
            changes = passages.list_changes(
                session, news.last, CHANGES_PER_STEP, until=passages.get_mark(session, mark_name(self.name))
            )
            items = collect_items(changes)
            points = load_points(session, self.name, items)
            deleted = passages.list_deleted_chunks(session, [id_ for _, id_ in items])
        living = {point.chunk for point in points}  # of those that went a step ago, some may be back
        news.gone = [*(chunk for chunk in news.gone if chunk not in living), *deleted]
        if not changes:
            return None
        news.last = changes[-1][0]
        return points

    def _write_points(self, listener: str, news: _SyncBatch, points: Sequence[Point]) -> None:
        for chunk_ids in in_batches(news.gone):
            self._index.delete(chunk_ids)
        for batch in in_batches(points):
            self._index.upsert(batch)
        self._index.flush()
        with self._context.database.transaction(INDEXER) as session:
            if (
                passages.count_purges(session) == news.purges
            ):  # else it may hold what was forgotten since, and begins anew
                passages.set_mark(session, listener, news.last)
        self._begun_as = listener

    def _is_ready(self) -> bool:
        """Return whether the index can be told of anything; a server that was not asked yet does not know."""
        if self._index.state().status == "starting":
            with suppress(UnavailableError):
                self._index.count()
        return self._index.state().status == "ready"

    def rebuild(self, reads: Callable[[], bool] = never_stop, counted: OnEmbedded = ignore_count) -> None:
        """Build the index anew from the vectors that are kept, beside the one that is searched.

        Args:
            counted: Is called with the number of points, a few hundred at a time; what it raises ends the building.
            reads: Reads the next changes, and tells whether there were any: for ten seconds it is called between two
                batches, so that the index is built of what is read while the model works on what comes next.

        Raises:
            UnavailableError: The index is out of order, or the model; the one before goes on.
        """
        with self._hold_turn(counted):
            self._takes_over = self._index.model != self.model or self.is_started()
            news = _SyncBatch()
            with closing(self._iter_all_points(news, reads)) as points:
                self._index.build(_report_points(points, counted), self.model)
            self._write_points(self._listener_name, news, [])
            self._takes_over, self.is_built = False, True

    def _iter_all_points(self, news: _SyncBatch, reads: Callable[[], bool]) -> Generator[Point]:
        with self._reading() as session:
            news.last, news.purges = passages.get_mark(session, mark_name(self.name)), passages.count_purges(session)
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
        """Return the next passages of a kind; what changes meanwhile is told once more, for it has a later number."""
        with self._reading() as session:
            return list(passages.list_embedded(session, self.name, kind, after=after))

    def is_consistent(self) -> bool:
        """Return whether the index holds just what it should, if it has heard of everything; else nothing is compared.

        Some vectors are looked for: a file of them that was damaged answers too, but with other things.

        Raises:
            UnavailableError: The index is out of order.
        """
        with self._turn:
            if self.measure_lag().unheard:
                return True
            with self._reading() as session:
                expected = _checksum(passages.iter_digests(session, self.name))
                sample = passages.sample_vectors(session, self.name, SAMPLE_SIZE)
            return expected == _checksum(self._index.iter_digests()) and all(map(self._can_find, sample))

    def _can_find(self, vector: bytes) -> bool:
        return not any(vector) or any(hit.score > SELF_SCORE for hit in self.search_vectors([vector], 1, Filter()))


def _report_points(points: Iterable[Point], report: OnEmbedded) -> Iterator[Point]:
    """Yield the points on, and tell of them batch by batch."""
    for batch in in_batches(points):
        report(len(batch))
        yield from batch


def _checksum(digests: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """Return the count of some passages and a sum over them that no order changes."""
    count, total = 0, 0
    for chunk, name in digests:
        count += 1
        total ^= int.from_bytes(blake2b(f"{chunk} {name}".encode(), digest_size=8).digest())
    return count, total
