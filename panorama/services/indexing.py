"""Indexing: makes the index of meanings hold what the store holds now, in steps that may each be repeated.

First the passages of what changed are cut and embedded, and kept in the database with the mark of how far that has
come, in one transaction. Then the index is told of them; its own mark moves once it has written them to the disk. So a
crash at any point costs only the repetition of a step, and a lost index is built from vectors that are there.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from panorama.domain.changes import digest
from panorama.domain.chunks import chunks
from panorama.domain.items import KINDS, Item
from panorama.errors import NotFoundError
from panorama.index.points import BATCH, Filter, Hit, Model, Point, in_batches
from panorama.ports import Embedder, Index
from panorama.services.base import Desk, Service
from panorama.store import passages, rows
from panorama.store.engine import Session
from panorama.store.passages import INDEXER, Passage, Stored

CHANGES = 256
"""Changes that are looked at in one step."""

TEXTS = 64
"""Texts that are embedded at once; between two such batches others have their turn."""

MANY = 2000
"""So many changes behind, the index is built anew beside the one that is searched."""


@dataclass(frozen=True, slots=True)
class Lag:
    """How far the index is behind: changes whose passages are not embedded, and changes that it has not heard of."""

    unread: int
    unheard: int


class Indexing(Service):
    """Follows the changes; `stop` is asked between two steps."""

    def __init__(self, desk: Desk, embedder: Embedder, index: Index) -> None:
        super().__init__(desk)
        self._embedder = embedder
        self._index = index
        self._turn = threading.Lock()

    @property
    def model(self) -> Model:
        """The model that makes the vectors."""
        return Model(id=self._embedder.id, digest=self._embedder.digest, size=self._embedder.size)

    def catch_up(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Bring passages, vectors and index up to the last change.

        Raises:
            UnavailableError: The model or the index is out of order; all that was done stays.
        """
        with self._turn:
            while not stop() and self._read():
                pass
            while not stop() and self._tell():
                pass

    def lag(self) -> Lag:
        """Return how far the index is behind."""
        with self._reading() as session:
            newest = passages.newest(session)
            read = passages.mark(session, self._reader)
            return Lag(newest - read, newest - min(read, passages.mark(session, self._listener)))

    def nearest(self, query: str, limit: int, wanted: Filter) -> list[Hit]:
        """Return the passages that are nearest to a query in meaning, best first.

        Raises:
            UnavailableError: The model or the index is out of order.
        """
        return self._index.search(_packed(self._embedder.embed_query(query)), limit, wanted)

    # The passages and their vectors.

    @property
    def _reader(self) -> str:
        return f"passages {self._name}"

    @property
    def _name(self) -> str:
        return f"{self._embedder.id} {self._embedder.digest}"[:80]

    def _read(self) -> bool:
        """Cut and embed what the next changes touched; tell whether there were any."""
        with self._reading() as session:
            items, last = passages.touched(session, passages.mark(session, self._reader), CHANGES)
            if not items:
                return False
            cut = {id_: _cut(session, kind, id_) for kind, id_ in items}
            texts = {each.digest: text for found in cut.values() for each, text in found}
            known = passages.embedded(session, self._name, list(texts))
        vectors = self._embedded({name: text for name, text in texts.items() if name not in known})
        with self._desk.database.transaction(INDEXER) as session:
            for id_, found in cut.items():
                passages.replace(session, id_, [each for each, _ in found])
            passages.keep(session, self._name, vectors)
            passages.set_mark(session, self._reader, last)
        return True

    def _embedded(self, texts: dict[str, str]) -> dict[str, bytes]:
        made: dict[str, bytes] = {}
        for some in in_batches(texts.items(), TEXTS):
            vectors = self._embedder.embed_documents([text for _, text in some])
            made |= {name: _kept(vector) for (name, _), vector in zip(some, vectors, strict=True)}
        return made

    # The index.

    @property
    def _listener(self) -> str:
        return f"index {self._index.state().identity} {self._name}"

    def _tell(self) -> bool:
        """Tell the index of the next changes that were read; tell whether there were any."""
        with self._reading() as session:
            read, heard = passages.mark(session, self._reader), passages.mark(session, self._listener)
            is_new = not passages.is_begun(session, self._listener)
        if is_new or read - heard > MANY:
            self._build(read)
            return True
        with self._reading() as session:
            items, last = passages.touched(session, heard, CHANGES, until=read)
            points, gone = self._points(session, items), passages.gone(session, [id_ for _, id_ in items])
        if not items:
            return False
        for some in in_batches(gone):
            self._index.delete(some)
        for batch in in_batches(points):
            self._index.upsert(batch)
        self._index.flush()
        self._heard(last)
        return True

    def _build(self, read: int) -> None:
        self._index.build(self._every(), self.model)
        self._index.flush()
        self._heard(read)

    def _heard(self, last: int) -> None:
        with self._desk.database.transaction(INDEXER) as session:
            passages.set_mark(session, self._listener, last)

    def _every(self) -> Iterator[Point]:
        with self._reading() as session:
            for kind in KINDS:
                yield from map(_point, passages.stored(session, self._name, kind))

    def _points(self, session: Session, items: Sequence[tuple[str, str]]) -> list[Point]:
        found: list[Point] = []
        for kind in dict.fromkeys(kind for kind, _ in items):
            ids = [id_ for each, id_ in items if each == kind]
            for some in in_batches(ids, BATCH):
                found += map(_point, passages.stored(session, self._name, kind, some))
        return found


def _cut(session: Session, kind: str, id_: str) -> list[tuple[Passage, str]]:
    """Return the passages of an item as it is now, with the texts to embed; none if it is in the trash."""
    try:
        item: Item = rows.load(session, kind, id_)
    except NotFoundError:
        return []
    return [
        (Passage(id_, kind, each.position, digest(each.text), each.begin, each.end), each.text)
        for each in chunks(*item.words())
    ]


def _point(stored: Stored) -> Point:
    kind: Any = stored.kind
    at: datetime = stored.at
    return Point(
        chunk=stored.chunk, item=stored.item, kind=kind, project=stored.project, at=at, digest=stored.digest,
        vector=_whole(stored.vector),
    )  # fmt: skip


def _packed(vector: Any) -> bytes:
    """Return a row of numbers as the index takes it."""
    return bytes(vector.astype("<f4").tobytes())


def _kept(vector: Any) -> bytes:
    """Return a row of numbers as the database keeps it: in half precision, which costs no place in the order."""
    return bytes(vector.astype("<f2").tobytes())


def _whole(kept: bytes) -> bytes:
    import numpy  # 120 ms, and needed by search by meaning alone

    return numpy.frombuffer(kept, "<f2").astype("<f4").tobytes()
