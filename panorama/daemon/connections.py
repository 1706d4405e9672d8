"""Connections to the socket: each is checked, does the handshake, and is served by its purpose."""

import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import SocketAttribute, SocketStream

from panorama import __version__
from panorama.app import App
from panorama.daemon.conversations import Conversations, current
from panorama.daemon.mcp_service import McpService
from panorama.daemon.rpc_server import MethodHandler, RpcServer
from panorama.daemon.socket import is_same_user
from panorama.daemon.socket_stream import SocketByteStream
from panorama.domain.changes import CLI_ACTOR
from panorama.mcp.stdio import DISCONNECT_ERRORS
from panorama.transport.address import PROTOCOL, Address, is_newer, settings_in

if TYPE_CHECKING:
    from panorama.mcp.connection import Connection

HELLO_SECONDS = 10.0
HELLO_BYTES = 1 << 16
DRAIN_SECONDS = 2.0
"""How long a proxy may take to receive the daemon's end; one that does not read is disconnected."""

PURPOSES = ("mcp", "calls")
MAX_CONNECTIONS = 1000
"""Visitors at a time; beyond, they are refused rather than all of them slowed down."""

_log = logging.getLogger(__name__)


class ClientConnection:
    """One connection, from its handshake to its end."""

    def __init__(self, stream: SocketStream) -> None:
        self.stream = stream
        self.since = datetime.now(UTC)
        self.hello: Mapping[str, Any] = {}
        self.name = ""
        self.serving: Connection | RpcServer | None = None

    def update_name(self) -> str:
        """Return the name of the client of the current request, and store it."""
        from panorama.mcp.tools import client_name  # imported by then: an MCP request is served

        self.name = client_name()
        return self.name


class ConnectionManager:
    """All connections of one daemon."""

    def __init__(
        self,
        app: App,
        mcp: McpService,
        address: Address,
        conversations: Conversations,
        others: Mapping[str, MethodHandler],
        outdated: Callable[[], None],
    ) -> None:
        self.clients: set[ClientConnection] = set()
        self.changed = anyio.Event()
        self.is_leaving = False
        self._stopped = False
        self._app = app
        self._mcp = mcp
        self._address = address
        self._conversations = conversations
        self._others = others
        self._outdated = outdated

    async def serve(self, stream: SocketStream) -> None:
        """Serve one connection to its end, whatever it sends."""
        client = ClientConnection(stream)
        self.clients.add(client)
        self._notify_changed()
        try:
            async with stream:
                await self._handle(client)
        except (*DISCONNECT_ERRORS, anyio.EndOfStream, TimeoutError):
            pass
        except Exception:  # an internal error ends this connection only
            _log.exception("a connection broke")
        finally:
            self.clients.discard(client)
            self._notify_changed()

    async def drain(self, seconds: float, *, stopped: bool) -> None:
        """Let every connection finish its requests, and report their outcome to its proxy."""
        self.is_leaving, self._stopped = True, stopped
        async with anyio.create_task_group() as tasks:
            for client in self.clients:
                if client.serving is not None:
                    tasks.start_soon(client.serving.drain, seconds)
        with anyio.move_on_after(DRAIN_SECONDS):
            while any(client.serving is not None for client in self.clients):
                await self.changed.wait()

    async def _handle(self, client: ClientConnection) -> None:
        if not is_same_user(client.stream.extra(SocketAttribute.raw_socket)):
            _log.warning("a connection from another user was rejected")
            return
        with anyio.fail_after(HELLO_SECONDS):
            line, rest = await _read_first_line(client.stream)
        reply = self._build_reply(line, client)
        if client.hello.get("for") == "mcp":
            reply["tools"] = await anyio.to_thread.run_sync(self._mcp.digest)
        await client.stream.send(_encode_line(reply))
        if "refused" in reply or "leaving" in reply:
            return
        with closing(SocketByteStream(client.stream)) as stream:
            if client.hello.get("for") == "calls":
                await self._serve_calls(client, stream, rest)
            else:
                await self._serve_mcp(client, stream, rest)

    def _build_reply(self, line: bytes, client: ClientConnection) -> dict[str, Any]:
        """Return the answer to a hello message: the daemon's, or a refusal."""
        us = {"panorama": PROTOCOL, "version": __version__, "pid": os.getpid()}
        hello: Any = {}
        try:
            hello = json.loads(line)
            protocol, version, home, purpose = (hello[name] for name in ("panorama", "version", "home", "for"))
            is_one = isinstance(version, str) and purpose in PURPOSES
        except (ValueError, TypeError, KeyError, RecursionError):
            is_one, protocol, version, home = False, 0, "", ""
        if not is_one:
            return us | {"refused": "Invalid handshake.", "hint": "Connect with `panorama`."}
        if protocol != PROTOCOL:
            return us | {
                "refused": f"Panorama {__version__} is running, but this client has version {version}.",
                "hint": _RESTART_HINT,
            }
        if home != self._address.home:
            return us | {"refused": f"The daemon serves {self._address.home}, not {home}.", "hint": _RESTART_HINT}
        if len(self.clients) > MAX_CONNECTIONS:
            return us | {
                "refused": f"{MAX_CONNECTIONS} programs are connected to Panorama.",
                "hint": "Close some of them.",
            }
        if is_newer(version, __version__) and not self.is_leaving:
            _log.info("version %s connected; %s stops when all running calls are finished", version, __version__)
            self._outdated()
        if self.is_leaving:
            return us | {"leaving": True}
        client.hello = hello
        own_settings, client_settings = settings_in(os.environ), dict(hello.get("settings") or {})
        differs = sorted(name for name, value in client_settings.items() if own_settings.get(name) != value)
        return us | {"timezone": self._app.settings.timezone, "differs": differs}

    async def _serve_mcp(self, client: ClientConnection, stream: SocketByteStream, rest: bytes) -> None:
        id_ = str(client.hello.get("conversation") or "v_unknown")[:40]
        conversation = self._conversations.get_or_create(id_, "tool", client.update_name)
        current.set(conversation)
        client.serving = connection = await self._mcp.open_connection(stream, rest)
        try:
            await self._mcp.serve(connection)
        finally:
            if conversation.client == client.update_name:  # otherwise it has reconnected
                conversation.client = client.name or "unknown"
        if connection.unfinished is not None:
            message = {"panorama": "leaving", "stopped": self._stopped, "unfinished": connection.unfinished}
            await connection.send_control(message)

    async def _serve_calls(self, client: ClientConnection, stream: SocketByteStream, rest: bytes) -> None:
        name = str(client.hello.get("conversation") or "cli")[:40]
        conversation = self._conversations.get_or_create(name, CLI_ACTOR, "panorama")
        client.name = "command line"
        client.serving = RpcServer(stream, rest, self._app.calls, conversation, self._others)
        await client.serving.serve()

    def _notify_changed(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()


_RESTART_HINT = "Restart this client and run `panorama daemon restart`."


async def _read_first_line(stream: SocketStream) -> tuple[bytes, bytes]:
    got = b""
    while b"\n" not in got:
        if len(got) > HELLO_BYTES:
            raise anyio.EndOfStream
        got += await stream.receive()
    line, _, rest = got.partition(b"\n")
    return line, rest


def _encode_line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"
