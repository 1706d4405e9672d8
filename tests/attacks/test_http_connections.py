"""The HTTP port against programs of other users, which do not know the token."""

import socket
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from fastmcp import FastMCP

from panorama.daemon import http_connections
from panorama.daemon.http import HttpServer, load_token
from panorama.daemon.http_socket import bind_port

pytestmark = pytest.mark.anyio
HALF_A_HEADER = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


async def find_no_answer(*_: object) -> None:
    """Store no answers."""


@asynccontextmanager
async def serving(home: Path) -> AsyncGenerator[int]:
    """Serve an empty MCP server; yields the port."""
    with bind_port(0) as port:
        server = HttpServer(FastMCP("empty"), home, port, find_no_answer)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve)
            with anyio.fail_after(30):
                while not server.is_started:
                    await anyio.sleep(0.01)
                yield port.getsockname()[1]
                await server.close()


def connect(port: int, sent: bytes = b"") -> socket.socket:
    """Connect and send some bytes."""
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.sendall(sent)
    return client


def get(path: str, token: str = "") -> bytes:
    """Return a request."""
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n".encode()


async def read(client: socket.socket) -> bytes:
    """Return what the server sends next; empty if it has closed the connection."""

    def receive() -> bytes:
        try:
            return client.recv(65536)
        except ConnectionError:
            return b""

    return await anyio.to_thread.run_sync(receive)


async def read_health(client: socket.socket) -> bytes:
    """Return the whole answer to a question after health: head and body may come apart."""
    answer = b""
    while part := await read(client):
        answer += part
        if answer.endswith(b"}"):
            break
    return answer


async def is_closed(client: socket.socket) -> bool:
    """Read to the end of a connection."""
    while await read(client):
        pass
    return True


async def open_connections(stack: ExitStack, port: int, count: int, sent: bytes) -> list[socket.socket]:
    """Open connections that the server has accepted."""
    clients = [stack.enter_context(connect(port, sent)) for _ in range(count)]
    await anyio.sleep(0)
    return clients


async def test_thousands_of_half_headers_keep_nobody_out_who_has_the_token(home: Path) -> None:
    async with serving(home) as port:
        with ExitStack() as stack:
            for _ in range(10):
                await open_connections(stack, port, 60, HALF_A_HEADER)
            client = stack.enter_context(connect(port, get("/health", load_token(home))))

            assert b"200 OK" in await read_health(client)


async def test_at_most_some_connections_are_open_without_the_token(home: Path) -> None:
    async with serving(home) as port:
        with ExitStack() as stack:
            first, *_ = await open_connections(stack, port, http_connections.MAX_UNTRUSTED + 1, HALF_A_HEADER)

            assert await is_closed(first)


@pytest.mark.parametrize("sent", [b"", b"GET", HALF_A_HEADER, get("/health"), get("/mcp")])
async def test_a_connection_without_the_token_is_closed_in_time(
    home: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(http_connections, "TOKEN_SECONDS", 0.2)
    async with serving(home) as port:
        with connect(port, sent) as client:
            assert await is_closed(client)


async def test_a_connection_with_the_token_outlasts_the_deadline(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connections, "TOKEN_SECONDS", 0.2)
    async with serving(home) as port:
        with connect(port, get("/health", load_token(home))) as client, connect(port) as other:
            assert b"200 OK" in await read_health(client)
            assert await is_closed(other)

            client.sendall(get("/health"))
            assert b"200 OK" in await read_health(client)


async def test_connections_with_the_token_are_limited_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connections, "MAX_TRUSTED", 3)
    async with serving(home) as port:
        with ExitStack() as stack:
            for client in await open_connections(stack, port, 3, get("/health", load_token(home))):
                assert b"200 OK" in await read_health(client)

            assert await is_closed(stack.enter_context(connect(port)))


async def test_a_connection_that_ends_makes_room(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connections, "MAX_TRUSTED", 1)
    request = get("/health", load_token(home)).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    async with serving(home) as port:
        for _ in range(3):
            with connect(port, request) as client:
                assert b"200 OK" in await read_health(client)
                assert await is_closed(client)


async def test_a_header_without_end_is_refused(home: Path) -> None:
    async with serving(home) as port:
        with connect(port, HALF_A_HEADER + b"x" * 100_000) as client:
            assert await is_closed(client)
