"""The protocol of subscriptions: `resources/subscribe` of the handshake eras, `subscriptions/listen` since 2026-07-28.

Clients of the handshake eras are notified of changed lists once they are initialized, of reminders as text
(`notifications/message`), and of the pages they subscribed to. Clients of 2026-07-28, which has no such messages, are
notified of what each of their `subscriptions/listen` asks for. A client that connects while reminders wait is notified
at once.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import asdict
from typing import Any

import anyio.to_thread
from fastmcp import FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp import MCPError
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.subscriptions import event_to_notification
from mcp.types import (
    INVALID_PARAMS,
    DiscoverRequest,
    DiscoverResult,
    EmptyResult,
    NotificationParams,
    ServerNotification,
    SubscribeRequestParams,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from panorama.mcp.resources.subscriptions_hub import Event, Hub, ReminderFired, ReminderTopic, Subscriber
from panorama.mcp.resources.uris import REMINDERS, is_page

MAX_PAGES = 1000
"""Pages that one client may listen to; a stream that asks for no page counts as one."""

URI_CHARS = 200
LIST_EVENTS = (ToolsListChanged(), ResourcesListChanged())
LOGGER, LEVEL = "panorama.reminders", "alert"
"""What a reminder's message says it is; no client that hears any messages leaves these out."""

ListWaiting = Callable[[], Sequence[ReminderFired]]
_SUBSCRIBER_KEY = "panorama.subscriber"
_log = logging.getLogger(__name__)
Request = ServerRequestContext[Any, Any]


def add_subscriptions(mcp: FastMCP[Any], hub: Hub, waiting: ListWaiting) -> None:
    """Connect clients to the hub, and announce what they can subscribe to: prompts never change.

    Args:
        waiting: Returns the alerts that no client was sent yet; it may take some milliseconds.
    """
    low = mcp._mcp_server  # pyright: ignore[reportPrivateUsage] (FastMCP has no subscriptions of its own)
    offered = Subscriptions(mcp, hub, waiting)
    low.add_notification_handler("notifications/initialized", NotificationParams, offered.handle_initialized)
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, offered.subscribe)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, offered.unsubscribe)
    low.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, offered.listen)
    low.notification_options = NotificationOptions(tools_changed=True, resources_changed=True)
    mcp.add_middleware(offered)


class Subscriptions(Middleware):
    """The requests that open and close subscribers."""

    def __init__(self, mcp: FastMCP[Any], hub: Hub, waiting: ListWaiting) -> None:
        self._mcp = mcp
        self._hub = hub
        self._waiting = waiting

    async def on_discover(
        self,
        context: MiddlewareContext[DiscoverRequest],
        call_next: CallNext[DiscoverRequest, DiscoverResult | dict[str, Any]],
    ) -> DiscoverResult | dict[str, Any]:
        """Announce that the list of prompts never changes; the SDK assumes that all lists can be subscribed to."""
        result = await call_next(context)
        if isinstance(result, DiscoverResult) and result.capabilities.prompts:
            result.capabilities.prompts.list_changed = False
        return result

    async def handle_initialized(self, request: Request, _: NotificationParams) -> None:
        """Notify a client of the handshake eras of changed lists and of reminders from now on."""
        subscriber = self._subscriber_of(_connection_of(request))
        for alert in reversed(await anyio.to_thread.run_sync(self._waiting)):
            subscriber.enqueue(alert)

    async def subscribe(self, request: Request, params: SubscribeRequestParams) -> EmptyResult:
        """Notify the client of changes of one page."""
        subscriber = self._subscriber_of(_connection_of(request))
        page = ResourceUpdated(params.uri)
        if page not in subscriber.events:
            await self._check_pages([params.uri], held=subscriber.page_count)
            self._hub.subscribe(subscriber, page)
        return EmptyResult()

    async def unsubscribe(self, request: Request, params: UnsubscribeRequestParams) -> EmptyResult:
        """Stop notifying the client of changes of one page."""
        self._hub.unsubscribe(self._subscriber_of(_connection_of(request)), ResourceUpdated(params.uri))
        return EmptyResult()

    async def listen(self, request: Request, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Acknowledge the subscription and send its notifications until either side ends it."""
        client = _client_key(_connection_of(request))
        granted = _supported_filter(params.notifications)
        await self._check_pages(granted.resource_subscriptions or (), held=self._hub.count_pages(client))
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: request.request_id}
        with self._hub.open_subscriber(client, _filter_events(granted)) as subscriber:
            acknowledged = SubscriptionsAcknowledgedNotificationParams(notifications=granted, _meta=meta)
            await _send_related(request, SubscriptionsAcknowledgedNotification(params=acknowledged))
            if ResourceUpdated(REMINDERS) in subscriber.events and await anyio.to_thread.run_sync(self._waiting):
                subscriber.enqueue(ResourceUpdated(REMINDERS))
            while event := await subscriber.next():
                if not isinstance(event, ReminderTopic | ReminderFired):
                    await _send_related(request, event_to_notification(event, meta))
        return SubscriptionsListenResult(_meta=meta)

    def _subscriber_of(self, connection: Connection) -> Subscriber:
        """Return the subscriber of a connection of the handshake eras; it is closed with the connection."""
        subscriber = connection.state.get(_SUBSCRIBER_KEY)
        if subscriber is None:
            subscriber = connection.exit_stack.enter_context(
                self._hub.open_subscriber(_client_key(connection), (*LIST_EVENTS, ReminderTopic()))
            )
            relay = asyncio.get_running_loop().create_task(_relay(subscriber, connection), context=Context())
            connection.exit_stack.callback(relay.cancel)
            connection.state[_SUBSCRIBER_KEY] = subscriber
        return subscriber

    async def _check_pages(self, uris: Sequence[str], *, held: int) -> None:
        if held + max(1, len(uris)) > MAX_PAGES:
            raise _refusal(f"One client can listen to {MAX_PAGES:,} pages; unsubscribe from some first.")
        for uri in uris:
            if not is_page(uri) and await self._mcp.get_resource(uri) is None:
                message = f"There is no page {uri[:URI_CHARS]!r}: see resources/list and resources/templates/list."
                raise _refusal(message, uri=uri[:URI_CHARS])


def _refusal(message: str, **data: str) -> MCPError:
    return MCPError(INVALID_PARAMS, message, data or None)


def _connection_of(request: Request) -> Connection:
    return request.session._connection  # pyright: ignore[reportPrivateUsage] (a session is made for each request)


def _client_key(connection: Connection) -> object:
    """The object that identifies a client: since 2026-07-28 each request has a connection of its own over HTTP."""
    return connection.outbound if connection.has_standalone_channel else connection


def _supported_filter(asked: SubscriptionFilter) -> SubscriptionFilter:
    """The served part of a filter: all but the list of prompts, which never changes."""
    return SubscriptionFilter(
        tools_list_changed=asked.tools_list_changed or None,
        resources_list_changed=asked.resources_list_changed or None,
        resource_subscriptions=list(dict.fromkeys(asked.resource_subscriptions or ())) or None,
    )


def _filter_events(granted: SubscriptionFilter) -> list[Event]:
    lists = ((granted.tools_list_changed, LIST_EVENTS[0]), (granted.resources_list_changed, LIST_EVENTS[1]))
    pages = (ResourceUpdated(uri) for uri in granted.resource_subscriptions or ())
    return [*(event for is_asked, event in lists if is_asked), *pages]


async def _send_related(request: Request, notification: ServerNotification) -> None:
    """Send a message on the stream that answers a request."""
    await request.session.send_notification(notification, related_request_id=request.request_id)


async def _relay(subscriber: Subscriber, connection: Connection) -> None:
    """Send a client of the handshake eras its notifications until its connection ends."""
    try:
        while event := await subscriber.next():
            await _notify(connection, event)
    except Exception:  # an internal error, ours or the SDK's; the other clients are still notified
        _log.exception("a client gets no more notifications")


async def _notify(connection: Connection, event: Event) -> None:
    if isinstance(event, ReminderFired):
        params = {"level": LEVEL, "logger": LOGGER, "data": {"message": f"Reminder: {event.words}", **asdict(event)}}
        await connection.notify("notifications/message", params)
    elif isinstance(event, ResourceUpdated):
        await connection.send_resource_updated(event.uri)
    elif isinstance(event, ToolsListChanged):
        await connection.send_tool_list_changed()
    else:
        await connection.send_resource_list_changed()
