"""The hub: what it advertises, refuses and forgets, and that nobody who listens can hold up the others."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from fastmcp import Client
from mcp import MCPError
from mcp.client.subscriptions import ResourceUpdated, listen
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_PARAMS, jsonrpc_message_adapter
from mcp_types.version import LATEST_HANDSHAKE_VERSION

from panorama.app import App
from panorama.calls import Answer
from panorama.domain.changes import ItemChange
from panorama.mcp.resources.subscriptions import MAX_PAGES
from panorama.mcp.resources.subscriptions_hub import Hub
from panorama.mcp.resources.uris import is_page
from panorama.mcp.server import Server, build_server
from tests.conftest import ERAS, Era
from tests.listeners import Listener, listening

pytestmark = pytest.mark.anyio
Call = Callable[..., Answer]
FOREIGN = [
    "", "note", "file:///etc/passwd", "https://example.org", "panorama://", "panorama://nothing", "panorama://note",
    "panorama://note/", "panorama://note/n_1", "panorama://note/p_0000000001", "panorama://note/n_0000000001/more",
    "panorama://link/l_0000000001", "panorama://note/n_0000000001 ", "panorama://note/{id}", "x" * 10_000,
]  # fmt: skip


def page(number: int) -> str:
    """Return the address of a note's page, whether or not there is such a note."""
    return f"panorama://note/n_{number:010}"


def touch(number: int) -> ItemChange:
    """Return what a change of that note touches."""
    return ItemChange("note", f"n_{number:010}", "update", ("content",), (), marked=False)


@pytest.fixture
def server(app: App) -> Server:
    """The server."""
    return build_server(app)


@pytest.fixture
def hub(server: Server) -> Hub:
    """Its hub."""
    return server.hub


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    """Each era in turn."""
    return request.param


async def until(so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    with anyio.fail_after(10):
        while not so():
            await anyio.sleep(0)


OFFERED = {
    "tools": {"list_changed": True},
    "resources": {"list_changed": True, "subscribe": True},
    "prompts": {"list_changed": False},
}


async def test_a_handshake_says_what_can_be_listened_to(server: Server) -> None:
    async with Client(server, mode="legacy") as client:
        answer = client.initialize_result

    assert answer
    assert answer.capabilities.model_dump(include=set(OFFERED)) == OFFERED


async def test_discovery_says_the_same(server: Server) -> None:
    async with Client(server) as client:
        answer = await client.session.discover()

    assert answer.capabilities.model_dump(include=set(OFFERED)) == OFFERED


async def test_an_acknowledgment_leaves_out_the_list_of_prompts(server: Server) -> None:
    async with (
        Client(server) as client,
        listen(client.session, tools_list_changed=True, prompts_list_changed=True) as stream,
    ):
        granted = stream.honored

    assert granted.model_dump(exclude_none=True) == {"tools_list_changed": True}


@pytest.mark.parametrize("uri", FOREIGN)
async def test_who_subscribes_to_what_is_no_page_of_ours_is_refused(server: Server, era: Era, uri: str) -> None:
    with pytest.raises(MCPError) as refusal:
        async with listening(server, era, page(1), uri):
            pass

    assert refusal.value.error.code == INVALID_PARAMS
    assert uri[:100] in str(refusal.value.error.data)
    assert len(refusal.value.error.message) < 400
    assert server.hub.size == (0, 0)


def test_pages_of_ours_are_told_from_others() -> None:
    ours = ["panorama://today", page(1), "panorama://task/t_0000000001", "panorama://project/p_zzzzzzzzzz"]

    assert [uri for uri in ours if not is_page(uri)] == []
    assert [uri for uri in FOREIGN if is_page(uri)] == []


async def test_a_client_can_subscribe_to_a_thousand_pages_and_not_to_one_more(server: Server, hub: Hub) -> None:
    async with listening(server, "legacy") as listener:
        await listener.subscribe(*map(page, range(MAX_PAGES)))
        await listener.subscribe(page(0))
        with pytest.raises(MCPError, match="1,000"):
            await listener.subscribe(page(MAX_PAGES))
        await listener.subscribe(page(0), to="unsubscribe")
        await listener.subscribe(page(MAX_PAGES))

        assert hub.size == (1, MAX_PAGES + 3)  # beside the pages: two lists, and reminders in words


async def test_all_streams_of_a_client_count_together(server: Server, hub: Hub) -> None:
    async with Client(server) as client, listen(client.session, resource_subscriptions=[*map(page, range(MAX_PAGES))]):
        with pytest.raises(MCPError, match="1,000"):
            async with listen(client.session, tools_list_changed=True):
                pass
        async with listening(server, "auto", page(1)):
            assert len(hub._subscribers) == 2


async def test_a_thousand_and_one_pages_at_once_are_refused(server: Server) -> None:
    with pytest.raises(MCPError, match="1,000"):
        async with listening(server, "auto", *map(page, range(MAX_PAGES + 1))):
            pass


async def test_connections_that_end_leave_nothing_behind(server: Server, hub: Hub, app: App, era: Era) -> None:
    async with server._lifespan_manager():
        for number in range(200):
            async with listening(server, era, page(number), page(0)):
                assert hub.size[0] == 1

        assert hub.size == (0, 0)
        assert len(app.context.database._listeners) == 0


async def test_many_who_listen_at_once_all_hear(server: Server, hub: Hub) -> None:
    async with AsyncExitStack() as stack:
        listeners = [await stack.enter_async_context(listening(server, ERAS[n % 2], page(1))) for n in range(20)]

        hub.on_changes([touch(1)])
        for listener in listeners:
            assert await listener.until(page(1)) == [page(1)]


async def test_thousands_of_changes_are_told_a_few_times(server: Server, hub: Hub, era: Era) -> None:
    async with listening(server, era, page(1), page(2)) as listener:
        for _ in range(2000):
            hub.on_changes([touch(1), *map(touch, range(3, 10))])
        assert len(hub._gathered) <= 1
        await listener.until(page(1))
        hub.on_changes([touch(2)])
        await listener.until(page(2))

    assert listener.heard == [page(1), page(2)]


async def test_changes_come_from_any_thread(server: Server, hub: Hub, era: Era) -> None:
    pages = [page(number) for number in range(50)]

    async with listening(server, era, *pages) as listener, anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(anyio.to_thread.run_sync, hub.on_changes, [touch(number)])
        for item in pages:
            await listener.until(item)

    assert sorted(listener.heard) == sorted(pages)


async def test_the_end_of_the_server_is_told_on_every_stream(server: Server, hub: Hub) -> None:
    async with Client(server) as client, listen(client.session, resource_subscriptions=[page(1)]) as stream:
        hub.on_changes([touch(1)])
        await until(lambda: bool(hub._gathered))
        hub.close()

        assert [event async for event in stream] == [ResourceUpdated(page(1))]
        await until(lambda: hub.size == (0, 0))


def test_a_hub_whose_loop_has_ended_hears_nothing(server: Server, hub: Hub) -> None:
    async def left_open() -> Any:
        ear = hub.open_subscriber(object(), [ResourceUpdated(page(1))])
        ear.__enter__()
        return ear

    ear = anyio.run(left_open)
    hub.on_changes([touch(1)])

    ear.__exit__(None, None, None)
    assert hub.size == (0, 0)


@dataclass
class Raw:
    """A client of the handshake eras that reads only when it is told to."""

    incoming: Any
    outgoing: Any
    last: int = 0

    async def say(self, method: str, **params: Any) -> None:
        """Send a notification."""
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, method: str, **params: Any) -> Any:
        """Send a request and return what comes next."""
        self.last += 1
        await self._send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return await self.read()

    async def read(self) -> dict[str, Any]:
        """Return the next message."""
        with anyio.fail_after(10):
            got = await self.incoming.receive()
        return json.loads(got.message.model_dump_json(by_alias=True, exclude_unset=True))

    async def _send(self, message: dict[str, Any]) -> None:
        await self.outgoing.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))


@asynccontextmanager
async def raw(server: Server) -> AsyncGenerator[Raw]:
    """Open such a client, past its handshake."""
    low = server._mcp_server
    async with create_client_server_memory_streams() as (client, (read, write)), anyio.create_task_group() as tasks:
        tasks.start_soon(low.run, read, write, low.create_initialization_options())
        sleeper = Raw(*client)
        about = {"protocolVersion": LATEST_HANDSHAKE_VERSION, "clientInfo": {"name": "raw", "version": "1"}}
        await sleeper.ask("initialize", capabilities={}, **about)
        await sleeper.say("notifications/initialized")
        yield sleeper
        tasks.cancel_scope.cancel()


async def test_a_client_that_does_not_read_holds_up_nobody_and_costs_no_memory(server: Server, hub: Hub) -> None:
    async with raw(server) as sleeper, listening(server, "legacy", page(1), page(2)) as listener:
        for number in (1, 2):
            await sleeper.ask("resources/subscribe", uri=page(number))
        for number in [1, 2] * 20:
            listener.heard.clear()
            hub.on_changes([touch(number)])
            await listener.until(page(number))

        assert max(len(ear._pending) for ear in hub._subscribers) <= 2
        output = [await sleeper.read() for _ in range(3)]

    assert {event["params"]["uri"] for event in output} == {page(1), page(2)}
    assert hub.size == (0, 0)


async def test_a_message_on_a_stream_carries_the_streams_id(server: Server, hub: Hub) -> None:
    seen: list[Any] = []

    async def take(message: Any) -> None:
        seen.append(message.model_dump(by_alias=True)["params"])

    listener = Listener(Client(server, message_handler=take))
    async with listener.client as client, listen(client.session, resource_subscriptions=[page(1)]) as stream:
        hub.on_changes([touch(1)])
        await until(lambda: bool(seen))

        assert seen[0]["_meta"]["io.modelcontextprotocol/subscriptionId"] == stream.subscription_id
