"""The MCP server: one per process, over stdio."""

import logging
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from queue import SimpleQueue
from typing import Any
from zoneinfo import ZoneInfo

import anyio
from fastmcp import FastMCP
from mcp.server.request_state import RequestStateSecurity

from panorama import __version__
from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.calls.agreements import ANSWER_SECONDS
from panorama.calls.arguments import Arguments
from panorama.config import read_settings
from panorama.databases import open_contents
from panorama.domain.items.reminders import ReminderEvent
from panorama.domain.time.times import format_time, today
from panorama.mcp.apps.apps import TOOL_META, AppsMiddleware, add_view
from panorama.mcp.connection import Connection
from panorama.mcp.direct_calls import DirectCalls
from panorama.mcp.images.charts import DRAWN, AnswerCharts
from panorama.mcp.images.script_images import SCRIPT_TOOLS, ScriptImages
from panorama.mcp.keys import load_state_key
from panorama.mcp.log_format import LogFormatter
from panorama.mcp.promoted import PromotedToolProvider
from panorama.mcp.prompts import add_prompts
from panorama.mcp.resources.resources import add_resources
from panorama.mcp.resources.subscriptions import add_subscriptions
from panorama.mcp.resources.subscriptions_hub import Hub, ReminderFired
from panorama.mcp.stdio import StandardStreams
from panorama.mcp.tasks_extension import TasksExtension
from panorama.mcp.tools import GetConversation, OperationTool, ToolNameMiddleware, client_name
from panorama.operation import APPS_TOOLSET
from panorama.services.items.files import Files
from panorama.services.statistics import Statistics
from panorama.store.contents.contents import Contents

INSTRUCTIONS = """\
Panorama is this person's own memory: find, read, add and change projects, tasks, notes, links, reminders, journal.

- Name an item by its id or exact title. An error lists candidates; never invent an id.
- Words or a question: search. Exact filters, counts: query, list_*. Many items, joins: search_sdk, then run_code.
- Several writes, and tools not listed here (trash, files, schedules, backup): batch.
- Every write can be undone: undo, history. The same idempotency_key never writes twice.
- Long lists end in next_cursor: repeat the call with it.
- Dates: 2026-05-31, friday 3pm, in 2 weeks."""

CACHE_SECONDS = 30
MAX_WAITING_REMINDERS = 20
"""The waiting reminders that a new client is notified of."""


class Server(FastMCP[Any]):
    """The MCP server; `hub` notifies its clients of changes, and a connection may make `direct_calls` without it."""

    hub: Hub
    direct_calls: DirectCalls


def build_server(app: App, conversing: GetConversation | None = None) -> Server:
    """Return a server with the app's operations; `conversing` returns the conversation of a request."""
    own_conversation = Conversation(id=f"v_{secrets.token_hex(5)}", actor="tool", client=client_name)
    conversing = conversing or (lambda: own_conversation)
    listed = [
        arguments
        for arguments in app.calls.operation_arguments
        if arguments.operation.tool and arguments.operation.toolset in (*app.settings.toolsets, APPS_TOOLSET)
    ]
    mcp = Server(
        "panorama", version=__version__, instructions=INSTRUCTIONS, on_duplicate="error", mask_error_details=True,
        cache_ttl=CACHE_SECONDS, cache_scope="private",
        request_state_security=RequestStateSecurity(keys=[load_state_key(app.settings.home)], ttl=ANSWER_SECONDS),
    )  # fmt: skip
    mcp.add_middleware(ToolNameMiddleware(app.calls, conversing, [arguments.operation.tool for arguments in listed]))
    charts, images = _build_charts(app), _build_script_images(app)
    drawers: dict[str, AnswerCharts | ScriptImages | None] = {
        **dict.fromkeys(DRAWN, charts), **dict.fromkeys(SCRIPT_TOOLS, images),
    }  # fmt: skip
    _add_tools(mcp, app, listed, conversing, drawers)
    mcp.add_middleware(AppsMiddleware("show", is_listed=APPS_TOOLSET in app.settings.toolsets))
    add_view(mcp)
    mcp.add_provider(PromotedToolProvider(app.calls, conversing, app.sources.has_sources, images))
    add_resources(mcp, app.calls, conversing)
    add_prompts(mcp)
    mcp.add_extension(TasksExtension(app.calls, app.jobs, conversing, app.settings.log_age))
    direct = {item.operation.tool: item.operation for item in listed if not drawers.get(item.operation.tool)}
    mcp.direct_calls = DirectCalls(app.calls, conversing, direct)
    mcp.hub = Hub(app.context.database, app.jobs, app.calls.promoted_tools.subscribe)
    zone = app.context.zone
    add_subscriptions(
        mcp,
        mcp.hub,
        lambda: [to_reminder_fired(event, zone) for event in app.timing.ringing.list_pending(MAX_WAITING_REMINDERS)],
    )
    return mcp


def _add_tools(
    mcp: Server,
    app: App,
    listed: Sequence[Arguments],
    conversing: GetConversation,
    drawers: Mapping[str, AnswerCharts | ScriptImages | None],
) -> None:
    """Add the listed operations as tools; `drawers` add charts and images to the answers of some."""
    for arguments in listed:
        tool = OperationTool.from_arguments(arguments, app.calls, conversing, app.sources.has_sources)
        tool.meta = TOOL_META if arguments.operation.toolset == APPS_TOOLSET else None
        if drawer := drawers.get(tool.name):
            tool.draw(drawer)
        mcp.add_tool(tool)


def _build_charts(app: App) -> AnswerCharts | None:
    """Return the chart renderer, None if the settings turn charts off."""
    if app.settings.charts == "off":
        return None
    context = app.context
    return AnswerCharts(Statistics(context), app.settings.charts, lambda: today(context.now(), context.zone))


def _build_script_images(app: App) -> ScriptImages | None:
    """Return the function that adds images to answers of scripts, None if the settings turn images off."""
    if app.settings.charts == "off":
        return None
    contents = Contents(open_contents(app.settings, app.context.database))
    return ScriptImages(Files(app.context, contents), app.settings.charts)


def to_reminder_fired(ring: ReminderEvent, zone: ZoneInfo) -> ReminderFired:
    """Return the message of a reminder that rings."""
    alert = ring.alert
    return ReminderFired(
        alert=alert.id, reminder=ring.reminder.id, title=ring.reminder.title, words=ring.describe(zone),
        due=format_time(alert.at, zone), late_seconds=max(0, int(ring.late.total_seconds())), missed=alert.missed,
        rings=alert.rings, repeated=ring.repeated,
    )  # fmt: skip


def serve_stdio(working: Callable[[App], AbstractContextManager[object]]) -> None:
    """Serve one client on standard input and output, in this process, until it leaves; jobs run meanwhile."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogFormatter())
    logging.basicConfig(handlers=[handler], level=os.environ.get("PANORAMA_LOG", "WARNING").upper())
    with open_app(read_settings()) as app, app.follow_changes(), working(app):

        def end(code: int) -> None:
            app.recorder.flush()
            os._exit(code)  # a thread may still wait for the client's next line

        _handle_signals(end)
        anyio.run(_serve_stdio, build_server(app), end)


def _handle_signals(end: Callable[[int], None]) -> None:
    """End in another thread: a signal handler interrupts this one, which may hold locks that the end waits for."""
    numbers = SimpleQueue[int]()  # a signal handler may put into it
    threading.Thread(target=lambda: end(128 + numbers.get()), daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: numbers.put(number))


async def _serve_stdio(mcp: Server, end: Callable[[int], None]) -> None:
    streams = StandardStreams()
    threading.Thread(target=lambda: (streams.wait_for_closed_stdout(), end(0)), daemon=True).start()
    async with mcp._lifespan_manager():  # pyright: ignore[reportPrivateUsage] (FastMCP offers no other way)
        await Connection(streams).serve(mcp, mcp.direct_calls)
