"""Embeds changed items: splits them into passages, embeds these in a thread, and stores vectors and the read position.

It works one step ahead: while the model embeds the texts of the next step, those of this one are stored.
"""

import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from panorama.index.points import in_batches
from panorama.ports import Embedder
from panorama.services.base import Service, ServiceContext
from panorama.services.search.callbacks import OnEmbedded, ShouldStop
from panorama.services.search.chunk_batches import ChunkBatch, chunk_changes
from panorama.store.backend import Session
from panorama.store.items import passages
from panorama.store.items.passages import INDEXER, ItemScope
from panorama.store.log import marks
from panorama.thread_priority import lower_thread_priority

CHANGES_PER_STEP = 512
"""Changes read in one step."""

TEXTS_PER_STEP = 2000
"""A step ends with the item that reaches this many texts to embed."""

TEXTS_PER_REEMBED_STEP = 256
"""The same for a step that splits everything again: few of its texts are new."""

SAVE_INTERVAL_SECONDS = 1.0
"""The longest time between writes of vectors, which limits the loss in a crash."""

Vectors = dict[str, bytes]
"""Vectors by the digests of their texts."""


@dataclass(slots=True)
class _Step:
    """A step: split items from a change and a purge count on, and the pending vectors of their texts."""

    begun_at: int
    purges: int
    cut: ChunkBatch
    coming: list[Future[Vectors]]
    is_over: bool = False


class EmbeddingPipeline(Service):
    """Embeds step by step with one model until it is closed; `stop` is checked between two batches.

    Args:
        name: The stored name of the model's vectors.
        report: Called with the number of embedded texts after each batch.
    """

    def __init__(
        self, context: ServiceContext, embedder: Embedder, name: str, stop: ShouldStop, report: OnEmbedded
    ) -> None:
        super().__init__(context)
        self._embedder = embedder
        self._name = name
        self._stop = stop
        self._report = report
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="embedding", initializer=lower_thread_priority)
        self._ahead: _Step | None = None

    def embed_next(self, *, ahead: bool = True) -> bool:
        """Split and embed the next changed items; return whether there were any.

        Args:
            ahead: Also start the next step.

        Raises:
            UnavailableError: The model fails; finished vectors are stored.
        """
        name = mark_name(self._name)
        with self._reading() as session:
            mark = marks.get_mark(session, name)
        step = self._take_prefetched(mark) or self._start_step(mark)
        if step is None:
            return False
        try:
            self._ahead = self._start_step(step.cut.last, step.cut.texts) if ahead else None
        except BaseException:
            self._cancel_step(step)
            raise
        return self._finish_step(step, name)

    def reembed_next(self, name: str, part: ItemScope) -> ChunkBatch | None:
        """Split the next items of a scope again and embed new texts; return None at the end.

        Args:
            name: The mark of the position: the change that created the last item.

        Raises:
            UnavailableError: The model fails; finished vectors are stored.
        """
        with self._reading() as session:
            mark = marks.get_mark(session, name)
            changes = passages.list_changes(session, mark, CHANGES_PER_STEP, created=True, part=part)
            if not changes:
                return None
            cut = chunk_changes(session, changes, TEXTS_PER_REEMBED_STEP)
            step = self._build_step(session, mark, cut)
        self._finish_step(step, name)
        return cut

    def close(self) -> None:
        """Discard the step read ahead; finished vectors are stored."""
        try:
            if self._ahead is not None:
                self._cancel_step(self._ahead)
        finally:
            self._ahead = None
            self._aside.shutdown(cancel_futures=True)

    def _take_prefetched(self, mark: int) -> _Step | None:
        """Return the step read ahead if it starts at the mark, which another process may have moved."""
        step, self._ahead = self._ahead, None
        if step is not None and step.begun_at != mark:
            self._cancel_step(step)
            return None
        return step

    def _start_step(self, mark: int, awaited: Collection[str] = ()) -> _Step | None:
        """Split the items changed after one change and start embedding them; return None at the end.

        Args:
            awaited: Digests of texts that are already being embedded.
        """
        with self._reading() as session:
            changes = passages.list_changes(session, mark, CHANGES_PER_STEP)
            return (
                self._build_step(session, mark, chunk_changes(session, changes, TEXTS_PER_STEP), awaited)
                if changes
                else None
            )

    def _build_step(self, session: Session, mark: int, cut: ChunkBatch, awaited: Collection[str] = ()) -> _Step:
        known = passages.list_known_digests(session, self._name, list(cut.texts))
        fresh = [(name, text) for name, text in cut.texts.items() if name not in known and name not in awaited]
        if fresh:
            self._embedder.load()  # not with low priority: searches wait for it too
        step = _Step(mark, marks.count_purges(session), cut, [])
        step.coming = [self._aside.submit(self._embed, step, few) for few in in_batches(fresh, self._embedder.batch)]
        return step

    def _embed(self, step: _Step, texts: Sequence[tuple[str, str]]) -> Vectors:
        if step.is_over:
            return {}
        try:
            vectors = self._embedder.embed_documents([text for _, text in texts])
        except BaseException:
            step.is_over = True
            raise
        halved = vectors.astype("<f2")  # half the space, without changing the ranking
        return {name: halved[at].tobytes() for at, (name, _) in enumerate(texts)}

    def _finish_step(self, step: _Step, mark: str) -> bool:
        """Wait for the vectors of a step and store them with the mark; return False if it was stopped."""
        vectors, kept_at = Vectors(), time.monotonic()
        is_whole = False
        try:
            for coming in step.coming:
                if self._stop():
                    return False
                batch = coming.result()
                vectors |= batch
                self._report(len(batch))
                if time.monotonic() - kept_at >= SAVE_INTERVAL_SECONDS:
                    self._save_vectors(vectors)
                    vectors, kept_at = {}, time.monotonic()
            is_whole = True
        finally:  # also the vectors made before a failure or a stop
            if not is_whole:
                self._cancel_step(step)
        self._save_step(step, vectors, mark)
        return True

    def _save_step(self, step: _Step, vectors: Vectors, mark: str) -> None:
        cut = step.cut
        with self._context.database.transaction(INDEXER) as session:
            passages.save_vectors(session, self._name, vectors)
            if passages.has_missing(session, self._name, [name for name in cut.texts if name not in vectors]):
                return  # unused vectors were deleted meanwhile; the next round creates them again
            if marks.count_purges(session) != step.purges:
                return  # some items may have been purged; the next round splits them again
            since = passages.filter_changed(
                session, cut.seen, list(cut.passages)
            )  # another process may have done these
            passages.replace(session, {item: batch for item, batch in cut.passages.items() if item not in since})
            marks.set_mark(session, mark, max(cut.last, marks.get_mark(session, mark)))
            self._context.database.announce("vectors")

    def _cancel_step(self, step: _Step) -> None:
        """Stop embedding a step, and store its finished vectors."""
        step.is_over = True
        waiting = [coming for coming in step.coming if not coming.cancel()]
        wait(waiting)
        vectors = Vectors()
        for coming in waiting:
            if not coming.exception():
                vectors |= coming.result()
        self._save_vectors(vectors)

    def _save_vectors(self, vectors: Vectors) -> None:
        if vectors:
            with self._context.database.transaction(INDEXER) as session:
                passages.save_vectors(session, self._name, vectors)


def mark_name(name: str) -> str:
    """Return the name of a model's mark."""
    return f"passages {name}"
