"""A token bucket: the rate of calls that all threads of a source share."""

import math
import threading
import time
from collections.abc import Callable


class TokenBucket:
    """Allows `burst` calls at once, and `per_second` after that. Thread-safe."""

    def __init__(self, per_second: float, burst: float, now: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._now = now
        self._tokens = burst
        self._updated_at = now()
        self._lock = threading.Lock()

    def take(self, tokens: float = 1.0, max_wait_seconds: float = math.inf) -> float:
        """Take tokens and return the seconds to wait before the call; callers are served in their order.

        Nothing is taken if that is longer than `max_wait_seconds`.
        """
        with self._lock:
            now = self._now()
            self._tokens = min(self._burst, self._tokens + (now - self._updated_at) * self._per_second)
            self._updated_at = now
            wait_seconds = max(0.0, (tokens - self._tokens) / self._per_second)
            if wait_seconds <= max_wait_seconds:
                self._tokens -= tokens
            return wait_seconds

    def pause(self, seconds: float) -> None:
        """Let no request pass for some seconds, because the service asked one of them to wait."""
        with self._lock:
            self._updated_at = self._now()
            self._tokens = min(self._tokens, 1.0 - seconds * self._per_second)
