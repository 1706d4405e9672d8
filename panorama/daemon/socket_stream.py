"""The byte stream of one socket client, with as few turns of the event loop as possible.

anyio's own stream takes a turn before each operation, and tells the kernel before each read that it waits and
afterwards that it does not. Beside busy threads, each turn waits for the interpreter lock.
"""

import asyncio
import socket

import anyio
from anyio.abc import SocketAttribute, SocketStream

from panorama.mcp.stdio import CHUNK_BYTES


class SocketByteStream:
    """A connected socket. One task may receive at a time, and one may send."""

    def __init__(self, stream: SocketStream) -> None:
        self.socket: socket.socket = stream.extra(SocketAttribute.raw_socket)
        self._stream = stream
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Future[bytes] | None = None
        self._max_bytes = CHUNK_BYTES
        self._unread = b""
        self._is_watched = False

    async def receive(self, max_bytes: int = CHUNK_BYTES) -> bytes:
        """Return the next bytes.

        Raises:
            anyio.EndOfStream: No more will come.
            OSError: The connection broke.
        """
        if self._unread:
            chunk, self._unread = self._unread, b""
            return chunk
        self._waiting, self._max_bytes = self._loop.create_future(), max_bytes
        if not self._is_watched:
            self._is_watched = True
            self._loop.add_reader(self.socket, self._read)
        try:
            chunk = await self._waiting
        except asyncio.CancelledError:
            if self._waiting.done() and not self._waiting.cancelled() and not self._waiting.exception():
                self._unread = self._waiting.result()
            raise
        finally:
            self._waiting = None
        if not chunk:
            raise anyio.EndOfStream
        return chunk

    async def send(self, item: bytes) -> None:
        """Send all of the bytes, waiting while the socket's buffer is full.

        Raises:
            OSError: The connection broke.
        """
        try:
            count = self.socket.send(item)
        except BlockingIOError:
            count = 0
        if count < len(item):
            await self._stream.send(item[count:])

    def close(self) -> None:
        """Stop waiting for bytes; the stream is closed by its opener."""
        if self._is_watched:
            self._is_watched = False
            self._loop.remove_reader(self.socket)

    def _read(self) -> None:
        """Read the available bytes for the waiting task; without one, the socket is not watched."""
        if self._waiting is None or self._waiting.done():
            self.close()
            return
        try:
            self._waiting.set_result(self.socket.recv(self._max_bytes))
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._waiting.set_exception(error)
