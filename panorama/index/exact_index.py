"""The in-memory index, which compares every vector with numpy."""

from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from panorama.index.filters import Condition, InFilter, RangeFilter, to_conditions, to_payload
from panorama.index.points import Filter, Hit, Model, Point, State, Vector, in_batches
from panorama.index.vectors import Matrix, normalize_row, normalize_rows

GROWTH_FACTOR = 1.25
INITIAL_ROWS = 512
SCORE_TOLERANCE = 1e-6
"""Smaller score differences may be rounding errors, so those scores are recomputed row by row."""


class ExactIndex:
    """An index that is lost when the process ends."""

    engine = "exact"

    def __init__(self, model: Model) -> None:
        self._lock = Lock()
        self._table = _VectorTable(model.size)
        self._model = model
        self._identity = uuid4().hex

    @property
    def model(self) -> Model:
        """The model of its vectors."""
        return self._model

    def upsert(self, points: Sequence[Point], change: int = 0) -> None:  # noqa: ARG002 (no other program writes it)
        """Write points; existing chunks are replaced."""
        vectors = normalize_rows([entry.vector for entry in points], self._model.size)
        with self._lock:
            self._table.upsert(points, vectors)

    def delete(self, chunks: Sequence[str], change: int = 0) -> None:  # noqa: ARG002 (likewise)
        """Remove chunks; missing ones are ignored."""
        with self._lock:
            for chunk in chunks:
                self._table.delete(chunk)

    def search(self, vector: Vector, limit: int, condition: Filter) -> list[Hit]:
        """Return the nearest chunks, best first; ties are ordered by id."""
        with self._lock:
            query = normalize_row(vector, self._model.size)
            return self._table.search(query, limit, to_conditions(condition))

    def count(self) -> int:
        """Return the number of chunks."""
        return len(self._table)

    def iter_digests(self) -> Iterator[tuple[str, str]]:
        """Give each chunk with the digest of its text."""
        with self._lock:
            return iter(self._table.list_digests())

    def build(self, points: Iterable[Point], model: Model | None = None, change: int = 0) -> None:  # noqa: ARG002 (likewise)
        """Replace everything, optionally for another model; the old points are searched until then."""
        model = model or self._model
        table = _VectorTable(model.size)
        for batch in in_batches(points):
            table.upsert(batch, normalize_rows([entry.vector for entry in batch], model.size))
        with self._lock:
            self._table, self._model, self._identity = table, model, uuid4().hex

    def flush(self) -> None:
        """Do nothing: there is no disk."""

    def state(self) -> State:
        """Return its state."""
        return State(
            engine=self.engine, status="ready", model=self._model, identity=self._identity, count=len(self._table),
            anonymous_bytes=self._table.bytes, note="Vectors are kept in memory only.",
        )  # fmt: skip

    def close(self) -> None:
        """Delete everything."""
        with self._lock:
            self._table = _VectorTable(self._model.size)


class _VectorTable:
    """Rows of vectors with their filter columns; the last row fills the gap of a removed one."""

    def __init__(self, size: int) -> None:
        self._rows: dict[str, int] = {}
        self._items: list[tuple[str, str, str]] = []
        self._vectors: Matrix = np.empty((INITIAL_ROWS, size), np.float32)
        self._words = {"kind": _WordColumn(INITIAL_ROWS), "project": _WordColumn(INITIAL_ROWS)}
        self._at = np.empty(INITIAL_ROWS, np.int64)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def bytes(self) -> int:
        """The size of its arrays."""
        return self._vectors.nbytes + self._at.nbytes + sum(entry.codes.nbytes for entry in self._words.values())

    def list_digests(self) -> list[tuple[str, str]]:
        return [(chunk, digest) for chunk, _, digest in self._items]

    def upsert(self, points: Sequence[Point], vectors: Matrix) -> None:
        self._reserve(len(points))
        for point, vector in zip(points, vectors, strict=True):
            self._upsert_one(point, vector)

    def _upsert_one(self, point: Point, vector: Matrix) -> None:
        row = self._rows.setdefault(point.chunk, len(self._items))
        about = (point.chunk, point.item, point.digest)
        if row == len(self._items):
            self._items.append(about)
        self._items[row] = about
        self._vectors[row] = vector
        payload = to_payload(point)
        self._at[row] = payload["at"]
        for name, words in self._words.items():
            words.set(row, payload[name])

    def delete(self, chunk: str) -> None:
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

    def search(self, query: Matrix, limit: int, conditions: Sequence[Condition]) -> list[Hit]:
        among = self._matching_rows(conditions)
        scores = (self._vectors[: len(self)] if among is None else self._vectors[among]) @ query
        best = _best_rows(scores, limit)
        chosen = best if among is None else among[best]
        # Row by row, because a matrix product may round the same vector differently in different rows.
        exact = np.asarray(np.sum(self._vectors[chosen] * query, axis=1, dtype=np.float64))
        hits = [self._to_hit(int(row), float(score)) for row, score in zip(chosen, exact, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk))[:limit]

    def _to_hit(self, row: int, score: float) -> Hit:
        chunk, item, _ = self._items[row]
        return Hit(chunk=chunk, item=item, score=score)

    def _matching_rows(self, conditions: Sequence[Condition]) -> NDArray[np.intp] | None:
        """Return the rows that meet all conditions; None without conditions."""
        if not conditions:
            return None
        mask = np.ones(len(self), np.bool_)
        for condition in conditions:
            mask &= self._mask_of(condition)
        return np.flatnonzero(mask)

    def _mask_of(self, condition: Condition) -> NDArray[np.bool_]:
        match condition:
            case InFilter(field, values):
                return self._words[field].mask_of(values, len(self))
            case RangeFilter(_, first, end):
                at = self._at[: len(self)]
                after = at >= first if first is not None else np.ones(len(at), np.bool_)
                return after & (at < end) if end is not None else after

    def _reserve(self, more: int) -> None:
        needed = len(self) + more
        if needed <= len(self._vectors):
            return
        size = max(needed, int(len(self._vectors) * GROWTH_FACTOR))
        self._vectors = _grow(self._vectors, size)
        self._at = _grow(self._at, size)
        for words in self._words.values():
            words.codes = _grow(words.codes, size)


class _WordColumn:
    """A column of words, encoded as numbers."""

    def __init__(self, size: int) -> None:
        self.codes = np.empty(size, np.int32)
        self._known: dict[str, int] = {}

    def set(self, row: int, word: str) -> None:
        self.codes[row] = self._known.setdefault(word, len(self._known))

    def mask_of(self, words: Sequence[str], count: int) -> NDArray[np.bool_]:
        codes = self.codes[:count]
        mask = np.zeros(count, np.bool_)
        for word in words:
            mask |= codes == self._known.get(word, -1)
        return mask


Number = TypeVar("Number", bound=np.generic)


def _grow(column: NDArray[Number], size: int) -> NDArray[Number]:
    longer = np.empty((size, *column.shape[1:]), column.dtype)
    longer[: len(column)] = column
    return longer


def _best_rows(scores: Matrix, limit: int) -> NDArray[np.intp]:
    """Return the indexes of the highest scores, unordered, including possible ties with the last."""
    if limit >= len(scores):
        return np.arange(len(scores))
    bound = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= bound - SCORE_TOLERANCE)
