"""Messages between the index and its child process; standard library only."""

import json
import socket
import time
from collections.abc import Mapping
from struct import Struct
from typing import Any, NamedTuple

CHUNK_BYTES = 1 << 18

_SIZES = Struct("<II")


class Frame(NamedTuple):
    """A message: a mapping and raw bytes (vectors)."""

    head: Mapping[str, Any]
    tail: bytes = b""


class FrameStream:
    """Sends and receives frames over a socket; a partly received frame is continued after a timeout."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._got = bytearray()

    def send(self, frame: Frame, seconds: float | None = None) -> None:
        """Send a frame.

        Raises:
            OSError: The other side is gone, or did not accept it in time (TimeoutError); the connection is then
                unusable.
        """
        head = json.dumps(frame.head, separators=(",", ":")).encode()
        self._stream.settimeout(seconds)
        self._stream.sendall(b"".join((_SIZES.pack(len(head), len(frame.tail)), head, frame.tail)))

    def receive(self, seconds: float | None = None) -> Frame:
        """Return the next frame.

        Raises:
            TimeoutError: It did not come in time.
            OSError: The other side is gone.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while (size := self._needed_bytes()) > len(self._got):
            self._stream.settimeout(None if end is None else max(0.0001, end - time.monotonic()))
            batch = self._stream.recv(CHUNK_BYTES)
            if not batch:
                raise ConnectionResetError("the other side closed the connection")
            self._got += batch
        return self._take_frame(size)

    def _needed_bytes(self) -> int:
        if len(self._got) < _SIZES.size:
            return _SIZES.size
        return _SIZES.size + sum(_SIZES.unpack_from(self._got))

    def _take_frame(self, size: int) -> Frame:
        head, _ = _SIZES.unpack_from(self._got)
        with memoryview(self._got) as got:
            frame = Frame(
                json.loads(bytes(got[_SIZES.size : _SIZES.size + head])), bytes(got[_SIZES.size + head : size])
            )
        del self._got[:size]
        return frame
