"""An assistant: a real MCP client, which starts the server as clients do."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from tests.browser.page_daemon import PageDaemon


class Assistant:
    """A client whose event loop has a thread of its own, since Playwright owns that of the test."""

    def __init__(self, portal: BlockingPortal, client: Client[Any]) -> None:
        self._portal = portal
        self._client = client

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool, and return its data."""
        result = self._portal.call(self._client.call_tool, tool, arguments)
        assert result.structured_content, result.content
        return result.structured_content["data"]

    def answer(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool, and return its result as it is on the wire."""
        result = self._portal.call(self._client.call_tool_mcp, tool, dict(arguments))
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    def read(self, uri: str) -> str:
        """Read a resource, and return its text."""
        return str(getattr(self._portal.call(self._client.read_resource, uri)[0], "text"))  # noqa: B009 (a blob has none)


@contextmanager
def connect_assistant(daemon: PageDaemon) -> Iterator[Assistant]:
    """Connect a client to the daemon of the page."""
    transport = StdioTransport(
        sys.executable, ["-m", "panorama"], env=dict(daemon.environment), cwd=str(daemon.home.parent), keep_alive=False
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(transport)) as client,
    ):
        yield Assistant(portal, client)
