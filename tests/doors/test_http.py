"""The daemon over HTTP: on this machine only, for those who know the token."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from panorama.transport.address import Address
from panorama.transport.stored_answers import FILE as ANSWERS

from .conftest import wait
from .peer import COMMAND, Peer

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def port() -> int:
    """A port that is free at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def served(address: Address, port: int) -> Iterator[str]:
    """The address of a daemon that also serves over HTTP."""
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen([*COMMAND, "serve", "--http", str(port)], stderr=subprocess.DEVNULL) as daemon:
        wait(lambda: _answers(port))
        yield url
        daemon.send_signal(signal.SIGINT)
        assert daemon.wait(30) == 0


def _answers(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def token(home: Path, served: str) -> str:
    """The token that clients send."""
    return (home / "http.token").read_text()


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def post(url: str, **headers: str) -> Any:
    """Send a ping with some headers."""
    with httpx2.Client() as client:
        return client.post(f"{url}/mcp", json=PING, headers=ACCEPT | headers)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_with_the_token_works_on_the_same_data(served: str, token: str, mode: Any) -> None:
    transport = StreamableHttpTransport(f"{served}/mcp", headers={"Authorization": f"Bearer {token}"})
    async with Client(transport, mode=mode) as client:
        await client.call_tool("create_task", {"title": "Tea"})

    with Peer() as peer:
        assert [row["title"] for row in peer.call("list_tasks")["data"]] == ["Tea"]


async def test_without_the_token_nothing_is_told(served: str, token: str) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": token},
        {"Authorization": "Basic " + token},
    ):
        answer = post(served, **headers)

        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert token not in answer.text


@pytest.mark.parametrize("foreign", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
async def test_another_name_or_page_is_turned_away_even_with_the_token(served: str, token: str, foreign: Any) -> None:
    answer = post(served, Authorization=f"Bearer {token}", **foreign)

    assert answer.status_code in (403, 421)


async def test_an_unknown_session_is_reported_so_that_the_client_starts_anew(served: str, token: str) -> None:
    answer = post(served, Authorization=f"Bearer {token}", **{"Mcp-Session-Id": "f" * 32})

    assert answer.status_code == 404


async def test_a_stored_list_is_for_known_sessions_alone(served: str, token: str) -> None:
    wait(lambda: ANSWERS in os.listdir(os.environ["PANORAMA_HOME"]))
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = ACCEPT | {"Authorization": f"Bearer {token}", "MCP-Protocol-Version": "2025-11-25"}

    with httpx2.Client() as client:
        unknown = client.post(f"{served}/mcp", json=asked, headers=headers | {"Mcp-Session-Id": "0" * 32})

    assert unknown.status_code == 404


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_list_over_http_is_that_of_the_socket(served: str, token: str, mode: Any) -> None:
    wait(lambda: ANSWERS in os.listdir(os.environ["PANORAMA_HOME"]))
    transport = StreamableHttpTransport(f"{served}/mcp", headers={"Authorization": f"Bearer {token}"})

    async with Client(transport, mode=mode) as client:
        tools = await client.list_tools()

    with Peer() as peer:
        assert [tool.name for tool in tools] == [tool["name"] for tool in peer.ask("tools/list")["tools"]]


async def test_sessions_of_one_program_are_conversations_of_their_own(served: str, token: str) -> None:
    transports = [
        StreamableHttpTransport(f"{served}/mcp", headers={"Authorization": f"Bearer {token}"}) for _ in range(2)
    ]
    async with Client(transports[0], mode="legacy") as one, Client(transports[1], mode="legacy") as other:
        await one.call_tool("create_task", {"title": "Tea"})
        await other.call_tool("undo", {}, raise_on_error=False)

        listed = await one.call_tool("list_tasks", {})

    assert [row["title"] for row in (listed.structured_content or {})["data"]] == ["Tea"]


async def test_clients_without_sessions_take_back_nothing_of_another_unasked(served: str, token: str) -> None:
    transports = [
        StreamableHttpTransport(f"{served}/mcp", headers={"Authorization": f"Bearer {token}"}) for _ in range(2)
    ]
    async with Client(transports[0]) as one, Client(transports[1]) as other:
        await one.call_tool("create_task", {"title": "Tea"})
        await other.call_tool("create_task", {"title": "Coffee"})
        asked = await one.call_tool("undo", {}, raise_on_error=False)
        listed = await one.call_tool("list_tasks", {})
        unit = (await one.call_tool("history", {})).structured_content["data"][-1]["unit"]
        await one.call_tool("undo", {"unit": unit})
        left = await one.call_tool("list_tasks", {})

    assert asked.is_error
    assert "“Coffee”" in str(asked.content)
    assert {row["title"] for row in listed.structured_content["data"]} == {"Tea", "Coffee"}
    assert [row["title"] for row in left.structured_content["data"]] == ["Coffee"]


async def test_an_idle_connection_is_kept_for_the_next_request(served: str, port: int, token: str) -> None:
    with closing(HTTPConnection("127.0.0.1", port)) as connection:

        def send_ping() -> int:
            sent = ACCEPT | {"Authorization": f"Bearer {token}"}
            connection.request("POST", "/mcp", json.dumps(PING), sent)
            with connection.getresponse() as answer:
                answer.read()
                return answer.status

        first, socket_of_first = send_ping(), connection.sock
        time.sleep(7)  # servers close an idle connection after five seconds unless told otherwise
        second = send_ping()

        assert (first, connection.sock) == (second, socket_of_first)


async def test_health_tells_nothing_but_that_it_is_there(served: str) -> None:
    with httpx2.Client() as client:
        assert client.get(f"{served}/health").json() == {"status": "ok"}


async def test_the_token_is_for_its_owner_alone_and_lasts(served: str, token: str, home: Path) -> None:
    assert os.stat(home / "http.token").st_mode & 0o777 == 0o600
    assert len(token) >= 40


async def test_it_listens_on_this_machine_alone(served: str, port: int) -> None:
    with socket.socket() as trying:
        trying.settimeout(2)
        assert trying.connect_ex(("127.0.0.2", port)) != 0


async def test_a_port_that_is_taken_is_told_of(address: Address) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = [*COMMAND, "serve", "--http", str(taken.getsockname()[1])]
        ended = subprocess.run(words, capture_output=True, text=True, timeout=60)

    assert ended.returncode == 3
    assert "cannot be used" in ended.stderr
    assert address.find_pid() is None


async def test_a_taken_port_in_the_settings_keeps_nobody_out(address: Address) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, Peer(http_port=str(taken.getsockname()[1])) as peer:
        assert peer.call("status")["data"]["today"]


async def test_each_session_of_the_handshake_eras_is_a_conversation(served: str, token: str) -> None:
    transports = [
        StreamableHttpTransport(f"{served}/mcp", headers={"Authorization": f"Bearer {token}"}) for _ in range(2)
    ]
    async with Client(transports[0], mode="legacy") as first, Client(transports[1], mode="legacy") as second:
        await first.call_tool("create_project", {"name": "Garden"})
        await first.call_tool("get_project", {"project": "Garden"})
        for _ in range(8):
            await first.call_tool("list_notes", {})

        recalled = await second.call_tool("project_dashboard", {}, raise_on_error=False)
        undone = await second.call_tool("undo", {}, raise_on_error=False)
        looped = await first.call_tool("list_notes", {}, raise_on_error=False)
        listed = await second.call_tool("list_notes", {}, raise_on_error=False)

    assert (recalled.is_error, undone.is_error, looped.is_error, listed.is_error) == (True, True, True, False)
    assert "“Garden”" in str(undone.content)
