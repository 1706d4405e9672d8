"""Requests to services and their answers."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from panorama.errors import InvalidInputError, SourceError

if TYPE_CHECKING:
    import httpx2

IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request.

    `reads_only` says that it changes nothing, as a POST that only searches. `body` is sent as JSON, `form` as a form.
    `tokens` is what it costs of the rate.
    """

    method: str
    path: str
    params: Mapping[str, str | list[str]] = field(default_factory=dict[str, str | list[str]])
    body: Any = None
    form: Mapping[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    reads_only: bool = False
    tokens: float = 1.0

    @property
    def is_repeatable(self) -> bool:
        """Whether it can be sent again if its outcome is unknown."""
        return self.reads_only or self.method in IDEMPOTENT_METHODS


@dataclass(frozen=True, slots=True)
class Response:
    """An answer; the names of its headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    text: str
    size_bytes: int

    def with_text(self, text: str) -> "Response":
        """Return the answer with another text."""
        return replace(self, text=text)

    def parse_json(self, title: str) -> Any:
        """Return the body, None if it is empty.

        Raises:
            SourceError: It is not JSON.
        """
        try:
            return json.loads(self.text) if self.text.strip() else None
        except (ValueError, RecursionError) as error:
            raise SourceError(
                f"{title} answered with something that is not JSON.",
                hint="Check the address of the source; the service may be in maintenance.",
            ) from error


class TooLargeError(Exception):
    """An answer has more bytes than are allowed."""


class ClosedError(Exception):
    """The client was closed during a request, or before it began."""


async def exchange(http: "httpx2.AsyncClient", request: Request, max_bytes: int) -> Response:
    """Send a request and read its answer.

    Raises:
        TooLargeError: The answer is larger than `max_bytes`.
        ClosedError: The client was closed meanwhile.
    """
    try:
        return await _exchange(http, request, max_bytes)
    except RuntimeError as error:
        if http.is_closed:
            raise ClosedError from error
        raise


async def _exchange(http: "httpx2.AsyncClient", request: Request, max_bytes: int) -> Response:
    async with http.stream(
        request.method,
        request.path,
        params=dict(request.params) or None,
        json=request.body,
        data=dict(request.form) if request.form is not None else None,
        headers=dict(request.headers),
    ) as response:
        content = bytearray()
        async for part in response.aiter_raw():
            content += part
            if len(content) > max_bytes:
                raise TooLargeError
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Response(response.status_code, headers, content.decode("utf-8", "replace"), len(content))


def build_path(*parts: str) -> str:
    """Return a path of parts, each one segment, so that an id cannot lead to another address.

    Raises:
        InvalidInputError: A part is empty, `.` or `..`, or contains a slash, which some services decode.
    """
    for part in parts:
        if part.strip() in ("", ".", "..") or {"/", "\\"} & set(part) or not part.isprintable():
            raise InvalidInputError(f"{part!r} is not an id.", hint="Pass the id of an item.")
    return "/" + "/".join(quote(part, safe="") for part in parts)


def encode_basic(user: str, password: str) -> str:
    """Return the credentials of HTTP Basic authentication."""
    return base64.b64encode(f"{user}:{password}".encode()).decode()
