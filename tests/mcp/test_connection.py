"""A connection that breaks while its server leaves holds nobody up."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from fastmcp import FastMCP

from panorama.mcp.connection import Connection

from ..doors.peer import LEGACY

pytestmark = pytest.mark.anyio
AT_MOST = 5.0


class Cut:
    """A carrier whose client greets, sends one call of each of two tools, and takes no answer but the greeting's."""

    def __init__(self) -> None:
        client = {"name": "peer", "version": "1"}
        greeting = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
        self._comes = [
            _line(id=1, method="initialize", params=greeting),
            _line(method="notifications/initialized"),
            *(_line(id=name, method="tools/call", params={"name": name}) for name in ("endless", "gated")),
        ]
        self._greeted = anyio.Event()
        self.heard = b""

    async def receive(self, max_bytes: int = 1 << 16) -> bytes:
        """Return the next line; after the last, nothing comes any more."""
        if len(self._comes) < 4:
            await self._greeted.wait()
        if not self._comes:
            await anyio.sleep_forever()
        return self._comes.pop(0)[:max_bytes]

    async def send(self, item: bytes) -> None:
        """Take the greeting's answer."""
        if self._greeted.is_set():
            raise anyio.BrokenResourceError
        self.heard = item
        self._greeted.set()


def _line(**said: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **said}).encode() + b"\n"


class Gate:
    """A server with a tool that never ends and one that ends when the gate opens."""

    def __init__(self) -> None:
        self.opens = anyio.Event()
        self.server = FastMCP("gate")
        self.server.tool(self.endless)
        self.server.tool(self.gated)

    async def endless(self) -> None:
        """Never end."""
        await anyio.sleep_forever()

    async def gated(self) -> str:
        """End when the gate opens."""
        await self.opens.wait()
        return "open"


@asynccontextmanager
async def serve_to_end(gate: Gate) -> AsyncGenerator[Connection]:
    """Serve a client whose two calls are under way, and wait for the end."""
    connection = Connection(Cut())
    async with gate.server._lifespan_manager(), anyio.create_task_group() as tasks:
        tasks.start_soon(connection.serve, gate.server)
        with anyio.fail_after(AT_MOST):
            while connection.pending_ids != ["endless", "gated"]:
                await anyio.sleep(0.01)
        yield connection


async def test_who_hangs_up_while_the_server_leaves_is_not_waited_for() -> None:
    gate = Gate()
    with anyio.fail_after(AT_MOST):
        async with serve_to_end(gate) as connection, anyio.create_task_group() as leaving:
            leaving.start_soon(connection.drain, 60)
            await anyio.wait_all_tasks_blocked()
            gate.opens.set()


async def test_who_has_hung_up_before_is_not_waited_for_either() -> None:
    gate = Gate()
    with anyio.fail_after(AT_MOST):
        async with serve_to_end(gate) as connection:
            gate.opens.set()
        await connection.drain(60)
