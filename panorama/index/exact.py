"""The index in memory: every vector is compared, by numpy; the fallback, and what the others are tested against."""

from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from panorama.index.filters import Among, Between, Condition, conditions, payload
from panorama.index.points import Filter, Hit, Model, Point, State, Vector, in_batches
from panorama.index.vectors import Matrix, row, rows

GROWTH = 1.25
FIRST_ROWS = 512
SAME = 1e-6
"""Scores that differ by less may differ by rounding alone, so that these are computed again, row by row."""


class Exact:
    """An index that forgets all when the process ends."""

    engine = "exact"

    def __init__(self, model: Model) -> None:
        self._lock = Lock()
        self._table = _Table(model.size)
        self._model = model
        self._identity = uuid4().hex

    @property
    def model(self) -> Model:
        """The model whose vectors it holds now."""
        return self._model

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points; one whose chunk is there already is replaced."""
        vectors = rows([each.vector for each in points], self._model.size)
        with self._lock:
            self._table.put(points, vectors)

    def delete(self, chunks: Sequence[str]) -> None:
        """Remove chunks; those that are not there are passed over."""
        with self._lock:
            for chunk in chunks:
                self._table.drop(chunk)

    def search(self, vector: Vector, limit: int, wanted: Filter) -> list[Hit]:
        """Return the nearest chunks, best first; those alike by their id."""
        with self._lock:
            query = row(vector, self._model.size)
            return self._table.nearest(query, limit, conditions(wanted))

    def count(self) -> int:
        """Return how many chunks there are."""
        return len(self._table)

    def held(self) -> Iterator[tuple[str, str]]:
        """Give each chunk with the digest of its text."""
        with self._lock:
            return iter(self._table.held())

    def build(self, points: Iterable[Point], model: Model | None = None) -> None:
        """Replace everything, for another model if one is given; what was there answers until then."""
        model = model or self._model
        table = _Table(model.size)
        for batch in in_batches(points):
            table.put(batch, rows([each.vector for each in batch], model.size))
        with self._lock:
            self._table, self._model, self._identity = table, model, uuid4().hex

    def flush(self) -> None:
        """Do nothing: there is no disk."""

    def state(self) -> State:
        """Return how it does."""
        return State(
            engine=self.engine, status="ready", model=self._model, identity=self._identity, count=len(self._table),
            anonymous_bytes=self._table.bytes, note="Vectors are kept in memory alone.",
        )  # fmt: skip

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._table = _Table(self._model.size)


class _Table:
    """Rows of vectors, and beside each what it may be filtered by; the last row fills the gap of one that leaves."""

    def __init__(self, size: int) -> None:
        self._rows: dict[str, int] = {}
        self._items: list[tuple[str, str, str]] = []
        self._vectors: Matrix = np.empty((FIRST_ROWS, size), np.float32)
        self._words = {"kind": _Words(FIRST_ROWS), "project": _Words(FIRST_ROWS)}
        self._at = np.empty(FIRST_ROWS, np.int64)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def bytes(self) -> int:
        """What its arrays take."""
        return self._vectors.nbytes + self._at.nbytes + sum(each.codes.nbytes for each in self._words.values())

    def held(self) -> list[tuple[str, str]]:
        return [(chunk, digest) for chunk, _, digest in self._items]

    def put(self, points: Sequence[Point], vectors: Matrix) -> None:
        self._make_room(len(points))
        for point, vector in zip(points, vectors, strict=True):
            self._put(point, vector)

    def _put(self, point: Point, vector: Matrix) -> None:
        row = self._rows.setdefault(point.chunk, len(self._items))
        about = (point.chunk, point.item, point.digest)
        if row == len(self._items):
            self._items.append(about)
        self._items[row] = about
        self._vectors[row] = vector
        kept = payload(point)
        self._at[row] = kept["at"]
        for name, words in self._words.items():
            words.put(row, kept[name])

    def drop(self, chunk: str) -> None:
        row, last = self._rows.pop(chunk, None), len(self._items) - 1
        if row is None:
            return
        moved = self._items.pop()
        if row == last:
            return
        self._items[row] = moved
        self._rows[moved[0]] = row
        for column in (self._vectors, self._at, *(words.codes for words in self._words.values())):
            column[row] = column[last]

    def nearest(self, query: Matrix, limit: int, wanted: Sequence[Condition]) -> list[Hit]:
        among = self._matching(wanted)
        scores = (self._vectors[: len(self)] if among is None else self._vectors[among]) @ query
        best = _best(scores, limit)
        chosen = best if among is None else among[best]
        # Row by row: a product of matrices may round the same vector differently in different rows.
        exact = np.asarray(np.sum(self._vectors[chosen] * query, axis=1, dtype=np.float64))
        hits = [self._hit(int(row), float(score)) for row, score in zip(chosen, exact, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk))[:limit]

    def _hit(self, row: int, score: float) -> Hit:
        chunk, item, _ = self._items[row]
        return Hit(chunk=chunk, item=item, score=score)

    def _matching(self, wanted: Sequence[Condition]) -> NDArray[np.intp] | None:
        """Return the rows for which all conditions hold; None if there are none."""
        if not wanted:
            return None
        found = np.ones(len(self), np.bool_)
        for condition in wanted:
            found &= self._holds(condition)
        return np.flatnonzero(found)

    def _holds(self, condition: Condition) -> NDArray[np.bool_]:
        match condition:
            case Among(field, values):
                return self._words[field].among(values, len(self))
            case Between(_, first, end):
                at = self._at[: len(self)]
                after = at >= first if first is not None else np.ones(len(at), np.bool_)
                return after & (at < end) if end is not None else after

    def _make_room(self, more: int) -> None:
        needed = len(self) + more
        if needed <= len(self._vectors):
            return
        size = max(needed, int(len(self._vectors) * GROWTH))
        self._vectors = _longer(self._vectors, size)
        self._at = _longer(self._at, size)
        for words in self._words.values():
            words.codes = _longer(words.codes, size)


class _Words:
    """A column of words, as numbers."""

    def __init__(self, size: int) -> None:
        self.codes = np.empty(size, np.int32)
        self._known: dict[str, int] = {}

    def put(self, row: int, word: str) -> None:
        self.codes[row] = self._known.setdefault(word, len(self._known))

    def among(self, words: Sequence[str], count: int) -> NDArray[np.bool_]:
        codes = self.codes[:count]
        found = np.zeros(count, np.bool_)
        for word in words:
            found |= codes == self._known.get(word, -1)
        return found


Number = TypeVar("Number", bound=np.generic)


def _longer(column: NDArray[Number], size: int) -> NDArray[Number]:
    longer = np.empty((size, *column.shape[1:]), column.dtype)
    longer[: len(column)] = column
    return longer


def _best(scores: Matrix, limit: int) -> NDArray[np.intp]:
    """Return the places of the highest scores in no order, with those that may be as high as the last of them."""
    if limit >= len(scores):
        return np.arange(len(scores))
    bound = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= bound - SAME)
