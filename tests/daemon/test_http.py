"""The port of HTTP and the check of its token, without a daemon."""

import socket
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from panorama.daemon.http import TokenMiddleware
from panorama.daemon.http_connections import HttpConnections
from panorama.daemon.http_socket import bind_port

pytestmark = pytest.mark.anyio


async def _reach(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "reached"})


async def _receive() -> Message:
    return {"type": "websocket.connect"}


async def send_through(scope: dict[str, Any]) -> list[Message]:
    """Return what the client gets for a request with the token."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer secret")]
    request = {"path": "/mcp", "client": ("127.0.0.1", 1), "headers": headers}
    await TokenMiddleware(_reach, "secret", HttpConnections())(request | scope, _receive, send)
    return sent


async def test_a_request_with_the_token_reaches_the_server() -> None:
    assert await send_through({"type": "http"}) == [{"type": "reached"}]


async def test_a_websocket_is_closed_even_with_the_token() -> None:
    sent = await send_through({"type": "websocket"})

    assert [message["type"] for message in sent] == ["websocket.close"]


async def test_small_answers_over_http_are_sent_without_delay() -> None:
    with bind_port(0) as port:
        assert port.proto == socket.IPPROTO_TCP
