"""Values of the vector index: points, hits, filters, status; no I/O."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import islice
from typing import Literal, TypeVar
from uuid import UUID

from panorama.domain.items.item import Kind
from panorama.errors import UnavailableError

BATCH_SIZE = 256
"""The maximum number of points written at once: about 10 ms of work, which a search may have to wait."""

NO_PROJECT = "none"
"""The project value of a filter for items without a project."""

FLOAT_BYTES = 4

Vector = bytes
"""A vector as little-endian float32 bytes, which can be stored, sent, compared and hashed."""

RawHit = tuple[float, str, str]
"""A raw hit: score, chunk, item."""

MIN_HITS = 12
"""The least hits requested from an engine: two more than the usual ten, to detect ties."""

Status = Literal["starting", "ready", "down"]

Each = TypeVar("Each")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The model of vectors; an index has only one. `size` is the number of dimensions."""

    id: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One chunk's vector and its filter fields; `at` is when its item last changed.

    `digest` is that of the chunk's text, to detect stale points.
    """

    chunk: str
    item: str
    kind: Kind
    project: str | None
    at: datetime
    digest: str
    vector: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A found chunk; `score` is the cosine, from -1 to 1."""

    chunk: str
    item: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter; empty means everything. `project` is an id or "none"; `until` is exclusive."""

    kinds: tuple[Kind, ...] = ()
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state of an index; reading it never blocks.

    `identity` changes whenever the index starts empty: everything must then be written again. `count` is None while
    unknown. `note` is a message for the user: what was moved aside, why it is down. `anonymous_bytes` and
    `mapped_bytes` are the memory of its own process, if known.
    """

    engine: str
    status: Status
    model: Model
    identity: str
    count: int | None
    disk_bytes: int = 0
    anonymous_bytes: int = 0
    mapped_bytes: int = 0
    note: str = ""


class ModelMismatchError(UnavailableError):
    """The index has vectors of another model, `model`."""

    def __init__(self, model: Model, expected: Model) -> None:
        actual = f"{model.id}, {model.size} dimensions"
        super().__init__(
            f"The index holds vectors of another model ({actual}) than {expected.id}, {expected.size} dimensions.",
            hint="Rebuild it with reindex; keyword search works meanwhile.",
        )
        self.model = model


def pack_vector(vector: Iterable[float]) -> Vector:
    """Convert numbers to a vector, equal to numpy's `.astype("<f4").tobytes()`."""
    return array("f", vector).tobytes()


def to_micros(at: datetime) -> int:
    """Convert a time to microseconds since 1970, which are exact as a float up to the year 2255."""
    return (at - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Convert microseconds since 1970 to a time."""
    return _EPOCH + micros * _MICROSECOND


def point_id(chunk: str, space: str = "") -> UUID:
    """Return the Qdrant id of a chunk, in a space if a collection has several; only numbers and UUIDs are allowed."""
    name = f"{space} {chunk}" if space else chunk
    return UUID(bytes=blake2b(name.encode(), digest_size=16).digest())


def rank_hits(ask: Callable[[int], list[RawHit]], limit: int) -> list[RawHit]:
    """Return the best hits in a stable order, from an engine that breaks ties arbitrarily.

    Args:
        ask: Returns a number of hits, best first.
    """
    asked = max(limit + 2, MIN_HITS)
    hits = ask(asked)
    while len(hits) == asked and hits[-1][0] == hits[limit - 1][0]:
        asked *= 4
        hits = ask(asked)
    return sorted(hits, key=lambda hit: (-hit[0], hit[1]))[:limit]


def in_batches(items: Iterable[Each], size: int = BATCH_SIZE) -> Iterator[Sequence[Each]]:
    """Yield the items in batches of at most `size`."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
