"""The index on a Qdrant server or cluster.

qdrant-client takes 1.3 s and 125 MB to import, so it is imported by the first call.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from threading import Lock

from panorama.errors import UnavailableError
from panorama.index.points import Filter, Hit, Model, Point, State, Vector, in_batches
from panorama.index.qdrant.collection import Collection
from panorama.index.qdrant.connection import Connection
from panorama.index.qdrant.layout import DEFAULT_LAYOUT, ServerLayout
from panorama.index.qdrant.own_collection import OwnCollection
from panorama.index.qdrant.shared_collection import SharedCollection


class ServerIndex:
    """An index in a collection of the space and model, or in one that the spaces of a server share.

    Args:
        url: Such as `http://localhost:6333`; the port is 6333 if none is given.
        store: The id of the space or data directory.
    """

    engine = "server"

    def __init__(
        self,
        url: str,
        key: str,
        store: str,
        model: Model,
        *,
        layout: ServerLayout = DEFAULT_LAYOUT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = Connection(url, key, clock)
        self._store = store
        self._layout = layout
        self._building = Lock()
        self._collection = self._open_collection(model)

    def _open_collection(self, model: Model, *, other_layout: bool = False) -> Collection:
        kind = SharedCollection if self._layout.is_shared != other_layout else OwnCollection
        return kind(self._connection, self._store, model, self._layout)

    @property
    def model(self) -> Model:
        """The model of its vectors."""
        return self._collection.model

    def upsert(self, points: Sequence[Point], change: int = 0) -> None:
        """Write points, and wait until they can be found; existing chunks are replaced, except newer ones."""
        for batch in in_batches(points):
            self._collection.upsert(batch, change)

    def delete(self, chunks: Sequence[str], change: int = 0) -> None:
        """Remove chunks, except newer ones; missing ones are ignored."""
        for batch in in_batches(chunks):
            self._collection.delete(batch, change)

    def search(self, vector: Vector, limit: int, condition: Filter) -> list[Hit]:
        """Return the nearest chunks, best first; ties are ordered by id.

        Waits at most 2 s for the server; after a timeout it is skipped for 5 s.
        """
        return self._collection.search(vector, limit, condition)

    def count(self) -> int:
        """Return the number of its chunks."""
        return self._collection.count()

    def iter_digests(self) -> Iterator[tuple[str, str]]:
        """Give each chunk with the digest of its text, in no order; read page by page, writes may come between."""
        return self._collection.iter_digests()

    def build(self, points: Iterable[Point], model: Model | None = None, change: int = 0) -> None:
        """Replace everything by these points, optionally for another model.

        Points of the previous model, and of the layout before the setting was changed, are deleted at the end.
        """
        with self._building:
            before = self._collection
            new = before if model in (None, before.model) else self._open_collection(model)
            new.replace(points, change)
            self._collection = new
            replaced = [self._open_collection(new.model, other_layout=True), *([before] if new is not before else [])]
            for old in replaced:
                with suppress(UnavailableError):  # there is none, or the next build deletes it
                    old.remove()

    def flush(self) -> None:
        """Update the count; there is nothing to flush, because the server logs a write before it answers."""
        with suppress(UnavailableError):
            self._collection.refresh()

    def state(self) -> State:
        """Return the last known state, without a request."""
        status, note = self._connection.status()
        collection = self._collection
        if status == "ready" and not collection.is_found:
            status = "starting"
        return State(
            engine=self.engine, status=status, model=collection.model, identity=collection.identity,
            count=collection.counted, note=" ".join(filter(None, (note, collection.note))),
        )  # fmt: skip

    def close(self) -> None:
        """Disconnect."""
        self._connection.close()
