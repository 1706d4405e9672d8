"""The common part of the collections of one space and of many spaces: points, searches and uploads."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from panorama.errors import UnavailableError
from panorama.index.points import Filter, Hit, Model, Point, RawHit, Vector, in_batches, rank_hits
from panorama.index.qdrant.connection import (
    GUARD_VERSION,
    MEANWHILE,
    READ_SECONDS,
    TURBO_VERSION,
    WRITE_SECONDS,
    Connection,
    parse_reason,
)
from panorama.index.qdrant.layout import (
    ServerLayout,
    collection_settings,
    older_filter,
    payload_indexes,
    search_filter,
    search_params,
    to_struct,
)

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.http.models import CollectionInfo

PAGE = 1000

UPLOAD_SECONDS, UPLOAD_POLL_SECONDS = 60.0, 0.2
"""How long the end of an upload may take, after the server accepted it, and how often it is checked."""

DIGEST_CHARS = 16

Answer = TypeVar("Answer")


class Collection(ABC):
    """The points of one space and one model, found or created by the first call.

    They are a copy of data in the database. Points have the number of the last change that they include: a program that
    lost the duty of writing does not overwrite newer ones (servers before 1.16 ignore that).
    """

    space = ""
    """The space of all its points, "" if the collection has no other."""

    def __init__(self, connection: Connection, store: str, model: Model, layout: ServerLayout) -> None:
        self.model = model
        self.counted: int | None = None
        self.is_found = False
        self.note = ""
        self._connection = connection
        self._store = store
        self._layout = layout
        self._lock = Lock()

    @property
    @abstractmethod
    def identity(self) -> str:
        """A name that changes when it starts empty."""

    @property
    @abstractmethod
    def read_name(self) -> str:
        """The name that searches use."""

    @property
    def write_name(self) -> str:
        """The name that writes use."""
        return self.read_name

    @abstractmethod
    def _find(self, client: "QdrantClient", *, writes: bool) -> None:
        """Find the collection, or create it."""

    @abstractmethod
    def replace(self, points: Iterable[Point], change: int) -> None:
        """Replace all points of the space; if it fails, the old ones are found as before."""

    @abstractmethod
    def remove(self) -> None:
        """Delete the points of the space and model."""

    def refresh(self) -> None:
        """Count the points."""
        self.count()

    def upsert(self, points: Sequence[Point], change: int) -> None:
        """Write points, and wait until they can be found; newer ones are kept."""
        self._request(WRITE_SECONDS, lambda client: self._send_points(client, self.write_name, points, change))

    def delete(self, chunks: Sequence[str], change: int) -> None:
        """Remove chunks, except newer ones."""
        from qdrant_client import models

        def send(client: "QdrantClient") -> None:
            older = models.FilterSelector(filter=older_filter(self.space, change, chunks))
            client.delete(self.write_name, older, wait=True, ordering=self._layout.ordering)

        self._request(WRITE_SECONDS, send)

    def search(self, vector: Vector, limit: int, condition: Filter) -> list[Hit]:
        """Return the nearest chunks, best first; ties are ordered by id."""
        from panorama.index.vectors import normalize_row  # numpy takes 100 ms to import

        query = normalize_row(vector, self.model.size).tolist()
        passing, params = search_filter(condition, self.space), search_params(self._layout)

        def find(client: "QdrantClient") -> list[RawHit]:
            def fetch(asked: int) -> list[RawHit]:
                answer = client.query_points(
                    self.read_name, query, query_filter=passing, limit=asked, search_params=params,
                    with_payload=["chunk", "item"],
                )  # fmt: skip
                return [(entry.score, *_pick_fields(entry.payload, "chunk", "item")) for entry in answer.points]

            return rank_hits(fetch, limit)

        hits = self._request(READ_SECONDS, find)
        return [Hit(chunk=chunk, item=item, score=score) for score, chunk, item in hits]

    def count(self) -> int:
        """Return the number of points of the space."""

        def fetch(client: "QdrantClient") -> int:
            return self._count(client, self.read_name)

        self.counted = self._request(READ_SECONDS, fetch)
        return self.counted

    def iter_digests(self) -> Iterator[tuple[str, str]]:
        """Yield each chunk with the digest of its text; pages are read between other writes."""
        after: Any = None
        while True:
            page, after = self._request(WRITE_SECONDS, lambda client, start=after: self._scroll(client, start))
            yield from page
            if after is None:
                return

    def _scroll(self, client: "QdrantClient", after: Any) -> tuple[list[tuple[str, str]], Any]:
        records, following = client.scroll(
            self.read_name, scroll_filter=search_filter(Filter(), self.space), limit=PAGE, offset=after,
            with_payload=["chunk", "digest"], with_vectors=False,
        )  # fmt: skip
        return [_pick_fields(entry.payload, "chunk", "digest") for entry in records], following

    def _count(self, client: "QdrantClient", name: str) -> int:
        return client.count(name, count_filter=search_filter(Filter(), self.space), exact=True).count

    def _request(self, seconds: int, send: Callable[["QdrantClient"], Answer]) -> Answer:
        """Return the answer to a request to the collection, which is found or created before."""
        from qdrant_client.http.exceptions import UnexpectedResponse

        def send_found(client: "QdrantClient") -> Answer:
            with self._lock:
                if not self.is_found:
                    self._check_server(client)
                    self._find(client, writes=seconds == WRITE_SECONDS)
                    self.is_found = True
            try:
                return send(client)
            except UnexpectedResponse as error:  # a collection replaced by one of another size only returns 400
                self.is_found = error.status_code not in (400, 404)
                raise

        return self._connection.call(seconds, send_found)

    def _check_server(self, client: "QdrantClient") -> None:
        self._connection.check_version(client)
        version = self._connection.version
        if self._layout.quantization == "turbo" and version is not None and version < TURBO_VERSION:
            raise self._connection.old_version_error(TURBO_VERSION, "the setting qdrant_quantization = turbo")

    def _create(self, client: "QdrantClient", name: str, metadata: Mapping[str, Any]) -> None:
        """Create a collection; one that another program, or a lost first attempt, has created is used."""
        from qdrant_client.http.exceptions import UnexpectedResponse

        try:
            client.create_collection(name, **collection_settings(self.model, self._layout, metadata))
        except UnexpectedResponse as error:
            if error.status_code != 409:
                raise

    def _create_indexes(self, client: "QdrantClient", name: str, existing: Iterable[str] = ()) -> None:
        for field, schema in payload_indexes(self._layout, self._connection.version).items():
            if field not in existing:
                client.create_payload_index(name, field, schema, wait=True)

    def _send_points(
        self, client: "QdrantClient", name: str, points: Sequence[Point], change: int, *, waits: bool = True
    ) -> None:
        from panorama.index.vectors import normalize_rows  # numpy takes 100 ms to import

        vectors = normalize_rows([entry.vector for entry in points], self.model.size).tolist()
        structs = [to_struct(point, row, self.space, change) for point, row in zip(points, vectors, strict=True)]
        version = self._connection.version
        guard = older_filter(self.space, change) if version is None or version >= GUARD_VERSION else None
        client.upsert(name, structs, wait=waits, ordering=self._layout.ordering, update_filter=guard)

    def _upload(self, name: str, points: Iterable[Point], change: int) -> set[str]:
        """Write many points to a collection; return the chunks.

        The server only accepts them, except for the last batch, which it applies before it answers.
        """
        chunks: set[str] = set()
        batch: Sequence[Point] = ()
        for following in in_batches(points):
            self._send_batch(name, batch, change, waits=False)
            batch = following
            chunks.update(point.chunk for point in following)
        self._send_batch(name, batch, change, waits=True)
        return chunks

    def _send_batch(self, name: str, batch: Sequence[Point], change: int, *, waits: bool) -> None:
        if batch:
            self._connection.call(
                WRITE_SECONDS, lambda client: self._send_points(client, name, batch, change, waits=waits)
            )

    def _wait_for_count(self, name: str, expected: int) -> None:
        """Wait until a collection has at least a number of points of the space.

        Raises:
            UnavailableError: Some are missing after a minute.
        """
        end = time.monotonic() + UPLOAD_SECONDS
        while (count := self._connection.call(WRITE_SECONDS, lambda client: self._count(client, name))) < expected:
            if time.monotonic() > end:
                raise UnavailableError(
                    f"The Qdrant server at {self._connection.address} has {count} of {expected} points.",
                    hint=f"See its log. {MEANWHILE}",
                )
            time.sleep(UPLOAD_POLL_SECONDS)


def find_info(client: "QdrantClient", name: str) -> "CollectionInfo | None":
    """Return the description of a collection by its name or alias, None if there is none."""
    from qdrant_client.http.exceptions import UnexpectedResponse

    try:
        return client.get_collection(name)
    except UnexpectedResponse as error:
        _, is_qdrants = parse_reason(error.content)
        if error.status_code == 404 and is_qdrants:
            return None
        raise


def vector_size(info: "CollectionInfo") -> int:
    """Return the dimensions of a collection, 0 if its vectors are not ours."""
    from qdrant_client import models

    vectors = info.config.params.vectors
    return vectors.size if isinstance(vectors, models.VectorParams) else 0


def _pick_fields(payload: Mapping[str, Any] | None, first: str, second: str) -> tuple[str, str]:
    payload = payload or {}
    return str(payload.get(first, "")), str(payload.get(second, ""))
