"""Reading: cuts what changed into passages, has these embedded aside, and keeps them with how far that has come.

One step ahead: while the model works on the texts of the next step, those of this one are kept.
"""

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from panorama.index.points import in_batches
from panorama.ports import Embedder
from panorama.services.base import Service, ServiceContext
from panorama.services.search.chunk_batches import ChunkBatch, chunk_changes
from panorama.store.backend import Session
from panorama.store.items import passages
from panorama.store.items.passages import INDEXER, ItemScope
from panorama.thread_priority import lower_thread_priority

CHANGES_PER_STEP = 512
"""Changes that are looked at in one step."""

TEXTS_PER_STEP = 2000
"""A step ends with the item that reaches so many texts to embed."""

TEXTS_PER_REEMBED_STEP = 256
"""The same for a step in which everything is cut anew: few of its texts are not known."""

SAVE_INTERVAL_SECONDS = 1.0
"""How often vectors are written at least: a crash costs no more than were made in that time."""

ShouldStop = Callable[[], bool]
OnEmbedded = Callable[[int], None]

Vectors = dict[str, bytes]
"""Vectors by the digests of their texts."""


@dataclass(slots=True)
class _Step:
    """Items that were cut, beginning after a change and so many purges, and the vectors being made of their texts."""

    begun_at: int
    purges: int
    cut: ChunkBatch
    coming: list[Future[Vectors]]
    is_over: bool = False


class EmbeddingPipeline(Service):
    """Reads step by step with one model, until it is closed; `stop` is asked between two batches of texts.

    Args:
        name: Under what the model's vectors are kept.
        told: Is called with the number of texts that were embedded, after each batch.
    """

    def __init__(
        self, context: ServiceContext, embedder: Embedder, name: str, stop: ShouldStop, report: OnEmbedded
    ) -> None:
        super().__init__(context)
        self._embedder = embedder
        self._name = name
        self._stop = stop
        self._told = report
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="embedding", initializer=lower_thread_priority)
        self._ahead: _Step | None = None

    def embed_next(self, *, ahead: bool = True) -> bool:
        """Cut and embed what the next changes touched; return whether there was anything.

        Args:
            ahead: Begin the step after it too.

        Raises:
            UnavailableError: The model is out of order; the vectors that were made are kept.
        """
        name = mark_name(self._name)
        with self._reading() as session:
            mark = passages.get_mark(session, name)
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
        """Cut the next items of a part again, and embed what is not known; None if there are no more.

        Args:
            name: Where it is kept how far this has come: the change with which the last item began.

        Raises:
            UnavailableError: The model is out of order; the vectors that were made are kept.
        """
        with self._reading() as session:
            mark = passages.get_mark(session, name)
            changes = passages.list_changes(session, mark, CHANGES_PER_STEP, created=True, part=part)
            if not changes:
                return None
            cut = chunk_changes(session, changes, TEXTS_PER_REEMBED_STEP)
            step = self._build_step(session, mark, cut)
        self._finish_step(step, name)
        return cut

    def close(self) -> None:
        """Give up what was read ahead; vectors that were made are kept."""
        try:
            if self._ahead is not None:
                self._cancel_step(self._ahead)
        finally:
            self._ahead = None
            self._aside.shutdown(cancel_futures=True)

    def _take_prefetched(self, mark: int) -> _Step | None:
        """Return the step that was read ahead, if it begins where the mark is: somebody else may have moved it."""
        step, self._ahead = self._ahead, None
        if step is not None and step.begun_at != mark:
            self._cancel_step(step)
            return None
        return step

    def _start_step(self, mark: int, awaited: Collection[str] = ()) -> _Step | None:
        """Cut what the changes after one touched, and have its texts embedded; None if there are no more.

        Args:
            awaited: Digests of texts that are being embedded already.
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
            self._embedder.load()  # not by what gives way below: who searches by meaning waits for it, too
        step = _Step(mark, passages.count_purges(session), cut, [])
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
        halved = vectors.astype("<f2")  # half the room; it costs no place in the order
        return {name: halved[at].tobytes() for at, (name, _) in enumerate(texts)}

    def _finish_step(self, step: _Step, mark: str) -> bool:
        """Wait for the vectors of a step, and keep all of it with a mark; return whether it was not stopped before."""
        vectors, kept_at = Vectors(), time.monotonic()
        is_whole = False
        try:
            for coming in step.coming:
                if self._stop():
                    return False
                batch = coming.result()
                vectors |= batch
                self._told(len(batch))
                if time.monotonic() - kept_at >= SAVE_INTERVAL_SECONDS:
                    self._save_vectors(vectors)
                    vectors, kept_at = {}, time.monotonic()
            is_whole = True
        finally:  # also what was made before the model failed, or somebody stopped it
            if not is_whole:
                self._cancel_step(step)
        self._save_step(step, vectors, mark)
        return True

    def _save_step(self, step: _Step, vectors: Vectors, mark: str) -> None:
        cut = step.cut
        with self._context.database.transaction(INDEXER) as session:
            passages.save_vectors(session, self._name, vectors)
            if passages.has_missing(session, self._name, [name for name in cut.texts if name not in vectors]):
                return  # somebody forgot what nobody seemed to need: the next reading makes it again
            if passages.count_purges(session) != step.purges:
                return  # of what was cut some may be forgotten for good: the next reading cuts it again
            since = passages.filter_changed(
                session, cut.seen, list(cut.passages)
            )  # another process may have read those
            passages.replace(session, {item: batch for item, batch in cut.passages.items() if item not in since})
            passages.set_mark(session, mark, max(cut.last, passages.get_mark(session, mark)))

    def _cancel_step(self, step: _Step) -> None:
        """Have nothing more of a step embedded, and keep what was."""
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
    """Return the mark of who reads with the model of a name."""
    return f"passages {name}"
