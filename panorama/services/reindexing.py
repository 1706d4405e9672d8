"""Reindexing: brings search by meaning up to date while somebody watches; stopped, it goes on where it was."""

import time
from collections.abc import Callable
from typing import Literal, Protocol

from panorama.domain.items import Kind
from panorama.domain.references import ProjectRef
from panorama.errors import UnavailableError
from panorama.index.points import in_batches
from panorama.services.base import Desk, Service
from panorama.services.indexing import Indexing
from panorama.services.meaning import Meaning
from panorama.services.progress import Progress, told_to_the_door
from panorama.services.views import Reindexed
from panorama.store import passages
from panorama.store.passages import INDEXER, WHOLE, Part

Scope = Literal["changes", "index", "everything"]

TELL_SECONDS = 0.25
"""How often progress is told at most."""

INDEX = 1
"""For what counts beside the items that the index is brought to what was read: so all is told before the end."""

FORGOTTEN = 500
"""Vectors that nobody needs any more are forgotten so many at a time: others write in between."""


class Reindexing(Service):
    """Search by meaning, made anew."""

    def __init__(self, desk: Desk, meaning: Meaning, progress: Progress = told_to_the_door) -> None:
        super().__init__(desk)
        self._meaning = meaning
        self._progress = progress

    def check(self, scope: Scope = "changes", project: ProjectRef = "", kind: Kind | None = None) -> None:
        """Refuse what would be refused as soon as it begins.

        Raises:
            UnavailableError: Search by meaning is off.
        """
        del scope, project, kind
        if self._meaning.is_off:
            self._meaning.opened()

    def reindex(self, scope: Scope = "changes", project: ProjectRef = "", kind: Kind | None = None) -> Reindexed:
        """Bring search by meaning up to date now instead of in the background; keyword search needs no such thing.

        It runs until all is done and tells its progress. Search goes on meanwhile as before. If it is stopped, the
        next call goes on where it was; texts that are embedded already are not embedded again.

        Args:
            scope: `changes` takes what waits; `index` also builds the index anew from the vectors that are kept;
                `everything` cuts every item anew first, and forgets vectors that no item needs.
            project: Cut the items of one project anew, and build the index anew.
            kind: The same for the items of one kind.

        Raises:
            UnavailableError: The model or the index is out of order, or search by meaning is off.
        """
        indexing = self._meaning.opened().chosen.indexing
        watch = Watch(self._told, indexing)
        part = Part(kind or "", project)
        is_part = part != WHOLE
        cuts_anew = scope == "everything" or is_part
        self._catch_up(indexing, watch, self._count(part) if cuts_anew else 0)
        if cuts_anew:
            self._cut_anew(indexing, watch, part)
        watch.begin(INDEX)
        if scope != "changes" or is_part:
            watch.say("the index is built")
            indexing.build(counted=watch.built)
        if scope == "everything":
            self._forget_unused(watch)
        self._meaning.follow()
        watch.end()
        with self._reading() as session:
            count = passages.count(session)
        return Reindexed(
            scope=scope, model=indexing.model.id, passages=count, embedded=watch.texts, items=watch.done,
            resumed_at=watch.resumed_at, seconds=round(watch.seconds, 1),
        )  # fmt: skip

    def _told(self, current: int, total: int, message: str) -> None:
        if self._meaning.is_leaving:
            raise UnavailableError("Panorama is restarting; what was done is kept.", hint="Run it again to go on.")
        self._progress(current, total, message)

    def _count(self, part: Part, mark: str = "") -> int:
        """Return how many items of a part there are, after a mark."""
        with self._reading() as session:
            return passages.created(session, passages.mark(session, mark), part)

    def _cut_anew(self, indexing: Indexing, watch: "Watch", part: Part) -> None:
        mark = " ".join(filter(None, (f"anew {indexing.name}", part.kind, part.project)))
        total = self._count(part)
        watch.resumed_at = total - self._count(part, mark)
        watch.begin(total, watch.resumed_at, later=INDEX)
        while cut := indexing.read_anew(mark, watch.embedded, part):
            watch.move(len(cut.passages))
        with self._desk.database.transaction(INDEXER) as session:
            passages.clear_mark(session, mark)

    def _catch_up(self, indexing: Indexing, watch: "Watch", later: int) -> None:
        waiting = indexing.lag().unread
        watch.begin(waiting, later=later + INDEX)

        def moved() -> None:  # also while the background is at it: its mark tells how far it is
            nonlocal waiting
            left = indexing.lag().unread
            watch.move(max(0, waiting - left))
            waiting = left

        self._meaning.catch_up(told=watch.embedded, moved=moved)
        moved()

    def _forget_unused(self, watch: "Watch") -> None:
        with self._reading() as session:
            unused = passages.unused(session)
        for some in in_batches(unused, FORGOTTEN):
            watch.say("vectors that nobody needs are forgotten")
            with self._desk.database.transaction(INDEXER) as session:
                passages.forget(session, some)


class Embedding(Protocol):
    """What embeds, for this and for others."""

    embedded: int
    """How many texts were embedded so far."""


class Watch:
    """How far it is, and how fast: told a few times a second."""

    def __init__(self, progress: Progress, embedding: Embedding, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress = progress
        self._embedding = embedding
        self._before = embedding.embedded
        self._clock = clock
        self._begun = self._phase_begun = self._moved = clock()
        self._told = 0.0
        self._total = self._end = self._at = self._first = 0
        self.done = self.resumed_at = self._points = 0

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return self._clock() - self._begun

    @property
    def texts(self) -> int:
        """How many texts were embedded meanwhile, here or in the background."""
        return self._embedding.embedded - self._before

    def begin(self, total: int, at: int = 0, later: int = 0) -> None:
        """Begin a part with so many more items, of which some are done; so many come after it."""
        self._first = self._at = self._end + at
        self._end += total
        self._total = self._end + later
        self._phase_begun = self._moved = self._clock()
        self._tell(self._rate(), at_once=True)

    def move(self, count: int) -> None:
        """Count items that are done."""
        self._at = min(self._end, self._at + count)
        self.done += count
        self._moved = self._clock() if count else self._moved
        self._tell(self._rate())

    def embedded(self, _: int) -> None:
        """Tell that some texts were embedded, or that others are at work."""
        self._tell(self._rate())

    def end(self) -> None:
        """Tell that all is done."""
        self._at = self._end
        self._tell("search by meaning is up to date", at_once=True)

    def built(self, count: int) -> None:
        """Count points that the index was built from."""
        self._points += count
        self._tell(f"the index is built: {self._points:,} passages")

    def say(self, what: str) -> None:
        """Tell what it is at."""
        self._tell(what, at_once=True)

    def _rate(self) -> str:
        since, done = self._moved - self._phase_begun, self._at - self._first
        texts = self.texts
        rate = f"{texts:,} texts embedded" + (f", {texts / self.seconds:,.0f} a second" if texts else "")
        left = since / done * (self._end - self._at) - (self._clock() - self._moved) if done else 0.0
        return f"{rate}, {_span(left)} left" if left >= 1 else rate

    def _tell(self, what: str, *, at_once: bool = False) -> None:
        if at_once or self._clock() - self._told >= TELL_SECONDS:
            self._told = self._clock()
            self._progress(self._at, self._total, what)


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min" if minutes > 9 else f"{minutes}:{rest:02} min" if minutes else f"{rest} s"
