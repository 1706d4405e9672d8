"""FastMCP's own code mode, on Monty: what our scripts are measured against."""

from collections.abc import Callable
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.experimental.transforms.code_mode import CodeMode, MontySandboxProvider
from mcp_types import TextContent

from . import monty

Reading = Callable[[str], dict[str, Any]]
"""Returns the page behind a cursor, "" for the first: rows, and next, the following cursor."""


def nothing_read(cursor: str) -> dict[str, Any]:
    """Return a page without rows."""
    return {"rows": [], "next": cursor and ""}


def client(read: Reading = nothing_read) -> Client[Any]:
    """Return a client, in memory, of a server with three tools; skips the test where Monty is not installed.

    The limits of calls and memory, 50 and 100 MB by default, are lifted. The tools are coroutines, which costs less
    than functions that are run in threads.
    """
    monty.needed()
    sandbox = MontySandboxProvider(limits={"max_suspensions": monty.MANY_CALLS})
    server: FastMCP[Any] = FastMCP("reference", transforms=[CodeMode(sandbox_provider=sandbox, max_tool_calls=None)])

    async def noop() -> str:
        """Do nothing."""
        return "done"

    async def noop_of_two(start: str = "", end: str = "") -> str:
        """Do nothing with two arguments."""
        return "done"

    async def list_tasks(cursor: str = "") -> dict[str, Any]:
        """List tasks."""
        return read(cursor)

    for tool in (noop, noop_of_two, list_tasks):
        server.tool(tool)
    return Client(server)


async def executed(client: Client[Any], source: str) -> str:
    """Run a script in code mode and return its result as text."""
    (answer,) = (await client.call_tool("execute", {"code": source})).content
    assert isinstance(answer, TextContent)
    return answer.text
