"""The stream of changes: tells open pages that something they may show has changed."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextvars import Context
from typing import Any

from panorama.app import App
from panorama.domain.changes import ItemChange

GATHER_SECONDS = 0.04
"""How long changes are gathered, so that a batch is one event."""

BEAT_SECONDS = 15.0
RETRY_MILLISECONDS = 800
MAX_STREAMS = 64


class ChangeStreams:
    """The streams of open pages. Listens to the store only while a stream is open.

    An event names the kinds that were touched and the number of the last change. A page compares this number with its
    own after every connection, so that a missed event, a restart and a page out of the browser's cache are all noticed.
    """

    def __init__(self, app: App, get_number: Callable[[], int]) -> None:
        self._app = app
        self._get_number = get_number
        self._queues: set[asyncio.Queue[str]] = set()
        self._kinds: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._unsubscribe: list[Callable[[], None]] = []
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._queues)

    @property
    def is_full(self) -> bool:
        """Whether no further stream is served."""
        return len(self._queues) >= MAX_STREAMS

    def close(self) -> None:
        """End all streams, so that the server need not wait for them."""
        self._is_closed = True
        for queue in self._queues:
            queue.put_nowait("")

    async def stream(self) -> AsyncGenerator[str]:
        """Yield events until the page goes away; the first has the current revision."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._add(queue)
        try:
            yield f"retry: {RETRY_MILLISECONDS}\n\n" + _encode("hello", {"at": await self._fetch_number()})
            while not self._is_closed:
                try:
                    yield await asyncio.wait_for(queue.get(), BEAT_SECONDS)
                except TimeoutError:
                    yield ": beat\n\n"
        finally:
            self._remove(queue)

    def _add(self, queue: asyncio.Queue[str]) -> None:
        self._queues.add(queue)
        if not self._unsubscribe:
            loop = asyncio.get_running_loop()

            def gather(kinds: set[str]) -> None:
                # Not in the context of the thread that wrote: reading there would join its open transaction.
                loop.call_soon_threadsafe(self._gather, kinds, context=Context())

            def on_changes(changes: Sequence[ItemChange]) -> None:
                gather({change.kind for change in changes})

            def on_job(_: str) -> None:
                gather({"job"})

            self._unsubscribe = [self._app.context.database.subscribe(on_changes), self._app.jobs.subscribe(on_job)]

    def _remove(self, queue: asyncio.Queue[str]) -> None:
        self._queues.discard(queue)
        if not self._queues:
            for unsubscribe in self._unsubscribe:
                unsubscribe()
            self._unsubscribe = []

    def _gather(self, kinds: set[str]) -> None:
        self._kinds |= kinds
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._start_sending)

    def _start_sending(self) -> None:
        self._sending = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        kinds, self._kinds, self._timer = self._kinds, set(), None
        event = _encode("changed", {"kinds": sorted(kinds), "at": await self._fetch_number()})
        for queue in self._queues:
            queue.put_nowait(event)

    async def _fetch_number(self) -> int:
        return await asyncio.to_thread(self._get_number)


def _encode(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
