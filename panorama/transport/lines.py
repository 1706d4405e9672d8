"""Splits a byte stream into lines, one message each; standard library only."""

from collections.abc import Generator

MAX_LINE_BYTES = 32 << 20
"""The longest accepted line: a note of 10 MB fits, even if a third of its bytes is escaped."""

EDGE_BYTES = 4096


class OversizedLine:
    """An oversized line; its beginning and end are kept to find its sender's request id."""

    def __init__(self, edges: bytes) -> None:
        self.edges = edges


class LineDecoder:
    """Splits chunks of bytes into lines without line ends; oversized ones are dropped and reported."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._most = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._dropped: tuple[bytes, bytes] | None = None

    def feed(self, chunk: bytes) -> Generator[bytes | OversizedLine]:
        """Add a chunk and yield the completed lines."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._append(end)
            yield self._take_line()
        self._append(rest)

    def _append(self, part: bytes) -> None:
        self._size += len(part)
        if self._dropped is None:
            self._parts.append(part)
            if self._size > self._most:
                self._dropped = b"".join(self._parts)[:EDGE_BYTES], b""
                self._parts = [part[-EDGE_BYTES:]]
        else:
            self._parts = [b"".join([*self._parts, part])[-EDGE_BYTES:]]

    def _take_line(self) -> bytes | OversizedLine:
        dropped, line = self._dropped, b"".join(self._parts)
        self._parts, self._size, self._dropped = [], 0, None
        return OversizedLine(dropped[0] + line) if dropped else line
