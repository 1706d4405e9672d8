"""Buffers what a script prints."""

import time
from collections.abc import Callable

FLUSH_SECONDS = 0.02
"""How long a line may wait; lines that wait are lost if the script is killed."""

Flush = Callable[[bytes, bool], None]
"""Takes text, and whether the limit was reached."""


class Output:
    """Printed text that was not sent yet; the first line is sent at once."""

    def __init__(self, send: Flush) -> None:
        self._send = send
        self._remaining_bytes = 0
        self._lines: list[bytes] = []
        self._sent_at = 0.0

    def set_limit(self, count: int) -> None:
        """Set the limit in bytes."""
        self._remaining_bytes = count

    def print(self, *values: object, sep: str = " ", end: str = "\n") -> None:
        """Print as Python does."""
        line = str.encode(sep.join(map(str, values)) + end, "utf-8", "replace")
        self._lines.append(line[: self._remaining_bytes])
        if len(line) > self._remaining_bytes:
            self._send_buffer(is_cut=True)
        self._remaining_bytes -= len(line)
        if time.monotonic() - self._sent_at >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Send the buffered text."""
        self._send_buffer(is_cut=False)

    def _send_buffer(self, *, is_cut: bool) -> None:
        self._sent_at = time.monotonic()
        text, self._lines = b"".join(self._lines), []
        self._send(text, is_cut)
