"""The trial: a model embeds a set and is measured; the only module here that runs one."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Protocol

from panorama.index.checking.scores import Score, rank, scored
from panorama.index.checking.sets import Check, built_in

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

AT_ONCE = 16
"""Texts between two reports of progress."""

NOTES_PER_PASSAGE = 5
"""So many built-in notes are about as long as a passage."""

Told = Callable[[int, int], None]


class Embeds(Protocol):
    """What is tried."""

    @property
    def id(self) -> str: ...
    @property
    def size(self) -> int: ...
    def load(self) -> None: ...
    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]": ...
    def embed_query(self, text: str) -> "NDArray[float32]": ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How a model did: its speed with texts, the median time of a query in milliseconds, and its scores by kind."""

    model: str
    size: int
    texts: int
    texts_per_second: float
    query_ms: float
    scores: tuple[Score, ...]


def _silent(_done: int, _total: int) -> None:
    """Tell nobody."""


def tried(embedder: Embeds, check: Check, told: Told = _silent) -> Trial:
    """Try an embedder on a set, and tell how far it is; loading it is not part of its speed.

    Raises:
        UnavailableError: It cannot be loaded, or a service does not answer as it should.
    """
    embedder.load()
    embedder.embed_query(check.queries[0].text)
    total = len(check.texts) + len(check.queries)
    began = time.perf_counter()
    texts = _embedded(embedder, check.texts, lambda done: told(done, total))
    seconds = time.perf_counter() - began

    ranks: list[tuple[str, int]] = []
    waits: list[float] = []
    for done, query in enumerate(check.queries, len(check.texts) + 1):
        began = time.perf_counter()
        vector = embedder.embed_query(query.text)
        waits.append(time.perf_counter() - began)
        similarities: list[float] = (texts @ vector).tolist()
        ranks.append((query.kind, rank(similarities, query.wanted)))
        told(done, total)
    return Trial(
        model=embedder.id, size=embedder.size, texts=len(check.texts),
        texts_per_second=len(check.texts) / seconds, query_ms=median(waits) * 1000, scores=scored(ranks),
    )  # fmt: skip


def _embedded(embedder: Embeds, texts: Sequence[str], told: Callable[[int], None]) -> "NDArray[float32]":
    import numpy as np  # takes 100 ms

    parts: list[NDArray[float32]] = []
    for at in range(0, len(texts), AT_ONCE):
        parts.append(embedder.embed_documents(texts[at : at + AT_ONCE]))
        told(min(at + AT_ONCE, len(texts)))
    return np.concatenate(parts)


def pace(embedder: Embeds, seconds: float) -> float:
    """Return how many passages a second an embedder takes, measured for about this long, on texts that ship.

    Raises:
        UnavailableError: As of `tried`.
    """
    notes = built_in().texts
    passages = ["\n".join(notes[at : at + NOTES_PER_PASSAGE]) for at in range(0, len(notes), NOTES_PER_PASSAGE)]
    embedder.embed_documents(passages[:1])
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        some = passages[done % len(passages) :][:2]
        embedder.embed_documents(some)
        done += len(some)
    return done / (time.perf_counter() - began)
