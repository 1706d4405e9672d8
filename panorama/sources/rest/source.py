"""A source made of endpoints and one client."""

from collections.abc import Mapping, Sequence
from typing import Any

from panorama.domain.sources.functions import SourceFunction, SourceResult
from panorama.sources.rest.client import RestClient
from panorama.sources.rest.endpoints import Endpoint, EndpointIndex
from panorama.sources.rest.paging import Page
from panorama.sources.rest.session import RestSession
from panorama.sources.source import Deadline


class RestSource:
    """A web service with hand-written functions. Thread-safe; connects at its first call."""

    def __init__(self, client: RestClient, endpoints: Sequence[Endpoint]) -> None:
        self._client = client
        self._endpoints = EndpointIndex(endpoints)

    def list_functions(self, deadline: Deadline) -> Sequence[SourceFunction]:  # noqa: ARG002 (nothing is asked)
        """Return its functions; they are known without connecting."""
        return self._endpoints.functions

    def call(self, function: SourceFunction, arguments: Mapping[str, Any], deadline: Deadline) -> SourceResult:
        """Call a function and return its result; of one that lists, one page."""
        session = RestSession(self._client, deadline)
        value = self._endpoints.run(function.name, session, arguments)
        if isinstance(value, Page):
            return SourceResult(value=value.rows, next_cursor=value.next_cursor, size_bytes=session.size_bytes)
        return SourceResult(value=value, size_bytes=session.size_bytes)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
