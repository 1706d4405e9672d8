"""The MCP server: one per process, over stdio."""

import logging
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from queue import SimpleQueue
from typing import Any
from zoneinfo import ZoneInfo

import anyio
from fastmcp import FastMCP
from mcp.server.request_state import RequestStateSecurity

from panorama import __version__
from panorama.app import App, opened
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.domain.reminders import Ring
from panorama.domain.times import shown
from panorama.mcp.connection import Connection
from panorama.mcp.hub import Hub, Rang
from panorama.mcp.keys import state_key
from panorama.mcp.promoted import PromotedTools
from panorama.mcp.prompts import add_prompts
from panorama.mcp.resources import add_resources
from panorama.mcp.subscriptions import add_subscriptions
from panorama.mcp.tasking import JobTasks
from panorama.mcp.tools import Conversing, OperationTool, Strangers, client_name
from panorama.mcp.wire import StandardStreams

INSTRUCTIONS = """\
Panorama keeps this person's projects, tasks, notes, links, reminders and journal on their own disk. Nothing leaves it.

- Arguments that name an item (task, note, project, item) take its id (t_…, n_…, p_…) or its exact title. If that is
  not unique or unknown, the error lists candidates: use their ids; never invent one.
- Find things with search (words), list_tasks (views: overdue, today, this_week, …) or query (exact filters, counts,
  sums). get_item shows anything by id.
- After get_project or get_note, list_* and get_* are about that item for 10 minutes unless you say otherwise; the
  answer shows what was bound. Writes are never bound.
- Change notes with append_to_note and edit_note; update_note's content replaces the whole text.
- In updates, leave out what stays; "" or [] clears a field.
- Dates: 2026-05-31, 2026-05-31T15:00 (their zone), today, tomorrow, +3d. status tells today's date.
- Many items, joins, counts over texts, files such as CSV: search_sdk, then a short Python script with run_code. What it
  reads stays out of this conversation; undo takes a whole run back.
- What is done often is a kept script: list_scripts, run_script; save_script keeps a new one as a draft. Only the person
  approves it: promote_script asks them. How to write one: the resource panorama://scripts.
- What takes long runs as a job: background=true answers at once, get_job follows it (wait=30), cancel_job stops it.
- Several changes at once: batch; all or nothing, "$0.data.id" refers to an earlier result.
- Every change can be undone: undo() takes back your last write, undo(unit) any other; history shows what happened.
  Deleting moves to the trash.
- Long lists end in next_cursor: repeat the call with it. Ask for detail="full" only when needed.
- If you do not know whether a write arrived, repeat it with the same idempotency_key: it is done once.
- status `idea` means parked: not open work. Set status `done` to complete; recurring tasks then renew themselves."""

CACHE_SECONDS = 30
ANSWER_SECONDS = 3600
"""How long a question waits for its answer; it is bound to what it asked, however long that takes."""


WAITING = 20
"""Reminders that wait, of which a client is told that has just come."""


class Server(FastMCP[Any]):
    """The MCP server; `hub` tells its clients what changes."""

    hub: Hub


def build(app: App, conversing: Conversing | None = None) -> Server:
    """Return a server that offers the app's operations; `conversing` tells in whose conversation a request is."""
    own = Conversation(id=f"v_{secrets.token_hex(5)}", actor="tool", client=client_name)
    conversing = conversing or (lambda: own)
    listed = [
        each for each in app.calls.offered if each.operation.tool and each.operation.toolset in app.settings.toolsets
    ]
    mcp = Server(
        "panorama", version=__version__, instructions=INSTRUCTIONS, on_duplicate="error", mask_error_details=True,
        cache_ttl=CACHE_SECONDS, cache_scope="private",
        request_state_security=RequestStateSecurity(keys=[state_key(app.settings.home)], ttl=ANSWER_SECONDS),
    )  # fmt: skip
    mcp.add_middleware(Strangers(app.calls, conversing, [each.operation.tool for each in listed]))
    for arguments in listed:
        mcp.add_tool(OperationTool.of(arguments, app.calls, conversing))
    mcp.add_provider(PromotedTools(app.calls, conversing))
    add_resources(mcp, app.calls, conversing)
    add_prompts(mcp)
    mcp.add_extension(JobTasks(app.calls, app.jobs, conversing, app.settings.log_age))
    mcp.hub = Hub(app.desk.database, app.jobs, app.calls.promoted.tell)
    zone = app.desk.zone
    add_subscriptions(mcp, mcp.hub, lambda: [told(each, zone) for each in app.timing.ringing.rings(WAITING)])
    return mcp


def told(ring: Ring, zone: ZoneInfo) -> Rang:
    """Return what clients hear when a reminder rings."""
    alert = ring.alert
    return Rang(
        alert=alert.id, reminder=ring.reminder.id, title=ring.reminder.title, words=ring.words(zone),
        due=shown(alert.at, zone), late_seconds=max(0, int(ring.late.total_seconds())), missed=alert.missed,
        rings=alert.rings, repeated=ring.repeated,
    )  # fmt: skip


def serve_stdio(working: Callable[[App], AbstractContextManager[object]]) -> None:
    """Serve one client on standard input and output, in this process, until it leaves; jobs are worked on meanwhile."""
    logging.basicConfig(stream=sys.stderr, level=os.environ.get("PANORAMA_LOG", "WARNING").upper())
    with opened(read_settings()) as app, app.following(), working(app):

        def end(code: int) -> None:
            app.recorder.flush()
            os._exit(code)  # a thread may still wait for the client's next line

        _heed_signals(end)
        anyio.run(_serve_stdio, build(app), end)


def _heed_signals(end: Callable[[int], None]) -> None:
    """End in a thread of its own: a handler interrupts this one, which may have locks that the end waits for."""
    numbers = SimpleQueue[int]()  # may be put into by what interrupts it
    threading.Thread(target=lambda: end(128 + numbers.get()), daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: numbers.put(number))


async def _serve_stdio(mcp: FastMCP[Any], end: Callable[[int], None]) -> None:
    streams = StandardStreams()
    threading.Thread(target=lambda: (streams.await_deafness(), end(0)), daemon=True).start()
    async with mcp._lifespan_manager():  # pyright: ignore[reportPrivateUsage] (FastMCP offers no other way)
        await Connection(streams).serve(mcp)
