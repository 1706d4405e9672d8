"""The lists of clients that show pages in a chat, through the real doors: stored and fresh, on the socket and HTTP."""

from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from panorama.transport.address import Address
from panorama.transport.stored_answers import FILE
from tests.mcp.test_apps import Apps

from .conftest import wait
from .peer import Peer
from .test_cold_start import delayed_daemon, stop
from .test_http import port, served, token

__all__ = ["port", "served", "token"]

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
CAN_SHOW = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}


def test_each_kind_of_client_gets_its_own_list_before_and_after_the_daemon_starts(
    address: Address, home: Path, era: str
) -> None:
    with Peer(era, capabilities=CAN_SHOW) as rich, Peer(era) as plain:
        fresh = {peer: list_tools(peer) for peer in (rich, plain)}
        wait((home / FILE).exists, "the copy")
        stored = {peer: list_tools(peer) for peer in (rich, plain)}
        names = list_tools(rich), list_tools(plain)
    stop(address)

    with delayed_daemon(address), Peer(era, capabilities=CAN_SHOW) as rich, Peer(era) as plain:
        early = list_tools(rich), list_tools(plain)
    with Peer(era) as plain:
        plain.call("status")  # the daemon has started, and leaves with its last client

    assert fresh == stored
    assert early == names
    assert set(names[0]) - set(names[1]) == {"show"}


def list_tools(peer: Peer) -> list[str]:
    """Return the names of a client's tools."""
    return [tool["name"] for tool in peer.ask("tools/list")["tools"]]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_session_over_http_gets_its_own_list(served: str, token: str, home: Path, mode: Any) -> None:
    wait((home / FILE).exists, "the copy")

    def connect(*extensions: Apps) -> Client[Any]:
        transport = StreamableHttpTransport(f"{served}/mcp", headers={"Authorization": f"Bearer {token}"})
        return Client(transport, mode=mode, extensions=extensions, cache=None)

    async with connect(Apps()) as rich, connect() as plain:
        for _ in range(2):
            names = [tool.name for tool in await rich.list_tools()]
            assert set(names) - {tool.name for tool in await plain.list_tools()} == {"show"}
