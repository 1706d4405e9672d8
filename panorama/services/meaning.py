"""Meaning: what search asks of the model and the index; it answers at once, or says why it cannot.

A model, an index and what follows the changes with both make a `House`. It is opened, tended and replaced by whoever
follows the changes; who searches takes it as it stands.
"""

import logging
import threading
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

from panorama.domain.chunks import chunks
from panorama.errors import PanoramaError, UnavailableError
from panorama.index.points import Filter, Hit, OtherModelError
from panorama.ports import Embedder
from panorama.services.base import Desk, Service
from panorama.services.house import House, Means, Opening, Side
from panorama.services.indexing import ASK_SECONDS, Moved, Stop, Told, never, nowhere, silent
from panorama.services.nearest import Near, Nearest
from panorama.store import passages

T = TypeVar("T")

HINT_PATIENCE = timedelta(milliseconds=50)
"""How long a write waits to be told of what is like it."""

OPENING_SECONDS = 2.0
WORKERS = 4
LIKE = 8
"""Passages of an item by which others like it are looked for."""

CLOSE_CHARS = 400
"""Characters of a new item by which others close to it are looked for: they are embedded in some 5 ms."""

CLOSE_PENDING = 50
"""With more changes waiting, much is being written, and nobody is told what it is close to."""

OFF = "Search by meaning is off."
_log = logging.getLogger(__name__)


class Meaning(Service):
    """Search by meaning, as far as it is there; what is asked here never raises, and never waits for long."""

    def __init__(self, desk: Desk, means: Means) -> None:
        super().__init__(desk)
        self._means = means
        self._house: House | None = None
        self._opening = threading.Lock()
        self._following = threading.Lock()
        self._builder = Opening(desk, means, self._note)
        self._pool: ThreadPoolExecutor | None = None
        self._late: Future[list[Hit]] | None = None
        self._failure: UnavailableError | None = None
        self._failed_at: datetime | None = None
        self._mistrusts = self._is_outdated = False
        self._closed = self.is_leaving = self._is_attended = False

    @property
    def is_off(self) -> bool:
        """Whether the person turned it off."""
        return self._means.embedder == "none"

    # What search asks.

    def nearest(self, query: str, limit: int, wanted: Filter) -> Nearest:
        """Return the passages that are nearest to a query in meaning."""
        return self.asking(query, limit, wanted)()

    def asking(self, query: str, limit: int, wanted: Filter) -> Callable[[], Nearest]:
        """Begin to ask for the passages nearest to a query in meaning; return how to wait for them.

        So words can be looked for meanwhile: most of the work is done in another process, or without Python's lock.
        """
        return self._begun(lambda house: house.serving.indexing.nearest(query, limit, wanted))

    def like(self, item: str, limit: int, wanted: Filter) -> Nearest:
        """Return the passages of other items that are nearest to those of one item; no model is needed."""

        def ask(house: House) -> list[Hit]:
            indexing = house.serving.indexing
            with self._reading() as session:
                vectors = passages.of_item(session, indexing.name, item, LIKE)
            return [hit for hit in indexing.near(vectors, limit + LIKE, wanted) if hit.item != item][:limit]

        return self._begun(ask)()

    def close_to(self, title: str, body: str, wanted: Filter) -> Nearest:
        """Return what is nearest to a new item's beginning, if the model is in memory; else nothing, at once."""
        house = self._house
        if house is None or not house.serving.is_shipped or house.serving.resident.state.status != "ready":
            return Nearest(missing="The model is not in memory.")
        first = next(iter(chunks(title, body[: 2 * CLOSE_CHARS])), None)
        if first is None or house.serving.indexing.lag().unheard > CLOSE_PENDING:
            return Nearest(missing="There is nothing to compare.")
        text = first.text[:CLOSE_CHARS]
        return self._begun(lambda house: house.serving.indexing.nearest(text, LIKE, wanted), HINT_PATIENCE)()

    def lent(self, use: Callable[[Embedder], T]) -> T | None:
        """Let a model that ships be used if it is in memory; if not, return None at once."""
        house = self._house
        if house is None or not house.serving.is_shipped or house.serving.resident.state.status != "ready":
            return None
        with suppress(UnavailableError), house.serving.resident.borrowed() as embedder:
            return use(embedder)
        return None

    def lent_aside(self, use: Callable[[Embedder], None]) -> None:
        """Let a model that ships be used in another thread, if it is in memory."""
        if self._house is not None and not self._closed:
            self._pool = self._pool or ThreadPoolExecutor(WORKERS, thread_name_prefix="meaning")
            self._pool.submit(self.lent, use)

    def _begun(self, ask: Callable[[House], list[Hit]], patience: timedelta | None = None) -> Callable[[], Nearest]:
        house = self._house
        if house is None:
            return self._missing
        side = house.serving
        try:
            if not side.indexing.is_begun():
                return lambda: self._building(house)
            pending = side.indexing.lag().unheard
            asked = self._submitted(lambda: _steadily(house, ask))
        except LateError:
            return lambda: _late(side)
        end = time.monotonic() + (patience or house.patience).total_seconds()

        def ended() -> Nearest:
            try:
                hits = self._in_time(asked, end)
            except LateError:
                return _late(side)
            except PanoramaError as error:
                self._is_outdated |= isinstance(error, OtherModelError)
                return Nearest(missing=error.message, hint=error.hint or "Ask again in a moment.")
            return Nearest(hits=tuple(map(_near, hits)), pending=pending, model=house.serving.model.id)

        return ended

    def _missing(self) -> Nearest:
        if self.is_off:
            return Nearest(missing=OFF, hint="`panorama models use minilm` turns it on.")
        if self._failure:
            return Nearest(missing=self._failure.message, hint=self._failure.hint)
        if not self._is_attended:  # a single command that does everything itself: asked again, it is the same
            missing = "Search by meaning runs in the daemon, and here is none."
            return Nearest(missing=missing, hint="Use Panorama without PANORAMA_NO_DAEMON.")
        return Nearest(missing="Search by meaning is starting.", hint="Ask again in a moment.")

    def _building(self, house: House) -> Nearest:
        if error := self._wrong():
            return Nearest(missing=error.message, hint=error.hint)
        state = house.index.state()
        if state.status == "down":  # who follows the changes waits for it still
            return Nearest(missing=state.note, hint="It is asked again by itself; `status` tells how it does.")
        pending = house.chosen.indexing.lag().unread
        return Nearest(
            missing="The index of meanings is being built.",
            hint=f"Ask again later; {_waiting(pending)}." if pending else "Ask again in a moment.",
            pending=pending,
        )

    def _submitted(self, ask: Callable[[], list[Hit]]) -> Future[list[Hit]]:
        """Ask in another thread; while an earlier question is late, nobody waits for another one."""
        if self._late and not self._late.done():
            raise LateError
        self._pool = self._pool or ThreadPoolExecutor(WORKERS, thread_name_prefix="meaning")
        return self._pool.submit(ask)

    def _in_time(self, asked: Future[list[Hit]], end: float) -> list[Hit]:
        try:
            return asked.result(max(0.0, end - time.monotonic()))
        except LateError:
            self._late = asked
            raise

    # What whoever follows the changes does.

    @contextmanager
    def attended(self) -> Generator[None]:
        """Say that somebody follows the changes as long as this is open."""
        self._is_attended = True
        try:
            yield
        finally:
            self._is_attended = False

    def rest(self) -> None:
        """Keep what there is as it is, for the person turned it off: what was sent to a service goes there no more."""
        self._builder.forget_service()

    def follow(self, stop: Stop = never, told: Told = silent, moved: Moved = nowhere) -> None:
        """Open what is not open, and bring the index up to the last change.

        Args:
            told: Is called with the number of texts that were embedded, after each batch.
            moved: Is called after each step.

        Raises:
            PanoramaError: The model or the index is out of order; `status` says so from then on.
        """
        if self.is_off or self._closed:
            return
        try:
            if self._is_outdated:
                self._begin_anew()
            with self._in_turn(stop) as is_mine:
                if is_mine:
                    self._followed(self.opened(), stop, told, moved)
        except PanoramaError as error:
            self._note(error)
            if isinstance(error, OtherModelError):
                self._begin_anew()
            raise
        except Exception as error:  # a bug of ours or of a library, which `status` tells like any other failure
            said = f"Search by meaning failed in a way that was not foreseen ({type(error).__name__})."
            self._note(UnavailableError(said, hint="It is tried again; `panorama doctor` shows where the log is."))
            raise
        self._failure = None

    def _begin_anew(self) -> None:
        """Ask the service next time what its model is: it has another one under the same name."""
        self._mistrusts, self._is_outdated = True, False
        self._shut()

    def _followed(self, house: House, stop: Stop, told: Told, moved: Moved) -> None:
        self._caught_up(house, stop, told, moved)
        if not stop() and not house.is_checked:
            indexing = house.chosen.indexing
            if house.index.state().engine != "exact" and not indexing.is_built and not indexing.is_true():
                _log.warning("the index does not hold what it should; it is built anew")
                indexing.build()
            self._builder.remember(house.chosen.model)
            house.is_checked = True

    def _caught_up(self, house: House, stop: Stop, told: Told, moved: Moved) -> None:
        def heard(count: int) -> None:
            if count:  # what was wrong with the model is over
                self._failure = None
            told(count)

        was_changing = house.before is not None
        house.catch_up(stop, heard, moved)
        if was_changing and house.before is None:
            self._builder.remember(house.chosen.model)

    def catch_up(self, told: Told, moved: Moved) -> None:
        """Bring the index up to the last change while somebody watches, who may raise an error to end it.

        Args:
            told: Is called with the number of texts that were embedded, after each batch.
            moved: Is called after each step, and now and then while another one is at work.

        Raises:
            PanoramaError: The model or the index is out of order.
        """

        def watched() -> bool:
            moved()
            return False

        with self._in_turn(watched):
            self._caught_up(self.opened(), never, told, moved)

    def unread(self) -> int:
        """Return how many changes are still to be read, 0 if that is not known."""
        return house.chosen.indexing.lag().unread if (house := self._house) else 0

    @contextmanager
    def _in_turn(self, stop: Stop) -> Generator[bool]:
        """Wait until nobody else brings the index up to date; give whether that came before the end of waiting."""
        is_mine = self._following.acquire(blocking=False)
        while not is_mine and not stop():
            is_mine = self._following.acquire(timeout=ASK_SECONDS)
        try:
            yield is_mine
        finally:
            if is_mine:
                self._following.release()

    def tend(self) -> None:
        """Release what nobody needs, and try again what failed once its pause is over; call this now and then."""
        if house := self._house:
            for side in (house.chosen, house.before):
                if side:
                    side.resident.rest()
                    if side.resident.state.status == "failing":
                        side.resident.ready()

    def warm(self) -> None:
        """Load the model if there is anything to search, so that the first search need not go without."""
        if (house := self._house) and house.serving.is_shipped and house.serving.indexing.is_begun():
            house.serving.resident.ready()

    def leave(self) -> None:
        """Let what takes long end soon: the process is about to end."""
        self.is_leaving = True
        self._builder.close()

    def close(self) -> None:
        """Close all; what is asked meanwhile goes without meaning."""
        self._closed = True
        self._builder.close()
        self._shut()
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def _shut(self) -> None:
        with self._opening:
            house, self._house = self._house, None
        if house:
            house.close()

    def _note(self, error: PanoramaError) -> None:
        self._failure = _anew(error)
        self._failed_at = self._now()

    def opened(self) -> House:
        """Return the open index with its models; open it first if it is not.

        Raises:
            InvalidInputError: There is no embedder of the name that the settings say.
            UnavailableError: A part is out of order, or it is off.
        """
        if not self._opening.acquire(timeout=OPENING_SECONDS):  # a service is asked what its model is
            starting = UnavailableError("Search by meaning is starting.", hint="Try again in a minute.")
            raise _anew(self._failure or starting)
        try:
            if self.is_off or self._closed:
                raise UnavailableError(OFF, hint="`panorama models use minilm` turns it on.")
            if self._house is None:
                self._house = self._builder.opened(mistrusts=self._mistrusts)
            return self._house
        finally:
            self._opening.release()

    # What status tells.

    def told(self) -> Mapping[str, Any]:
        """Tell how it does: the model, the index, what waits, and what last went wrong."""
        if self.is_off:
            return {"modes": ["keyword"], "missing": OFF}
        house = self._house
        if house is None:
            gap = self._missing()
            told = {"modes": ["keyword"], "model": self._means.embedder, "missing": gap.missing, "do": gap.hint}
            return told | self._last_error()
        told = house.told(self._means.remark) | self._last_error()
        return {name: value for name, value in told.items() if value is not None}

    def _last_error(self) -> dict[str, Any]:
        error = self._wrong()
        at = self._failed_at if error is self._failure else None
        return {"last_error": error.message, "last_error_at": at, "do": error.hint or None} if error else {}

    def _wrong(self) -> UnavailableError | None:
        """Return what went wrong last: of a model that is failing now, who follows the changes may not have heard."""
        state = self._house.serving.resident.state if self._house else None
        if state and state.error and not (self._failure and self._failure.message == state.error):
            return UnavailableError(state.error, hint=state.hint)
        return self._failure


def _anew(error: PanoramaError) -> UnavailableError:
    """Return what an error says, without the frames that it came from: they would live as long as it is kept."""
    return UnavailableError(error.message, hint=error.hint)


def _steadily(house: House, ask: Callable[[House], list[Hit]]) -> list[Hit]:
    """Ask, and once more if the index was swapped for that of another model meanwhile."""
    side = house.serving
    try:
        return ask(house)
    except Exception:  # a vector of one model met the index of the other
        if house.serving is side:
            raise
    return ask(house)


def _near(hit: Hit) -> Near:
    return Near(item=hit.item, position=int(hit.chunk.rpartition(":")[2]), score=hit.score)


def _waiting(changes: int) -> str:
    return "1 change waits" if changes == 1 else f"{changes:,} changes wait"


def _late(side: Side) -> Nearest:
    who = f"model {side.model.id}" if side.embedder.is_asked else "index of meanings"
    is_loading = side.embedder.is_asked and side.resident.state.status == "loading"
    what = "is being loaded" if is_loading else "did not answer in time"
    return Nearest(missing=f"The {who} {what}.", hint="Ask again in a moment.")
