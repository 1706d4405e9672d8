"""Serves the real server over streamable HTTP on loopback until it is interrupted; prints its address first.

The product speaks stdio; this is how checks that can only speak HTTP reach it. Added to it are the resource that the
conformance suite subscribes to and the tool by which it makes the list of tools change.
"""

import socket
import sys

from panorama.app import opened
from panorama.config import read_settings
from panorama.mcp.server import Server, build


def furnish(server: Server) -> None:
    """Add what the suite asks for by name."""

    @server.resource("test://watched-resource")
    async def watched() -> str:
        """A resource that never changes."""
        return "the same"

    @server.tool
    async def test_trigger_tool_change() -> str:
        """Say that the list of tools has changed."""
        server.hub.tools_changed()
        return "changed"


def main() -> None:
    """Take a free port and serve the store in PANORAMA_HOME there."""
    with socket.create_server(("127.0.0.1", 0)) as door, opened(read_settings()) as app:
        server = build(app)
        furnish(server)
        # Connections made from now on wait in the socket until the server is ready for them.
        sys.stdout.write(f"http://127.0.0.1:{door.getsockname()[1]}/mcp\n")
        sys.stdout.flush()
        server.run(
            "http", show_banner=False, log_level="WARNING", sockets=[door], host_origin_protection=True,
            uvicorn_config={"access_log": False},
        )  # fmt: skip


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
