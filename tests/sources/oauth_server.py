"""A FastMCP server behind OAuth that anybody may register with, on a given port; `--expires` is in seconds."""

import sys
import warnings

from fastmcp import FastMCP
from fastmcp.server.auth.providers import in_memory
from mcp.server.auth.settings import ClientRegistrationOptions

warnings.simplefilter("ignore")
port = int(sys.argv[-1])
if "--expires" in sys.argv:
    in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = int(sys.argv[sys.argv.index("--expires") + 1])
options = ClientRegistrationOptions(enabled=True)
server = FastMCP(
    "remote",
    auth=in_memory.InMemoryOAuthProvider(base_url=f"http://127.0.0.1:{port}", client_registration_options=options),
)


@server.tool(annotations={"readOnlyHint": True})
def whoami() -> str:
    """Return the user."""
    return "you"


if __name__ == "__main__":
    server.run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="CRITICAL")
