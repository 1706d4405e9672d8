"""Converts stored passages and vectors to index points, and compares them with those of an index."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from panorama.index.points import Point, in_batches
from panorama.store.backend import Session
from panorama.store.items import passages
from panorama.store.items.passages import EmbeddedPassage


def load_points(session: Session, name: str, items: Sequence[tuple[str, str]]) -> list[Point]:
    """Return the points of some items, given as (kind, id), with the stored vectors of a model."""
    points: list[Point] = []
    for kind in dict.fromkeys(kind for kind, _ in items):
        for batch in in_batches([id_ for item_kind, id_ in items if item_kind == kind]):
            points += to_points(passages.list_embedded(session, name, kind, items=batch))
    return points


def to_points(stored: Iterable[EmbeddedPassage]) -> Iterator[Point]:
    """Yield the index points of stored passages."""
    for batch in in_batches(stored):
        for passage, vector in zip(batch, float16_to_float32([passage.vector for passage in batch]), strict=True):
            kind: Any = passage.kind
            yield Point(
                chunk=passage.chunk, item=passage.item, kind=kind, project=passage.project, at=passage.at,
                digest=passage.digest, vector=vector,
            )  # fmt: skip


def to_float32_bytes(vector: Any) -> bytes:
    """Return a row of numbers in the index's format."""
    return bytes(vector.astype("<f4").tobytes())


def float16_to_float32(vectors: Sequence[bytes]) -> list[bytes]:
    """Convert stored half-precision vectors to the index's format."""
    import numpy  # 120 ms, and only needed for search by meaning

    if not vectors:
        return []
    rows = numpy.frombuffer(b"".join(vectors), "<f2").astype("<f4").reshape(len(vectors), -1)
    return [row.tobytes() for row in rows]


def checksum(digests: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """Return the count of passages and an order-independent checksum."""
    count, total = 0, 0
    for chunk, name in digests:
        count += 1
        total ^= int.from_bytes(blake2b(f"{chunk} {name}".encode(), digest_size=8).digest())
    return count, total
