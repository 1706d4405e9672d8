"""Short calls that a connection answers itself: as the SDK would, and only where the SDK would answer like that."""

import itertools
import json
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from mcp.types import CallToolRequestParams

from panorama.app import App
from panorama.mcp.connection import Connection
from panorama.mcp.server import Server, build_server

from ..doors.peer import LEGACY, MODERN
from ..stored_rows import read_rows

pytestmark = pytest.mark.anyio
AT_MOST = 10.0
ERAS = [LEGACY, MODERN]
PREFIX = "io.modelcontextprotocol"
Params = dict[str, Any]


def envelope(era: str, name: str = "wire") -> Params:
    """Return what every request of an era carries."""
    if era == LEGACY:
        return {}
    client = {"name": name, "version": "1"}
    keys = {"protocolVersion": MODERN, "clientInfo": client, "clientCapabilities": {}}
    return {"_meta": {f"{PREFIX}/{key}": value for key, value in keys.items()}}


class Wire:
    """A client in lines, in this process."""

    def __init__(self, era: str) -> None:
        self.era = era
        self._to_server, self._requests = anyio.create_memory_object_stream[bytes](100)
        self._answers, self._from_server = anyio.create_memory_object_stream[bytes](100)
        self._numbers = itertools.count(1)

    async def receive(self, max_bytes: int = 1 << 16) -> bytes:
        """Return the client's next bytes, to the server."""
        return (await self._requests.receive())[:max_bytes]

    async def send(self, item: bytes) -> None:
        """Take the server's bytes."""
        await self._answers.send(item)

    def send_no_more(self) -> None:
        """Close the client's side."""
        self._to_server.close()

    def close(self) -> None:
        """Close both sides."""
        for stream in (self._to_server, self._requests, self._answers, self._from_server):
            stream.close()

    def write(self, **message: Any) -> None:
        """Send a message."""
        self._to_server.send_nowait(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def start(self, method: str, id_: Any = None, **params: Any) -> Any:
        """Send a request, and return its id."""
        id_ = id_ or next(self._numbers)
        self.write(id=id_, method=method, params={**envelope(self.era), **params})
        return id_

    async def next(self) -> dict[str, Any]:
        """Return what the server says next."""
        with anyio.fail_after(AT_MOST):
            return json.loads(await self._from_server.receive())

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and return its answer without the id."""
        id_ = self.start(method, **params)
        answer = await self.next()
        assert answer.pop("id") == id_
        return answer

    async def call(self, tool: str, meta: Params | None = None, **arguments: Any) -> dict[str, Any]:
        """Call a tool, and return the answer without the id."""
        metadata = {**envelope(self.era).get("_meta", {}), **(meta or {})}
        return await self.ask("tools/call", name=tool, arguments=arguments, **({"_meta": metadata} if metadata else {}))

    async def greet(self) -> None:
        """Do what a client does first."""
        if self.era == LEGACY:
            client = {"name": "wire", "version": "1"}
            await self.ask("initialize", protocolVersion=LEGACY, capabilities={}, clientInfo=client)
            self.write(method="notifications/initialized")
        else:
            await self.ask("server/discover")


class CallCounter(Middleware):
    """Counts the calls that reach FastMCP; `meta` is added to their answers."""

    def __init__(self) -> None:
        self.calls = 0
        self.meta: dict[str, Any] | None = None

    async def on_call_tool(
        self, context: MiddlewareContext[CallToolRequestParams], call_next: CallNext[CallToolRequestParams, ToolResult]
    ) -> ToolResult:
        """Count a call."""
        self.calls += 1
        result = await call_next(context)
        return ToolResult(result.content, result.structured_content, self.meta) if self.meta else result


class CountingServer:
    """A server whose calls are counted."""

    def __init__(self, app: App) -> None:
        self.server: Server = build_server(app)
        self.counter = CallCounter()
        self.server.add_middleware(self.counter)

    @asynccontextmanager
    async def client(self, era: str) -> AsyncGenerator[Wire]:
        """Serve a client that has greeted."""
        wire = Wire(era)
        async with self.server._lifespan_manager(), anyio.create_task_group() as tasks:
            tasks.start_soon(Connection(wire).serve, self.server, self.server.direct_calls)
            try:
                await wire.greet()
                yield wire
            finally:
                wire.send_no_more()
        wire.close()


@pytest.fixture
def served(app: App) -> CountingServer:
    """The real server."""
    return CountingServer(app)


@pytest.mark.parametrize("era", ERAS)
async def test_the_first_call_of_a_version_is_the_librarys_and_the_next_are_not(
    served: CountingServer, era: str
) -> None:
    async with served.client(era) as wire:
        answers = [await wire.call("list_tasks", limit=number) for number in (1, 2, 3)]
    async with served.client(era) as wire:
        answers.append(await wire.call("list_tasks", limit=4))

    assert served.counter.calls == 1
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "call",
    [
        ("list_tasks", {"limit": 7}), ("list_tasks", {"limt": 7}), ("get_note", {"note": "nothing"}),
        ("mcp__panorama__list_notes", {}), ("search", {"query": "half \ud83d a character"}),
        ("query", {"collection": "notes", "select": ["title", "project"]}), ("list_tasks", {"limit": [1]}),
    ],
)  # fmt: skip
async def test_an_answer_is_the_same_as_the_librarys(
    served: CountingServer, era: str, call: tuple[str, Params]
) -> None:
    tool, arguments = call
    async with served.client(era) as wire:
        await wire.call("create_note", title="Scones", content="with \u2028 and \x9b")
        by_library = await wire.call(tool, {"fastmcp": {}}, **arguments)
        counted = served.counter.calls
        here = await wire.call(tool, {"progressToken": 5}, **arguments)

    assert here == by_library
    assert served.counter.calls == counted == 2


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("tool", "arguments", "renames"),
    [
        ("update_note", {"note": "Scones", "content": "with jam"}, {"title": "Rolls"}),
        ("update_task", {"task": "Bake", "notes": "at 220 degrees"}, {"title": "Bake rolls"}),
        ("update_project", {"project": "Tea", "description": "at five"}, {"name": "High tea"}),
    ],
)
async def test_an_update_goes_through_the_library_only_if_it_renames(
    served: CountingServer, era: str, tool: str, arguments: Params, renames: Params
) -> None:
    async with served.client(era) as wire:
        await wire.call("create_note", title="Scones")
        await wire.call("create_task", title="Bake")
        await wire.call("create_project", name="Tea")
        updated = await wire.call(tool, {"progressToken": 5}, **arguments)
        counted = served.counter.calls
        renamed = await wire.call(tool, **arguments, **renames)

    assert (counted, served.counter.calls) == (1, 2)
    assert [answer["result"]["isError"] for answer in (updated, renamed)] == [False, False]


@pytest.mark.parametrize("era", ERAS)
async def test_a_library_that_answers_in_another_form_answers_every_call(served: CountingServer, era: str) -> None:
    served.counter.meta = {"tested": "by another library"}
    async with served.client(era) as wire:
        answers = [await wire.call("list_tasks", limit=number) for number in (1, 2, 3)]

    assert served.counter.calls == len(answers)
    assert all(answer["result"]["_meta"]["tested"] == "by another library" for answer in answers)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("delete_item", {"item": "Scones", "confirm": True}), ("run_code", {"code": "1 + 1"}), ("batch", {"calls": []})],
)
async def test_what_may_ask_or_last_goes_through_the_library(
    served: CountingServer, tool: str, arguments: Params
) -> None:
    async with served.client(MODERN) as wire:
        await wire.call("create_note", title="Scones")
        await wire.call(tool, **arguments)

    assert served.counter.calls == 2


async def test_a_client_of_the_handshake_that_sends_the_later_envelope_is_refused(served: CountingServer) -> None:
    async with served.client(LEGACY) as wire:
        await wire.call("list_tasks")
        refusal = await wire.call("list_tasks", envelope(MODERN)["_meta"])

    assert refusal["error"]["code"] == -32600


async def test_a_request_without_its_envelope_is_refused(served: CountingServer) -> None:
    async with served.client(MODERN) as wire:
        await wire.call("list_tasks")
        refusal = await wire.ask("tools/call", name="list_tasks", arguments={}, _meta={})

    assert refusal["error"]["code"] == -32602


def logged_clients(app: App) -> list[str]:
    """Return which clients the log names, in the order of their calls."""
    app.recorder.flush()
    return [client for (client,) in read_rows(app, "SELECT client FROM calls ORDER BY at, id")]


@pytest.mark.parametrize("era", ERAS)
async def test_the_log_names_the_client_of_every_call(app: App, served: CountingServer, era: str) -> None:
    async with served.client(era) as wire:
        for number in (1, 2):
            await wire.call("list_tasks", limit=number)
        if era == MODERN:
            await wire.call("list_tasks", envelope(MODERN, "another")["_meta"], limit=3)
            await wire.call("list_tasks", envelope(MODERN, "another")["_meta"], limit=4)

    assert logged_clients(app) == ["wire"] * 2 + ["another"] * (2 if era == MODERN else 0)


class Gate:
    """Holds the calls of one tool in their threads until it is opened."""

    def __init__(self, app: App, tool: str) -> None:
        self.entered, self.opened = threading.Semaphore(0), threading.Event()
        self._make, self._tool = app.calls.call, tool

    def call(self, name: str, *more: Any) -> Any:
        """Make a call once the gate is open."""
        if name == self._tool:
            self.entered.release()
            self.opened.wait(AT_MOST)
        return self._make(name, *more)


@pytest.fixture
def gate_of(app: App, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Gate]:
    """Hold the calls of a tool."""

    def hold(tool: str) -> Gate:
        gate = Gate(app, tool)
        monkeypatch.setattr(app.calls, "call", gate.call)
        return gate

    return hold


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", ["list_projects", "create_project"])
async def test_a_cancelled_call_is_not_answered_and_its_id_can_be_used_again(
    served: CountingServer, gate_of: Callable[[str], Gate], era: str, tool: str
) -> None:
    gate = gate_of(tool)
    async with served.client(era) as wire:
        await wire.call("list_tasks")
        wire.start("tools/call", "again", name=tool, arguments={"name": "A"} if tool == "create_project" else {})
        await anyio.to_thread.run_sync(gate.entered.acquire)
        wire.write(method="notifications/cancelled", params={"requestId": "again"})
        wire.start("tools/call", "again", name="list_notes", arguments={})
        answer = await wire.next()
        gate.opened.set()
        last = await wire.call("list_tasks", limit=5)

    assert answer["result"]["content"][0]["text"].startswith("0 notes")
    assert "result" in last
    assert served.counter.calls == 1


async def test_a_second_request_with_an_id_under_way_is_refused(
    served: CountingServer, gate_of: Callable[[str], Gate]
) -> None:
    gate = gate_of("list_projects")
    async with served.client(MODERN) as wire:
        await wire.call("list_tasks")
        for _ in range(2):
            wire.start("tools/call", "twice", name="list_projects", arguments={})
        refusal = await wire.next()
        gate.opened.set()
        answer = await wire.next()

    assert (refusal["id"], refusal["error"]["code"]) == ("twice", -32600)
    assert answer["id"] == "twice"
    assert "result" in answer


async def test_calls_of_one_client_do_not_wait_for_each_other(
    served: CountingServer, gate_of: Callable[[str], Gate]
) -> None:
    gate = gate_of("list_projects")
    async with served.client(MODERN) as wire:
        await wire.call("list_tasks")
        held = wire.start("tools/call", name="list_projects", arguments={})
        quick = wire.start("tools/call", name="list_notes", arguments={})
        first = await wire.next()
        gate.opened.set()
        second = await wire.next()

    assert [first["id"], second["id"]] == [quick, held]


async def test_a_client_that_closes_its_side_gets_the_answers_under_way(
    served: CountingServer, gate_of: Callable[[str], Gate]
) -> None:
    gate = gate_of("create_project")
    async with served.client(MODERN) as wire:
        await wire.call("list_tasks")
        wire.start("tools/call", "last", name="create_project", arguments={"name": "Tea"})
        await anyio.to_thread.run_sync(gate.entered.acquire)
        wire.send_no_more()
        await anyio.wait_all_tasks_blocked()
        gate.opened.set()
        answer = await wire.next()

    assert answer["id"] == "last"
