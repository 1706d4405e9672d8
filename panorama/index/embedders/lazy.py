"""An embedder that is loaded when it is needed."""

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
"""How long a batch waits for the model: a service may have to bring it into its memory."""


class LazyEmbedder:
    """The embedder of one model, as a `Resident` lends it.

    Args:
        embedder: The one that is lent.
        model: What it was when it was last seen; another one of the same name is an OtherModelError.
        patience: How long a query waits while it is being loaded, unless another one has waited for that in vain.
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
        """Whether a query waits for it just now."""
        return bool(self._asking)

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order.

        Raises:
            UnavailableError: It cannot be loaded, or does not answer as it should.
            OtherModelError: The service has another model under this name by now.
        """
        with self._resident.acquire(LOAD_TIMEOUT) as embedder:
            self._check_model(embedder)
            return embedder.embed_documents(texts)

    def embed_query(self, text: str) -> "NDArray[float32]":
        """Return the vector of what is searched for.

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
        """Begin to load it."""
        self._resident.ensure_loading()

    def close(self) -> None:
        """Give its memory back, once what runs has ended."""
        self._resident.close()

    def _check_model(self, embedder: Embedder) -> None:
        actual = model_of(embedder)
        if actual != self._model:
            raise ModelMismatchError(self._model, actual)


def model_of(embedder: Embedder) -> Model:
    """Return what an embedder makes vectors with.

    Raises:
        UnavailableError: A service that has not answered yet knows only then.
    """
    return Model(id=embedder.id, digest=embedder.digest, size=embedder.size)
