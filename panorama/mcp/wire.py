"""The wire: JSON-RPC messages as lines, and standard input and output as their carrier.

The SDK drops a line that its parser does not take, and the client waits for ever. Here such a line is parsed once more
by Python, which takes half characters and deeper nesting, so that the call is refused in our words; what is no JSON at
all is answered with JSON-RPC's own error.
"""

import json
import os
import re
import select
import sys
from typing import Protocol

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from panorama.framing import LINE_BYTES, TooLong

CHUNK_BYTES = 1 << 16
LARGE_BYTES, MOST_KEYS = 1 << 20, 20_000
"""A large line holds long texts, not more keys than that: a million of them would keep everybody waiting."""

_TOO_MANY = f"This message holds more than {MOST_KEYS:,} names and was not read; send less at a time."
_TOO_LONG = f"This message is longer than {LINE_BYTES >> 20} MB and was not read; send less at a time."
_NO_ID = "The id of a request is a text or a whole number."
_HALF = re.compile("[\ud800-\udfff]")
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18}(?![\d.eE]))')


class Carrier(Protocol):
    """What carries bytes both ways."""

    async def receive(self, max_bytes: int = CHUNK_BYTES) -> bytes:
        """Return the next bytes.

        Raises:
            anyio.EndOfStream: No more will come.
        """
        ...

    async def send(self, item: bytes) -> None:
        """Send all of the bytes."""
        ...


class StandardStreams:
    """Standard input and output, taken for the wire alone: what else is printed goes to standard error."""

    def __init__(self) -> None:
        self._source, self._sink = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        sys.stdout.flush()
        os.dup2(2, 1)

    def await_deafness(self) -> None:
        """Wait until nobody reads standard output any more."""
        watched = select.poll()
        watched.register(self._sink, 0)
        watched.poll()

    async def receive(self, max_bytes: int = CHUNK_BYTES) -> bytes:
        """Return the next bytes."""
        chunk = await anyio.to_thread.run_sync(os.read, self._source, max_bytes, abandon_on_cancel=True)
        if not chunk:
            raise anyio.EndOfStream
        return chunk

    async def send(self, item: bytes) -> None:
        """Send all of the bytes."""
        await anyio.to_thread.run_sync(self._put, item)

    def _put(self, item: bytes) -> None:
        left = memoryview(item)
        while left:
            left = left[os.write(self._sink, left) :]


def message(line: bytes | TooLong) -> SessionMessage | types.JSONRPCError:
    """Return the message a line holds, or the error to answer it with."""
    if isinstance(line, TooLong):
        return _refusal(line.edges, types.INVALID_REQUEST, _TOO_LONG)
    if len(line) > LARGE_BYTES and line.count(b'":') - line.count(b'\\":') > MOST_KEYS:
        return _refusal(line, types.INVALID_REQUEST, _TOO_MANY)
    try:
        read = SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        pass
    else:
        return _refusal(line, types.INVALID_REQUEST, _NO_ID) if _has_no_usable_id(read, line) else read
    try:
        plain = json.loads(line)
        return SessionMessage(types.jsonrpc_message_adapter.validate_python(plain, by_name=False))
    except (ValueError, RecursionError) as error:
        code = types.INVALID_REQUEST if isinstance(error, ValidationError) else types.PARSE_ERROR
        return _refusal(line, code, "This line is not a JSON-RPC message.")


def _has_no_usable_id(read: SessionMessage, line: bytes) -> bool:
    """Tell whether a request was taken for a notification because its id is neither a text nor a whole number."""
    if not isinstance(read.message, types.JSONRPCNotification) or b'"id"' not in line:
        return False
    plain: dict[str, object] = json.loads(line)
    return "id" in plain


def _refusal(text: bytes, code: int, told: str) -> types.JSONRPCError:
    """Answer a request that cannot be read as a whole, under its id if that is found: its sender stops waiting."""
    match = _ID.search(text)
    id_ = json.loads(match[1]) if match else None
    return types.JSONRPCError(jsonrpc="2.0", id=id_, error=types.ErrorData(code=code, message=told))


def line(sent: SessionMessage) -> bytes:
    """Return a message as a line; half characters, which no client could read, are replaced."""
    try:
        return sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:
        plain = sent.message.model_dump(mode="python", by_alias=True, exclude_unset=True)
        return _HALF.sub("\ufffd", json.dumps(plain, ensure_ascii=False, default=str)).encode() + b"\n"
