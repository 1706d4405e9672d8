"""Embeds an evaluation set with a model and measures it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Protocol

from panorama.index.evaluation.scores import Score, rank, score_ranks
from panorama.index.evaluation.sets import EvaluationSet, load_built_in

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

BATCH_SIZE = 16
"""Texts between two reports of progress."""

NOTES_PER_PASSAGE = 5
"""This many built-in notes have about the length of a passage."""

ProgressCallback = Callable[[int, int], None]


class EvaluatedEmbedder(Protocol):
    """An embedder to evaluate."""

    @property
    def id(self) -> str: ...
    @property
    def size(self) -> int: ...
    def load(self) -> None: ...
    def embed_documents(self, texts: Sequence[str]) -> "NDArray[float32]": ...
    def embed_query(self, text: str) -> "NDArray[float32]": ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A result: speed with texts, the median time of a query in milliseconds, and scores by kind."""

    model: str
    size: int
    texts: int
    texts_per_second: float
    query_ms: float
    scores: tuple[Score, ...]


def _noop(_done: int, _total: int) -> None:
    """Do nothing."""


def evaluate(embedder: EvaluatedEmbedder, check: EvaluationSet, report: ProgressCallback = _noop) -> Evaluation:
    """Evaluate an embedder on a set, with progress reports; the speed excludes loading.

    Raises:
        UnavailableError: It cannot be loaded, or its service gives an invalid answer.
    """
    embedder.load()
    embedder.embed_query(check.queries[0].text)
    total = len(check.texts) + len(check.queries)
    began = time.perf_counter()
    texts = _embed(embedder, check.texts, lambda done: report(done, total))
    seconds = time.perf_counter() - began

    ranks: list[tuple[str, int]] = []
    waits: list[float] = []
    for done, query in enumerate(check.queries, len(check.texts) + 1):
        began = time.perf_counter()
        vector = embedder.embed_query(query.text)
        waits.append(time.perf_counter() - began)
        similarities: list[float] = (texts @ vector).tolist()
        ranks.append((query.kind, rank(similarities, query.wanted)))
        report(done, total)
    return Evaluation(
        model=embedder.id, size=embedder.size, texts=len(check.texts),
        texts_per_second=len(check.texts) / seconds, query_ms=median(waits) * 1000, scores=score_ranks(ranks),
    )  # fmt: skip


def _embed(embedder: EvaluatedEmbedder, texts: Sequence[str], report: Callable[[int], None]) -> "NDArray[float32]":
    import numpy as np  # takes 100 ms

    parts: list[NDArray[float32]] = []
    for at in range(0, len(texts), BATCH_SIZE):
        parts.append(embedder.embed_documents(texts[at : at + BATCH_SIZE]))
        report(min(at + BATCH_SIZE, len(texts)))
    return np.concatenate(parts)


def measure_speed(embedder: EvaluatedEmbedder, seconds: float) -> float:
    """Measure how many passages a second an embedder processes, for about this time, with built-in texts.

    Raises:
        UnavailableError: As of `evaluate`.
    """
    notes = load_built_in().texts
    passages = ["\n".join(notes[at : at + NOTES_PER_PASSAGE]) for at in range(0, len(notes), NOTES_PER_PASSAGE)]
    embedder.embed_documents(passages[:1])
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        batch = passages[done % len(passages) :][:2]
        embedder.embed_documents(batch)
        done += len(batch)
    return done / (time.perf_counter() - began)
