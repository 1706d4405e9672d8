"""Serves the real daemon's HTTP until it is interrupted; prints its address first.

Added to it are the resource that the conformance suite subscribes to and the tool by which it makes the list of tools
change. The suite cannot send a token: its requests are given the token here, and the daemon checks it as always.
"""

import socket

import anyio
from starlette.types import Receive, Scope, Send

from panorama.app import open_app
from panorama.config import read_settings
from panorama.daemon import http
from panorama.daemon.daemon import Daemon
from panorama.mcp.server import Server
from panorama.transport.address import Address


class TokenGiven(http.TokenMiddleware):
    """The guard, behind somebody who knows the token."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the token to a request and let the guard judge it."""
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", b"Bearer " + self._token)]}
        await super().__call__(scope, receive, send)


def furnish(server: Server) -> None:
    """Add what the suite asks for by name."""

    @server.resource("test://watched-resource")
    async def watched() -> str:
        """A resource that never changes."""
        return "the same"

    @server.tool
    async def test_trigger_tool_change() -> str:
        """Say that the list of tools has changed."""
        server.hub.on_tools_changed()
        return "changed"


def free_port() -> int:
    """Return a port that is free at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def main() -> None:
    """Serve the store in PANORAMA_HOME."""
    http.TokenMiddleware = TokenGiven
    settings = read_settings(http_port=free_port())
    with open_app(settings) as app:
        daemon = Daemon(app, Address(str(settings.home)), lingers=False)
        furnish(daemon.mcp.build())
        anyio.run(daemon.run, lambda: print(f"http://127.0.0.1:{settings.http_port}/mcp", flush=True))  # noqa: T201 (who started this reads it)


if __name__ == "__main__":
    main()
