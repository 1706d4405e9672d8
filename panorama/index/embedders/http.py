"""HTTP client for embedding services: retries, and one deadline per request.

A request with its retries has one deadline, whether the service refuses, is silent, or sends a byte now and then.
Timeouts of single reads cannot guarantee that, so the requests run in an event loop.
"""

import asyncio
import email.utils
import json
import math
import threading
import time
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from panorama.errors import UnavailableError

if TYPE_CHECKING:
    import httpx2

LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Time limits in seconds, and size limits.

    `documents` and `query` limit a request including its retries; `documents` is for 32 texts, fewer get less. Retries
    follow after `pause`, twice that, and so on, or as the service requests. Queries are only retried with
    `repeats_queries`, because a user waits for them.
    """

    documents: float = 120.0
    query: float = 5.0
    pause: float = 0.5
    connect: float = 3.0
    answer_bytes: int = 64 << 20
    repeats_queries: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A response: the status, and the body as JSON, None if it is not JSON."""

    status: int
    body: Any


@dataclass(frozen=True, slots=True)
class _Request:
    client: "httpx2.AsyncClient"
    method: str
    url: str
    body: Mapping[str, Any] | None = None


class _RetryError(Exception):
    """The request may succeed if retried; `after` is the delay requested by the service, in seconds.

    It is retried only `within` this many seconds of the start. `answer` is the response, if any.
    """

    def __init__(
        self, reason: str, after: float = 0.0, *, within: float = math.inf, answer: HttpResponse | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.after, self.within, self.answer = reason, after, within, answer


@dataclass
class HttpClient:
    """Sends requests to one service, and keeps its connection; safe in threads."""

    base: str
    headers: Mapping[str, str] = field(repr=False)
    limits: Limits
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _loop: "_LoopThread | None" = field(default=None, repr=False)
    _refused: HttpResponse | None = field(default=None, repr=False)
    _quiet_until: float = 0.0

    def get(self, path: str, seconds: float) -> HttpResponse:
        """Get a resource.

        Raises:
            UnavailableError: No answer came in time.
        """
        loop = self._ensure_loop()
        return loop.run(self._send_with_retries(_Request(loop.client, "GET", self.base + path), seconds))

    def post(self, path: str, body: Mapping[str, Any], seconds: float, *, repeats: bool = True) -> HttpResponse:
        """Send an idempotent request.

        Raises:
            UnavailableError: No answer came in time.
        """
        loop = self._ensure_loop()
        request = _Request(loop.client, "POST", self.base + path, body)
        return loop.run(self._send_with_retries(request, seconds, repeats=repeats))

    def post_hedged(self, path: str, body: Mapping[str, Any], seconds: float) -> HttpResponse:
        """Send a request, and repeat it in parallel until the first answer comes.

        So a service may take long to start, and one that lost the first request but answers others is detected.

        Raises:
            UnavailableError: No answer came in time, or one of the requests failed.
        """
        loop = self._ensure_loop()
        return loop.run(self._send_hedged(_Request(loop.client, "POST", self.base + path, body), seconds))

    def close(self) -> None:
        """Close it; pending requests become unavailable."""
        with self._lock:
            was, self._loop = self._loop, None
        if was:
            was.close()

    def _ensure_loop(self) -> "_LoopThread":
        with self._lock:
            if self._loop is None:
                self._loop = _LoopThread(self._create_client())
            return self._loop

    def _create_client(self) -> "httpx2.AsyncClient":
        import httpx2  # takes 100 ms

        return httpx2.AsyncClient(
            headers={**self.headers, "accept-encoding": "identity"},  # so that a small answer stays small
            timeout=httpx2.Timeout(None, connect=self.limits.connect),
            follow_redirects=False,  # the key is only sent to the chosen address
            verify=self.base.startswith("https:"),  # reading certificates takes 30 ms
            trust_env=urlsplit(self.base).hostname not in LOCAL_HOSTS,  # no proxy for the local machine
        )

    async def _send_hedged(self, request: "_Request", seconds: float) -> HttpResponse:
        end, pause = time.monotonic() + seconds, HEDGE_SECONDS
        asked = [asyncio.create_task(self._send_with_retries(request, seconds))]
        try:
            while True:
                left = end - time.monotonic()
                is_last = left <= pause
                waited = None if is_last else pause
                done, _ = await asyncio.wait(asked, timeout=waited, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    return next(entry for entry in asked if entry in done).result()
                asked.append(asyncio.create_task(self._send_with_retries(request, left - pause)))
                pause = min(2 * pause, MAX_HEDGE_SECONDS)
        finally:
            for entry in asked:
                entry.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    async def _send_with_retries(self, request: "_Request", seconds: float, *, repeats: bool = True) -> HttpResponse:
        started, pause = time.monotonic(), self.limits.pause
        reason = f"no complete answer came within {seconds:.3g} s"
        if self._refused and started < self._quiet_until:
            return self._refused
        try:
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        return await self._send_once(request)
                    except _RetryError as again:
                        reason, wait, within = again.reason, again.after or pause, min(seconds, again.within)
                        answer = again.answer
                    if not repeats or time.monotonic() + wait >= started + within:
                        if answer:
                            self._refused, self._quiet_until = (
                                answer,
                                time.monotonic() + min(wait, MAX_RATE_LIMIT_SECONDS),
                            )
                            return answer
                        break
                    await asyncio.sleep(wait)
                    pause *= 2
        except TimeoutError:
            pass
        raise UnavailableError(f"The embedding service at {self.base} failed: {reason}.", hint=_HINT)

    async def _send_once(self, request: "_Request") -> HttpResponse:
        import httpx2

        try:
            async with request.client.stream(request.method, request.url, json=request.body) as response:
                content = await self._read_content(response)
        except httpx2.ConnectError as error:
            raise _RetryError("nothing answers at this address", within=CONNECT_RETRY_SECONDS) from error
        except httpx2.TransportError as error:
            raise _RetryError(f"the connection broke ({type(error).__name__})") from error
        if response.status_code in _RETRYABLE_STATUSES:
            answer = (
                HttpResponse(status=TOO_MANY_REQUESTS, body=_parse_json(content))
                if response.status_code == TOO_MANY_REQUESTS
                else None
            )
            after = _parse_retry_after(response.headers.get("retry-after", ""))
            raise _RetryError(f"it returned status {response.status_code}", after, within=RETRY_SECONDS, answer=answer)
        return HttpResponse(status=response.status_code, body=_parse_json(content))

    async def _read_content(self, response: "httpx2.Response") -> bytes:
        content = bytearray()
        async for part in response.aiter_raw():
            content += part
            if len(content) > self.limits.answer_bytes:
                raise UnavailableError(
                    f"The embedding service at {self.base} returned more than {self.limits.answer_bytes:,} bytes.",
                    hint=_HINT,
                )
        return bytes(content)


CONNECT_RETRY_SECONDS = 3.0
"""How long a service that refuses connections may take to restart."""

RETRY_SECONDS = 10.0
"""How long a temporary failure is retried silently; then it is reported, and later retried by the caller."""

TOO_MANY_REQUESTS = 429
MAX_RATE_LIMIT_SECONDS = 300.0
"""The longest pause after a rate limit response."""

HEDGE_SECONDS, MAX_HEDGE_SECONDS = 5.0, 30.0
"""The first and the longest interval between parallel repetitions; it doubles each time."""

_RETRYABLE_STATUSES = frozenset({408, 425, TOO_MANY_REQUESTS, 500, 502, 503, 504})
_HINT = "Check that it is running and reachable, or choose another embedder."


class _LoopThread:
    """An event loop in its own thread, with a client."""

    def __init__(self, client: "httpx2.AsyncClient") -> None:
        self.client = client
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run_loop, name="embedding service", daemon=True)
        self._thread.start()

    def run(self, act: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the loop and return its result."""
        try:
            with self._lock:
                if self._closed:
                    act.close()
                    raise CancelledError
                promised = asyncio.run_coroutine_threadsafe(act, self._loop)
            return promised.result()
        except CancelledError as error:
            raise UnavailableError("The embedder was closed during the call.", hint="Try again.") from error

    def close(self) -> None:
        """Cancel running requests, and end the thread."""
        with self._lock:
            # Requests submitted before are queued before the stop, so that they are known and can be cancelled.
            self._closed = True
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run_loop(self) -> None:
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._cancel_all())
        finally:
            self._loop.close()

    async def _cancel_all(self) -> None:
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        await self.client.aclose()


def _parse_json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _parse_retry_after(retry_after: str) -> float:
    """Parse a Retry-After header: seconds, or a date."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return 0.0
