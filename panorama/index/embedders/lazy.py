"""An embedder that is loaded on demand."""

from collections.abc import Sequence
from datetime import timedelta
from threading import get_ident
from typing import TYPE_CHECKING

from panorama.index.embedders.lifecycle import ManagedEmbedder
from panorama.index.embedders.registry import Embedder
from panorama.index.points import Model, ModelMismatchError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

LOAD_TIMEOUT = timedelta(minutes=2)
"""How long a batch waits for the model, which a service may have to load."""


class LazyEmbedder:
    """The embedder of one model, acquired from a `ManagedEmbedder`.

    Args:
        embedder: The managed embedder.
        model: The last known model; another one with the same name raises OtherModelError.
        patience: How long a query waits for the model to load, unless another one already waited in vain.
    """

    def __init__(
        self, resident: ManagedEmbedder[Embedder], model: Model, embedder: Embedder, patience: timedelta
    ) -> None:
        self._resident = resident
        self._model = model
        self._patience = patience
        self.id, self.digest, self.size = model.id, model.digest, model.size
        self.max_tokens, self.batch = embedder.max_tokens, embedder.batch
        self._asking: set[int] = set()

    @property
    def has_waiting_query(self) -> bool:
        """Whether a query is waiting for it."""
        return bool(self._asking)

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order.

        Raises:
            UnavailableError: It cannot be loaded, or gives an invalid answer.
            OtherModelError: The service now has another model with this name.
        """
        with self._resident.acquire(LOAD_TIMEOUT) as embedder:
            self._check_model(embedder)
            return embedder.embed_documents(texts)

    def embed_query(self, text: str) -> "NDArray[float32]":
        """Return the vector of a query.

        Raises:
            UnavailableError: As of `embed_documents`, or it is still being loaded.
        """
        self._asking.add(get_ident())
        try:
            with self._resident.acquire(self._patience, in_doubt=False) as embedder:
                self._check_model(embedder)
                return embedder.embed_query(text)
        finally:
            self._asking.discard(get_ident())

    def load(self) -> None:
        """Start loading it."""
        self._resident.ensure_loading()

    def close(self) -> None:
        """Release its memory after running calls."""
        self._resident.close()

    def _check_model(self, embedder: Embedder) -> None:
        actual = model_of(embedder)
        if actual != self._model:
            raise ModelMismatchError(self._model, actual)


def model_of(embedder: Embedder) -> Model:
    """Return the model of an embedder.

    Raises:
        UnavailableError: A service has not answered yet.
    """
    return Model(id=embedder.id, digest=embedder.digest, size=embedder.size)
