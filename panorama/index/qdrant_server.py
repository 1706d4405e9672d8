"""The index on a Qdrant server or cluster.

qdrant-client takes 1.3 s and 125 MB to import, so it is imported by the first call.
"""

import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from panorama.errors import UnavailableError
from panorama.index.filters import KEYWORD_FIELDS, to_conditions, to_payload, to_qdrant
from panorama.index.points import (
    Filter,
    Hit,
    Model,
    Point,
    RawHit,
    State,
    Status,
    Vector,
    in_batches,
    point_id,
    rank_hits,
)

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

READ_SECONDS = 2
WRITE_SECONDS = 30
RETRY_SECONDS = 5.0
"""How long searches skip an unreachable server, because each would wait for it."""

PAGE = 1000


class ServerIndex:
    """An index in its own collection, one per model and data directory, so that several can share a server.

    Args:
        url: Such as `http://localhost:6333`; the port is 6333 if none is given.
        store: The id of the data directory.
    """

    engine = "server"

    def __init__(
        self, url: str, key: str, store: str, model: Model, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._line = _Connection(url, key, clock)
        self._store = store
        self._building = Lock()
        self._collection = _Collection(self._line, store, model)

    @property
    def model(self) -> Model:
        """The model of its vectors."""
        return self._collection.model

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points, and wait until they can be found; existing chunks are replaced."""
        for batch in in_batches(points):
            self._collection.upsert(batch)

    def delete(self, chunks: Sequence[str]) -> None:
        """Remove chunks; missing ones are ignored."""
        for batch in in_batches(chunks):
            self._collection.delete(batch)

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

    def build(self, points: Iterable[Point], model: Model | None = None) -> None:
        """Replace everything by these points, optionally for another model.

        For the same model points are replaced in place, and others removed at the end; for another model they are
        written to its collection, and the previous collection is deleted.
        """
        with self._building:
            before = self._collection
            new = before if model in (None, before.model) else _Collection(self._line, self._store, model)
            ids: set[str] = set()
            for batch in in_batches(points):
                new.upsert(batch)
                ids.update(entry.chunk for entry in batch)
            for batch in in_batches([chunk for chunk, _ in new.iter_digests() if chunk not in ids]):
                new.delete(batch)
            self._collection = new
            if new is not before:
                before.remove()

    def flush(self) -> None:
        """Update the count; there is nothing to flush, because the server logs a write before it answers."""
        with suppress(UnavailableError):
            self._collection.count()

    def state(self) -> State:
        """Return the last known state, without a request."""
        status, note = self._line.status()
        collection = self._collection
        if status == "ready" and not collection.is_there:
            status = "starting"
        return State(
            engine=self.engine, status=status, model=collection.model, identity=collection.identity,
            count=collection.counted, note=" ".join(filter(None, (note, collection.note))),
        )  # fmt: skip

    def close(self) -> None:
        """Disconnect."""
        self._line.close()


class _Connection:
    """The connection to the server: its clients, its last error, and error translation."""

    def __init__(self, url: str, key: str, clock: Callable[[], float]) -> None:
        self._url = url
        self._headers = {"api-key": key} if key else {}
        self._clock = clock
        self._lock = Lock()
        self._clients: dict[int, QdrantClient] = {}
        self._calls = 0
        self._error: UnavailableError | None = None
        self._spared_until = 0.0
        self._asked = self._is_closed = False

    @property
    def address(self) -> str:
        """The server's host and port, without secrets."""
        parts = urlsplit(self._url)
        return f"{parts.hostname or self._url}:{parts.port or 6333}"

    def status(self) -> tuple[Status, str]:
        """Return the outcome of the last call."""
        if self._error is not None:
            return "down", self._error.message
        return ("ready" if self._asked else "starting"), ""

    @contextmanager
    def use_client(self, seconds: int) -> Generator["QdrantClient"]:
        """Yield a client with a timeout; short calls fail immediately while the server is known to be unreachable.

        Raises:
            UnavailableError: It is unreachable, or returned an error.
        """
        if seconds == READ_SECONDS and self._error is not None and self._clock() < self._spared_until:
            raise self._error
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            with self._acquire_client(seconds) as client:
                yield client
        except UnexpectedResponse as error:
            raise self._refusal_error(error.status_code or 0, error.content) from error
        except QdrantException as error:  # it tells of 429 alone
            raise self._refusal_error(429, f"{error}".encode()) from error
        except ResponseHandlingException as error:
            raise self._unreachable_error(error.source, seconds) from error
        except (ValueError, AssertionError) as error:  # no JSON, none of Qdrant's, or JSON without a result
            raise self._not_qdrant_error() from error
        self._asked, self._error = True, None

    @contextmanager
    def _acquire_client(self, seconds: int) -> Generator["QdrantClient"]:
        """Yield a client; the last user of a closed connection closes the clients."""
        with self._lock:
            if self._is_closed:
                raise UnavailableError("The index is closed.", hint="Ask again.")
            client = self._get_client(seconds)
            self._calls += 1
        try:
            yield client
        finally:
            with self._lock:
                self._calls -= 1
                self._close_if_unused()

    def _get_client(self, seconds: int) -> "QdrantClient":
        from qdrant_client import QdrantClient

        if seconds not in self._clients:
            # The key as a header: as `api_key` it would also choose https, and warn of http on this machine.
            self._clients[seconds] = QdrantClient(
                url=self._url, headers=self._headers, timeout=seconds, check_compatibility=False
            )
        return self._clients[seconds]

    def _refusal_error(self, status: int, content: bytes) -> UnavailableError:
        why, is_qdrants = _parse_reason(content)
        if not is_qdrants and (status < 400 or status in (404, 405)):  # a proxy or a full server may say the others
            return self._not_qdrant_error(f" ({status})")
        self._asked = True
        if status == 404:
            return UnavailableError(f"The collection at {self.address} is gone; it is created again.", hint=_MEANWHILE)
        if status in (401, 403):
            message = f"The Qdrant server at {self.address} refused the key ({status})."
            return self._remember_error(UnavailableError(message, hint=f"Check PANORAMA_QDRANT_KEY. {_MEANWHILE}"))
        message = f"The Qdrant server at {self.address} refused ({status}): {why}"
        refused = UnavailableError(message, hint=f"See its log. {_MEANWHILE}")
        return refused if status == 400 else self._remember_error(refused, spares=False)

    def _unreachable_error(self, cause: Exception, seconds: int) -> UnavailableError:
        from httpx import TimeoutException, TransportError

        if isinstance(cause, TimeoutException):
            message, hint = f"The Qdrant server at {self.address} did not answer in {seconds} s.", "Check the server."
        elif isinstance(cause, TransportError):
            message, hint = f"The Qdrant server at {self.address} cannot be reached.", "Start it, or check its address."
        else:
            return self._not_qdrant_error()
        return self._remember_error(
            UnavailableError(message, hint=f"{hint} The address is set by PANORAMA_QDRANT_URL. {_MEANWHILE}")
        )

    def _not_qdrant_error(self, status: str = "") -> UnavailableError:
        """Return the error for something that answers, but not as Qdrant does; it is also skipped for a while."""
        message = f"What answers at {self.address} is not Qdrant{status}."
        return self._remember_error(UnavailableError(message, hint=f"{_CHECK} {_MEANWHILE}"))

    def _remember_error(self, error: UnavailableError, *, spares: bool = True) -> UnavailableError:
        """Record an error until a call succeeds; searches skip the server for a while, unless it answered quickly."""
        self._error, self._spared_until = error, self._clock() + (RETRY_SECONDS if spares else 0.0)
        return error

    def close(self) -> None:
        """Close the connections, or leave that to running calls."""
        with self._lock:
            self._is_closed = True
            self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._is_closed and not self._calls:
            for entry in self._clients.values():
                entry.close()
            self._clients = {}


class _Collection:
    """The collection of one model; created or found by the first call.

    It is a copy of data in the database: if its vectors have another size, the next write recreates it.
    """

    def __init__(self, line: _Connection, store: str, model: Model) -> None:
        self.name = f"panorama-{store}-{model.digest[:16]}"
        self.model = model
        self.identity = self.name
        self.counted: int | None = None
        self.is_there = False
        self.note = ""
        self._line = line
        self._lock = Lock()

    def upsert(self, points: Sequence[Point]) -> None:
        from panorama.index.vectors import normalize_rows  # numpy takes 100 ms to import

        vectors = normalize_rows([entry.vector for entry in points], self.model.size)
        with self._use_client(WRITE_SECONDS) as client:
            client.upsert(
                self.name, [_to_struct(*entry) for entry in zip(points, vectors.tolist(), strict=True)], wait=True
            )

    def delete(self, chunks: Sequence[str]) -> None:
        with self._use_client(WRITE_SECONDS) as client:
            client.delete(self.name, [str(point_id(chunk)) for chunk in chunks], wait=True)

    def search(self, vector: Vector, limit: int, condition: Filter) -> list[Hit]:
        from qdrant_client import models

        from panorama.index.vectors import normalize_row

        query = normalize_row(vector, self.model.size).tolist()
        must = to_qdrant(to_conditions(condition))
        passing = models.Filter.model_validate({"must": must}) if must else None

        def fetch(asked: int) -> list[RawHit]:
            answer = client.query_points(
                self.name, query, query_filter=passing, limit=asked, with_payload=["chunk", "item"]
            )
            return [(entry.score, *_pick_fields(entry.payload, "chunk", "item")) for entry in answer.points]

        with self._use_client(READ_SECONDS) as client:
            return [Hit(chunk=chunk, item=item, score=score) for score, chunk, item in rank_hits(fetch, limit)]

    def count(self) -> int:
        with self._use_client(READ_SECONDS) as client:
            self.counted = client.count(self.name, exact=True).count
            return self.counted

    def iter_digests(self) -> Iterator[tuple[str, str]]:
        after: Any = None
        while True:
            with self._use_client(WRITE_SECONDS) as client:
                records, after = client.scroll(
                    self.name, limit=PAGE, offset=after, with_payload=["chunk", "digest"], with_vectors=False
                )
            for entry in records:
                yield _pick_fields(entry.payload, "chunk", "digest")
            if after is None:
                return

    def remove(self) -> None:
        with self._line.use_client(WRITE_SECONDS) as client:
            client.delete_collection(self.name)

    @contextmanager
    def _use_client(self, seconds: int) -> Generator["QdrantClient"]:
        from qdrant_client.http.exceptions import UnexpectedResponse

        with self._line.use_client(seconds) as client:
            if not self.is_there:
                self._ensure_found(client, writes=seconds == WRITE_SECONDS)
            try:
                yield client
            except UnexpectedResponse as error:  # a collection replaced by one of another size only returns 400
                self.is_there = error.status_code not in (400, 404)
                raise

    def _ensure_found(self, client: "QdrantClient", *, writes: bool) -> None:
        with self._lock:
            if not client.collection_exists(self.name):
                self._create(client)
            config = client.get_collection(self.name).config
            if (size := _vector_size(config.params.vectors)) != self.model.size:
                self._reset_identity(size)
                if not writes:
                    raise UnavailableError(self.note, hint=f"Ask again in a moment. {_MEANWHILE}")
                client.delete_collection(self.name)
                self._create(client)
                config = client.get_collection(self.name).config
            self.identity = str((config.metadata or {}).get("identity", self.name))
            self.is_there = True

    def _reset_identity(self, size: int) -> None:
        """Force a complete rewrite with a new identity."""
        self.identity, self.counted = self.name, None
        self.note = (
            f"The collection at {self._line.address} held vectors of another size ({size} instead of "
            f"{self.model.size}); it is rebuilt."
        )

    def _create(self, client: "QdrantClient") -> None:
        from qdrant_client import models

        vectors = models.VectorParams(size=self.model.size, distance=models.Distance.COSINE)
        client.create_collection(self.name, vectors_config=vectors, metadata={"identity": uuid4().hex})
        for field in KEYWORD_FIELDS:
            client.create_payload_index(self.name, field, models.PayloadSchemaType.KEYWORD, wait=True)
        moments = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True)
        client.create_payload_index(self.name, "at", moments, wait=True)


def _vector_size(vectors: Any) -> int:
    """Return the dimensions of a collection, 0 if its vectors are not ours."""
    from qdrant_client import models

    return vectors.size if isinstance(vectors, models.VectorParams) else 0


def _to_struct(point: Point, vector: list[float]) -> Any:
    from qdrant_client import models

    return models.PointStruct(id=str(point_id(point.chunk)), vector=vector, payload=to_payload(point))


def _pick_fields(payload: Mapping[str, Any] | None, first: str, second: str) -> tuple[str, str]:
    payload = payload or {}
    return str(payload.get(first, "")), str(payload.get(second, ""))


def _parse_reason(content: bytes) -> tuple[str, bool]:
    """Return a short error message, and whether it has Qdrant's format."""
    try:
        return str(json.loads(content)["status"]["error"])[:300], True
    except (ValueError, TypeError, KeyError):
        return content[:300].decode(errors="replace"), False


_CHECK = "Check host, port (Qdrant's is 6333) and path of PANORAMA_QDRANT_URL, and that Qdrant there is 1.10 or later."
_MEANWHILE = "Keyword search works meanwhile."
