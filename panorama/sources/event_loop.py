"""The event loop of all sources, in a thread of its own: a source that floods it delays no client of Panorama."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from panorama.sources.source import Deadline

T = TypeVar("T")

CHECK_SECONDS = 0.05
"""How often a waiting thread checks whether its caller stopped."""


class LoopStoppedError(Exception):
    """The source was closed while its coroutine ran, or before it began."""


class EventLoop:
    """Runs coroutines for blocking threads, while it has users."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def attach(self) -> None:
        """Add a user; the first one starts the thread."""
        with self._lock:
            self._users += 1
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run_loop, args=(self._loop,), name="panorama-sources", daemon=True
                )
                self._thread.start()

    def detach(self) -> None:
        """Remove a user; the last one ends the thread."""
        with self._lock:
            self._users -= 1
            if self._users or self._loop is None or self._thread is None:
                return
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop = self._thread = None

    def run(self, coroutine: Coroutine[Any, Any, T], deadline: Deadline) -> T:
        """Wait for a coroutine and return its result; it is cancelled at the deadline.

        Raises:
            TimeoutError: The deadline passed, or the caller stopped.
            LoopStoppedError: The source was closed meanwhile.
        """
        with self._lock:  # so that what was submitted is known to the loop before it can stop
            if self._loop is None:
                coroutine.close()
                raise LoopStoppedError
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        while True:
            try:
                return future.result(min(CHECK_SECONDS, deadline.seconds_left))
            except concurrent.futures.CancelledError as error:
                raise LoopStoppedError from error
            except concurrent.futures.TimeoutError:
                if future.done():  # a TimeoutError of the coroutine itself
                    return future.result()
                if not deadline.seconds_left:
                    future.cancel()
                    raise


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped, then cancel what is left and close it."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()


LOOP = EventLoop()
"""The loop of all sources of this process."""
