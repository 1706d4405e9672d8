"""The reference: a FastMCP server with one tool that does nothing."""

from fastmcp import FastMCP

mcp = FastMCP("nothing")


@mcp.tool
def noop() -> str:
    """Do nothing."""
    return "done"


if __name__ == "__main__":
    mcp.run("stdio", show_banner=False, log_level="WARNING")
