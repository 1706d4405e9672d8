"""Following: the one thread that brings the index of meanings up to what is written, as long as a door is open."""

import logging
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from panorama.domain.changes import Touch
from panorama.errors import PanoramaError
from panorama.services.meaning import Meaning
from panorama.services.progress import Progress, silent
from panorama.store.engine import Database

GATHER_SECONDS = 0.05
"""Writes that come within this time are looked at together."""

LOOK_SECONDS = 10.0
"""How often it looks without being told: for writes of other programs, and for an index that was taken away."""

START_SECONDS = 0.5
"""How long it lets the first client be answered before it begins."""

WARM_SECONDS = 2.0
"""When the model is loaded after the start, which has to be quick."""

READING = "reading what was written"
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 15.0
Standing = Callable[[], AbstractContextManager[Progress]]
"""Opens the standing job that following is, to be told how it does."""

_log = logging.getLogger(__name__)


@contextmanager
def _unlisted() -> Generator[Progress]:
    yield silent


@dataclass(slots=True)
class _Way:
    """How far one round is: the changes that are read, of those and what is left, and the passages embedded so far."""

    told: Progress
    unread: Callable[[], int]
    read: int = 0
    left: int = 0
    texts: int = 0

    def embedded(self, count: int) -> None:
        """Count texts that were embedded; a step of 512 changes may have thousands."""
        self.texts += count
        self.left = self.left or self.unread()
        self._tell()

    def moved(self) -> None:
        """See how many changes are left."""
        left = self.unread()
        self.read += max(0, self.left - left)
        self.left = left
        self._tell()

    def _tell(self) -> None:
        embedded = f": {self.texts:,} passages embedded" if self.texts else ""
        self.told(self.read, self.read + self.left, f"{READING}{embedded}")


class Follower:
    """Follows the changes in a thread of its own; after a failure it waits, twice as long each time."""

    def __init__(self, meaning: Meaning, database: Database, standing: Standing = _unlisted) -> None:
        self._meaning = meaning
        self._standing = standing
        self._woken = threading.Event()
        self._leaving = threading.Event()
        self._warm_at: float | None = None
        self._deafen = database.tell(self._heard)
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)
        self._thread.start()

    def _heard(self, _: Sequence[Touch]) -> None:
        self._woken.set()

    def close(self) -> None:
        """End between two batches."""
        self._deafen()
        self._leaving.set()
        self._woken.set()
        self._meaning.close()
        self._thread.join()

    def _run(self) -> None:
        self._leaving.wait(START_SECONDS)
        with self._standing() as told:
            self._follow(told)

    def _follow(self, told: Progress) -> None:
        self._warm_at = time.monotonic() + WARM_SECONDS
        pause = self._round(0.0, told)
        while not self._leaving.is_set():
            if not pause:
                self._woken.wait(self._span())
            self._leaving.wait(max(GATHER_SECONDS, pause))
            self._woken.clear()
            pause = self._round(pause, told)

    def _round(self, pause: float, told: Progress) -> float:
        """Catch up once; return how long to wait after it, for good or for bad."""
        try:
            self._meaning.tend()
            told(0, 0, READING)
            way = _Way(told, self._meaning.unread)
            self._meaning.follow(self._leaving.is_set, way.embedded, way.moved)
            self._warm_once()
            told(0, 0, "search by meaning is up to date")
        except PanoramaError as error:
            told(0, 0, error.message)
            if not pause and not self._leaving.is_set():  # who leaves closes the index, which is no failure
                _log.warning("search by meaning: %s", error.message)
        except Exception:  # a bug of ours: it is logged, and search goes on with keywords
            _log.exception("search by meaning failed")
        else:
            return 0.0
        return min(LONGEST_PAUSE, pause * 2 or FIRST_PAUSE)

    def _span(self) -> float:
        return LOOK_SECONDS if self._warm_at is None else WARM_SECONDS

    def _warm_once(self) -> None:
        if self._warm_at is not None and time.monotonic() > self._warm_at:
            self._warm_at = None
            self._meaning.warm()
