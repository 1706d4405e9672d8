"""Byte streams: the transport of a client's messages, and standard input and output as one."""

import os
import select
import sys
from typing import Protocol

import anyio
import anyio.to_thread

CHUNK_BYTES = 1 << 16
DISCONNECT_ERRORS = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class ByteStream(Protocol):
    """A stream of bytes in both directions."""

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
    """Standard input and output, for messages alone: other output goes to standard error."""

    def __init__(self) -> None:
        self._source, self._sink = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        sys.stdout.flush()
        os.dup2(2, 1)

    def wait_for_closed_stdout(self) -> None:
        """Wait until the reader of standard output has closed it."""
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
        await anyio.to_thread.run_sync(self._write_all, item)

    def _write_all(self, item: bytes) -> None:
        left = memoryview(item)
        while left:
            left = left[os.write(self._sink, left) :]
