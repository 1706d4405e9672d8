"""The connection to one MCP server: started by its first call, stopped when idle, restarted after its death.

What `fastmcp.Client` needs around it: `is_connected()` stays true after the server's death; `close()` raises again what
failed a start; a start has no time limit; results that break the tool's own schema raise, so that the answer to a
write would be lost; a server that does not know the first message of `mode="auto"` leaves, or costs 10 s.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from fastmcp import Client
from fastmcp.client.logging import LogMessage
from fastmcp.client.messages import MessageHandler
from fastmcp.client.transports import ClientTransport
from mcp import MCPError
from mcp.client.subscriptions import listen
from mcp_types import CallToolResult, Implementation, Tool, ToolListChangedNotification

from panorama.sources.token_bucket import TokenBucket

_log = logging.getLogger(__name__)

START_SECONDS = 30.0
CLOSE_SECONDS = 8.0
PING_SECONDS = 5.0
REST_SECONDS = 1.0
"""After so long without a call the server is asked whether it is still there."""

LISTEN_AGAIN_SECONDS = 5.0
SHORT_LIFE_SECONDS = 5.0
RESTART_SECONDS, MAX_RESTART_SECONDS = 0.1, 2.0
"""The pause before a server that ended within five seconds is started a third time; it doubles each time."""

MODERN_ERA = "2026"
CONNECTION_CLOSED, METHOD_NOT_FOUND = -32000, -32601


class ServerGoneError(Exception):
    """The server did not start, or it ended; `was_sent` if the call may have been carried out."""

    def __init__(self, message: str, *, was_sent: bool = False) -> None:
        super().__init__(message)
        self.was_sent = was_sent


class EraMemory(Protocol):
    """Remembers which protocol era a server understands."""

    def load(self) -> str:
        """Return "legacy", or "auto" if it is not known."""
        ...

    def save(self, era: str) -> None:
        """Remember an era."""
        ...


class _ToolChanges(MessageHandler):
    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    async def on_tool_list_changed(self, message: ToolListChangedNotification) -> None:
        del message
        self._changed()


class Connection:
    """The connection to one server; its methods run on the event loop of the sources."""

    def __init__(
        self,
        make_transport: Callable[[], ClientTransport],
        era: EraMemory,
        *,
        at_once: int,
        bucket: TokenBucket,
        idle_seconds: float,
    ) -> None:
        """Create a connection; `make_transport` returns a new transport for each start."""
        self._make_transport = make_transport
        self._era = era
        self._bucket = bucket
        self._idle_seconds = idle_seconds
        self._client: Client[Any] | None = None
        self._opening = asyncio.Lock()
        self._slots = asyncio.Semaphore(at_once)
        self._tools: list[Tool] | None = None
        self._busy = 0
        self._short_lives = 0
        self._started_at = 0.0
        self._used_at = time.monotonic()
        self._watchers: set[asyncio.Task[None]] = set()

    @property
    def known_tools(self) -> list[Tool] | None:
        """The tools as last read; None if they may have changed. Can be read in any thread."""
        return self._tools

    async def list_tools(self) -> list[Tool]:
        """Return the server's tools, which are kept until it says that they changed."""
        client = await self._open()
        if self._tools is None:
            try:
                self._tools = await client.list_tools()
            except Exception as error:  # transports raise errors of many kinds when a server ends
                if isinstance(error, MCPError) and error.code != CONNECTION_CLOSED:
                    raise
                await self._drop(client)
                raise ServerGoneError(self._describe(error, client)) from error
        return self._tools

    async def call(self, tool: str, arguments: Mapping[str, Any], *, repeatable: bool) -> CallToolResult:
        """Call a tool; a `repeatable` one is called once more if the server died.

        Raises:
            ServerGoneError: The server did not start, or ended.
            MCPError: The server refused the call.
        """
        await asyncio.sleep(self._bucket.take())
        async with self._slots:
            self._busy += 1
            try:
                return await self._call_again_once(tool, dict(arguments), repeatable)
            finally:
                self._busy -= 1
                self._used_at = time.monotonic()

    async def close(self) -> None:
        """End the connection; a later call starts it again."""
        await self._drop(self._client)

    async def _call_again_once(self, tool: str, arguments: dict[str, Any], repeatable: bool) -> CallToolResult:
        try:
            return await self._call_once(tool, arguments)
        except ServerGoneError as error:
            if not (repeatable and error.was_sent):
                raise
        return await self._call_once(tool, arguments)

    async def _call_once(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        client = await self._open()
        if time.monotonic() - self._used_at > REST_SECONDS and not await _is_alive(client):
            await self._drop(client)  # nothing was sent yet
            client = await self._open()
        try:
            return await client.call_tool_mcp(tool, arguments)
        except Exception as error:  # as in `list_tools`
            if isinstance(error, MCPError) and error.code != CONNECTION_CLOSED:
                raise
            self._count_short_life()
            await self._drop(client)
            raise ServerGoneError(self._describe(error, client), was_sent=True) from error

    async def _open(self) -> Client[Any]:
        if self._client is not None:
            return self._client
        async with self._opening:
            return self._client or await self._start()

    async def _start(self) -> Client[Any]:
        if self._short_lives > 1:
            await asyncio.sleep(min(MAX_RESTART_SECONDS, RESTART_SECONDS * 2 ** (self._short_lives - 2)))
        mode: Any = self._era.load()
        client = self._make_client(mode)
        try:
            await client.__aenter__()
        except BaseException as error:  # the client is closed in any case, and the error raised again
            await _close_quietly(client)
            if not isinstance(error, Exception):
                raise
            if mode == "auto" and isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
                self._era.save("legacy")  # some servers leave when the first message is no handshake
                return await self._start()
            raise ServerGoneError(self._describe(error, client)) from error
        if mode == "auto" and (client.protocol_version or "") < MODERN_ERA:
            self._era.save("legacy")
        setattr(client.session, "validate_tool_result", _keep_result)  # noqa: B010 (a method, so no plain assignment)
        self._client, self._tools = client, None
        self._used_at = self._started_at = time.monotonic()
        self._watch(self._stop_when_idle(client))
        if (client.protocol_version or "") >= MODERN_ERA:
            self._watch(self._listen_for_changes(client))
        return client

    def _make_client(self, mode: Any) -> Client[Any]:
        client: Client[Any] = Client(
            self._make_transport(), mode=mode, init_timeout=START_SECONDS, log_handler=_drop_log,
            message_handler=_ToolChanges(self._forget_tools), client_info=Implementation(name="Panorama", version="1"),
        )  # fmt: skip
        return client

    def _watch(self, coroutine: Any) -> None:
        task = asyncio.create_task(coroutine)
        self._watchers.add(task)
        task.add_done_callback(self._watchers.discard)

    def _forget_tools(self) -> None:
        self._tools = None

    async def _stop_when_idle(self, client: Client[Any]) -> None:
        while self._client is client:
            await asyncio.sleep(min(1.0, self._idle_seconds / 4))
            if not self._busy and time.monotonic() - self._used_at > self._idle_seconds:
                await self._drop(client)

    async def _listen_for_changes(self, client: Client[Any]) -> None:
        """Learn of changed tools in the era that has no notifications outside of subscriptions."""
        while self._client is client:
            try:
                async with listen(client.session, tools_list_changed=True) as changes:
                    async for _ in changes:
                        self._forget_tools()
            except Exception as error:  # transports raise errors of many kinds; listening is tried again
                if getattr(error, "code", None) in (METHOD_NOT_FOUND, CONNECTION_CLOSED):
                    return  # the server sends no notifications; its tools are read again at each start
                _log.info("listening for changed tools failed, and is tried again: %r", error)
            await asyncio.sleep(LISTEN_AGAIN_SECONDS)

    async def _drop(self, client: Client[Any] | None) -> None:
        if client is not None and client is self._client:
            self._client, self._tools = None, None
        if client is not None:
            await _close_quietly(client)

    def _count_short_life(self) -> None:
        is_short = time.monotonic() - self._started_at < SHORT_LIFE_SECONDS
        self._short_lives = self._short_lives + 1 if is_short else 0

    def _describe(self, error: BaseException, client: Client[Any]) -> str:
        """Return why the server is gone: its last words are the best there is."""
        words = getattr(client.transport, "last_words", "")
        return f"its last output was {words!r}" if words else str(error) or type(error).__name__


async def _is_alive(client: Client[Any]) -> bool:
    try:
        await asyncio.wait_for(client.ping(), PING_SECONDS)
    except MCPError as error:
        return error.code != CONNECTION_CLOSED  # "no such method" is an answer, too
    except Exception:  # any failed ping means a new server process, which the caller starts
        return False
    return True


async def _close_quietly(client: Client[Any]) -> None:
    """Close a client, which raises again what failed its start."""
    try:
        await asyncio.wait_for(client.close(), CLOSE_SECONDS)
    except Exception as error:  # of any kind; the caller reports why it closes the client
        _log.debug("a client of a source was not closed cleanly: %r", error)


async def _drop_log(message: LogMessage) -> None:
    del message


async def _keep_result(name: str, result: CallToolResult) -> None:
    """Accept a result as it is; in place of the SDK's check against the tool's own schema."""
    del name, result
