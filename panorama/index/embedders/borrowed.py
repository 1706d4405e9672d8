"""An embedder that is lent: loaded when it is needed, for one batch at a time."""

from collections.abc import Sequence
from datetime import timedelta
from threading import get_ident
from typing import TYPE_CHECKING

from panorama.index.embedders.choosing import Embedder
from panorama.index.embedders.resident import Resident
from panorama.index.points import Model, OtherModelError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

LOADING = timedelta(minutes=2)
"""How long a batch waits for the model: a service may have to bring it into its memory."""


class Borrowed:
    """The embedder of one model, as a `Resident` lends it.

    Args:
        embedder: The one that is lent.
        model: What it was when it was last seen; another one of the same name is an OtherModelError.
        patience: How long a query waits while it is being loaded, unless another one has waited for that in vain.
    """

    def __init__(self, resident: Resident[Embedder], model: Model, embedder: Embedder, patience: timedelta) -> None:
        self._resident = resident
        self._model = model
        self._patience = patience
        self.id, self.digest, self.size = model.id, model.digest, model.size
        self.max_tokens, self.batch = embedder.max_tokens, embedder.batch
        self._asking: set[int] = set()

    @property
    def is_asked(self) -> bool:
        """Whether a query waits for it just now."""
        return bool(self._asking)

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return one vector per text, in the same order.

        Raises:
            UnavailableError: It cannot be loaded, or does not answer as it should.
            OtherModelError: The service has another model under this name by now.
        """
        with self._resident.borrowed(LOADING) as embedder:
            self._compare(embedder)
            return embedder.embed_documents(texts)

    def embed_query(self, text: str) -> "NDArray[float32]":
        """Return the vector of what is searched for.

        Raises:
            UnavailableError: As of `embed_documents`, or it is still being loaded.
        """
        self._asking.add(get_ident())
        try:
            with self._resident.borrowed(self._patience, in_doubt=False) as embedder:
                self._compare(embedder)
                return embedder.embed_query(text)
        finally:
            self._asking.discard(get_ident())

    def load(self) -> None:
        """Begin to load it."""
        self._resident.ready()

    def close(self) -> None:
        """Give its memory back, once what runs has ended."""
        self._resident.close()

    def _compare(self, embedder: Embedder) -> None:
        found = model_of(embedder)
        if found != self._model:
            raise OtherModelError(self._model, found)


def model_of(embedder: Embedder) -> Model:
    """Return what an embedder makes vectors with.

    Raises:
        UnavailableError: A service that has not answered yet knows only then.
    """
    return Model(id=embedder.id, digest=embedder.digest, size=embedder.size)
