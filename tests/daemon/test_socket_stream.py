"""A client's socket: all bytes come and go in order, and none are lost between two reads."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing

import anyio
import pytest
from anyio.abc import UNIXSocketStream

from panorama.daemon.socket_stream import SocketByteStream
from panorama.mcp.stdio import DISCONNECT_ERRORS

pytestmark = pytest.mark.anyio
AT_MOST = 10.0
LARGE = bytes(range(256)) * 40_000


@asynccontextmanager
async def connected() -> AsyncGenerator[tuple[SocketByteStream, socket.socket]]:
    """Return a stream, and the client's end."""
    ours, theirs = socket.socketpair()
    with theirs, anyio.fail_after(AT_MOST):
        async with await UNIXSocketStream.from_socket(ours) as inner:
            with closing(SocketByteStream(inner)) as stream:
                yield stream, theirs


async def test_bytes_come_in_order_and_end_with_the_client() -> None:
    async with connected() as (stream, client):
        received = b""
        for part in (b"one\n", b"two\n"):
            client.sendall(part)
            received += await stream.receive()
        client.close()

        with pytest.raises(anyio.EndOfStream):
            await stream.receive()

    assert received == b"one\ntwo\n"


async def test_what_comes_while_nobody_receives_is_there_afterwards() -> None:
    async with connected() as (stream, client):
        client.sendall(b"one")
        assert await stream.receive() == b"one"
        client.sendall(b"two")
        for _ in range(5):
            await asyncio.sleep(0)
        client.sendall(b"three")

        assert await stream.receive() == b"twothree"


async def test_a_cancelled_reader_leaves_what_has_come_to_the_next() -> None:
    async with connected() as (stream, client):
        reader = asyncio.create_task(stream.receive())
        await asyncio.sleep(0)
        client.sendall(b"late")
        stream._read()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader

        assert await stream.receive() == b"late"


async def test_what_the_socket_does_not_take_at_once_is_sent_when_it_does() -> None:
    async with connected() as (stream, client), anyio.create_task_group() as tasks:
        tasks.start_soon(stream.send, LARGE)
        received = bytearray()
        while len(received) < len(LARGE):
            received += await anyio.to_thread.run_sync(client.recv, 1 << 16)

    assert received == LARGE


async def test_a_client_that_is_gone_takes_nothing() -> None:
    async with connected() as (stream, client):
        client.close()

        with pytest.raises(DISCONNECT_ERRORS):
            await stream.send(b"answer")
