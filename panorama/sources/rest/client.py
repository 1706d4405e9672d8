"""The HTTP client of hand-written sources: one service, one key, one rate.

A request has a deadline that holds however slowly the service answers; so requests run in the event loop of the
sources. The client waits as the service asks, but never past the deadline, and repeats only what may be repeated. It
follows no redirect, which would carry the key to another host, and hides the values of secrets in every answer.
"""

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from panorama.domain.sources.hiding import SecretHider
from panorama.errors import OutcomeUnknownError, PanoramaError, SourceError, UnavailableError
from panorama.sources.event_loop import LOOP, LoopStoppedError
from panorama.sources.options import LOCAL_HOSTS
from panorama.sources.rest.messages import ClosedError, Request, Response, TooLargeError, exchange
from panorama.sources.rest.refusals import build_refusal, parse_message, parse_wait_seconds
from panorama.sources.source import Deadline
from panorama.sources.token_bucket import TokenBucket

if TYPE_CHECKING:
    import httpx2

MAX_ATTEMPTS = 5
MAX_ANSWER_BYTES = 8 << 20
CONNECT_SECONDS = 5.0
CLOSE_SECONDS = 5.0
FIRST_PAUSE_SECONDS = 0.5
POLL_SECONDS = 0.05
"""How often a waiting request checks whether its caller stopped."""

OVERLOADED_STATUSES = frozenset({429, 529})
"""The service refused before it did anything: any request may be sent again."""

BROKEN_STATUSES = frozenset({500, 502, 503, 504})
"""The service may have carried out the request."""

_LATER_HINT = "Try again later."


Send = Callable[[Request], Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The properties of a service that a client needs.

    `title` and `source` are its names in messages and hints, `base` is the address that paths follow. One answer takes
    `call_seconds` at most; waiting because the service asks for it does not count. `authorize`
    returns the headers with the key, and the values to hide; it is called at the first request. `sign` returns the
    headers of a single request, such as a token that expires; it may send requests that are not signed. Each change
    costs `write_tokens` of the rate.
    """

    title: str
    source: str
    base: str
    call_seconds: float
    authorize: Callable[[], tuple[Mapping[str, str], Sequence[str]]]
    bucket: TokenBucket
    sign: Callable[[Send], Mapping[str, str]] | None = None
    write_tokens: float = 1.0


class RestClient:
    """Sends requests to one service. Thread-safe; connects at the first request."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._http: httpx2.AsyncClient | None = None
        self._lock = threading.Lock()
        self._secrets: tuple[str, ...] = ()
        self._hider = SecretHider(())

    def send(self, request: Request, deadline: Deadline) -> Response:
        """Send a request, wait as the service asks, and return its answer.

        Raises:
            SourceError, NotFoundError, InvalidInputError, ConflictError: The service refuses.
            UnavailableError: It cannot be reached in time, or asks to wait longer than there is time.
            OutcomeUnknownError: A request that changes something ended without an answer.
        """
        may_be_done = False
        for attempt in range(1, MAX_ATTEMPTS + 1):
            self._wait(self.service.bucket.take(request.tokens, deadline.seconds_left), deadline)
            try:
                return self._send_once(request, deadline)
            except _FailedAttemptError as failure:
                may_be_done |= failure.may_be_done and not request.reads_only
                pause = self._choose_pause(request, failure, attempt)
                if pause is None or (failure.asked_seconds is None and pause > deadline.seconds_left):
                    raise self._build_error(failure.error, may_be_done) from failure.__cause__
            self._wait(pause, deadline, may_be_done=may_be_done)
        raise AssertionError("the last attempt returns or raises")

    def add_secrets(self, values: Sequence[str]) -> None:
        """Hide further values in answers, such as a token that the service issued."""
        if new := [value for value in values if value not in self._secrets]:
            self._secrets = (*self._secrets, *new)
            self._hider = SecretHider(self._secrets)

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        with self._lock:
            http, self._http = self._http, None
        if http:
            with suppress(TimeoutError, LoopStoppedError):
                LOOP.run(http.aclose(), Deadline.after(CLOSE_SECONDS))
            LOOP.detach()

    def _choose_pause(self, request: Request, failure: "_FailedAttemptError", attempt: int) -> float | None:
        """Return the seconds before the next attempt, None if there is none."""
        asked = failure.asked_seconds
        pause = FIRST_PAUSE_SECONDS * 2 ** (attempt - 1) if asked is None else asked
        pause += random.uniform(0, pause / 10)
        if failure.is_overloaded:
            self.service.bucket.pause(pause)
        is_allowed = failure.is_temporary and (request.is_repeatable or not failure.may_be_done)
        return pause if is_allowed and attempt < MAX_ATTEMPTS else None

    def _build_error(self, error: PanoramaError, may_be_done: bool) -> PanoramaError:
        if not may_be_done:
            return error
        return OutcomeUnknownError(
            f"{error.message} It is not known whether the call was carried out.",
            hint=f"Look at {self.service.title} before you repeat it.",
        )

    def _wait(self, seconds: float, deadline: Deadline, *, may_be_done: bool = False) -> None:
        """Wait, unless that takes longer than there is time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if left > deadline.seconds_left:
                text = f"{self.service.title} asks to wait {left:,.0f} s, and this run has "
                error = UnavailableError(
                    f"{text}{deadline.seconds_left:,.0f} s left.", hint="Run the script in the background, or later."
                )
                raise self._build_error(error, may_be_done)
            time.sleep(min(POLL_SECONDS, left))

    def _send_once(self, request: Request, deadline: Deadline) -> Response:
        import httpx2  # takes 100 ms

        title, may_be_done = self.service.title, not request.reads_only
        http = self._open_http()
        try:
            seconds = min(self.service.call_seconds, deadline.seconds_left)
            limit = Deadline.after(seconds, deadline.is_stopped)
            response = LOOP.run(exchange(http, request, MAX_ANSWER_BYTES), limit)
        except TimeoutError as error:
            failure = UnavailableError(f"{title} did not answer in time.", hint=_LATER_HINT)
            raise _FailedAttemptError(failure, may_be_done=may_be_done) from error
        except TooLargeError as error:
            failure = SourceError(f"{title} returned more than {MAX_ANSWER_BYTES >> 20} MB.", hint="Ask for less.")
            raise _FailedAttemptError(failure, may_be_done=may_be_done) from error
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            failure = UnavailableError(f"{title} cannot be reached.", hint="Check the network and the address.")
            raise _FailedAttemptError(failure, is_temporary=True) from error
        except (httpx2.TransportError, ClosedError, LoopStoppedError) as error:
            failure = UnavailableError(f"The connection to {title} broke.", hint=_LATER_HINT)
            raise _FailedAttemptError(failure, is_temporary=True, may_be_done=may_be_done) from error
        return self._check_status(response.with_text(self._hider.hide(response.text)), may_be_done=may_be_done)

    def _check_status(self, response: Response, *, may_be_done: bool) -> Response:
        title, status = self.service.title, response.status
        if 200 <= status < 300:
            return response
        if 300 <= status < 400:
            host = urlsplit(response.headers.get("location", "")).hostname or "another address"
            text = f"{title} redirects to {host} ({status}); redirects are not followed."
            raise _FailedAttemptError(SourceError(text, hint="Correct the address of the source."))
        message, asked_seconds = parse_message(response.text), parse_wait_seconds(response.headers)
        is_overloaded = status in OVERLOADED_STATUSES
        if is_overloaded or status in BROKEN_STATUSES:
            raise _FailedAttemptError(
                UnavailableError(f"{title} answered {status}" + (f": {message}" if message else "."), hint=_LATER_HINT),
                is_temporary=True,
                is_overloaded=is_overloaded,
                may_be_done=may_be_done and not is_overloaded,
                asked_seconds=asked_seconds,
            )
        raise _FailedAttemptError(build_refusal(title, self.service.source, status, message))

    def _open_http(self) -> "httpx2.AsyncClient":
        import httpx2

        with self._lock:
            if self._http is None:
                headers, secrets = self.service.authorize()
                self.add_secrets(secrets)
                self._http = httpx2.AsyncClient(
                    base_url=self.service.base,
                    headers={"accept": "application/json", "accept-encoding": "identity", **headers},
                    follow_redirects=False,
                    timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),  # the deadline of each call ends the rest
                    verify=self.service.base.startswith("https:"),  # reading certificates takes 30 ms
                    trust_env=urlsplit(self.service.base).hostname not in LOCAL_HOSTS,  # no proxy on this machine
                )
                LOOP.attach()
            return self._http


class _FailedAttemptError(Exception):
    """One attempt failed; the flags say whether another may follow, `asked_seconds` when the service wants it."""

    def __init__(
        self,
        error: PanoramaError,
        *,
        is_temporary: bool = False,
        is_overloaded: bool = False,
        may_be_done: bool = False,
        asked_seconds: float | None = None,
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.is_temporary = is_temporary
        self.is_overloaded = is_overloaded
        self.may_be_done = may_be_done
        self.asked_seconds = asked_seconds
