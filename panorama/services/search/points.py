"""Pointing: passages and vectors as the database keeps them, and the points of an index as it takes them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from panorama.index.points import Point, in_batches
from panorama.store.backend import Session
from panorama.store.items import passages
from panorama.store.items.passages import EmbeddedPassage


def load_points(session: Session, name: str, items: Sequence[tuple[str, str]]) -> list[Point]:
    """Return the points of some items, given as (kind, id), with the vectors that are kept under a model's name."""
    found: list[Point] = []
    for kind in dict.fromkeys(kind for kind, _ in items):
        for some in in_batches([id_ for each, id_ in items if each == kind]):
            found += to_points(passages.list_embedded(session, name, kind, items=some))
    return found


def to_points(stored: Iterable[EmbeddedPassage]) -> Iterator[Point]:
    """Give points of the index for passages as they are kept."""
    for some in in_batches(stored):
        for each, vector in zip(some, float16_to_float32([each.vector for each in some]), strict=True):
            kind: Any = each.kind
            yield Point(
                chunk=each.chunk, item=each.item, kind=kind, project=each.project, at=each.at, digest=each.digest,
                vector=vector,
            )  # fmt: skip


def to_float32_bytes(vector: Any) -> bytes:
    """Return a row of numbers as the index takes it."""
    return bytes(vector.astype("<f4").tobytes())


def float16_to_float32(kept: Sequence[bytes]) -> list[bytes]:
    """Return vectors that the database keeps in half precision as the index takes them."""
    import numpy  # 120 ms, and needed by search by meaning alone

    if not kept:
        return []
    rows = numpy.frombuffer(b"".join(kept), "<f2").astype("<f4").reshape(len(kept), -1)
    return [row.tobytes() for row in rows]
