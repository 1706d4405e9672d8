"""Frames between host and worker: the only place that knows their kinds, and believes no length it is told."""

import os
import select
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from struct import Struct
from typing import Final

READY: Final = b"y"
"""The worker has locked itself in and waits. Empty."""

START: Final = b"g"
"""The script: msgpack."""

CALL: Final = b"c"
"""A call; nothing else is sent until it is answered: id, length of the operation's name, name, msgpack."""

OVERLAPPING: Final = b"C"
"""A call while others are under way; otherwise as CALL."""

ANSWER: Final = b"r"
"""The answer to a call: id, msgpack that the host did not read."""

REFUSAL: Final = b"e"
"""A call was refused: id, msgpack."""

OUTPUT: Final = b"o"
"""What the script printed: text that nobody reads on the way, at least one byte."""

PROGRESS: Final = b"p"
"""How far the script is: msgpack."""

ENDING: Final = b"d"
"""How the script ended; the last frame."""

STACK: Final = b"Stac"
"""Where a frame should begin, the words `Stack (most recent call first)`: a signal's handler in C told where it is.

It stands for a length of more than a gigabyte, and can be no frame.
"""

HEADER_BYTES: Final = 5
CHUNK_BYTES: Final = 1 << 16

AWAKE_SECONDS: Final = 0.0002
"""How long `receive_soon` stays awake: who sleeps is woken 20 to 100 µs late, and most answers take less than 200."""

_PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_AWAKE = getattr(socket, "MSG_DONTWAIT", 0) if _PROCESSORS > 1 else 0
"""The flag of who does not sleep, 0 where there is none, or one processor, which the other side needs meanwhile."""

_HEADER = Struct(">Ic")


class ProtocolError(Exception):
    """The other side said what it never says; nothing more can be read."""


class StackError(Exception):
    """The worker was asked where it is, and told so: `text`, as Python's faulthandler writes it."""

    def __init__(self, text: str) -> None:
        super().__init__("the worker was asked where it is")
        self.text = text


class Frames:
    """Frames over a socket: a length of 32 bits, a kind, and so many bytes; `caps` are the kinds that may come."""

    def __init__(self, stream: socket.socket, caps: Mapping[bytes, int]) -> None:
        self._stream = stream
        self._caps = caps
        self._got = b""
        self._is_near = _AWAKE != 0

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

    def hang_up(self) -> None:
        """Say and hear nothing more, also in the thread that reads."""
        with suppress(OSError):  # the other side is gone
            self._stream.shutdown(socket.SHUT_RDWR)

    def receive(self) -> tuple[bytes, bytes | bytearray]:
        """Return the next frame: its kind, and what it holds.

        Raises:
            ProtocolError: There is no such kind, or the frame is longer than its kind may be.
            StackError: There is no frame, but the worker's place in the script.
            EOFError: The other side closed the connection, perhaps within a frame.
            OSError: The connection broke.
        """
        while len(self._got) < HEADER_BYTES:
            self._got += self.some()
        size, kind = _HEADER.unpack_from(self._got)
        if size > self._caps.get(kind, -1):
            raise self._strange(kind, size)
        end = HEADER_BYTES + size
        if len(self._got) < end:
            return kind, self._rest(size)
        frame, self._got = self._got[HEADER_BYTES:end], self._got[end:]
        return kind, frame

    def comes(self, seconds: float) -> bool:
        """Tell whether a whole frame is here within a time, so that `receive` does not wait; also if none will come.

        Raises:
            OSError: The connection broke.
        """
        end = time.monotonic() + seconds
        near = select.poll()
        near.register(self._stream, select.POLLIN)
        while self._missing() > 0:
            left = end - time.monotonic()
            if left <= 0 or len(self._got) > CHUNK_BYTES or not near.poll(left * 1000):
                return False
            some = self._stream.recv(CHUNK_BYTES)
            if not some:
                return True
            self._got += some
        return True

    def _missing(self) -> int:
        """Return how much of the next frame has not come yet, as far as that is known."""
        missing = HEADER_BYTES - len(self._got)
        return missing if missing > 0 else missing + _HEADER.unpack_from(self._got)[0]

    def receive_soon(self) -> tuple[bytes, bytes | bytearray]:
        """Return the next frame as `receive` does, and stay awake for it for a moment if the last one came soon.

        Awake, this thread leaves the others of its process little of Python's lock: not for one that they work for.
        """
        began = time.perf_counter()
        if self._is_near and not self._got:
            self._got = self._looked_for(began + AWAKE_SECONDS)
        frame = self.receive()
        self._is_near = _AWAKE != 0 and time.perf_counter() - began < 2 * AWAKE_SECONDS
        return frame

    def _looked_for(self, end: float) -> bytes:
        """Return what comes until a moment, empty if nothing does, or the other side is gone."""
        while True:
            try:
                return self._stream.recv(CHUNK_BYTES, _AWAKE)
            except BlockingIOError:
                if time.perf_counter() > end:
                    return b""

    def some(self) -> bytes:
        """Return what comes next, frame or not.

        Raises:
            EOFError, OSError: As of `receive`.
        """
        some = self._stream.recv(CHUNK_BYTES)
        if not some:
            raise EOFError
        return some

    def _rest(self, size: int) -> bytearray:
        """Return a frame whose end has not come yet, received straight into its place."""
        frame = bytearray(size)
        have = len(self._got) - HEADER_BYTES
        frame[:have] = self._got[HEADER_BYTES:]
        self._got = b""
        with memoryview(frame) as room:
            while have < size:
                came = self._stream.recv_into(room[have:])
                if not came:
                    raise EOFError
                have += came
        return frame

    def _strange(self, kind: bytes, size: int) -> ProtocolError | StackError:
        if self._got.startswith(STACK):
            return StackError(self._got.decode("utf-8", "replace"))
        if kind not in self._caps:
            return ProtocolError(f"a frame of kind {kind!r}")
        return ProtocolError(f"a frame of kind {kind!r} with {size} bytes, {self._caps[kind]} are allowed")
