"""Indexing: makes the index of meanings hold what the store holds now, in steps that may each be repeated.

First the passages of what changed are cut and embedded, and kept in the database; then the mark of how far that has
come moves. Then the index is told of them; its own mark moves once it has written them to the disk. So a crash at any
point costs only the repetition of a step, and a lost index is built from vectors that are there.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from panorama.domain.items import KINDS
from panorama.errors import UnavailableError
from panorama.index.points import Filter, Hit, Model, Point, in_batches
from panorama.ports import Embedder, Index
from panorama.services.base import Desk, Service
from panorama.services.cutting import Cut, items_of
from panorama.services.pointing import packed, pointed, points_of, whole
from panorama.services.reading import CHANGES, Reader, Stop, Told, mark_of
from panorama.store import passages
from panorama.store.passages import INDEXER, START, WHOLE, Part, Stored

MANY = 2000
"""With more passages to be told at once, the index is built anew beside the one that is searched."""

TELL_SECONDS, TELL_SHARE = 10.0, 5
"""While much is read, the index is told of it after so many seconds, and five times as long as that took."""

SAMPLE, SELF = 32, 0.99
"""How many vectors are looked for to see that they are there, and the cosine from which on one has found itself."""

ASK_SECONDS, YIELD_SECONDS = 0.1, 0.005
"""How often who waits for its turn looks whether it should stop; how long it is let in between two steps of others."""

Moved = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Lag:
    """How far the index is behind: changes whose passages are not embedded, and changes that it has not heard of."""

    unread: int
    unheard: int


@dataclass(slots=True)
class _News:
    """What the index is told: up to which change, after how many purges, and what is no more."""

    last: int = 0
    purges: int = 0
    gone: list[str] = field(default_factory=list[str])


def never() -> bool:
    """Go on."""
    return False


def silent(_: int) -> None:
    """Tell nobody how much was embedded."""


def nowhere() -> None:
    """Tell nobody that changes were read."""


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
        self.is_built = False
        """Whether the index was built here, so that there is no need to compare it."""
        self.embedded = 0
        """How many texts were embedded so far, by whoever had it done."""

    @property
    def model(self) -> Model:
        """The model that makes the vectors."""
        return Model(id=self._embedder.id, digest=self._embedder.digest, size=self._embedder.size)

    @cached_property
    def name(self) -> str:
        """Under what the model's vectors are kept."""
        return passages.model_name(self._embedder.id, self._embedder.digest)

    def catch_up(self, stop: Stop = never, told: Told = silent, moved: Moved = nowhere) -> None:
        """Bring passages, vectors and index up to the last change.

        Args:
            told: Is called with the number of texts that were embedded, after each batch.
            moved: Is called after each step in which changes were read.

        Raises:
            UnavailableError: The model or the index is out of order; all that was done stays.
        """
        with closing(self._reader(stop, told)) as reader:

            def reads() -> bool:
                return self._reads(reader, stop, told, moved)

            if self.lag().unread > MANY and self._is_there():
                self.build(reads)
            next_time = time.monotonic() + TELL_SECONDS
            while reads():
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
            read = passages.mark(session, mark_of(self.name))
            # A purge may take out the last change, so that who read it is ahead of the newest.
            return Lag(max(0, newest - read), max(0, newest - min(read, passages.mark(session, heard_as))))

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
        found = self._index.search(packed(self._embedder.embed_query(query)), limit, wanted)
        if self._index.model != self.model:  # it was swapped meanwhile, and what was found means nothing
            raise UnavailableError("The index is changing to another model.", hint="Ask again in a moment.")
        return found

    def near(self, vectors: Sequence[bytes], limit: int, wanted: Filter) -> list[Hit]:
        """Return the passages that are nearest to any of some vectors as the database keeps them, best first.

        Raises:
            UnavailableError: The index is out of order.
        """
        best: dict[str, Hit] = {}
        for vector in whole(vectors):
            for hit in self._index.search(vector, limit, wanted):
                if hit.chunk not in best or best[hit.chunk].score < hit.score:
                    best[hit.chunk] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.chunk))[:limit]

    # The passages and their vectors.

    def read(self, stop: Stop = never, told: Told = silent) -> bool:
        """Cut and embed what the next changes touched; tell whether there was anything.

        Args:
            told: Is called with the number of texts that were embedded, after each batch.

        Raises:
            UnavailableError: The model is out of order; the vectors that were made are kept.
        """
        with closing(self._reader(stop, told)) as reader:
            return self._read(reader, told, ahead=False)

    def read_all(self, stop: Stop = never, told: Told = silent, moved: Moved = nowhere) -> None:
        """Cut and embed what all changes touched, and tell the index of nothing.

        Args:
            told: Is called with the number of texts that were embedded, after each batch.
            moved: Is called after each step.

        Raises:
            UnavailableError: As of `read`.
        """
        with closing(self._reader(stop, told)) as reader:
            while self._reads(reader, stop, told, moved):
                pass

    def read_anew(self, mark: str, told: Told, part: Part = WHOLE) -> Cut | None:
        """Cut the next items of a part again, and embed what is not known; None if there are no more.

        Args:
            mark: Where it is kept how far this has come: the change with which the last item began.

        Raises:
            UnavailableError: The model is out of order; the vectors that were made are kept.
        """
        with self._having_turn(told), closing(self._reader(never, told)) as reader:
            return reader.read_anew(mark, part)

    def _reads(self, reader: Reader, stop: Stop, told: Told, moved: Moved) -> bool:
        """Read the next changes, after others that wait for their turn; tell whether there were any."""
        if self._waiting:
            time.sleep(YIELD_SECONDS)
        found = not stop() and self._read(reader, told)
        if found:
            moved()
        return found

    def _read(self, reader: Reader, told: Told, *, ahead: bool = True) -> bool:
        with self._having_turn(told):
            return reader.read(ahead=ahead)

    def _reader(self, stop: Stop, told: Told) -> Reader:
        def counted(count: int) -> None:
            self.embedded += count
            told(count)

        return Reader(self._desk, self._embedder, self.name, stop, counted)

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
            self._is_there()  # or it does not know which collection it has
            listener = self._listener
            with self._reading() as session:
                read, heard = passages.mark(session, mark_of(self.name)), passages.mark(session, listener)
                builds = not passages.is_begun(session, listener) or passages.exceeds(session, MANY, heard, read)
                news = _News(heard, passages.purges(session))
            if builds:
                self.build()
                return True
            points = self._next(news)
            if points is not None:
                self._tell_of(listener, news, points)
            return points is not None

    def _next(self, news: _News) -> list[Point] | None:
        """Return the points of the next changes that were read, None if there are no more."""
        with self._reading() as session:
            found = passages.touched(session, news.last, CHANGES, until=passages.mark(session, mark_of(self.name)))
            items = items_of(found)
            points = points_of(session, self.name, items)
            gone = passages.gone(session, [id_ for _, id_ in items])
        living = {each.chunk for each in points}  # of those that went a step ago, some may be back
        news.gone = [*(chunk for chunk in news.gone if chunk not in living), *gone]
        if not found:
            return None
        news.last = found[-1][0]
        return points

    def _tell_of(self, listener: str, news: _News, points: Sequence[Point]) -> None:
        for some in in_batches(news.gone):
            self._index.delete(some)
        for batch in in_batches(points):
            self._index.upsert(batch)
        self._index.flush()
        with self._desk.database.transaction(INDEXER) as session:
            if passages.purges(session) == news.purges:  # else it may hold what was forgotten since, and begins anew
                passages.set_mark(session, listener, news.last)
        self._begun_as = listener

    def _is_there(self) -> bool:
        """Tell whether the index can be told of anything; a server that was not asked yet does not know."""
        if self._index.state().status == "starting":
            with suppress(UnavailableError):
                self._index.count()
        return self._index.state().status == "ready"

    def build(self, reads: Callable[[], bool] = never, counted: Told = silent) -> None:
        """Build the index anew from the vectors that are kept, beside the one that is searched.

        Args:
            counted: Is called with the number of points, a few hundred at a time; what it raises ends the building.
            reads: Reads the next changes, and tells whether there were any: for ten seconds it is called between two
                batches, so that the index is built of what is read while the model works on what comes next.

        Raises:
            UnavailableError: The index is out of order, or the model; the one before goes on.
        """
        with self._having_turn(counted):
            self._takes_over = self._index.model != self.model or self.is_begun()
            news = _News()
            with closing(self._every(news, reads)) as points:
                self._index.build(_counted(points, counted), self.model)
            self._tell_of(self._listener, news, [])
            self._takes_over, self.is_built = False, True

    def _every(self, news: _News, reads: Callable[[], bool]) -> Generator[Point]:
        with self._reading() as session:
            news.last, news.purges = passages.mark(session, mark_of(self.name)), passages.purges(session)
        for kind in KINDS:
            after = START
            while page := self._page(kind, after):
                yield from pointed(page)
                after = page[-1].item, page[-1].position
        end = time.monotonic() + TELL_SECONDS
        while time.monotonic() < end and not self._waiting and reads():
            while (points := self._next(news)) is not None:
                yield from points

    def _page(self, kind: str, after: tuple[str, int]) -> list[Stored]:
        """Return the next passages of a kind; what changes meanwhile is told once more, for it has a later number."""
        with self._reading() as session:
            return list(passages.stored(session, self.name, kind, after=after))

    def is_true(self) -> bool:
        """Tell whether the index holds just what it should, if it has heard of everything; else nothing is compared.

        Some vectors are looked for: a file of them that was damaged answers too, but with other things.

        Raises:
            UnavailableError: The index is out of order.
        """
        with self._turn:
            if self.lag().unheard:
                return True
            with self._reading() as session:
                wanted = _sum(passages.known(session, self.name))
                some = passages.some_vectors(session, self.name, SAMPLE)
            return wanted == _sum(self._index.held()) and all(map(self._finds, some))

    def _finds(self, vector: bytes) -> bool:
        return not any(vector) or any(hit.score > SELF for hit in self.near([vector], 1, Filter()))


def _counted(points: Iterable[Point], told: Told) -> Iterator[Point]:
    """Give the points on, and tell of them batch by batch."""
    for some in in_batches(points):
        told(len(some))
        yield from some


def _sum(held: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """Return the count of some passages and a sum over them that no order changes."""
    count, total = 0, 0
    for chunk, name in held:
        count += 1
        total ^= int.from_bytes(blake2b(f"{chunk} {name}".encode(), digest_size=8).digest())
    return count, total
