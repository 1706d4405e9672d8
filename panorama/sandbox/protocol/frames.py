"""Frames between host and worker, with a size limit for each kind."""

import os
import select
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from struct import Struct
from typing import Final

READY: Final = b"y"
"""The worker is restricted and waits. Empty."""

START: Final = b"g"
"""The script: msgpack."""

CALL: Final = b"c"
"""A call; nothing else is sent until it is answered: id, length of the operation's name, name, msgpack."""

CONCURRENT_CALL: Final = b"C"
"""A call while others are under way; otherwise as CALL."""

ANSWER: Final = b"r"
"""The answer to a call: id, msgpack that the host did not read."""

REFUSAL: Final = b"e"
"""A call was refused: id, msgpack."""

OUTPUT: Final = b"o"
"""Output of the script: text, at least one byte."""

PROGRESS: Final = b"p"
"""Progress of the script: msgpack."""

OUTCOME: Final = b"d"
"""How the script ended; the last frame."""

STACK: Final = b"Stac"
"""The first bytes of `Stack (most recent call first)`, dumped by faulthandler in place of a frame.

As a length they would be more than a gigabyte, so no frame begins like this.
"""

HEADER_BYTES: Final = 5
CHUNK_BYTES: Final = 1 << 16

SPIN_SECONDS: Final = 0.0002
"""How long `receive_fast` spins: waking up takes 20 to 100 µs, and most answers take less than 200."""

_PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_DONTWAIT = getattr(socket, "MSG_DONTWAIT", 0) if _PROCESSORS > 1 else 0
"""The flag for not sleeping; 0 where there is none, or on one processor, which the other side needs."""

_HEADER = Struct(">Ic")


class ProtocolError(Exception):
    """The other side broke the protocol; nothing more can be read."""


class StackError(Exception):
    """The worker dumped its stack: `text`, as written by faulthandler."""

    def __init__(self, text: str) -> None:
        super().__init__("the worker was asked where it is")
        self.text = text


class FrameChannel:
    """Frames over a socket: a 32-bit length, a kind, and the content."""

    def __init__(self, stream: socket.socket, caps: Mapping[bytes, int]) -> None:
        self._stream = stream
        self._caps = caps
        self._buffer = b""
        self._is_fast = _DONTWAIT != 0

    def send(self, kind: bytes, *parts: bytes) -> None:
        """Send a frame; long parts are not copied.

        Raises:
            OSError: The other side is gone.
        """
        size = sum(map(len, parts))
        header = _HEADER.pack(size, kind)
        if size < CHUNK_BYTES:
            self._stream.sendall(header + b"".join(parts))
            return
        for part in (header, *parts):
            self._stream.sendall(part)

    def shutdown(self) -> None:
        """Stop sending and receiving, also in the thread that reads."""
        with suppress(OSError):  # the other side is gone
            self._stream.shutdown(socket.SHUT_RDWR)

    def receive(self) -> tuple[bytes, bytes | bytearray]:
        """Return the kind and the content of the next frame.

        Raises:
            ProtocolError: There is no such kind, or the frame is longer than its kind may be.
            StackError: There is no frame, but the worker's place in the script.
            EOFError: The other side closed the connection, perhaps within a frame.
            OSError: The connection broke.
        """
        while len(self._buffer) < HEADER_BYTES:
            self._buffer += self.receive_raw()
        size, kind = _HEADER.unpack_from(self._buffer)
        if size > self._caps.get(kind, -1):
            raise self._frame_error(kind, size)
        end = HEADER_BYTES + size
        if len(self._buffer) < end:
            return kind, self._receive_rest(size)
        frame, self._buffer = self._buffer[HEADER_BYTES:end], self._buffer[end:]
        return kind, frame

    def poll(self, seconds: float) -> bool:
        """Return whether `receive` would return or raise without blocking.

        Raises:
            OSError: The connection broke.
        """
        end = time.monotonic() + seconds
        poller = select.poll()
        poller.register(self._stream, select.POLLIN)
        while self._missing_bytes() > 0:
            remaining = end - time.monotonic()
            if remaining <= 0 or len(self._buffer) > CHUNK_BYTES or not poller.poll(remaining * 1000):
                return False
            chunk = self._stream.recv(CHUNK_BYTES)
            if not chunk:
                return True
            self._buffer += chunk
        return True

    def _missing_bytes(self) -> int:
        """Return how many bytes of the next frame are missing, as far as known."""
        missing = HEADER_BYTES - len(self._buffer)
        return missing if missing > 0 else missing + _HEADER.unpack_from(self._buffer)[0]

    def receive_fast(self) -> tuple[bytes, bytes | bytearray]:
        """Return the next frame; spin for a moment if the last one came fast.

        Awake, this thread leaves the others of its process little of Python's lock: not for one that they work for.
        """
        began = time.perf_counter()
        if self._is_fast and not self._buffer:
            self._buffer = self._spin(began + SPIN_SECONDS)
        frame = self.receive()
        self._is_fast = _DONTWAIT != 0 and time.perf_counter() - began < 2 * SPIN_SECONDS
        return frame

    def _spin(self, end: float) -> bytes:
        """Return data that comes until a time, empty if none does or the peer is gone."""
        while True:
            try:
                return self._stream.recv(CHUNK_BYTES, _DONTWAIT)
            except BlockingIOError:
                if time.perf_counter() > end:
                    return b""

    def receive_raw(self) -> bytes:
        """Return what comes next, frame or not.

        Raises:
            EOFError, OSError: As of `receive`.
        """
        chunk = self._stream.recv(CHUNK_BYTES)
        if not chunk:
            raise EOFError
        return chunk

    def _receive_rest(self, size: int) -> bytearray:
        """Return a frame whose end has not come yet, received straight into its place."""
        frame = bytearray(size)
        received = len(self._buffer) - HEADER_BYTES
        frame[:received] = self._buffer[HEADER_BYTES:]
        self._buffer = b""
        with memoryview(frame) as view:
            while received < size:
                count = self._stream.recv_into(view[received:])
                if not count:
                    raise EOFError
                received += count
        return frame

    def _frame_error(self, kind: bytes, size: int) -> ProtocolError | StackError:
        if self._buffer.startswith(STACK):
            return StackError(self._buffer.decode("utf-8", "replace"))
        if kind not in self._caps:
            return ProtocolError(f"a frame of kind {kind!r}")
        return ProtocolError(f"a frame of kind {kind!r} with {size} bytes, {self._caps[kind]} are allowed")
