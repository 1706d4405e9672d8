"""A connection: one client's messages and pending requests, and an end that answers every call.

The SDK cancels running calls as soon as a client closes its side; here the client gets its answers first. A client that
sends without reading its answers is not read until it does.
"""

import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from fastmcp import FastMCP
from fastmcp.server.context import reset_transport, set_transport
from mcp.shared.message import SessionMessage

from panorama.mcp.direct_calls import DirectCall, DirectCalls, Peer
from panorama.mcp.messages import encode_line, parse_message
from panorama.mcp.stdio import CHUNK_BYTES, DISCONNECT_ERRORS, ByteStream
from panorama.transport.lines import LineDecoder
from panorama.transport.stored_answers import describe_client

MAX_CONCURRENT = 16
"""Requests of one client that are worked on at a time; the others wait their turn."""

MAX_WAITING, MAX_WAITING_BYTES = 256, 32 << 20
"""Requests of one client that may wait; beyond, its lines are not read until it has taken its answers."""

POLL_SECONDS = 0.25
"""How often it looks whether a client that sends no more is gone."""

LISTEN_METHOD = "subscriptions/listen"
"""The request that is answered only when the connection ends (MCP 2026-07-28)."""

CONNECTION_CLOSED = -32000

FindAnswer = Callable[[Mapping[str, Any], str], Awaitable[bytes | None]]


class Connection:
    """Serves one client over a byte stream.

    Args:
        rest: Bytes of it that were already read.
        tells: Whether the peer is a proxy: it learns which calls have begun, so that if this process dies, it knows
            which of them can be sent to the next one.
        find_answer: Returns the line that answers a request of a client, described by `describe_client`, if stored.
        is_gone: Returns whether the client accepts no more answers.
    """

    def __init__(
        self,
        stream: ByteStream,
        rest: bytes = b"",
        *,
        tells: bool = False,
        find_answer: FindAnswer | None = None,
        is_gone: Callable[[], bool] = bool,
    ) -> None:
        self._stream = stream
        self._rest = rest
        self._tells = tells
        self._find_answer = find_answer
        self._negotiated = ""
        self._is_gone = is_gone
        self._sending = anyio.Lock(fast_acquire=True)
        self._lines = LineDecoder()
        self._incoming, self._to_server = _open_channel()
        self._from_server, self._outgoing = _open_channel()
        self._waiting: deque[tuple[SessionMessage, int]] = deque()
        self._waiting_bytes = 0
        self._taken: dict[Any, types.JSONRPCRequest] = {}
        self._direct: DirectCalls | None = None
        self._peer = Peer()
        self._calls: dict[Any, DirectCall] = {}
        self._tasks: TaskGroup | None = None
        self._questions: set[Any] = set()
        self._waiters: dict[anyio.Event, Callable[[], bool]] = {}
        self._reading = anyio.CancelScope()
        self._serving = anyio.CancelScope()
        self._is_closing = False
        self.unfinished: list[Any] | None = None
        """What was under way when `leave` gave up waiting; None unless it was asked to leave."""

    @property
    def pending_ids(self) -> list[Any]:
        """The ids of the accepted requests without an answer."""
        return [id_ for id_, request in self._taken.items() if request.method != LISTEN_METHOD]

    async def serve(self, mcp: FastMCP[Any], direct: DirectCalls | None = None) -> None:
        """Serve the client until it has closed its side and got its answers, or until `leave`.

        Args:
            direct: The short calls that are answered without the server.
        """
        self._direct = direct
        low = mcp._mcp_server  # pyright: ignore[reportPrivateUsage] (FastMCP serves streams of ours in no other way)
        token = set_transport("stdio")
        try:
            with self._serving:
                async with anyio.create_task_group() as tasks:
                    self._tasks = tasks
                    for loop in (self._receive, self._forward_requests, self._send):
                        tasks.start_soon(loop)
                    await low.run(self._to_server, self._from_server, low.create_initialization_options())
                    tasks.cancel_scope.cancel()
        finally:
            reset_transport(token)
            for loop in (self._incoming, self._to_server, self._from_server, self._outgoing):
                loop.close()
            self._waiting.clear()
            self._taken.clear()  # a client that is gone gets no answer, and `leave` need not wait for it
            self._lines, self._rest = LineDecoder(), b""
            self._notify_changed()

    async def drain(self, seconds: float) -> None:
        """Stop reading, finish the accepted requests, and end."""
        self._reading.cancel()
        with anyio.move_on_after(seconds):
            await self._finish()
        # From here on the SDK's last message, «connection closed», is not sent: the client's proxy goes on.
        self.unfinished = self.pending_ids
        self._end_serving()

    # Incoming messages.

    async def _receive(self) -> None:
        with self._reading, suppress(anyio.EndOfStream, *DISCONNECT_ERRORS):
            chunk = self._rest
            while True:
                for line in self._lines.feed(chunk):
                    if not isinstance(line, bytes) or line.strip():
                        await self._dispatch(parse_message(line), len(line) if isinstance(line, bytes) else 0)
                chunk = await self._stream.receive(CHUNK_BYTES)
        if not self._reading.cancel_called:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._end_when_gone)
                await self._finish()
                tasks.cancel_scope.cancel()
            self._incoming.close()

    async def _dispatch(self, got: SessionMessage | types.JSONRPCError, size: int) -> None:
        """Pass answers to our questions on immediately; ordered messages wait their turn."""
        if isinstance(got, types.JSONRPCError):
            if got.id in self._questions:  # an unreadable answer is none
                await self._fail_question(got.id)
            else:
                await self._from_server.send(SessionMessage(got))
            return
        message = got.message
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._questions.discard(message.id)
            await self._incoming.send(got)
        elif message.method == "notifications/cancelled":
            await self._cancel(got, (message.params or {}).get("requestId"))
        elif isinstance(message, types.JSONRPCRequest) and self._is_duplicate_id(message.id):
            error = types.ErrorData(
                code=types.INVALID_REQUEST, message="A request with this id is already in progress."
            )
            await self._from_server.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)))
        elif line := await self._load_answer(message):
            await self._from_server.send(line)
        elif not self._waiting and self._has_free_place() and (call := self._find_direct(message)):
            self._start_direct(call)
        else:
            await self._wait_until(lambda: not self._waiting or self._has_room_for(size))
            self._waiting.append((got, size))
            self._waiting_bytes += size
            self._notify_changed()

    async def _load_answer(self, message: types.JSONRPCRequest | types.JSONRPCNotification) -> bytes | None:
        """Return the stored line that answers a request for a list, None if the server has to answer."""
        if not self._find_answer or not isinstance(message, types.JSONRPCRequest):
            return None
        if message.method == "initialize":
            params = message.params or {}
            self._negotiated = describe_client(params.get("protocolVersion", ""), params.get("capabilities"))
        return await self._find_answer(
            {"id": message.id, "method": message.method, "params": message.params}, self._negotiated
        )

    def _is_duplicate_id(self, id_: Any) -> bool:
        return id_ in self._taken or any(getattr(entry.message, "id", None) == id_ for entry, _ in self._waiting)

    def _has_room_for(self, size: int) -> bool:
        return len(self._waiting) < MAX_WAITING and self._waiting_bytes + size <= MAX_WAITING_BYTES

    def _dequeue(self, waiting: tuple[SessionMessage, int]) -> SessionMessage:
        self._waiting.remove(waiting)
        self._waiting_bytes -= waiting[1]
        return waiting[0]

    async def _cancel(self, got: SessionMessage, id_: Any) -> None:
        """Drop a waiting request, or pass its cancellation on; a cancelled request is never answered."""
        waits = [entry for entry in self._waiting if getattr(entry[0].message, "id", None) == id_]
        for entry in waits:
            self._dequeue(entry)
        if not waits:
            self._taken.pop(id_, None)
            if call := self._calls.pop(id_, None):
                call.gone.set()
            else:
                await self._incoming.send(got)
        self._notify_changed()

    async def _forward_requests(self) -> None:
        """Pass requests to the server, a few at a time."""
        try:
            while True:
                await self._wait_until(lambda: bool(self._waiting) and self._has_free_place())
                if self._reading.cancel_called:
                    return  # the proxy knows what was not accepted, and sends it to the next daemon
                got = self._dequeue(self._waiting[0])
                self._notify_changed()
                if call := self._find_direct(got.message):
                    self._start_direct(call)
                else:
                    await self._forward(got)
        except DISCONNECT_ERRORS:
            self._end_serving()  # nobody is left to answer

    def _has_free_place(self) -> bool:
        return len(self.pending_ids) < MAX_CONCURRENT

    async def _forward(self, got: SessionMessage) -> None:
        if isinstance(got.message, types.JSONRPCRequest):
            self._taken[got.message.id] = got.message
            await self._announce_call(got.message)
        await self._incoming.send(got)

    # Calls answered without the server.

    def _find_direct(self, message: types.JSONRPCMessage) -> DirectCall | None:
        is_request = isinstance(message, types.JSONRPCRequest)
        return self._direct.find(message, self._peer) if self._direct and is_request else None

    def _start_direct(self, call: DirectCall) -> None:
        assert self._direct
        assert self._tasks
        self._taken[call.request.id] = call.request
        self._calls[call.request.id] = call
        self._tasks.start_soon(self._answer_directly, self._direct, call)

    async def _answer_directly(self, direct: DirectCalls, call: DirectCall) -> None:
        id_ = call.request.id
        try:
            await self._announce_call(call.request)
            if call.gone.is_set():
                return
            line = await direct.answer(call)
            if not call.gone.is_set() and self.unfinished is None:
                await self._send_line(line)
        except DISCONNECT_ERRORS:
            self._end_serving()
        finally:
            if self._calls.get(id_) is call:  # otherwise it was cancelled, and another request may have its id by now
                del self._calls[id_]
                self._taken.pop(id_, None)
                self._notify_changed()

    async def _announce_call(self, request: types.JSONRPCRequest) -> None:
        """Tell the proxy that a call begins, before it does."""
        if self._tells and request.method == "tools/call":
            await self.send_control({"panorama": "began", "id": request.id})

    # Outgoing messages.

    async def _send(self) -> None:
        try:
            async for message in self._outgoing:
                if self.unfinished is None:
                    is_stored = isinstance(message, bytes)
                    await self._send_line(message if is_stored else encode_line(message))
                    if not is_stored:
                        await self._track_sent(message.message)
        except DISCONNECT_ERRORS:
            self._end_serving()

    async def send_control(self, message: Mapping[str, Any]) -> None:
        """Send a line for the proxy, not for the client."""
        await self._send_line(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    async def _send_line(self, line: bytes) -> None:
        async with self._sending:
            await self._stream.send(line)

    async def _track_sent(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            request = self._taken.pop(message.id, None)
            if request and self._direct and isinstance(message, types.JSONRPCResponse):
                self._peer.accept(request, message.result)
                self._direct.learn(request, message.result, self._peer)
            self._notify_changed()
        elif isinstance(message, types.JSONRPCRequest):
            self._questions.add(message.id)
            if self._is_closing:
                await self._fail_question(message.id)

    # The end.

    async def _finish(self) -> None:
        """Wait until all accepted requests are answered; our open questions end, since no answer to them will come."""
        self._is_closing = True
        for id_ in tuple(self._questions):
            await self._fail_question(id_)
        leaving = self._reading.cancel_called
        await self._wait_until(lambda: not self.pending_ids and (leaving or not self._waiting))

    async def _end_when_gone(self) -> None:
        """Cancel pending calls once the client is gone; a client that only stopped sending still gets its answers."""
        while not self._is_gone():
            await anyio.sleep(POLL_SECONDS)
        self._end_serving()

    def _end_serving(self) -> None:
        """Cancel pending calls; a write is waited for, and ends at its next step."""
        for call in self._calls.values():
            call.gone.set()
        self._serving.cancel()

    async def _fail_question(self, id_: Any) -> None:
        self._questions.discard(id_)
        error = types.ErrorData(code=CONNECTION_CLOSED, message="The client did not answer.")
        with suppress(*DISCONNECT_ERRORS):
            await self._incoming.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=id_, error=error)))

    def _notify_changed(self) -> None:
        """Wake those whose condition holds now; each wake is a turn of the event loop."""
        for changed, so in self._waiters.items():
            if so():
                changed.set()

    async def _wait_until(self, so: Callable[[], bool]) -> None:
        while not so():
            changed = anyio.Event()
            self._waiters[changed] = so
            try:
                await changed.wait()
            finally:
                del self._waiters[changed]


def _open_channel() -> tuple[MemoryObjectSendStream[Any], MemoryObjectReceiveStream[Any]]:
    return anyio.create_memory_object_stream[Any](0)
