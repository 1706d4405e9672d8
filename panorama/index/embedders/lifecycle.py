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
    """Can be loaded, released, and loaded again."""

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
    """The state of the embedder, with the last error and its hint, "" if none."""

    status: Status
    error: str = ""
    hint: str = ""


class ManagedEmbedder(Generic[Lent]):
    """Loads one embedder on demand, with a timeout per caller. Thread-safe.

    After a failure in loading or in use it pauses, twice as long each time: callers get the same error immediately.
    Then it is loaded again, and is "failing" until that succeeds. `release_if_idle` must be called periodically.
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
        """Its state."""
        with self._changed:
            if self._error:
                return EmbedderState("failing", self._error.message, self._error.hint)
            return EmbedderState(self._status)

    def ensure_loading(self) -> bool:
        """Return whether it is loaded; if not, start loading it."""
        with self._changed:
            self._start_loading()
            return self._status == "ready"

    @contextmanager
    def acquire(self, wait: timedelta = timedelta(), *, in_doubt: bool = True) -> Generator[Lent]:
        """Yield the loaded embedder; acquire it again for each batch.

        An UnavailableError raised in the block counts as its failure.

        Args:
            in_doubt: Also wait for an embedder that failed or timed out since it was last loaded.

        Raises:
            UnavailableError: It is still loading after `wait`, or pauses after a failure.
        """
        self._begin_use(wait.total_seconds(), in_doubt=in_doubt)
        try:
            yield self._embedder
        except UnavailableError as error:
            with self._changed:
                if self._status == "ready":  # otherwise another caller was faster, or it is being retried
                    self._fail(error)
            raise
        else:
            with self._changed:
                self._pause = 0.0
        finally:
            self._end_use()

    def release_if_idle(self) -> None:
        """Release the embedder if it was idle for `idle`, or failed; called about every minute."""
        with self._changed:
            idle = self._status == "ready" and not self._lent and self._clock() - self._used >= self._idle
            if idle:
                self._status = "resting"
        if idle:
            self._close_embedder("resting")

    def close(self) -> None:
        """Release it permanently; waiting callers get an UnavailableError."""
        with self._changed:
            self._closed, thread = True, self._thread
            if self._status != "loading":
                self._status = "resting"
            self._changed.notify_all()
        self._embedder.close()  # a service that does not answer is disconnected, so that its load ends
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
                    f"The embedder {self.id} is loading.", hint="Try again in a second; keyword search works meanwhile."
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
        except Exception as broken:  # a bug of ours or of a library: reported in the state, so that it is not lost
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
        )  # without its traceback, which would keep frames alive
        self._status, self._error, self._due = "failing", unavailable, self._clock() + self._pause

    def _close_embedder(self, status: Status) -> None:
        """Close the embedder, unless it is needed again; a load that starts meanwhile waits for it."""
        with self._work:
            with self._changed:
                still = self._status == status
            if still:
                self._embedder.close()
