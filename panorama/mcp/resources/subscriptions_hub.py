"""The hub: the only module that knows who listens to what; it tells them what was changed, whoever changed it."""

import asyncio
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import anyio
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent, ToolsListChanged

from panorama.domain.changes import ItemChange
from panorama.mcp.resources.uris import REMINDERS, affected_uris, is_list_change, page_uri
from panorama.services.jobs.jobs import Jobs
from panorama.store.backend import Database

GATHER_SECONDS = 0.04
"""Seconds in which changes are gathered: what an import touches a thousand times is told a few times."""


MAX_PENDING_REMINDERS = 100
"""Reminders that one listener may not have been told yet; beyond, it finds them on their page."""


@dataclass(frozen=True, slots=True)
class ReminderTopic:
    """What is listened to by those who want to hear of reminders in words."""


@dataclass(frozen=True, slots=True)
class ReminderFired:
    """A reminder that rang: `alert` is the id by which one that is told again can be recognised."""

    alert: str
    reminder: str
    title: str
    words: str
    due: str
    late_seconds: int
    missed: int
    rings: int
    repeated: bool


Event = ServerEvent | ReminderTopic | ReminderFired
Subscribe = Callable[[Callable[[], None]], Callable[[], None]]
"""Tells somebody of something from now on, and returns how to stop that."""


class Subscriber:
    """One listener: what it listens to, and what it was not told yet.

    The untold is kept as a set, so one that reads slowly holds up nobody and costs no more than what it asked for.
    """

    def __init__(self, client: object) -> None:
        self.client = client
        self.events: set[Event] = set()
        self._untold: dict[Event, None] = {}
        self._woken = anyio.Event()
        self._is_closed = False

    @property
    def page_count(self) -> int:
        """How many pages it listens to."""
        return sum(isinstance(event, ResourceUpdated) for event in self.events)

    def enqueue(self, event: Event) -> None:
        """Take what it will be told next."""
        self._untold[event] = None
        self._woken.set()

    @property
    def is_behind(self) -> bool:
        """Whether there are many reminders that it was not told yet."""
        return sum(isinstance(event, ReminderFired) for event in self._untold) >= MAX_PENDING_REMINDERS

    def discard(self, event: Event) -> None:
        """Take back what it was not told yet."""
        self._untold.pop(event, None)

    def close(self) -> None:
        """Let it end once all is told."""
        self._is_closed = True
        self._woken.set()

    async def next(self) -> Event | None:
        """Wait for what it is told next; None if it ends."""
        while not self._untold:
            if self._is_closed:
                return None
            self._woken = anyio.Event()
            await self._woken.wait()
        event = next(iter(self._untold))
        del self._untold[event]
        return event


class Hub:
    """Tells the listeners of one server what was changed; it hears the store only while there are any.

    `heard`, `job_moved`, `rang`, `tools_changed` and `resources_changed` may be called from any thread and never wait;
    all else belongs to the server's event loop.
    """

    def __init__(self, database: Database, jobs: Jobs, tools: Subscribe | None = None) -> None:
        """Make a hub; `tools` tells when tools come or go."""
        self._database = database
        self._jobs = jobs
        self._tools = tools
        self._ears: dict[Subscriber, None] = {}
        self._by_event: dict[Event, set[Subscriber]] = {}
        self._stop_hearing: tuple[Callable[[], None], ...] = ()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._gathered: dict[Event, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    @property
    def size(self) -> tuple[int, int]:
        """How many listen, and to how many different things."""
        return len(self._ears), len(self._by_event)

    @contextmanager
    def open_subscriber(self, client: object, events: Iterable[Event]) -> Generator[Subscriber]:
        """Open an ear of a client, which is any object that stands for its connection."""
        ear = Subscriber(client)
        self._start_listening()
        self._ears[ear] = None
        try:
            for event in events:
                self.subscribe(ear, event)
            yield ear
        finally:
            self._remove_subscriber(ear)

    def subscribe(self, ear: Subscriber, event: Event) -> None:
        """Let an ear listen to one thing more."""
        ear.events.add(event)
        self._by_event.setdefault(event, set()).add(ear)

    def unsubscribe(self, ear: Subscriber, event: Event) -> None:
        """Let an ear listen to one thing less."""
        ear.discard(event)
        ear.events.discard(event)
        ears = self._by_event.get(event, set())
        ears.discard(ear)
        if not ears:
            self._by_event.pop(event, None)

    def count_pages(self, client: object) -> int:
        """Return how many pages a client listens to; an ear that listens to none counts as one."""
        return sum(max(1, ear.page_count) for ear in self._ears if ear.client is client)

    def on_changes(self, touches: Sequence[ItemChange]) -> None:
        """Take what a transaction touched."""
        self._post(event for touch in touches for event in _iter_events(touch))

    def on_job_changed(self, id_: str) -> None:
        """Take that a job came further, or to its end."""
        self._post([ResourceUpdated(page_uri("job", id_))])

    def on_reminder_fired(self, rang: ReminderFired) -> None:
        """Tell that a reminder rang: those who want to know in words, and those who look at the page of reminders."""
        self._post([ResourceUpdated(REMINDERS)])
        if self._loop:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._enqueue_reminder, rang)

    def _enqueue_reminder(self, rang: ReminderFired) -> None:
        for ear in self._by_event.get(ReminderTopic(), ()):
            if not ear.is_behind:
                ear.enqueue(rang)

    def on_tools_changed(self) -> None:
        """Tell that the list of tools has changed."""
        self._post([ToolsListChanged()])

    def on_resources_changed(self) -> None:
        """Tell that the list of resources has changed."""
        self._post([ResourcesListChanged()])

    def close(self) -> None:
        """Tell what was gathered, then end every ear; a `subscriptions/listen` is answered by that."""
        if self._timer:
            self._timer.cancel()
            self._flush()
        for ear in tuple(self._ears):
            ear.close()

    def _post(self, events: Iterable[Event]) -> None:
        posted = dict.fromkeys(event for event in events if event in self._by_event)
        if posted and self._loop:
            with suppress(RuntimeError):  # the loop has ended, and with it everybody who listened
                self._loop.call_soon_threadsafe(self._gather, posted)

    def _gather(self, events: dict[Event, None]) -> None:
        self._gathered |= events
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._flush)

    def _flush(self) -> None:
        events, self._gathered, self._timer = self._gathered, {}, None
        for event in events:
            for ear in self._by_event.get(event, ()):
                ear.enqueue(event)

    def _start_listening(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._gathered, self._timer = loop, {}, None
        if not self._stop_hearing:
            tools = (self._tools(self.on_tools_changed),) if self._tools else ()
            self._stop_hearing = (
                self._database.subscribe(self.on_changes),
                self._jobs.subscribe(self.on_job_changed),
                *tools,
            )

    def _remove_subscriber(self, ear: Subscriber) -> None:
        for event in tuple(ear.events):
            self.unsubscribe(ear, event)
        self._ears.pop(ear, None)
        if not self._ears:
            for stop in self._stop_hearing:
                stop()
            self._stop_hearing = ()


def _iter_events(touch: ItemChange) -> Generator[Event]:
    if is_list_change(touch):
        yield ResourcesListChanged()
    for uri in affected_uris(touch):
        yield ResourceUpdated(uri)
