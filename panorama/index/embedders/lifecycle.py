"""Loads an embedder in the background and releases it when it is idle."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Literal, Protocol, TypeVar

from panorama.errors import UnavailableError

Status = Literal["resting", "loading", "ready", "failing"]


class Loadable(Protocol):
    """What can be loaded, released, and loaded again."""

    @property
    def id(self) -> str: ...
    def load(self) -> None: ...
    def close(self) -> None: ...


Lent = TypeVar("Lent", bound=Loadable)

IDLE_TIMEOUT = timedelta(minutes=10)
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """How the embedder does, and what was wrong the last time and what to do, "" if nothing."""

    status: Status
    error: str = ""
    hint: str = ""


class ManagedEmbedder(Generic[Lent]):
    """Loads one embedder and lends it, with a timeout per caller. Safe in threads.

    After a failure, in loading or while it was lent, it is not touched for a pause that doubles each time: whoever asks
    meanwhile hears the same error at once. Then it is loaded again, and is "failing" until that has worked. `rest` must
    be called now and then: it releases what is idle.
    """

    def __init__(
        self,
        embedder: Lent,
        *,
        idle: timedelta = IDLE_TIMEOUT,
        first_pause: timedelta = FIRST_PAUSE,
        longest_pause: timedelta = LONGEST_PAUSE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._embedder = embedder
        self._idle, self._first, self._longest = (entry.total_seconds() for entry in (idle, first_pause, longest_pause))
        self._clock = clock
        self._changed = threading.Condition()
        self._work = threading.Lock()
        self._status: Status = "resting"
        self._error: UnavailableError | None = None
        self._pause, self._due, self._used = 0.0, 0.0, clock()
        self._is_late = False
        self._lent = 0
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def id(self) -> str:
        """The embedder's name, known whether it is loaded or not."""
        return self._embedder.id

    @property
    def state(self) -> EmbedderState:
        """How it does."""
        with self._changed:
            if self._error:
                return EmbedderState("failing", self._error.message, self._error.hint)
            return EmbedderState(self._status)

    def ensure_loading(self) -> bool:
        """Return whether it can be borrowed at once; if not, begin to load it."""
        with self._changed:
            self._start_loading()
            return self._status == "ready"

    @contextmanager
    def acquire(self, wait: timedelta = timedelta(), *, in_doubt: bool = True) -> Generator[Lent]:
        """Lend the embedder, loaded, for the length of a block; borrow it anew for each batch.

        An UnavailableError that leaves the block counts as its failure.

        Args:
            in_doubt: Wait also for one that failed, or that somebody has waited for in vain, since it was last loaded.

        Raises:
            UnavailableError: It is still loading after `wait`, or failed and is left alone.
        """
        self._begin_use(wait.total_seconds(), in_doubt=in_doubt)
        try:
            yield self._embedder
        except UnavailableError as error:
            with self._changed:
                if self._status == "ready":  # else another borrower was faster, or it is being tried again
                    self._fail(error)
            raise
        else:
            with self._changed:
                self._pause = 0.0
        finally:
            self._end_use()

    def release_if_idle(self) -> None:
        """Release the embedder if nobody borrowed it for `idle`, or it failed; call this every minute or so."""
        with self._changed:
            idle = self._status == "ready" and not self._lent and self._clock() - self._used >= self._idle
            if idle:
                self._status = "resting"
        if idle:
            self._close_embedder("resting")

    def close(self) -> None:
        """Release it for good; who waits for it hears that it is unavailable."""
        with self._changed:
            self._closed, thread = True, self._thread
            if self._status != "loading":
                self._status = "resting"
            self._changed.notify_all()
        self._embedder.close()  # a service that does not answer is hung up on, so that its load ends
        if thread:
            thread.join()
            self._embedder.close()

    def _begin_use(self, seconds: float, *, in_doubt: bool) -> None:
        with self._changed:
            self._start_loading()
            if in_doubt or not (self._error or self._is_late):
                ended = self._changed.wait_for(lambda: self._status != "loading" or self._closed, timeout=seconds)
                self._is_late |= bool(seconds) and not ended
            if self._closed:
                raise UnavailableError(f"The embedder {self.id} was closed.", hint="Try again in a moment.")
            if self._error:
                raise UnavailableError(self._error.message, hint=self._error.hint) from self._error
            if self._status != "ready":
                raise UnavailableError(
                    f"The embedder {self.id} is loading.", hint="Try again in a second; keywords find meanwhile."
                )
            self._lent += 1
            self._used = self._clock()

    def _end_use(self) -> None:
        with self._changed:
            self._lent -= 1
            self._used = self._clock()
            failed = self._status == "failing" and not self._lent
        if failed:
            self._close_embedder("failing")

    def _start_loading(self) -> None:
        due = self._status == "resting" or (self._status == "failing" and self._clock() >= self._due)
        if due and not self._closed:
            self._status = "loading"
            self._thread = threading.Thread(target=self._load, name="embedder", daemon=True)
            self._thread.start()

    def _load(self) -> None:
        error: UnavailableError | None = None
        try:
            with self._work:
                self._embedder.load()
        except UnavailableError as refused:
            error = refused
        except Exception as broken:  # a bug of ours or of a library: said in the state, or nobody would hear of it
            error = UnavailableError(f"The embedder {self.id} cannot be loaded: {broken!r}.", hint="Try another.")
            error.__cause__ = broken
        with self._changed:
            self._is_late = False
            if error:
                self._fail(error)
            else:
                self._status, self._error, self._used = "ready", None, self._clock()
            self._changed.notify_all()

    def _fail(self, error: UnavailableError) -> None:
        self._pause = min(self._longest, self._pause * 2 or self._first)
        unavailable = UnavailableError(
            error.message, hint=error.hint
        )  # the frames that it came from are not kept with it
        self._status, self._error, self._due = "failing", unavailable, self._clock() + self._pause

    def _close_embedder(self, status: Status) -> None:
        """Close the embedder, unless it is needed again already; a load that begins meanwhile waits and comes after."""
        with self._work:
            with self._changed:
                still = self._status == status
            if still:
                self._embedder.close()
