"""Output: the only place that keeps what a script prints until it is sent."""

import time
from collections.abc import Callable

SECONDS = 0.02
"""How long a line may wait, so that it is not lost if the script has to be killed."""

Flush = Callable[[bytes, bool], None]
"""Takes text, and whether that was all that may be printed and more was to come."""


class Output:
    """What was printed and not sent yet; the first line is sent at once."""

    def __init__(self, send: Flush) -> None:
        self._send = send
        self._left = 0
        self._kept: list[bytes] = []
        self._sent_at = 0.0

    def most(self, count: int) -> None:
        """Take so many bytes and no more."""
        self._left = count

    def printed(self, *values: object, sep: str = " ", end: str = "\n") -> None:
        """Print as Python does."""
        line = str.encode(sep.join(map(str, values)) + end, "utf-8", "replace")
        self._kept.append(line[: self._left])
        if len(line) > self._left:
            self._give(over=True)
        self._left -= len(line)
        if time.monotonic() - self._sent_at >= SECONDS:
            self.flush()

    def flush(self) -> None:
        """Send what was printed."""
        self._give(over=False)

    def _give(self, *, over: bool) -> None:
        self._sent_at = time.monotonic()
        text, self._kept = b"".join(self._kept), []
        self._send(text, over)
