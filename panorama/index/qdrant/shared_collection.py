"""The collection that many spaces share: each point has its space, and every request is limited to one.

This separates data but protects nothing: anyone with a key of the server can read the points of every space.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import uuid4

from panorama.errors import UnavailableError
from panorama.index.points import Filter, Model, Point, in_batches
from panorama.index.qdrant.collection import DIGEST_CHARS, Collection, find_info, vector_size
from panorama.index.qdrant.connection import MEANWHILE, WRITE_SECONDS, Connection
from panorama.index.qdrant.layout import ServerLayout, search_filter

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


class SharedCollection(Collection):
    """The points of one space in the collection of a model."""

    def __init__(self, connection: Connection, store: str, model: Model, layout: ServerLayout) -> None:
        super().__init__(connection, store, model, layout)
        self.space = store
        self._name = f"panorama-shared-{model.digest[:DIGEST_CHARS]}"
        self._identity = self._name

    @property
    def identity(self) -> str:
        """The identity that the collection got when it was created; servers before 1.16 only keep its name."""
        return self._identity

    @property
    def read_name(self) -> str:
        """The collection."""
        return self._name

    def _find(self, client: "QdrantClient", *, writes: bool) -> None:  # noqa: ARG002 (it is never replaced)
        info = find_info(client, self._name)
        if info is None:
            self._create(client, self._name, {"identity": uuid4().hex})
            info = client.get_collection(self._name)
        if (size := vector_size(info)) != self.model.size:
            raise UnavailableError(
                f"The collection {self._name} at {self._connection.address} holds vectors of another size ({size} "
                f"instead of {self.model.size}).",
                hint=f"Other spaces use it too: choose another model, or delete it on the server. {MEANWHILE}",
            )
        self._create_indexes(client, self._name, info.payload_schema)  # a crash may have left some out
        self._identity = str((info.config.metadata or {}).get("identity", self._name))

    def replace(self, points: Iterable[Point], change: int) -> None:
        """Write all points in place, and delete the others of the space at the end."""
        self.count()  # finds the collection
        chunks = self._upload(self._name, points, change)
        self._wait_for_count(self._name, len(chunks))
        for batch in in_batches([chunk for chunk, _ in self.iter_digests() if chunk not in chunks]):
            self.delete(batch, change)

    def remove(self) -> None:
        """Delete the points of the space; the collection stays for the others."""
        from qdrant_client import models

        def send(client: "QdrantClient") -> None:
            everything = models.FilterSelector(filter=search_filter(Filter(), self.space))  # type: ignore[arg-type] (its filter is a supertype)
            client.delete(self._name, everything, wait=True, ordering=self._layout.ordering)

        self._connection.call(WRITE_SECONDS, send)
