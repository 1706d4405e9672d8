"""Worker threads for calls, limited per kind of call and per client, so that waiting calls do not block others.

A call without a place waits in the event loop, where it uses no thread.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from panorama.operation import Workload

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Places:
    """How many calls of a kind run at a time, and how many of these for one client."""

    places: int
    places_per_client: int


PLACES: dict[Workload, Places] = {
    "short": Places(40, 16),
    "waiting": Places(256, 16),
    "script": Places(16, 4),
    "maintenance": Places(8, 2),
}
"""The kinds of calls. A thread that waits costs some 50 KB; a script also has a process."""


@dataclass(slots=True)
class _ClientPlaces:
    """The places of one client for one kind of call, and how many calls use or wait for one."""

    limiter: anyio.CapacityLimiter
    calls: int = 0


class CallThreads:
    """The places of one event loop."""

    def __init__(self) -> None:
        self._all = {workload: anyio.CapacityLimiter(size.places) for workload, size in PLACES.items()}
        self._of_clients: dict[tuple[Workload, str], _ClientPlaces] = {}

    @property
    def is_busy(self) -> bool:
        """Whether any call is running."""
        return any(limiter.borrowed_tokens for limiter in self._all.values())

    async def run(
        self, call: Callable[[], Result], workload: Workload, client: str, *, abandon_on_cancel: bool = False
    ) -> Result:
        """Run a call in a thread, once there is a place for its kind and its client."""
        key: tuple[Workload, str] = workload, client
        mine = self._of_clients.get(key)
        if mine is None:
            size = PLACES[workload].places_per_client
            mine = self._of_clients[key] = _ClientPlaces(anyio.CapacityLimiter(size))
        mine.calls += 1
        try:
            await _take_place(mine.limiter)
            try:
                return await anyio.to_thread.run_sync(
                    call, limiter=self._all[workload], abandon_on_cancel=abandon_on_cancel
                )
            finally:
                mine.limiter.release()
        finally:
            mine.calls -= 1
            if not mine.calls:  # a client without calls is forgotten
                del self._of_clients[key]


async def _take_place(limiter: anyio.CapacityLimiter) -> None:
    """Take a place immediately if one is free, without yielding to the event loop."""
    try:
        limiter.acquire_nowait()
    except anyio.WouldBlock:
        await limiter.acquire()


_threads: RunVar[CallThreads] = RunVar("call_threads")


def call_threads() -> CallThreads:
    """Return the places of the running event loop."""
    try:
        return _threads.get()
    except LookupError:
        threads = CallThreads()
        _threads.set(threads)
        return threads
