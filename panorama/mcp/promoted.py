"""Promoted scripts as tools; the list is read from the library at every request."""

from collections.abc import Callable, Sequence

import anyio.to_thread
from fastmcp.server.providers import Provider
from fastmcp.tools import Tool
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.versions import VersionSpec

from panorama.calls import Calls
from panorama.calls.arguments import Arguments
from panorama.domain.scripts.library import TOOL_PREFIX
from panorama.errors import PanoramaError
from panorama.mcp.images.script_images import ScriptImages
from panorama.mcp.tools import GetConversation, OperationTool


class PromotedToolProvider(Provider):
    """The promoted scripts as tools."""

    def __init__(
        self,
        calls: Calls,
        conversing: GetConversation,
        has_sources: Callable[[], bool],
        images: ScriptImages | None = None,
    ) -> None:
        super().__init__()
        self._has_sources = has_sources
        self._calls = calls
        self._conversing = conversing
        self._images = images
        self._known: dict[Arguments, OperationTool] = {}

    async def _list_tools(self) -> Sequence[Tool]:
        try:
            tools = await anyio.to_thread.run_sync(self._calls.promoted_tools.list_tools)
        except PanoramaError:  # a locked database: the other tools are still listed
            return ()
        self._known = {arguments: self._known.get(arguments) or self._build_tool(arguments) for arguments in tools}
        return [self._known[arguments] for arguments in tools]

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        del version
        if not name.startswith(TOOL_PREFIX):
            return None
        known = next((tool for tool in self._known.values() if tool.name == name), None)
        if known:  # whether it still is one is checked when it is called
            return known
        return next((tool for tool in await self._list_tools() if tool.name == name), None)

    async def get_tasks(self) -> Sequence[FastMCPComponent]:
        """Return no background tasks; the server asks for them at its start, when there is no conversation yet."""
        return ()

    def _build_tool(self, arguments: Arguments) -> OperationTool:
        tool = OperationTool.from_arguments(arguments, self._calls, self._conversing, self._has_sources)
        if self._images:
            tool.draw(self._images)
        return tool
