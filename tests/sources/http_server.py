"""A FastMCP server over HTTP or SSE whose tool returns a header of the request; prints its port."""

import sys

from fastmcp import FastMCP
from fastmcp.server.dependencies import get_http_headers

server = FastMCP("headers")


@server.tool(annotations={"readOnlyHint": True})
def get_header(name: str) -> str:
    """Return a header of the request."""
    return get_http_headers(include_all=True).get(name, "")


if __name__ == "__main__":
    server.run(transport=sys.argv[1], host="127.0.0.1", port=int(sys.argv[2]), show_banner=False, log_level="ERROR")
