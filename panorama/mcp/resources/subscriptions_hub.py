"""The hub of subscriptions: knows which client listens to what, and notifies them of changes by any client."""

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
"""Seconds in which changes are gathered: a thousand changes by an import cause a few notifications."""


MAX_PENDING_REMINDERS = 100
"""Pending reminders of one subscriber; beyond, it finds them on their page."""


@dataclass(frozen=True, slots=True)
class ReminderTopic:
    """The topic of reminders as messages."""


@dataclass(frozen=True, slots=True)
class ReminderFired:
    """A reminder that rang; `alert` is an id by which a repeated notification is recognised."""

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
"""Subscribes a client, and returns the function that unsubscribes it."""


class Subscriber:
    """A subscriber: its topics, and the notifications that were not sent yet.

    Pending notifications are a set, so a slow client blocks nobody and costs no more than its topics.
    """

    def __init__(self, client: object) -> None:
        self.client = client
        self.events: set[Event] = set()
        self._pending: dict[Event, None] = {}
        self._woken = anyio.Event()
        self._is_closed = False

    @property
    def page_count(self) -> int:
        """The number of pages it listens to."""
        return sum(isinstance(event, ResourceUpdated) for event in self.events)

    def enqueue(self, event: Event) -> None:
        """Add a notification."""
        self._pending[event] = None
        self._woken.set()

    @property
    def is_behind(self) -> bool:
        """Whether many reminders were not sent yet."""
        return sum(isinstance(event, ReminderFired) for event in self._pending) >= MAX_PENDING_REMINDERS

    def discard(self, event: Event) -> None:
        """Remove a notification that was not sent yet."""
        self._pending.pop(event, None)

    def close(self) -> None:
        """End it once everything was sent."""
        self._is_closed = True
        self._woken.set()

    async def next(self) -> Event | None:
        """Wait for the next notifications; None if it ends."""
        while not self._pending:
            if self._is_closed:
                return None
            self._woken = anyio.Event()
            await self._woken.wait()
        event = next(iter(self._pending))
        del self._pending[event]
        return event


class Hub:
    """Notifies the subscribers of one server of changes; it follows the store only while there are any.

    `heard`, `job_moved`, `rang`, `tools_changed` and `resources_changed` may be called from any thread and never wait;
    all else belongs to the server's event loop.
    """

    def __init__(self, database: Database, jobs: Jobs, tools: Subscribe | None = None) -> None:
        """Create a hub; `tools` reports when tools come or go."""
        self._database = database
        self._jobs = jobs
        self._tools = tools
        self._subscribers: dict[Subscriber, None] = {}
        self._by_event: dict[Event, set[Subscriber]] = {}
        self._stop_hearing: tuple[Callable[[], None], ...] = ()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._gathered: dict[Event, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    @property
    def size(self) -> tuple[int, int]:
        """The number of subscribers and of their different topics."""
        return len(self._subscribers), len(self._by_event)

    @contextmanager
    def open_subscriber(self, client: object, events: Iterable[Event]) -> Generator[Subscriber]:
        """Open a subscriber for a client, which is any object that identifies its connection."""
        subscriber = Subscriber(client)
        self._start_listening()
        self._subscribers[subscriber] = None
        try:
            for event in events:
                self.subscribe(subscriber, event)
            yield subscriber
        finally:
            self._remove_subscriber(subscriber)

    def subscribe(self, subscriber: Subscriber, event: Event) -> None:
        """Add a topic to a subscriber."""
        subscriber.events.add(event)
        self._by_event.setdefault(event, set()).add(subscriber)

    def unsubscribe(self, subscriber: Subscriber, event: Event) -> None:
        """Remove a topic from a subscriber."""
        subscriber.discard(event)
        subscriber.events.discard(event)
        subscribers = self._by_event.get(event, set())
        subscribers.discard(subscriber)
        if not subscribers:
            self._by_event.pop(event, None)

    def count_pages(self, client: object) -> int:
        """Return how many pages a client listens to; a subscriber without pages counts as one."""
        return sum(max(1, subscriber.page_count) for subscriber in self._subscribers if subscriber.client is client)

    def on_changes(self, touches: Sequence[ItemChange]) -> None:
        """Accept the items that a transaction changed."""
        self._post(event for touch in touches for event in _iter_events(touch))

    def on_job_changed(self, id_: str) -> None:
        """Accept that a job made progress or ended."""
        self._post([ResourceUpdated(page_uri("job", id_))])

    def on_reminder_fired(self, rang: ReminderFired) -> None:
        """Notify of a reminder that rang: subscribers for messages, and subscribers of the page of reminders."""
        self._post([ResourceUpdated(REMINDERS)])
        if self._loop:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._enqueue_reminder, rang)

    def _enqueue_reminder(self, rang: ReminderFired) -> None:
        for subscriber in self._by_event.get(ReminderTopic(), ()):
            if not subscriber.is_behind:
                subscriber.enqueue(rang)

    def on_tools_changed(self) -> None:
        """Notify that the list of tools has changed."""
        self._post([ToolsListChanged()])

    def on_resources_changed(self) -> None:
        """Notify that the list of resources has changed."""
        self._post([ResourcesListChanged()])

    def close(self) -> None:
        """Send what is pending, then end every subscriber, which answers a `subscriptions/listen`."""
        if self._timer:
            self._timer.cancel()
            self._flush()
        for subscriber in tuple(self._subscribers):
            subscriber.close()

    def _post(self, events: Iterable[Event]) -> None:
        posted = dict.fromkeys(event for event in events if event in self._by_event)
        if posted and self._loop:
            with suppress(RuntimeError):  # the loop has ended, and with it all subscribers
                self._loop.call_soon_threadsafe(self._gather, posted)

    def _gather(self, events: dict[Event, None]) -> None:
        self._gathered |= events
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._flush)

    def _flush(self) -> None:
        events, self._gathered, self._timer = self._gathered, {}, None
        for event in events:
            for subscriber in self._by_event.get(event, ()):
                subscriber.enqueue(event)

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

    def _remove_subscriber(self, subscriber: Subscriber) -> None:
        for event in tuple(subscriber.events):
            self.unsubscribe(subscriber, event)
        self._subscribers.pop(subscriber, None)
        if not self._subscribers:
            for stop in self._stop_hearing:
                stop()
            self._stop_hearing = ()


def _iter_events(touch: ItemChange) -> Generator[Event]:
    if is_list_change(touch):
        yield ResourcesListChanged()
    for uri in affected_uris(touch):
        yield ResourceUpdated(uri)
