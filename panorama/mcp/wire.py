"""The wire: one JSON-RPC message a line, over standard input and output.

The SDK drops a line that its parser does not take, and the client waits for ever. Here such a line is parsed once more
by Python, which takes half characters and deeper nesting, so that the call is refused in our words; what is no JSON at
all is answered with JSON-RPC's own error.
"""

import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, BinaryIO

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from fastmcp import FastMCP
from fastmcp.server.context import reset_transport, set_transport
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

Incoming = SessionMessage | Exception
LINE_BYTES = 64 * 1024 * 1024
"""The longest line that is read; a note of 10 MB, escaped, is shorter."""

_HALF = re.compile("[\ud800-\udfff]")
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18})')


def message(line: bytes) -> SessionMessage | types.JSONRPCError:
    """Return the message a line holds, or the error to answer it with."""
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        pass
    try:
        plain = json.loads(line)
        return SessionMessage(types.jsonrpc_message_adapter.validate_python(plain, by_name=False))
    except (ValueError, RecursionError) as error:
        code = types.INVALID_REQUEST if isinstance(error, ValidationError) else types.PARSE_ERROR
        told = types.ErrorData(code=code, message="This line is not a JSON-RPC message.")
        return types.JSONRPCError(jsonrpc="2.0", id=_id(line), error=told)


def _id(line: bytes) -> str | int | None:
    """The id of a request that cannot be read as a whole, so that its sender stops waiting."""
    match = _ID.search(line)
    return json.loads(match[1]) if match else None


def line(sent: SessionMessage) -> bytes:
    """Return a message as a line; half characters, which no client could read, are replaced."""
    try:
        return sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:
        plain = sent.message.model_dump(mode="python", by_alias=True, exclude_unset=True)
        return _HALF.sub("\ufffd", json.dumps(plain, ensure_ascii=False, default=str)).encode() + b"\n"


async def serve_stdio(mcp: FastMCP[Any]) -> None:
    """Serve one client over standard input and output until it closes its side."""
    token = set_transport("stdio")
    low = mcp._mcp_server  # pyright: ignore[reportPrivateUsage] (FastMCP serves streams of ours in no other way)
    try:
        async with mcp._lifespan_manager(), _streams() as (read, write):  # pyright: ignore[reportPrivateUsage]
            await low.run(read, write, low.create_initialization_options())
    finally:
        reset_transport(token)


@asynccontextmanager
async def _streams() -> AsyncGenerator[
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """Join standard input and output to the streams that a server reads and writes."""
    source, sink = _taken()
    incoming_in, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, outgoing_out = anyio.create_memory_object_stream[SessionMessage](0)
    reading = anyio.CancelScope()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, source, incoming_in, outgoing.clone(), reading)
        tasks.start_soon(_write, sink, outgoing_out, tasks.cancel_scope)
        yield incoming, outgoing
        reading.cancel()
        outgoing.close()


def _taken() -> tuple[BinaryIO, BinaryIO]:
    """Take the two descriptors for the wire alone: what else is printed goes to stderr."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdout.flush()
    os.dup2(2, 1)
    return source, sink


async def _read(
    source: BinaryIO,
    incoming: MemoryObjectSendStream[Incoming],
    outgoing: MemoryObjectSendStream[SessionMessage],
    reading: anyio.CancelScope,
) -> None:
    with reading:
        async with incoming, outgoing:
            while text := await anyio.to_thread.run_sync(source.readline, LINE_BYTES, abandon_on_cancel=True):
                got = message(text) if text.strip() else None
                if isinstance(got, SessionMessage):
                    await incoming.send(got)
                elif got is not None:
                    await outgoing.send(SessionMessage(got))


async def _write(
    sink: BinaryIO, outgoing: MemoryObjectReceiveStream[SessionMessage], serving: anyio.CancelScope
) -> None:
    async with outgoing:
        async for sent in outgoing:
            try:
                await anyio.to_thread.run_sync(_put, sink, line(sent))
            except OSError:  # the client went away without closing its side
                serving.cancel()
                return


def _put(sink: BinaryIO, text: bytes) -> None:
    sink.write(text)
    sink.flush()
