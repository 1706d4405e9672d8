"""The thread that keeps the semantic index up to date as long as clients may connect."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from panorama.domain.changes import ItemChange
from panorama.errors import PanoramaError
from panorama.services.jobs.progress import Progress, ignore_progress
from panorama.services.search.semantic import SemanticSearch
from panorama.store.backend import Database

DEBOUNCE_SECONDS = 0.05
"""Writes within this time are processed together."""

POLL_SECONDS = 10.0
"""The polling interval, for a removed index and a failed model."""

START_DELAY_SECONDS = 0.5
"""The delay before it starts, so that the first client is answered first."""

PRELOAD_DELAY_SECONDS = 2.0
"""The delay before the model is loaded, so that the start is quick."""

PROGRESS_MESSAGE = "reading changes"
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 15.0
OpenStandingJob = Callable[[], AbstractContextManager[Progress]]
"""Opens the standing job that reports its progress."""

_log = logging.getLogger(__name__)


@contextmanager
def _ignore_progress() -> Generator[Progress]:
    yield ignore_progress


@dataclass(slots=True)
class _RoundProgress:
    """The progress of one round: changes read, changes left, and embedded passages."""

    report_progress: Progress
    unread: Callable[[], int]
    read: int = 0
    left: int = 0
    texts: int = 0

    def add_embedded(self, count: int) -> None:
        """Count embedded texts; a step of 512 changes may have thousands."""
        self.texts += count
        self.left = self.left or self.unread()
        self._report()

    def refresh(self) -> None:
        """Update the number of changes left."""
        left = self.unread()
        self.read += max(0, self.left - left)
        self.left = left
        self._report()

    def _report(self) -> None:
        embedded = f": {self.texts:,} passages embedded" if self.texts else ""
        self.report_progress(self.read, self.read + self.left, f"{PROGRESS_MESSAGE}{embedded}")


class Follower:
    """Follows the changes in its own thread; after failures it waits with exponential backoff."""

    def __init__(
        self, meaning: SemanticSearch, database: Database, standing: OpenStandingJob = _ignore_progress
    ) -> None:
        self._meaning = meaning
        self._standing = standing
        self._membership = database.membership
        self._woken = threading.Event()
        self._leaving = threading.Event()
        self._has_new_duty = False
        self._is_syncing, self._is_failing = True, False
        self._warm_at: float | None = None
        self._open = ExitStack()
        self._open.callback(database.subscribe(self._on_changes))
        self._open.callback(database.subscribe_to_others("vectors", self._on_vectors))
        self._open.callback(self._membership.subscribe(self._on_duty))
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)
        self._thread.start()

    def is_unfinished(self) -> bool:
        """Whether there are changes to process, and neither the model nor the index fails."""
        return not self._is_failing and (self._is_syncing or self._woken.is_set())

    def _on_changes(self, _: Sequence[ItemChange]) -> None:
        self._woken.set()

    def _on_vectors(self, _: Collection[str]) -> None:
        """Index what another daemon has embedded."""
        self._woken.set()

    def _on_duty(self) -> None:
        self._has_new_duty = True
        self._woken.set()

    def close(self) -> None:
        """Stop between two batches."""
        self._open.close()
        self._leaving.set()
        self._woken.set()
        self._meaning.close()
        self._thread.join()

    def _run(self) -> None:
        self._leaving.wait(START_DELAY_SECONDS)
        while not self._leaving.is_set():
            with self._standing() as progress:
                self._follow(progress)

    def _follow(self, progress: Progress) -> None:
        """Follow until this process ends, or gets a duty of another daemon with which the standing job comes."""
        self._has_new_duty = False
        self._warm_at = time.monotonic() + PRELOAD_DELAY_SECONDS
        pause = self._follow_once(0.0, progress)
        while not (self._leaving.is_set() or self._has_new_duty):
            if not pause:
                self._woken.wait(self._poll_seconds())
            self._leaving.wait(max(DEBOUNCE_SECONDS, pause))
            pause = self._follow_once(pause, progress)

    def _follow_once(self, pause: float, progress: Progress) -> float:
        self._is_syncing = True
        self._woken.clear()
        pause = self._sync_once(pause, progress)
        self._is_syncing, self._is_failing = False, pause > 0
        return pause

    def _sync_once(self, pause: float, progress: Progress) -> float:
        """Catch up once; return how long to wait afterwards."""
        try:
            self._meaning.maintain()
            progress(0, 0, PROGRESS_MESSAGE)
            round_progress = _RoundProgress(progress, self._meaning.count_unread)
            self._meaning.follow(self._leaving.is_set, round_progress.add_embedded, round_progress.refresh)
            self._preload_once()
            progress(0, 0, "search by meaning is up to date")
        except PanoramaError as error:
            progress(0, 0, error.message)
            if not pause and not self._leaving.is_set():  # the index is closed on shutdown, which is not a failure
                _log.warning("search by meaning: %s", error.message)
        except Exception:  # a bug of ours: it is logged, and keyword search continues
            _log.exception("search by meaning failed")
        else:
            return 0.0
        return min(MAX_RETRY_SECONDS, pause * 2 or MIN_RETRY_SECONDS)

    def _poll_seconds(self) -> float:
        return POLL_SECONDS if self._warm_at is None else PRELOAD_DELAY_SECONDS

    def _preload_once(self) -> None:
        if self._warm_at is not None and time.monotonic() > self._warm_at:
            self._warm_at = None
            self._meaning.preload()
