"""The semantic index: an embedder and a vector index that follow the change log."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any

from panorama.errors import PanoramaError, UnavailableError
from panorama.index.embedders.lazy import LOAD_TIMEOUT, LazyEmbedder, model_of
from panorama.index.embedders.lifecycle import ManagedEmbedder
from panorama.index.embedders.registry import Embedder, runs_in_process
from panorama.index.points import Model
from panorama.ports import Index
from panorama.services.base import Service, ServiceContext
from panorama.services.search.callbacks import (
    OnEmbedded,
    ShouldStop,
    StepCallback,
    ignore_count,
    ignore_step,
    never_stop,
)
from panorama.services.search.index_sync import IndexSync
from panorama.store.items.passages import INDEXER
from panorama.store.log import marks

SEARCH_TIMEOUT = timedelta(milliseconds=250)
"""How long a search waits for the semantic part; a released shipped model loads in 100 ms."""

REMOTE_SEARCH_TIMEOUT = timedelta(seconds=1)
"""The same if the model or the index is a service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticConfig:
    """The configuration: the embedder's name ("none": off), and how embedders and indexes are opened.

    `remark` is a note on the choice for the user. `is_far` means that the index is behind a network.
    """

    embedder: str
    opened_embedder: Callable[[str], Embedder]
    opened_index: Callable[[Model, str], tuple[Index, str]]
    remark: str = ""
    is_far: bool = False


@dataclass(frozen=True, slots=True)
class IndexedModel:
    """A model and its index sync."""

    resident: ManagedEmbedder[Embedder]
    embedder: LazyEmbedder
    indexing: IndexSync
    model: Model

    @property
    def is_in_process(self) -> bool:
        """Whether it runs in this process."""
        return runs_in_process(self.model.id)


@dataclass(frozen=True, slots=True)
class ModelChange:
    """The start of the move to another model: the time, the changes it had not read, and the passages of the old one.

    `embedded` is the number of texts that it had embedded.
    """

    began: float
    unread: int
    passages: int
    embedded: int

    def estimate_seconds_left(self, unread: int, embedded: int) -> int | None:
        """Return how long the rest takes at the speed so far; None until a batch is embedded.

        Within the first step of changes, the passages of the old model stand for those of the new one.
        """
        seconds, changes, texts = time.monotonic() - self.began, self.unread - unread, embedded - self.embedded
        if changes > 0:
            return round(seconds / changes * unread)
        return round(seconds / texts * max(0, self.passages - texts)) if texts else None


@dataclass(slots=True)
class SemanticIndex:
    """An open index, the chosen model, and the previous one that serves searches until the chosen one is ready."""

    index: Index
    chosen: IndexedModel
    before: IndexedModel | None
    remark: str
    patience: timedelta
    is_checked: bool = False
    change: ModelChange | None = None

    @property
    def active(self) -> IndexedModel:
        """The model whose vectors are in the index."""
        before = self.before
        return before if before and self.index.model == before.model else self.chosen

    @property
    def is_changing(self) -> bool:
        """Whether another model serves searches until the chosen one is ready."""
        return self.active is not self.chosen

    def catch_up(
        self, stop: ShouldStop = never_stop, report: OnEmbedded = ignore_count, moved: StepCallback = ignore_step
    ) -> None:
        """Bring the index up to the last change; one thread at a time.

        While the model changes, the previous one serves searches and is kept in sync until all vectors of the new one
        exist.

        Args:
            report: Called with the number of texts embedded by the chosen model after each batch.
            moved: Called after each step in which it read changes.

        Raises:
            UnavailableError: The chosen model or the index fails; finished work is kept.
        """
        if self.before is None:
            self.chosen.indexing.catch_up(stop, report, moved)
        else:
            self._switch_model(self.before, stop, report, moved)

    def _switch_model(self, before: IndexedModel, stop: ShouldStop, report: OnEmbedded, moved: StepCallback) -> None:
        def sync_previous() -> None:
            with suppress(UnavailableError):  # it may be gone, which must not delay the chosen one
                if self.index.model == before.model:  # otherwise only the index needs the last changes
                    before.indexing.catch_up(stop, lambda _: report(0))

        def after_step() -> None:
            moved()
            sync_previous()

        sync_previous()
        self.change = self.change or self._start_change()
        self.chosen.indexing.embed_all(stop, report, after_step)
        if stop() or (not self.chosen.indexing.embeds and self.chosen.indexing.measure_lag().unread):
            return  # another daemon embeds the rest
        self.chosen.indexing.sync_all()
        self.before = self.change = None
        before.embedder.close()

    def _start_change(self) -> ModelChange:
        indexing, passages_before = self.chosen.indexing, self.index.state().count or 0
        return ModelChange(time.monotonic(), indexing.measure_lag().unread, passages_before, indexing.embedded)

    def status(self, *remarks: str) -> dict[str, Any]:
        """Return its status: the model, the index, and pending changes."""
        index, side = self.index.state(), self.active
        is_started, state = side.indexing.is_started(), side.resident.state
        is_whole = is_started and index.status != "down" and state.status != "failing"
        changes, lag, change = self.is_changing, self.chosen.indexing.measure_lag(), self.change
        left = change.estimate_seconds_left(lag.unread, self.chosen.indexing.embedded) if changes and change else None
        every = (*remarks, self.remark, index.note, state.error)
        return {
            "modes": ["hybrid", "keyword", "semantic"] if is_whole else ["keyword"],
            "model": side.model.id,
            "model_state": state.status,
            "dimensions": side.model.size,
            "engine": index.engine,
            "index_state": index.status if is_started else "building",
            "pending": lag.unread if changes else lag.unindexed,  # the index gets the chosen model at the end
            "passages": index.count,
            "index_disk_bytes": index.disk_bytes or None,
            "index_memory_bytes": index.anonymous_bytes or None,
            "index_mapped_bytes": index.mapped_bytes or None,
            "changing_to": self.chosen.model.id if changes else None,
            "changing_seconds": left,
            "remark": " ".join(dict.fromkeys(remark for remark in every if remark)) or None,
        }

    def close(self) -> None:
        """Close everything."""
        for side in (self.chosen, self.before):
            if side:
                side.embedder.close()
        self.index.close()


class SemanticIndexLoader(Service):
    """Opens a semantic index by the settings, and stores which model was last served."""

    def __init__(self, context: ServiceContext, means: SemanticConfig, report: Callable[[PanoramaError], None]) -> None:
        super().__init__(context)
        self._means = means
        self._report = report
        self._coming: ManagedEmbedder[Embedder] | None = None
        self._closed = False

    def load(self, *, mistrusts: bool) -> SemanticIndex:
        """Open a semantic index.

        Args:
            mistrusts: Query a service's model even if it is known from the last time.

        Raises:
            InvalidInputError: The embedder in the settings does not exist.
            UnavailableError: A part fails.
        """
        _load_numpy()
        served, store = self._load_served_model()
        embedder = self._means.opened_embedder(self._means.embedder)
        resident = ManagedEmbedder(embedder)
        try:
            model = self._detect_model(resident, embedder, None if mistrusts else served)
            index, remark = self._means.opened_index(served if served and self._find_embedder(served) else model, store)
        except PanoramaError:
            resident.close()
            raise
        held = index.state().model
        chosen = self._build_indexed_model(resident, model, embedder, index)
        is_far = self._means.is_far or not chosen.is_in_process
        patience = REMOTE_SEARCH_TIMEOUT if is_far else SEARCH_TIMEOUT
        opened = SemanticIndex(index, chosen, None, remark, patience)
        goes_on = runs_in_process(held.id) or (served is not None and held.id == served.id)
        if held.id != model.id and goes_on and (old := self._find_embedder(held)):
            opened.before = self._build_indexed_model(ManagedEmbedder(old), held, old, index)
        return opened

    def _build_indexed_model(
        self, resident: ManagedEmbedder[Embedder], model: Model, embedder: Embedder, index: Index
    ) -> IndexedModel:
        borrowed = LazyEmbedder(resident, model, embedder, REMOTE_SEARCH_TIMEOUT)
        return IndexedModel(resident, borrowed, IndexSync(self._context, borrowed, index), model)

    def _detect_model(self, resident: ManagedEmbedder[Embedder], embedder: Embedder, served: Model | None) -> Model:
        """Return the embedder's model; for a service the last known one, else query it."""
        if runs_in_process(embedder.id):
            return model_of(embedder)
        if served and served.id == embedder.id:
            return served
        self._coming = resident  # `close` ends the wait
        try:
            embedder.embed_query("")
        except (
            UnavailableError
        ) as error:  # reported at once; a service that has to load its model may answer in a minute
            self._report(error)
        if self._closed:
            raise UnavailableError("Search by meaning was closed.")
        with resident.acquire(LOAD_TIMEOUT) as lent:
            return model_of(lent)

    def _find_embedder(self, model: Model) -> Embedder | None:
        """Return an embedder with the same vectors as a model, if there is one."""
        with suppress(PanoramaError):
            embedder = self._means.opened_embedder(model.id)
            if not runs_in_process(model.id) or model_of(embedder) == model:
                return embedder
        return None

    def _load_served_model(self) -> tuple[Model | None, str]:
        with self._reading() as session:
            known = marks.find_served_model(session)
        number = marks.read_store_number(self._context.database)
        return Model(id=known[0], digest=known[1], size=known[2]) if known else None, f"{number:016x}"

    def save_served_model(self, model: Model) -> None:
        """Store the served model."""
        with self._reading() as session:
            known = marks.find_served_model(session)
        if known != (model.id, model.digest, model.size):
            with self._context.database.transaction(INDEXER) as session:
                marks.set_served_model(session, model.id, model.digest, model.size)

    def clear_served_model(self) -> None:
        """Delete the record that a service was served, so that it is not queried while another model is prepared."""
        with self._reading() as session:
            known = marks.find_served_model(session)
        if known and not runs_in_process(known[0]):
            with self._context.database.transaction(INDEXER) as session:
                marks.clear_served_model(session)

    def close(self) -> None:
        """End all waits for a service."""
        self._closed = True
        if coming := self._coming:
            coming.close()


def _load_numpy() -> None:
    """Import numpy before threads start: concurrent first imports make it fail permanently in this process."""
    try:
        import_module("numpy")
    except ImportError as error:
        raise UnavailableError(
            f"Search by meaning needs numpy, which cannot be imported here: {error}.",
            hint="Install numpy beside Panorama.",
        ) from error
