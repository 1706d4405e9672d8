"""The house of meaning: a model, an index, and what follows the changes with both; how it is opened and closed."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any

from panorama.errors import PanoramaError, UnavailableError
from panorama.index.embedders.borrowed import LOADING, Borrowed, model_of
from panorama.index.embedders.choosing import SHIPPED, Embedder
from panorama.index.embedders.resident import Resident
from panorama.index.points import Model
from panorama.ports import Index
from panorama.services.base import Desk, Service
from panorama.services.indexing import Indexing, Moved, Stop, Told, never, nowhere, silent
from panorama.store import passages
from panorama.store.passages import INDEXER

PATIENCE = timedelta(milliseconds=250)
"""How long a search waits for meaning; a shipped model that was released is loaded again in 100 ms."""

FAR_PATIENCE = timedelta(seconds=1)
"""The same where the model or the index is a service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What meaning is made of: the name of the embedder ("none": off), and how embedders and indexes are opened.

    `remark` says what a person should know of the choice. `is_far` tells that the index is behind a network.
    """

    embedder: str
    opened_embedder: Callable[[str], Embedder]
    opened_index: Callable[[Model, str], tuple[Index, str]]
    remark: str = ""
    is_far: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """A model and what follows the changes with it."""

    resident: Resident[Embedder]
    embedder: Borrowed
    indexing: Indexing
    model: Model

    @property
    def is_shipped(self) -> bool:
        """Whether it runs in this process."""
        return self.model.id in SHIPPED


@dataclass(slots=True)
class House:
    """An open index, the side that was chosen, and while its vectors are made, the one that is searched until then."""

    index: Index
    chosen: Side
    before: Side | None
    remark: str
    patience: timedelta
    is_checked: bool = False

    @property
    def serving(self) -> Side:
        """Whose vectors are searched: those that the index holds."""
        before = self.before
        return before if before and self.index.model == before.model else self.chosen

    @property
    def is_changing(self) -> bool:
        """Whether another model is searched until the vectors of the chosen one are made."""
        return self.serving is not self.chosen

    def catch_up(self, stop: Stop = never, told: Told = silent, moved: Moved = nowhere) -> None:
        """Bring the index up to the last change; only one at a time may do so.

        While the model changes, the vectors of the chosen one are made beside; the one before is searched and followed
        until they are whole.

        Args:
            told: Is called with the number of texts that the chosen model embedded, after each batch.
            moved: Is called after each step in which changes were read with it.

        Raises:
            UnavailableError: The chosen model or the index is out of order; all that was done stays.
        """
        if self.before is None:
            self.chosen.indexing.catch_up(stop, told, moved)
        else:
            self._change_over(self.before, stop, told, moved)

    def _change_over(self, before: Side, stop: Stop, told: Told, moved: Moved) -> None:
        def follow() -> None:
            with suppress(UnavailableError):  # it may be gone, which is no reason to wait with the chosen one
                if self.index.model == before.model:  # else what remains is to tell the index of the last changes
                    before.indexing.catch_up(stop, lambda _: told(0))

        def followed() -> None:
            moved()
            follow()

        follow()
        self.chosen.indexing.read_all(stop, told, followed)
        if stop():
            return
        self.chosen.indexing.tell_all()
        self.before = None
        before.embedder.close()

    def told(self, *remarks: str) -> dict[str, Any]:
        """Tell how it does, beside other remarks: the model, the index, and what waits."""
        index, side = self.index.state(), self.serving
        begun, state = side.indexing.is_begun(), side.resident.state
        is_whole = begun and index.status != "down" and state.status != "failing"
        changes, lag = self.is_changing, self.chosen.indexing.lag()
        every = (*remarks, self.remark, index.note, state.error)
        return {
            "modes": ["hybrid", "keyword", "semantic"] if is_whole else ["keyword"],
            "model": side.model.id,
            "model_state": state.status,
            "dimensions": side.model.size,
            "engine": index.engine,
            "index_state": index.status if begun else "building",
            "pending": lag.unread if changes else lag.unheard,  # the index hears of the chosen one at the end
            "passages": index.count,
            "index_disk_bytes": index.disk_bytes or None,
            "index_memory_bytes": index.anonymous_bytes or None,
            "index_mapped_bytes": index.mapped_bytes or None,
            "changing_to": self.chosen.model.id if changes else None,
            "remark": " ".join(dict.fromkeys(each for each in every if each)) or None,
        }

    def close(self) -> None:
        """Close all of it."""
        for side in (self.chosen, self.before):
            if side:
                side.embedder.close()
        self.index.close()


class Opening(Service):
    """Opens a house as the settings want it, and remembers whose vectors were searched last."""

    def __init__(self, desk: Desk, means: Means, told: Callable[[PanoramaError], None]) -> None:
        super().__init__(desk)
        self._means = means
        self._told = told
        self._coming: Resident[Embedder] | None = None
        self._closed = False

    def opened(self, *, mistrusts: bool) -> House:
        """Open a house.

        Args:
            mistrusts: Ask a service what its model is, though it is known from the last time.

        Raises:
            InvalidInputError: There is no embedder of the name that the settings say.
            UnavailableError: A part is out of order.
        """
        _load_numpy()
        served, store = self._remembered()
        embedder = self._means.opened_embedder(self._means.embedder)
        resident = Resident(embedder)
        try:
            model = self._learnt(resident, embedder, None if mistrusts else served)
            index, remark = self._means.opened_index(served if served and self._embedder_of(served) else model, store)
        except PanoramaError:
            resident.close()
            raise
        held = index.state().model
        chosen = self._side(resident, model, embedder, index)
        is_far = self._means.is_far or not chosen.is_shipped
        patience = FAR_PATIENCE if is_far else PATIENCE
        house = House(index, chosen, None, remark, patience)
        goes_on = held.id in SHIPPED or (served is not None and held.id == served.id)
        if held.id != model.id and goes_on and (old := self._embedder_of(held)):
            house.before = self._side(Resident(old), held, old, index)
        return house

    def _side(self, resident: Resident[Embedder], model: Model, embedder: Embedder, index: Index) -> Side:
        borrowed = Borrowed(resident, model, embedder, FAR_PATIENCE)
        return Side(resident, borrowed, Indexing(self._desk, borrowed, index), model)

    def _learnt(self, resident: Resident[Embedder], embedder: Embedder, served: Model | None) -> Model:
        """Return what the embedder is; of a service what it was the last time, or else what it says now."""
        if embedder.id in SHIPPED:
            return model_of(embedder)
        if served and served.id == embedder.id:
            return served
        self._coming = resident  # `close` ends its waiting
        try:
            embedder.embed_query("")
        except UnavailableError as error:  # said at once; one that has to load its model may answer in a minute
            self._told(error)
        if self._closed:
            raise UnavailableError("Search by meaning was closed.")
        with resident.borrowed(LOADING) as lent:
            return model_of(lent)

    def _embedder_of(self, model: Model) -> Embedder | None:
        """Return an embedder that makes vectors as a model did, if there is one."""
        with suppress(PanoramaError):
            found = self._means.opened_embedder(model.id)
            if model.id not in SHIPPED or model_of(found) == model:
                return found
        return None

    def _remembered(self) -> tuple[Model | None, str]:
        with self._reading() as session:
            known = passages.served(session)
            number = passages.mark(session, "store")
        if not number:
            with self._desk.database.transaction(INDEXER) as session:
                number = passages.store_number(session, secrets.randbits(62))
        return Model(id=known[0], digest=known[1], size=known[2]) if known else None, f"{number:016x}"

    def remember(self, model: Model) -> None:
        """Remember whose vectors are searched."""
        with self._reading() as session:
            known = passages.served(session)
        if known != (model.id, model.digest, model.size):
            with self._desk.database.transaction(INDEXER) as session:
                passages.set_served(session, model.id, model.digest, model.size)

    def forget_service(self) -> None:
        """Forget that a service was searched, so that it is asked nothing while another model is prepared."""
        with self._reading() as session:
            known = passages.served(session)
        if known and known[0] not in SHIPPED:
            with self._desk.database.transaction(INDEXER) as session:
                passages.forget_served(session)

    def close(self) -> None:
        """End what waits for a service."""
        self._closed = True
        if coming := self._coming:
            coming.close()


def _load_numpy() -> None:
    """Import numpy before threads begin that would do so at once: if they meet, it fails in this process for good."""
    try:
        import_module("numpy")
    except ImportError as error:
        raise UnavailableError(
            f"Search by meaning needs numpy, which cannot be imported here: {error}.",
            hint="Install numpy beside Panorama.",
        ) from error
