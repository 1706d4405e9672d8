"""The session of one call: what endpoints send requests with."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from panorama.domain.text.json_types import is_list, is_object
from panorama.errors import SourceError
from panorama.sources.rest.client import RestClient
from panorama.sources.rest.messages import Request, Response
from panorama.sources.rest.paging import Rows
from panorama.sources.source import Deadline

MAX_PAGE_ROWS = 100
"""The maximum number of rows that one page has, at every service here."""


class RestSession:
    """Sends the requests of one call, until its deadline, and counts the bytes received."""

    def __init__(self, client: RestClient, deadline: Deadline) -> None:
        self._client = client
        self._deadline = deadline
        self.size_bytes = 0

    @property
    def title(self) -> str:
        """The service's name for messages."""
        return self._client.service.title

    def send(self, request: Request) -> Response:
        """Sign a request, send it and return its answer."""
        sign = self._client.service.sign
        return self._send(replace(request, headers={**request.headers, **sign(self._send)}) if sign else request)

    def _send(self, request: Request) -> Response:
        response = self._client.send(request, self._deadline)
        self.size_bytes += response.size_bytes
        return response

    def get(self, path: str, **params: Any) -> Any:
        """Read something and return the answer as JSON; parameters that are empty are not sent."""
        return self.get_response(path, **params).parse_json(self.title)

    def search(self, path: str, body: Mapping[str, Any], **params: Any) -> Any:
        """Read something by a POST, which can be repeated; parameters that are empty are not sent."""
        request = Request(method="POST", path=path, params=format_params(params), body=dict(body), reads_only=True)
        return self.send(request).parse_json(self.title)

    def change(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Change something and return the answer as JSON."""
        return self.send_change(method, path, body).parse_json(self.title)

    def send_change(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Response:
        """Change something and return the answer."""
        tokens = self._client.service.write_tokens
        return self.send(Request(method=method, path=path, body=body, tokens=tokens))

    def get_response(self, path: str, **params: Any) -> Response:
        """Read something and return the answer with its headers; parameters that are empty are not sent."""
        return self.send(Request(method="GET", path=path, params=format_params(params), reads_only=True))

    def read_object(self, answer: Any, *names: str) -> dict[str, Any]:
        """Return the object at a place in an answer.

        Raises:
            SourceError: There is none.
        """
        value = self.find(answer, *names)
        return dict(value) if is_object(value) else self._refuse_form(names, "an object")

    def read_rows(self, answer: Any, *names: str) -> Rows:
        """Return the rows at a place in an answer.

        Raises:
            SourceError: There is no list of objects.
        """
        value = self.find(answer, *names)
        if is_list(value) and all(is_object(row) for row in value):
            return value
        return self._refuse_form(names, "a list of objects")

    def find(self, answer: Any, *names: str) -> Any:
        """Return the value at a place in an answer, None if there is none."""
        for name in names:
            answer = answer.get(name) if is_object(answer) else None
        return answer

    def _refuse_form(self, names: tuple[str, ...], expected: str) -> Any:
        place = ".".join(names) or "the answer"
        raise SourceError(
            f"{self.title} answered in an unexpected form: {place} is not {expected}.",
            hint="Check the address of the source; the service may have changed its API.",
        )


def limit_rows(limit: int | None) -> int:
    """Return how many rows to ask for in one page."""
    return MAX_PAGE_ROWS if limit is None else max(1, min(limit, MAX_PAGE_ROWS))


def format_params(params: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return the parameters of a request as texts, without those that are empty; lists are sent as repeated ones."""
    return {
        name: [_format_param(part) for part in value] if is_list(value) else _format_param(value)
        for name, value in drop_empty(params).items()
    }


def drop_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping without values that are None, "", [] or {}."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def _format_param(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
