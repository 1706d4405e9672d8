"""The MCP server of a daemon: imported and built after the daemon answers the command line.

The import takes half a second, for which a terminal command need not wait.
"""

import gc
import logging
import socket
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from panorama.app import App
from panorama.calls import Conversation
from panorama.daemon.answer_store import AnswerStore
from panorama.daemon.conversations import Conversations, current
from panorama.daemon.socket import is_hung_up
from panorama.daemon.socket_stream import SocketByteStream
from panorama.domain.changes import SHARED_CONVERSATION
from panorama.domain.items.reminders import ReminderEvent
from panorama.errors import PanoramaError
from panorama.transport.address import Address
from panorama.transport.fastmcp_import import FASTMCP_IMPORT

if TYPE_CHECKING:
    from panorama.daemon.http import HttpServer
    from panorama.mcp.connection import Connection
    from panorama.mcp.server import Server

_log = logging.getLogger(__name__)

IDLE_SECONDS = 1.0
"""How long a daemon without MCP clients waits before it imports the server: the command that started it goes first."""


class McpService:
    """The MCP server, built when a client needs it."""

    def __init__(self, app: App, address: Address, conversations: Conversations) -> None:
        self._app = app
        self._answers = AnswerStore(app, address)
        self._conversations = conversations
        self._server: Server | None = None
        self._http: HttpServer | None = None
        self._requested, self._started = anyio.Event(), anyio.Event()

    async def run(self, port: socket.socket | None) -> None:
        """Build the server when a client needs it or after `IDLE_SECONDS`, and serve HTTP on `port` if it is given."""
        with anyio.move_on_after(0 if port else IDLE_SECONDS):
            await self._requested.wait()
        server = await anyio.to_thread.run_sync(self.build)
        async with server._lifespan_manager(), anyio.create_task_group() as tasks:  # pyright: ignore[reportPrivateUsage] (FastMCP offers no other way)
            if port:
                self._http = self._create_http_server(port)
                tasks.start_soon(self._http.serve)
            self._started.set()
            await _import_state_store(server)
            await self._answers.run(server)

    def build(self) -> "Server":
        """Return the server; the first call imports and builds it."""
        if self._server is None:
            gc.disable()
            with FASTMCP_IMPORT:
                from panorama.mcp.server import build_server  # half a second

            self._server = build_server(self._app, self._get_conversation)
            gc.freeze()  # keeps the imported modules out of later garbage collections
            gc.enable()
        return self._server

    def digest(self) -> str:
        """Return a digest of everything the lists depend on, such as promoted scripts; "" if the database is locked."""
        try:
            return self._answers.digest()
        except PanoramaError:
            return ""

    async def open_connection(self, stream: SocketByteStream, rest: bytes) -> "Connection":
        """Return a connection for `serve`, once there is a server."""
        self._requested.set()
        await self._started.wait()
        from panorama.mcp.connection import Connection

        is_gone = partial(is_hung_up, stream.socket)
        return Connection(stream, rest, tells=True, find_answer=self._answers.find, is_gone=is_gone)

    async def serve(self, connection: "Connection") -> None:
        """Serve a client until it disconnects."""
        server = self.build()
        await connection.serve(server, server.direct_calls)

    async def close_http(self) -> None:
        """Accept no more HTTP requests, and finish pending ones."""
        if self._http:
            await self._http.close()

    def notify_reminder(self, event: ReminderEvent) -> None:
        """Send a reminder to the clients; without a server there are none."""
        if self._server is not None:
            from panorama.mcp.server import to_reminder_fired

            self._server.hub.on_reminder_fired(to_reminder_fired(event, self._app.context.zone))

    def _create_http_server(self, port: socket.socket) -> "HttpServer":
        from panorama.daemon.http import HttpServer

        return HttpServer(self.build(), self._app.settings.home, port, self._answers.find)

    def _get_conversation(self) -> Conversation:
        """Return the conversation of the current request: of a socket's client or an HTTP session."""
        return current.get(None) or self._get_http_conversation()

    def _get_http_conversation(self) -> Conversation:
        from panorama.mcp.tools import client_name, http_session_id

        name, session = client_name(), http_session_id()
        id_ = f"h_{session}" if session else f"{SHARED_CONVERSATION}{name}"
        return self._conversations.get_or_create(id_[:40], "tool", name)


async def _import_state_store(server: "Server") -> None:
    """Import FastMCP's state store now; the first list of tools would wait 250 ms for it."""
    try:
        await anyio.to_thread.run_sync(lambda: server._state_store)  # pyright: ignore[reportPrivateUsage] (FastMCP offers no other way)
    except Exception:  # only slower: the first list of tools imports it, and reports what fails
        _log.info("FastMCP's state store was not imported in advance", exc_info=True)
