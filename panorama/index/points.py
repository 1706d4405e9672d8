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
"""The most points that are written at once: some 10 ms of work, so that a search need not wait longer."""

NO_PROJECT = "none"
"""The project of a filter that asks for what is in no project."""

FLOAT_BYTES = 4

Vector = bytes
"""A vector as float32, little-endian: what databases keep and pipes carry, and a value that compares and hashes."""

RawHit = tuple[float, str, str]
"""A hit as it is on its way: score, chunk, item."""

MIN_HITS = 12
"""How many hits an engine is asked for at least: two more than the usual ten, to see whether some are as good."""

Status = Literal["starting", "ready", "down"]

Each = TypeVar("Each")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What made the vectors; an index holds those of one model alone. `size` is the number of dimensions."""

    id: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One chunk's vector and what it may be filtered by; `at` is when its item last changed.

    `digest` is that of the chunk's text: it tells whether what an index holds is still true.
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
    """A chunk that was found; `score` is the cosine of both vectors, from -1 to 1."""

    chunk: str
    item: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What may be found; all of it if empty. `project` is an id or "none"; `until` itself does not count."""

    kinds: tuple[Kind, ...] = ()
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How an index does; asking never waits.

    `identity` changes whenever its contents begin anew: whoever follows it then has everything to write again.
    `count` is None while nobody knows. `note` says what a person should know: what was moved aside, why it is down.
    `anonymous_bytes` and `mapped_bytes` are the memory of its own process, if it has one and the system tells.
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
    """The index holds vectors of another model; `model` is that one."""

    def __init__(self, model: Model, expected: Model) -> None:
        actual = f"{model.id}, {model.size} dimensions"
        super().__init__(
            f"The index holds vectors of another model ({actual}) than {expected.id}, {expected.size} dimensions.",
            hint="Build it again with reindex; search by keyword works meanwhile.",
        )
        self.model = model


def pack_vector(vector: Iterable[float]) -> Vector:
    """Return numbers as a vector; an array of numpy gives the same by `.astype("<f4").tobytes()`."""
    return array("f", vector).tobytes()


def to_micros(at: datetime) -> int:
    """Return a moment as microseconds since 1970: exact also as a float, up to the year 2255."""
    return (at - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return microseconds since 1970 as a moment."""
    return _EPOCH + micros * _MICROSECOND


def point_id(chunk: str) -> UUID:
    """Return the id under which Qdrant keeps a chunk: it takes no other names than numbers and UUIDs."""
    return UUID(bytes=blake2b(chunk.encode(), digest_size=16).digest())


def rank_hits(ask: Callable[[int], list[RawHit]], limit: int) -> list[RawHit]:
    """Return the best hits in a fixed order, from an engine that leaves open which it takes of those alike.

    Args:
        ask: Returns that many hits, best first.
    """
    asked = max(limit + 2, MIN_HITS)
    hits = ask(asked)
    while len(hits) == asked and hits[-1][0] == hits[limit - 1][0]:
        asked *= 4
        hits = ask(asked)
    return sorted(hits, key=lambda hit: (-hit[0], hit[1]))[:limit]


def in_batches(items: Iterable[Each], size: int = BATCH_SIZE) -> Iterator[Sequence[Each]]:
    """Yield what is iterated in lists of at most `size`."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
