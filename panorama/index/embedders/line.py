"""The line to another program's HTTP service: the only module here that sends anything, and that waits for an answer.

Everything ends in time: a request with its repetitions has one deadline, whether the other side refuses, is silent, or
sends a byte now and then. Timeouts of single reads cannot hold that, so the requests run in an event loop.
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

LOCAL = ("127.0.0.1", "::1", "localhost")

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long one waits, in seconds, and how much one takes.

    `documents` and `query` bound a request with all its repetitions; `documents` is for 32 texts, fewer have less. A
    repetition comes after `pause`, twice that, and so on, or when the other side said, if that is still in time.
    Somebody waits for what is found by a query, so that one is not repeated, unless `repeats_queries`.
    """

    documents: float = 120.0
    query: float = 5.0
    pause: float = 0.5
    connect: float = 3.0
    answer_bytes: int = 64 << 20
    repeats_queries: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: the status, and the body as JSON, None if it is none."""

    status: int
    body: Any


@dataclass(frozen=True, slots=True)
class _Request:
    client: "httpx2.AsyncClient"
    method: str
    url: str
    body: Mapping[str, Any] | None = None


class _AgainError(Exception):
    """The request may succeed if it is repeated; `after` is what the other side asked for, in seconds.

    `within` so many seconds of the beginning it is worth a repetition. `answer` is what came, if that says it best.
    """

    def __init__(
        self, reason: str, after: float = 0.0, *, within: float = math.inf, answer: Answer | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.after, self.within, self.answer = reason, after, within, answer


@dataclass
class Line:
    """Sends requests to one service, and keeps its connection; safe in threads."""

    base: str
    headers: Mapping[str, str] = field(repr=False)
    limits: Limits
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _loop: "_Loop | None" = field(default=None, repr=False)
    _refused: Answer | None = field(default=None, repr=False)
    _quiet_until: float = 0.0

    def get(self, path: str, seconds: float) -> Answer:
        """Ask for a resource.

        Raises:
            UnavailableError: No answer came in time.
        """
        loop = self._opened()
        return loop.run(self._repeated(_Request(loop.client, "GET", self.base + path), seconds))

    def post(self, path: str, body: Mapping[str, Any], seconds: float, *, repeats: bool = True) -> Answer:
        """Send a question; what it asks must bear repetition.

        Raises:
            UnavailableError: No answer came in time.
        """
        loop = self._opened()
        request = _Request(loop.client, "POST", self.base + path, body)
        return loop.run(self._repeated(request, seconds, repeats=repeats))

    def knock(self, path: str, body: Mapping[str, Any], seconds: float) -> Answer:
        """Send a question, and once more beside it as long as there is no answer; return the first one that comes.

        So a service that takes long to begin has its time, and one that has swallowed a question and answers others by
        now is found.

        Raises:
            UnavailableError: No answer came in time, or one of the questions could not be asked.
        """
        loop = self._opened()
        return loop.run(self._first(_Request(loop.client, "POST", self.base + path, body), seconds))

    def close(self) -> None:
        """Hang up; whoever waits for an answer hears that it is unavailable."""
        with self._lock:
            was, self._loop = self._loop, None
        if was:
            was.close()

    def _opened(self) -> "_Loop":
        with self._lock:
            if self._loop is None:
                self._loop = _Loop(self._client())
            return self._loop

    def _client(self) -> "httpx2.AsyncClient":
        import httpx2  # takes 100 ms

        return httpx2.AsyncClient(
            headers={**self.headers, "accept-encoding": "identity"},  # so that a small answer stays small
            timeout=httpx2.Timeout(None, connect=self.limits.connect),
            follow_redirects=False,  # the key goes to the chosen place alone
            verify=self.base.startswith("https:"),  # reading certificates takes 30 ms
            trust_env=urlsplit(self.base).hostname not in LOCAL,  # no proxy stands between us and ourselves
        )

    async def _first(self, request: "_Request", seconds: float) -> Answer:
        end, pause = time.monotonic() + seconds, KNOCK_SECONDS
        asked = [asyncio.create_task(self._repeated(request, seconds))]
        try:
            while True:
                left = end - time.monotonic()
                is_last = left <= pause
                waited = None if is_last else pause
                done, _ = await asyncio.wait(asked, timeout=waited, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    return next(each for each in asked if each in done).result()
                asked.append(asyncio.create_task(self._repeated(request, left - pause)))
                pause = min(2 * pause, LONGEST_KNOCK_SECONDS)
        finally:
            for each in asked:
                each.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    async def _repeated(self, request: "_Request", seconds: float, *, repeats: bool = True) -> Answer:
        begun, pause = time.monotonic(), self.limits.pause
        reason = f"no whole answer came within {seconds:.3g} s"
        if self._refused and begun < self._quiet_until:
            return self._refused
        try:
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        return await self._once(request)
                    except _AgainError as again:
                        reason, wait, within = again.reason, again.after or pause, min(seconds, again.within)
                        answer = again.answer
                    if not repeats or time.monotonic() + wait >= begun + within:
                        if answer:
                            self._refused, self._quiet_until = answer, time.monotonic() + min(wait, QUIET_SECONDS)
                            return answer
                        break
                    await asyncio.sleep(wait)
                    pause *= 2
        except TimeoutError:
            pass
        raise UnavailableError(f"The embedding service at {self.base} is out of order: {reason}.", hint=_HINT)

    async def _once(self, request: "_Request") -> Answer:
        import httpx2

        try:
            async with request.client.stream(request.method, request.url, json=request.body) as response:
                content = await self._content(response)
        except httpx2.ConnectError as error:
            raise _AgainError("nothing answers there", within=ABSENT_SECONDS) from error
        except httpx2.TransportError as error:
            raise _AgainError(f"the connection broke ({type(error).__name__})") from error
        if response.status_code in _PASSING:
            told = Answer(status=LIMITED, body=_parsed(content)) if response.status_code == LIMITED else None
            after = _seconds(response.headers.get("retry-after", ""))
            raise _AgainError(f"it answers {response.status_code}", after, within=PASSING_SECONDS, answer=told)
        return Answer(status=response.status_code, body=_parsed(content))

    async def _content(self, response: "httpx2.Response") -> bytes:
        content = bytearray()
        async for part in response.aiter_raw():
            content += part
            if len(content) > self.limits.answer_bytes:
                raise UnavailableError(
                    f"The embedding service at {self.base} answers with more than {self.limits.answer_bytes:,} bytes.",
                    hint=_HINT,
                )
        return bytes(content)


ABSENT_SECONDS = 3.0
"""How long a service at which nobody listens is given to begin: one that restarts is there again by then."""

PASSING_SECONDS = 10.0
"""How long a failure that may pass is tried again in silence; then it is told, and who asks tries it after a pause."""

LIMITED = 429
QUIET_SECONDS = 300.0
"""A service that is asked for too much is sent nothing for as long as it says, and at most so long."""

KNOCK_SECONDS, LONGEST_KNOCK_SECONDS = 5.0, 30.0
"""After how long without an answer one knocks again: twice as long each time, and at most so long."""

_PASSING = frozenset({408, 425, LIMITED, 500, 502, 503, 504})
_HINT = "See that it runs and can be reached, or choose another embedder."


class _Loop:
    """An event loop in a thread of its own, and a client that lives in it."""

    def __init__(self, client: "httpx2.AsyncClient") -> None:
        self.client = client
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="embedding service", daemon=True)
        self._thread.start()

    def run(self, act: Coroutine[Any, Any, Result]) -> Result:
        """Run something in the loop and return what it gives."""
        try:
            with self._lock:
                if self._closed:
                    act.close()
                    raise CancelledError
                promised = asyncio.run_coroutine_threadsafe(act, self._loop)
            return promised.result()
        except CancelledError as error:
            raise UnavailableError("The embedder was closed while it worked.", hint="Try again.") from error

    def close(self) -> None:
        """End what runs, and the thread."""
        with self._lock:
            # What was promised before stands before the stop in the loop's queue, so that it is known and can be ended.
            self._closed = True
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _work(self) -> None:
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._ended())
        finally:
            self._loop.close()

    async def _ended(self) -> None:
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        await self.client.aclose()


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _seconds(retry_after: str) -> float:
    """Return what a Retry-After header asks for: seconds, or a date."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return 0.0
