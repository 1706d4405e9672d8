"""A stdio transport for `fastmcp.Client`, in place of the stock one.

The stock reader joins and splits its whole buffer at every 64 KB: a line of 10 MB takes 1.5 s of the event loop, one of
30 MB 22 s, and nothing limits it. It passes six variables of the environment, with which `uvx` fails behind a proxy,
and the server's stderr goes to ours.
"""

import asyncio
import os
import signal
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Unpack

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from fastmcp.client.transports import ClientTransport
from fastmcp.client.transports.base import SessionKwargs, TransportOptions
from mcp import ClientSession
from mcp.shared.message import SessionMessage

from panorama.domain.sources.hiding import SecretHider
from panorama.sources.mcp.child_records import ChildRecord

MAX_LINE_BYTES = 8 << 20
CHUNK_BYTES = 256 << 10
MAX_STDERR_LINES, MAX_STDERR_CHARS = 40, 300
STOP_SECONDS = 2.0
"""How long a server may take to end after its input is closed, and again after SIGTERM."""

PACE_SECONDS, MAX_UNASKED = 0.1, 20
"""How many messages that are not answers are read in a tenth of a second; a flood slows down other clients."""

_ANSWERS = mcp_types.JSONRPCResponse, mcp_types.JSONRPCError

INHERITED_VARIABLES = (
    "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_CACHE_DIR", "PIP_INDEX_URL", "npm_config_registry", "NVM_DIR",
    "SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PATHEXT", "COMSPEC", "TEMP", "TMP",
)  # fmt: skip
"""The environment variables that a server inherits: paths, user, terminal, locale, time and network, but no keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildCommand:
    """A command line, without references to secrets; `env` is added to the inherited variables."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str = ""


class ChildTransport(ClientTransport):
    """One process that speaks MCP on its standard streams; each connection starts a new one."""

    def __init__(self, command: ChildCommand, hider: SecretHider, record: ChildRecord) -> None:
        self._command = command
        self._hider = hider
        self._record = record
        self._stderr: deque[str] = deque(maxlen=MAX_STDERR_LINES)
        self.pid = 0

    @property
    def last_words(self) -> str:
        """The last line that the process wrote to its stderr, without secrets; "" if none."""
        return next((line for line in reversed(self._stderr) if line.strip()), "")

    @asynccontextmanager
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_kwargs: Unpack[SessionKwargs]
    ) -> AsyncGenerator[ClientSession]:
        """Start the process and yield a session with it; the process ends with the session."""
        del transport_options  # they are for HTTP
        process = await self._start_process()
        to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.create_task(coroutine)
            for coroutine in (
                self._read_messages(process, to_session), _write_messages(process, from_session),
                self._read_stderr(process),
            )
        ]  # fmt: skip
        try:
            async with ClientSession(from_server, to_server, **session_kwargs) as session:
                yield session
        finally:
            with anyio.CancelScope(shield=True):
                await _stop_process(process)
                self._record.clear()
                await _cancel_all(tasks)
                for stream in (to_session, from_server, to_server, from_session):
                    stream.close()

    async def _start_process(self) -> asyncio.subprocess.Process:
        inherited = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            self._command.command, *self._command.args, env=inherited | dict(self._command.env),
            cwd=self._command.cwd or None, start_new_session=True, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        self.pid = process.pid
        self._record.write(process.pid)
        return process

    async def _read_messages(
        self, process: asyncio.subprocess.Process, to_session: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        """Send each line to the session, in time that is linear in its length."""
        assert process.stdout
        parts: list[bytes] = []
        size, pace = 0, _MessagePace()
        async with to_session:
            while chunk := await process.stdout.read(CHUNK_BYTES):
                *lines, rest = chunk.split(b"\n")
                for line in lines:
                    if (whole := b"".join([*parts, line])).strip():
                        message = _parse_message(whole)
                        await pace.wait_after(message)
                        await to_session.send(message)
                    parts, size = [], 0
                parts.append(rest)
                size += len(rest)
                if size > MAX_LINE_BYTES:
                    self._stderr.append(f"It sent a line of more than {MAX_LINE_BYTES >> 20} MB.")
                    _signal_group(process.pid, signal.SIGKILL)  # it waits until the rest is read, and reads nothing
                    return

    async def _read_stderr(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr
        rest = ""
        while chunk := await process.stderr.read(8192):
            *lines, rest = (rest + chunk.decode("utf-8", "replace")).split("\n")
            for line in lines:
                self._add_stderr(line)
            if len(rest) > MAX_STDERR_CHARS:
                self._add_stderr(rest)
                rest = ""
        self._add_stderr(rest)

    def _add_stderr(self, line: str) -> None:
        if line.strip():
            self._stderr.append(self._hider.hide(line.strip())[:MAX_STDERR_CHARS])


class _MessagePace:
    """Limits the rate of notifications from a server; further messages wait in its pipe."""

    def __init__(self) -> None:
        self._ends_at = 0.0
        self._count = 0

    async def wait_after(self, message: SessionMessage | Exception) -> None:
        """Wait for the end of a tenth of a second that has had its messages."""
        if isinstance(message, SessionMessage) and isinstance(message.message, _ANSWERS):
            return
        now = time.monotonic()
        if now >= self._ends_at:
            self._ends_at, self._count = now + PACE_SECONDS, 0
        self._count += 1
        if self._count > MAX_UNASKED:
            await asyncio.sleep(self._ends_at - now)


async def _write_messages(
    process: asyncio.subprocess.Process, from_session: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    assert process.stdin
    with suppress(ConnectionError):
        async for message in from_session:
            data = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(data.encode() + b"\n")
            await process.stdin.drain()


def _parse_message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _stop_process(process: asyncio.subprocess.Process) -> None:
    """Close its input, then terminate, then kill it and what it started."""
    assert process.stdin
    process.stdin.close()
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        if number:
            _signal_group(process.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
            break
    _signal_group(process.pid, signal.SIGKILL)  # what it started, and left behind
    transport: Any = vars(process).get("_transport")  # a grandchild may hold the other ends of its pipes
    transport.close()


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


async def _cancel_all(tasks: Iterable[asyncio.Task[None]]) -> None:
    running = list(tasks)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
