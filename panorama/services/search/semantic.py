"""Semantic search: answers at once, or says why it cannot.

A `SemanticIndex` holds an embedder and a vector index that follow the change log. The follower opens, maintains and
replaces it; searches use it as it is.
"""

import logging
import threading
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

from panorama.domain.text.chunks import split_chunks
from panorama.errors import PanoramaError, UnavailableError
from panorama.index.points import Filter, Hit, ModelMismatchError
from panorama.ports import Embedder
from panorama.services.base import Service, ServiceContext
from panorama.services.search.callbacks import (
    OnEmbedded,
    ShouldStop,
    StepCallback,
    ignore_count,
    ignore_step,
    never_stop,
)
from panorama.services.search.index_sync import STOP_POLL_SECONDS
from panorama.services.search.semantic_index import SemanticConfig, SemanticIndex, SemanticIndexLoader
from panorama.services.search.semantic_results import SemanticResult, explain_building, explain_late, to_semantic_hit
from panorama.store.items import passages

T = TypeVar("T")

HINT_TIMEOUT = timedelta(milliseconds=50)
"""How long a write waits for its near-duplicates."""

OPEN_TIMEOUT_SECONDS = 2.0
WORKERS = 4
SIMILAR_PASSAGES = 8
"""Passages of an item used to find similar ones."""

NEAR_DUPLICATE_CHARS = 400
"""Characters of a new item used to find near-duplicates: they are embedded in about 5 ms."""

NEAR_DUPLICATE_MAX_PENDING = 50
"""With more pending changes, near-duplicates are not reported."""

OFF_MESSAGE = "Search by meaning is off."
_log = logging.getLogger(__name__)


class SemanticSearch(Service):
    """Search by meaning, if available; searches never raise and never wait long."""

    def __init__(self, context: ServiceContext, means: SemanticConfig) -> None:
        super().__init__(context)
        self._means = means
        self._opened: SemanticIndex | None = None
        self._opening = threading.Lock()
        self._following = threading.Lock()
        self._builder = SemanticIndexLoader(context, means, self._record_failure)
        self._pool: ThreadPoolExecutor | None = None
        self._late: Future[list[Hit]] | None = None
        self._failure: UnavailableError | None = None
        self._failed_at: datetime | None = None
        self._mistrusts = self._is_outdated = False
        self._closed = self.is_leaving = self._is_attended = False

    @property
    def is_off(self) -> bool:
        """Whether the user turned it off."""
        return self._means.embedder == "none"

    # Searches.

    def search(self, query: str, limit: int, condition: Filter) -> SemanticResult:
        """Return the passages closest in meaning to a query."""
        return self.begin_search(query, limit, condition)()

    def begin_search(self, query: str, limit: int, condition: Filter) -> Callable[[], SemanticResult]:
        """Start a search for the passages closest in meaning to a query; return a function that waits for them.

        Keyword search can run meanwhile: most of the work is done in another process, or without the GIL.
        """
        return self._start_query(lambda opened: opened.active.indexing.search_text(query, limit, condition))

    def search_similar(self, item: str, limit: int, condition: Filter) -> SemanticResult:
        """Return the passages of other items closest to those of one item; needs no model."""

        def query_index(opened: SemanticIndex) -> list[Hit]:
            indexing = opened.active.indexing
            with self._reading() as session:
                vectors = passages.list_vectors(session, indexing.name, item, SIMILAR_PASSAGES)
            return [
                hit for hit in indexing.search_vectors(vectors, limit + SIMILAR_PASSAGES, condition) if hit.item != item
            ][:limit]

        return self._start_query(query_index)()

    def search_near_duplicates(self, title: str, body: str, condition: Filter) -> SemanticResult:
        """Return the nearest passages to a new item's beginning if the model is loaded; else nothing, at once."""
        opened = self._opened
        if opened is None or not opened.active.is_in_process or opened.active.resident.state.status != "ready":
            return SemanticResult(missing="The model is not loaded.")
        first = next(iter(split_chunks(title, body[: 2 * NEAR_DUPLICATE_CHARS])), None)
        if first is None or opened.active.indexing.measure_lag().unindexed > NEAR_DUPLICATE_MAX_PENDING:
            return SemanticResult(missing="There is nothing to compare.")
        text = first.text[:NEAR_DUPLICATE_CHARS]
        return self._start_query(
            lambda opened: opened.active.indexing.search_passage(text, SIMILAR_PASSAGES, condition), HINT_TIMEOUT
        )()

    def use_embedder(self, use: Callable[[Embedder], T]) -> T | None:
        """Use a shipped model if it is loaded; else return None at once."""
        opened = self._opened
        if opened is None or not opened.active.is_in_process or opened.active.resident.state.status != "ready":
            return None
        with suppress(UnavailableError), opened.active.resident.acquire() as embedder:
            return use(embedder)
        return None

    def use_embedder_in_thread(self, use: Callable[[Embedder], None]) -> None:
        """Use a shipped model in another thread, if it is loaded."""
        if self._opened is not None and not self._closed:
            self._pool = self._pool or ThreadPoolExecutor(WORKERS, thread_name_prefix="meaning")
            self._pool.submit(self.use_embedder, use)

    def _start_query(
        self, ask: Callable[[SemanticIndex], list[Hit]], patience: timedelta | None = None
    ) -> Callable[[], SemanticResult]:
        opened = self._opened
        if opened is None:
            return self._explain_missing
        side = opened.active
        try:
            if not side.indexing.is_started():
                return lambda: self._explain_building(opened)
            lag = side.indexing.measure_lag()
            asked = self._submit(lambda: _retry_on_swap(opened, ask))
        except LateError:
            return lambda: explain_late(side)
        end = time.monotonic() + (patience or opened.patience).total_seconds()

        def wait_for_result() -> SemanticResult:
            try:
                hits = self._wait_for_hits(asked, end)
            except LateError:
                return explain_late(side)
            except PanoramaError as error:
                self._is_outdated |= isinstance(error, ModelMismatchError)
                return SemanticResult(missing=error.message, hint=error.hint or "Ask again in a moment.")
            successor = opened.chosen.model.id if opened.is_changing else ""
            error = self._find_failure() if successor else None
            reason = " ".join(filter(None, (error.message, error.hint))) if error else ""
            return SemanticResult(
                hits=tuple(map(to_semantic_hit, hits)), pending=lag.unindexed, last_change=lag.last_indexed,
                model=opened.active.model.id, successor=successor, hint=reason,
            )  # fmt: skip

        return wait_for_result

    def _explain_missing(self) -> SemanticResult:
        if self.is_off:
            return SemanticResult(missing=OFF_MESSAGE, hint="`panorama models use default` turns it on.")
        if self._failure:
            return SemanticResult(missing=self._failure.message, hint=self._failure.hint)
        if not self._is_attended:  # a single command without a daemon: asking again does not help
            missing = "Search by meaning runs in the daemon, and none is running."
            return SemanticResult(missing=missing, hint="Use Panorama without PANORAMA_NO_DAEMON.")
        return SemanticResult(missing="Search by meaning is starting.", hint="Ask again in a moment.")

    def _explain_building(self, opened: SemanticIndex) -> SemanticResult:
        if error := self._find_failure():
            return SemanticResult(missing=error.message, hint=error.hint)
        return explain_building(opened)

    def _submit(self, ask: Callable[[], list[Hit]]) -> Future[list[Hit]]:
        """Run a search in another thread; while an earlier one is late, do not wait for another."""
        if self._late and not self._late.done():
            raise LateError
        self._pool = self._pool or ThreadPoolExecutor(WORKERS, thread_name_prefix="meaning")
        return self._pool.submit(ask)

    def _wait_for_hits(self, asked: Future[list[Hit]], end: float) -> list[Hit]:
        try:
            return asked.result(max(0.0, end - time.monotonic()))
        except LateError:
            self._late = asked
            raise

    # For the follower.

    @contextmanager
    def mark_running(self) -> Generator[None]:
        """Declare that a follower is active inside the block."""
        self._is_attended = True
        try:
            yield
        finally:
            self._is_attended = False

    def clear_served_model(self) -> None:
        """Pause because the user turned it off: no more texts are sent to a service."""
        self._builder.clear_served_model()

    def follow(
        self, stop: ShouldStop = never_stop, report: OnEmbedded = ignore_count, moved: StepCallback = ignore_step
    ) -> None:
        """Open the index if needed, and bring it up to the last change.

        Args:
            report: Called with the number of embedded texts after each batch.
            moved: Called after each step.

        Raises:
            PanoramaError: The model or the index fails; `status` then reports it.
        """
        if self.is_off or self._closed:
            return
        try:
            if self._is_outdated:
                self._reset()
            with self._hold_follow_lock(stop) as is_mine:
                if is_mine:
                    self._sync_and_verify(self.ensure_open(), stop, report, moved)
        except PanoramaError as error:
            self._record_failure(error)
            if isinstance(error, ModelMismatchError):
                self._reset()
            raise
        except Exception as error:  # a bug of ours or of a library, which `status` reports like any other failure
            message = f"Search by meaning failed unexpectedly ({type(error).__name__})."
            self._record_failure(
                UnavailableError(message, hint="It is tried again; `panorama doctor` shows where the log is.")
            )
            raise
        self._failure = None

    def _reset(self) -> None:
        """Query the service's model next time, because it changed under the same name."""
        self._mistrusts, self._is_outdated = True, False
        self._close_index()

    def _sync_and_verify(
        self, opened: SemanticIndex, stop: ShouldStop, report: OnEmbedded, moved: StepCallback
    ) -> None:
        self._catch_up(opened, stop, report, moved)
        if not stop() and not opened.is_checked:
            indexing = opened.chosen.indexing
            if opened.index.state().engine != "exact" and not indexing.is_built and not indexing.is_consistent():
                _log.warning("the index is inconsistent and is rebuilt")
                indexing.rebuild()
            self._builder.save_served_model(opened.chosen.model)
            opened.is_checked = True

    def _catch_up(self, opened: SemanticIndex, stop: ShouldStop, report: OnEmbedded, moved: StepCallback) -> None:
        def report_embedded(count: int) -> None:
            if count:  # the model works again
                self._failure = None
            report(count)

        was_changing = opened.before is not None
        opened.catch_up(stop, report_embedded, moved)
        if was_changing and opened.before is None:
            self._builder.save_served_model(opened.chosen.model)

    def catch_up(self, report: OnEmbedded, moved: StepCallback) -> None:
        """Bring the index up to the last change in the foreground; callbacks may raise to end it.

        Args:
            report: Called with the number of embedded texts after each batch.
            moved: Called after each step, and periodically while another thread works.

        Raises:
            PanoramaError: The model or the index fails.
        """

        def report_step() -> bool:
            moved()
            return False

        with self._hold_follow_lock(report_step):
            self._catch_up(self.ensure_open(), never_stop, report, moved)

    def count_unread(self) -> int:
        """Return the number of unread changes, 0 if unknown."""
        return opened.chosen.indexing.measure_lag().unread if (opened := self._opened) else 0

    @contextmanager
    def _hold_follow_lock(self, stop: ShouldStop) -> Generator[bool]:
        """Wait until no other thread syncs the index; yield whether that happened in time."""
        is_mine = self._following.acquire(blocking=False)
        while not is_mine and not stop():
            is_mine = self._following.acquire(timeout=STOP_POLL_SECONDS)
        try:
            yield is_mine
        finally:
            if is_mine:
                self._following.release()

    def maintain(self) -> None:
        """Release idle resources, and retry failures after their pause; called periodically."""
        if opened := self._opened:
            for side in (opened.chosen, opened.before):
                if side:
                    side.resident.release_if_idle()
                    if side.resident.state.status == "failing":
                        side.resident.ensure_loading()

    def preload(self) -> None:
        """Load the model if there is anything to search, so that the first search can use it."""
        if (opened := self._opened) and opened.active.is_in_process and opened.active.indexing.is_started():
            opened.active.resident.ensure_loading()

    def begin_shutdown(self) -> None:
        """Stop long work soon, because the process is about to end."""
        self.is_leaving = True
        self._builder.close()

    def close(self) -> None:
        """Close everything; running searches continue without meaning."""
        self._closed = True
        self._builder.close()
        self._close_index()
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def _close_index(self) -> None:
        with self._opening:
            opened, self._opened = self._opened, None
        if opened:
            opened.close()

    def _record_failure(self, error: PanoramaError) -> None:
        self._failure = _copy_error(error)
        self._failed_at = self._now()

    def ensure_open(self) -> SemanticIndex:
        """Return the open index with its models; open it first if it is not.

        Raises:
            InvalidInputError: The embedder in the settings does not exist.
            UnavailableError: A part fails, or it is off.
        """
        if not self._opening.acquire(timeout=OPEN_TIMEOUT_SECONDS):  # a service is queried for its model
            starting = UnavailableError("Search by meaning is starting.", hint="Try again in a minute.")
            raise _copy_error(self._failure or starting)
        try:
            if self.is_off or self._closed:
                raise UnavailableError(OFF_MESSAGE, hint="`panorama models use default` turns it on.")
            if self._opened is None:
                self._opened = self._builder.load(mistrusts=self._mistrusts)
            return self._opened
        finally:
            self._opening.release()

    # Status.

    def get_status(self) -> Mapping[str, Any]:
        """Return its status: the model, the index, pending changes, and the last error."""
        if self.is_off:
            return {"modes": ["keyword"], "missing": OFF_MESSAGE}
        opened = self._opened
        if opened is None:
            gap = self._explain_missing()
            status = {"modes": ["keyword"], "model": self._means.embedder, "missing": gap.missing, "do": gap.hint}
            return status | self._describe_last_error()
        status = opened.status(self._means.remark) | self._describe_last_error()
        return {name: value for name, value in status.items() if value is not None}

    def _describe_last_error(self) -> dict[str, Any]:
        error = self._find_failure()
        at = self._failed_at if error is self._failure else None
        return {"last_error": error.message, "last_error_at": at, "do": error.hint or None} if error else {}

    def _find_failure(self) -> UnavailableError | None:
        """Return the last error, including one of the model that the follower has not seen yet."""
        state = self._opened.active.resident.state if self._opened else None
        if state and state.error and not (self._failure and self._failure.message == state.error):
            return UnavailableError(state.error, hint=state.hint)
        return self._failure


def _copy_error(error: PanoramaError) -> UnavailableError:
    """Return the error's data without its traceback, which would keep its frames alive."""
    return UnavailableError(error.message, hint=error.hint)


def _retry_on_swap(opened: SemanticIndex, ask: Callable[[SemanticIndex], list[Hit]]) -> list[Hit]:
    """Search, and retry once if the index was swapped to another model meanwhile."""
    side = opened.active
    try:
        return ask(opened)
    except Exception:  # a vector of one model raises any error on the index of another
        if opened.active is side:
            raise
    return ask(opened)
