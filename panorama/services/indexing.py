"""Indexing: makes the index of meanings hold what the store holds now, in steps that may each be repeated.

First the passages of what changed are cut and embedded, and kept in the database; then the mark of how far that has
come moves. Then the index is told of them; its own mark moves once it has written them to the disk. So a crash at any
point costs only the repetition of a step, and a lost index is built from vectors that are there.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from panorama.domain.changes import digest
from panorama.domain.chunks import chunks
from panorama.domain.items import KINDS, Item
from panorama.errors import UnavailableError
from panorama.index.points import Filter, Hit, Model, Point, in_batches
from panorama.ports import Embedder, Index
from panorama.services.base import Desk, Service
from panorama.store import passages
from panorama.store.engine import Session
from panorama.store.passages import INDEXER, WHOLE, Part, Passage, Stored

CHANGES = 512
"""Changes that are looked at in one step."""

ITEMS = 32
"""Items that are read at once; each may have 10 MB."""

TEXTS_OF_A_STEP = 2000
"""A step ends with the item that reaches so many texts to embed."""

TEXTS = 64
"""Texts that are embedded at once; between two such batches others have their turn."""

KEPT = 256
"""Vectors that are written in one transaction: a crash costs no more than these."""

MANY = 2000
"""So many changes behind, the index is built anew beside the one that is searched."""

TELL_SECONDS, TELL_SHARE = 10.0, 5
"""While much is read, the index is told of it after so many seconds, and five times as long as that took."""

ASK_SECONDS, YIELD_SECONDS = 0.1, 0.005
"""How often who waits for its turn looks whether it should stop; how long it is let in between two steps of others."""

Stop = Callable[[], bool]
Told = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Lag:
    """How far the index is behind: changes whose passages are not embedded, and changes that it has not heard of."""

    unread: int
    unheard: int


@dataclass(frozen=True, slots=True)
class Cut:
    """The passages of some items and the texts to embed by their digests, as they were after the change `seen`.

    `last` is the last of the changes that led to these items.
    """

    passages: dict[str, list[Passage]]
    texts: dict[str, str]
    last: int
    seen: int


def never() -> bool:
    """Go on."""
    return False


def silent(_: int) -> None:
    """Tell nobody."""


class Indexing(Service):
    """Follows the changes with one model and one index; `stop` is asked between two batches."""

    def __init__(self, desk: Desk, embedder: Embedder, index: Index) -> None:
        super().__init__(desk)
        self._embedder = embedder
        self._index = index
        self._turn = threading.RLock()
        self._waiting = 0
        self._heard_as = self._begun_as = ""
        self._takes_over = False

    @property
    def model(self) -> Model:
        """The model that makes the vectors."""
        return Model(id=self._embedder.id, digest=self._embedder.digest, size=self._embedder.size)

    @cached_property
    def name(self) -> str:
        """Under what the model's vectors are kept."""
        return passages.model_name(self._embedder.id, self._embedder.digest)

    def catch_up(self, stop: Stop = never) -> None:
        """Bring passages, vectors and index up to the last change.

        Raises:
            UnavailableError: The model or the index is out of order; all that was done stays.
        """
        next_time = time.monotonic() + TELL_SECONDS
        while not stop() and self.read(stop):
            if self._waiting:
                time.sleep(YIELD_SECONDS)
            if time.monotonic() > next_time:
                begun = time.monotonic()
                self.tell_all(stop)
                next_time = time.monotonic() + max(TELL_SECONDS, TELL_SHARE * (time.monotonic() - begun))
        self.tell_all(stop)

    @contextmanager
    def _having_turn(self, told: Told) -> Generator[None]:
        """Wait for whoever else is at work, and tell of nothing new meanwhile, so that who waits can be stopped."""
        self._waiting += 1
        try:
            while not self._turn.acquire(timeout=ASK_SECONDS):
                told(0)
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._turn.release()

    def lag(self) -> Lag:
        """Return how far the index is behind."""
        heard_as = self._heard_as or self._listener
        with self._reading() as session:
            newest = passages.newest(session)
            read = passages.mark(session, self._reader)
            return Lag(newest - read, newest - min(read, passages.mark(session, heard_as)))

    def is_begun(self) -> bool:
        """Tell whether the index holds anything that it was told of."""
        if self._takes_over and self._index.model == self.model:  # it was swapped; its mark follows with the flush
            return True
        if self._heard_as and self._heard_as == self._begun_as:  # who reads may have begun before the mark was there
            return True
        with self._reading() as session:
            return passages.is_begun(session, self._heard_as or self._listener)

    def nearest(self, query: str, limit: int, wanted: Filter) -> list[Hit]:
        """Return the passages that are nearest to a query in meaning, best first.

        Raises:
            UnavailableError: The model or the index is out of order.
        """
        found = self._index.search(_packed(self._embedder.embed_query(query)), limit, wanted)
        if self._index.model != self.model:  # it was swapped meanwhile, and what was found means nothing
            raise UnavailableError("The index is changing to another model.", hint="Ask again in a moment.")
        return found

    def near(self, vectors: Sequence[bytes], limit: int, wanted: Filter) -> list[Hit]:
        """Return the passages that are nearest to any of some vectors as the database keeps them, best first.

        Raises:
            UnavailableError: The index is out of order.
        """
        best: dict[str, Hit] = {}
        for vector in _whole(vectors):
            for hit in self._index.search(vector, limit, wanted):
                if hit.chunk not in best or best[hit.chunk].score < hit.score:
                    best[hit.chunk] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.chunk))[:limit]

    # The passages and their vectors.

    @property
    def _reader(self) -> str:
        return f"passages {self.name}"

    def read(self, stop: Stop = never, told: Told = silent) -> bool:
        """Cut and embed what the next changes touched; tell whether there was anything.

        Args:
            told: Is called with the number of texts that were embedded, after each batch.

        Raises:
            UnavailableError: The model is out of order; the vectors that were made are kept.
        """
        with self._having_turn(told):
            with self._reading() as session:
                found = passages.touched(session, passages.mark(session, self._reader), CHANGES)
                cut = _cut(session, found, TEXTS_OF_A_STEP)
            return bool(found) and self._take(cut, self._reader, stop, told)

    def read_anew(self, mark: str, told: Told, part: Part = WHOLE) -> Cut | None:
        """Cut the next items of a part again, and embed what is not known; None if there are no more.

        Args:
            mark: Where it is kept how far this has come: the change with which the last item began.

        Raises:
            UnavailableError: The model is out of order; the vectors that were made are kept.
        """
        with self._having_turn(told):
            with self._reading() as session:
                found = passages.touched(session, passages.mark(session, mark), CHANGES, created=True, part=part)
                cut = _cut(session, found, KEPT)
            if not found:
                return None
            self._take(cut, mark, never, told)
            return cut

    def _take(self, cut: Cut, mark: str, stop: Stop, told: Told) -> bool:
        """Embed what is not known yet, and keep all of it with a mark; tell whether it was not stopped before."""
        with self._reading() as session:
            known = passages.embedded(session, self.name, list(cut.texts))
        fresh = [(name, text) for name, text in cut.texts.items() if name not in known]
        for some in in_batches(fresh, KEPT):
            made: dict[str, bytes] = {}
            try:
                for few in in_batches(some, TEXTS):
                    if stop():
                        return False
                    made |= self._made(few)
                    told(len(few))
            finally:  # also what was made before the model failed, or somebody stopped it
                with self._desk.database.transaction(INDEXER) as session:
                    passages.keep(session, self.name, made)
        with self._desk.database.transaction(INDEXER) as session:
            if passages.lacks(session, self.name, list(cut.texts)):
                return True  # somebody forgot what nobody seemed to need: the next reading makes it again
            since = passages.changed(session, cut.seen, list(cut.passages))  # another process may have read those
            passages.replace(session, {item: some for item, some in cut.passages.items() if item not in since})
            passages.set_mark(session, mark, max(cut.last, passages.mark(session, mark)))
        return True

    def _made(self, texts: Sequence[tuple[str, str]]) -> dict[str, bytes]:
        vectors = self._embedder.embed_documents([text for _, text in texts])
        kept = vectors.astype("<f2")  # half the room; it costs no place in the order
        return {name: kept[at].tobytes() for at, (name, _) in enumerate(texts)}

    # The index.

    @property
    def _listener(self) -> str:
        self._heard_as = f"index {self._index.state().identity} {self.name}"
        return self._heard_as

    def tell_all(self, stop: Stop = never) -> None:
        """Tell the index of all that was read.

        Raises:
            UnavailableError: The index is out of order.
        """
        while not stop() and self.tell():
            pass

    def tell(self) -> bool:
        """Tell the index of the next changes that were read; tell whether there were any.

        Raises:
            UnavailableError: The index is out of order.
        """
        with self._turn:
            if self._index.state().status == "starting":
                self._index.count()  # a server that was not asked yet does not know which collection it has
            listener = self._listener
            with self._reading() as session:
                read, heard = passages.mark(session, self._reader), passages.mark(session, listener)
                is_new = not passages.is_begun(session, listener)
            if is_new or read - heard > MANY:
                self.build()
                return True
            return self._told(listener, heard, read)

    def _told(self, listener: str, heard: int, read: int) -> bool:
        with self._reading() as session:
            found = passages.touched(session, heard, CHANGES, until=read)
            items = _items(found)
            points, gone = self._points(session, items), passages.gone(session, [id_ for _, id_ in items])
        if not found:
            return False
        for some in in_batches(gone):
            self._index.delete(some)
        for batch in in_batches(points):
            self._index.upsert(batch)
        self._index.flush()
        self._heard(listener, found[-1][0])
        return True

    def build(self, told: Told = silent) -> None:
        """Build the index anew from the vectors that are kept, beside the one that is searched.

        Args:
            told: Is called with the number of points, a few hundred at a time; what it raises ends the building.

        Raises:
            UnavailableError: The index is out of order; the one before goes on.
        """
        with self._having_turn(told):
            with self._reading() as session:
                read = passages.mark(session, self._reader)
                self._takes_over = self._index.model != self.model or self.is_begun()
                self._index.build(_counted(self._every(session), told), self.model)
            listener = self._listener
            self._index.flush()
            self._heard(listener, read)
            self._takes_over = False

    def _heard(self, listener: str, last: int) -> None:
        with self._desk.database.transaction(INDEXER) as session:
            passages.set_mark(session, listener, last)
        self._begun_as = listener

    def _every(self, session: Session) -> Iterator[Point]:
        for kind in KINDS:
            yield from _pointed(passages.stored(session, self.name, kind))

    def _points(self, session: Session, items: Sequence[tuple[str, str]]) -> list[Point]:
        found: list[Point] = []
        for kind in dict.fromkeys(kind for kind, _ in items):
            for some in in_batches([id_ for each, id_ in items if each == kind]):
                found += _pointed(passages.stored(session, self.name, kind, some))
        return found

    def is_true(self) -> bool:
        """Tell whether the index holds just what it should, if it has heard of everything; else nothing is compared.

        Raises:
            UnavailableError: The index is out of order.
        """
        with self._turn:
            if self.lag().unheard:
                return True
            with self._reading() as session:
                wanted = _sum(passages.known(session, self.name))
            return wanted == _sum(self._index.held())


def _cut(session: Session, found: Sequence[tuple[int, str, str]], most: int) -> Cut:
    """Cut the items that some changes touched, in their order, up to those that reach so many texts."""
    cut, texts = dict[str, list[Passage]](), dict[str, str]()
    for some in in_batches(_items(found), ITEMS):
        living = passages.living(session, some)
        for kind, id_ in some:
            item = living.get(id_)
            cut[id_] = _passages(kind, item, texts) if item else []
        if len(texts) >= most:
            break
    last = 0
    for number, _, id_ in found:
        if id_ not in cut:
            break
        last = number
    return Cut(cut, texts, last, passages.newest(session))


def _passages(kind: str, item: Item, texts: dict[str, str]) -> list[Passage]:
    made: list[Passage] = []
    for each in chunks(*item.words()):
        name = digest(each.text)
        texts[name] = each.text
        made.append(Passage(item.id, kind, each.position, name, each.begin, each.end))
    return made


def _counted(points: Iterable[Point], told: Told) -> Iterator[Point]:
    """Give the points on, and tell of them batch by batch."""
    for some in in_batches(points):
        told(len(some))
        yield from some


def _items(found: Iterable[tuple[int, str, str]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((kind, id_) for _, kind, id_ in found))


def _pointed(stored: Iterable[Stored]) -> Iterator[Point]:
    for some in in_batches(stored):
        for each, vector in zip(some, _whole([each.vector for each in some]), strict=True):
            kind: Any = each.kind
            yield Point(
                chunk=each.chunk, item=each.item, kind=kind, project=each.project, at=each.at, digest=each.digest,
                vector=vector,
            )  # fmt: skip


def _packed(vector: Any) -> bytes:
    """Return a row of numbers as the index takes it."""
    return bytes(vector.astype("<f4").tobytes())


def _whole(kept: Sequence[bytes]) -> list[bytes]:
    """Return vectors that the database keeps in half precision as the index takes them."""
    import numpy  # 120 ms, and needed by search by meaning alone

    if not kept:
        return []
    rows = numpy.frombuffer(b"".join(kept), "<f2").astype("<f4").reshape(len(kept), -1)
    return [row.tobytes() for row in rows]


def _sum(held: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """Return the count of some passages and a sum over them that no order changes."""
    count, total = 0, 0
    for chunk, name in held:
        count += 1
        total ^= int.from_bytes(blake2b(f"{chunk} {name}".encode(), digest_size=8).digest())
    return count, total
