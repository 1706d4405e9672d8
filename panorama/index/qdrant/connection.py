"""The connection to a Qdrant server: its clients, a second attempt, its last error, and error translation."""

import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from panorama.errors import UnavailableError
from panorama.index.points import Status

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

READ_SECONDS = 2
WRITE_SECONDS = 30
SPARE_SECONDS = 5.0
"""How long searches skip an unreachable server, because each would wait for it."""

READ_PAUSE_SECONDS, WRITE_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.1, 1.0, 10.0
"""The pause before the second attempt; if the server asks for a longer one, only writes wait for it."""

MIN_VERSION = 1, 14
"""The first version with everything that collections need."""

GUARD_VERSION = 1, 16
"""The first version that can refuse a write that comes too late."""

TURBO_VERSION = 1, 18
"""The first version with TurboQuant."""

MEANWHILE = "Keyword search works meanwhile."

Answer = TypeVar("Answer")


class Connection:
    """The connection to a server; thread-safe.

    Args:
        url: Such as `http://localhost:6333`; the port is 6333 if none is given.
    """

    def __init__(self, url: str, key: str, clock: Callable[[], float]) -> None:
        self._url = url
        self._headers = {"api-key": key} if key else {}
        self._clock = clock
        self._lock = Lock()
        self._clients: dict[int, QdrantClient] = {}
        self._calls = 0
        self._error: UnavailableError | None = None
        self._spared_until = 0.0
        self._has_answered = False
        self._closing = Event()
        self.version: tuple[int, int] | None = None
        """The server's version, None while it is unknown."""

    @property
    def address(self) -> str:
        """The server's host and port, without secrets."""
        parts = urlsplit(self._url)
        return f"{parts.hostname or self._url}:{parts.port or 6333}"

    def status(self) -> tuple[Status, str]:
        """Return the outcome of the last call."""
        if self._error is not None:
            return "down", self._error.message
        return ("ready" if self._has_answered else "starting"), ""

    def call(self, seconds: int, request: Callable[["QdrantClient"], Answer]) -> Answer:
        """Return the answer to a request with a timeout.

        If the server is busy or the connection is lost, the request is sent once more after a pause: all requests can
        be repeated. Short calls fail immediately while the server is known to be unreachable.

        Raises:
            UnavailableError: It is unreachable, or returned an error.
        """
        if seconds == READ_SECONDS and self._error is not None and self._clock() < self._spared_until:
            raise self._error
        with self._translate_errors(seconds):
            try:
                answer = self._send(seconds, request)
            except Exception as error:  # those that are not transient are raised again
                if not _is_transient(error):
                    raise
                self._closing.wait(_pause_seconds(error, seconds))
                answer = self._send(seconds, request)
        self._has_answered, self._error = True, None
        return answer

    def check_version(self, client: "QdrantClient") -> None:
        """Ask for the server's version; one that does not report it is accepted.

        Raises:
            UnavailableError: It is too old.
        """
        from qdrant_client.http.exceptions import UnexpectedResponse

        try:
            self.version = _parse_version(client.info().version)
        except UnexpectedResponse as error:
            if error.status_code not in (401, 403, 404):  # a proxy may show the collections alone
                raise
            self.version = None
        if self.version is not None and self.version < MIN_VERSION:
            raise self.old_version_error(MIN_VERSION, "Panorama")

    def old_version_error(self, needed: tuple[int, int], purpose: str) -> UnavailableError:
        """Return the error for a server that is too old for something."""
        version, least = (".".join(map(str, numbers)) for numbers in (self.version or (0, 0), needed))
        message = f"The Qdrant server at {self.address} is version {version}; {purpose} needs {least} or later."
        return self._remember_error(UnavailableError(message, hint=f"Upgrade the server. {MEANWHILE}"))

    def _send(self, seconds: int, request: Callable[["QdrantClient"], Answer]) -> Answer:
        """Send a request; the last user of a closed connection closes the clients."""
        with self._lock:
            if self._closing.is_set():
                raise UnavailableError("The index is closed.", hint="Ask again.")
            client = self._get_client(seconds)
            self._calls += 1
        try:
            return request(client)
        finally:
            with self._lock:
                self._calls -= 1
                self._close_if_unused()

    def _get_client(self, seconds: int) -> "QdrantClient":
        from qdrant_client import QdrantClient

        if seconds not in self._clients:
            # The key as a header: as `api_key` it would also choose https, and warn of http on this machine.
            self._clients[seconds] = QdrantClient(
                url=self._url, headers=self._headers, timeout=seconds, check_compatibility=False
            )
        return self._clients[seconds]

    @contextmanager
    def _translate_errors(self, seconds: int) -> Generator[None]:
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            yield
        except UnexpectedResponse as error:
            raise self._refusal_error(error.status_code or 0, error.content) from error
        except QdrantException as error:  # raised for 429 only
            raise self._refusal_error(429, f"{error}".encode()) from error
        except ResponseHandlingException as error:
            raise self._unreachable_error(error.source, seconds) from error
        except (ValueError, AssertionError) as error:  # no JSON, none of Qdrant's, or JSON without a result
            raise self._not_qdrant_error() from error

    def _refusal_error(self, status: int, content: bytes) -> UnavailableError:
        why, is_qdrants = parse_reason(content)
        if not is_qdrants and (status < 400 or status in (404, 405)):  # a proxy or a full server may say the others
            return self._not_qdrant_error(f" ({status})")
        self._has_answered = True
        if status == 404:
            return UnavailableError(f"The collection at {self.address} is gone; it is created again.", hint=MEANWHILE)
        if status in (401, 403):
            message = f"The Qdrant server at {self.address} refused the key ({status}): {why}"
            hint = (
                "Check qdrant_key (PANORAMA_QDRANT_KEY): the key must be allowed to create collections and to write. "
                f"{MEANWHILE}"
            )
            return self._remember_error(UnavailableError(message, hint=hint))
        message = f"The Qdrant server at {self.address} refused a request ({status}): {why}"
        refused = UnavailableError(message, hint=f"See its log. {MEANWHILE}")
        return refused if status == 400 else self._remember_error(refused, spares=False)

    def _unreachable_error(self, cause: Exception, seconds: int) -> UnavailableError:
        from httpx import TimeoutException, TransportError

        if isinstance(cause, TimeoutException):
            message, hint = f"The Qdrant server at {self.address} did not answer in {seconds} s.", "Check the server."
        elif isinstance(cause, TransportError):
            message, hint = f"The Qdrant server at {self.address} cannot be reached.", "Start it, or check its address."
        else:
            return self._not_qdrant_error()
        return self._remember_error(
            UnavailableError(message, hint=f"{hint} It is set by qdrant_url (PANORAMA_QDRANT_URL). {MEANWHILE}")
        )

    def _not_qdrant_error(self, status: str = "") -> UnavailableError:
        """Return the error for something that answers, but not as Qdrant does; it is also skipped for a while."""
        message = f"What answers at {self.address} is not Qdrant{status}."
        return self._remember_error(UnavailableError(message, hint=f"{_CHECK} {MEANWHILE}"))

    def _remember_error(self, error: UnavailableError, *, spares: bool = True) -> UnavailableError:
        """Record an error until a call succeeds; searches skip the server for a while, unless it answered quickly."""
        self._error, self._spared_until = error, self._clock() + (SPARE_SECONDS if spares else 0.0)
        return error

    def close(self) -> None:
        """Close the connections, or leave that to running calls."""
        with self._lock:
            self._closing.set()
            self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._closing.is_set() and not self._calls:
            for entry in self._clients.values():
                entry.close()
            self._clients = {}


def _is_transient(error: Exception) -> bool:
    """Return whether a second attempt may succeed: the server is busy or starting, or the connection was lost."""
    from httpx import TimeoutException, TransportError
    from qdrant_client.common.client_exceptions import QdrantException
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    if isinstance(error, UnexpectedResponse):
        return error.status_code in (429, 503)
    if isinstance(error, ResponseHandlingException):
        return isinstance(error.source, TransportError) and not isinstance(error.source, TimeoutException)
    return isinstance(error, QdrantException)


def _pause_seconds(error: Exception, seconds: int) -> float:
    """Return the pause before the second attempt: what the server asked for, if the caller can wait."""
    if seconds == READ_SECONDS:
        return READ_PAUSE_SECONDS
    return min(max(float(getattr(error, "retry_after_s", 0)), WRITE_PAUSE_SECONDS), MAX_PAUSE_SECONDS)


def _parse_version(version: str) -> tuple[int, int] | None:
    match = re.match(r"v?(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else None


def parse_reason(content: bytes) -> tuple[str, bool]:
    """Return a short error message, and whether it has Qdrant's format."""
    try:
        return str(json.loads(content)["status"]["error"])[:300], True
    except (ValueError, TypeError, KeyError):
        return content[:300].decode(errors="replace"), False


_CHECK = (
    "Check host, port (Qdrant's is 6333) and path in the setting qdrant_url (PANORAMA_QDRANT_URL), and that the server "
    "is Qdrant 1.14 or later."
)
