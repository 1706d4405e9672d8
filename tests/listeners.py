"""Clients that listen, of both protocol eras, and what they have heard."""

import warnings
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from fastmcp import Client, FastMCP
from mcp.client.subscriptions import ResourcesListChanged, ServerEvent, ToolsListChanged, listen
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.shared.subscriptions import event_from_wire

from tests.conftest import Chat, Era

TOOLS, RESOURCES = "the list of tools", "the list of resources"


@dataclass
class Listener:
    """A client, and what it heard in order: addresses of pages, or which list has changed."""

    client: Client[Any]
    heard: list[str] = field(default_factory=list[str])
    moved: anyio.Event = field(default_factory=anyio.Event)

    @property
    def chat(self) -> Chat:
        """Its way to the tools."""
        return Chat(self.client)

    def take(self, event: ServerEvent) -> None:
        """Hear one thing more."""
        names = {ToolsListChanged(): TOOLS, ResourcesListChanged(): RESOURCES}
        self.heard.append(names.get(event) or getattr(event, "uri", str(event)))
        self.moved.set()

    async def until(self, event: str) -> list[str]:
        """Wait until something was heard, and return all that was."""
        with anyio.fail_after(10):
            while event not in self.heard:
                self.moved = anyio.Event()
                await self.moved.wait()
        return self.heard

    async def message(self, message: Any) -> None:
        """Take a message of a handshake's era."""
        answer = message.model_dump(by_alias=True, mode="json", exclude_none=True)
        if event := event_from_wire(answer["method"], answer.get("params")):
            self.take(event)

    async def subscribe(self, *pages: str, to: str = "subscribe") -> None:
        """Subscribe to pages by the handshake eras' request, or unsubscribe from them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            for page in pages:
                await getattr(self.client.session, f"{to}_resource")(page)


@asynccontextmanager
async def listening(server: FastMCP[Any], era: Era, *pages: str) -> AsyncGenerator[Listener]:
    """Open a client that listens to both lists and to some pages."""
    listener = Listener(Client(server))
    listener.client = Client(server, mode=era, message_handler=listener.message)
    async with listener.client as client:
        if era == "legacy":
            await client.list_resources()  # its handshake is over now on both sides
            await listener.subscribe(*pages)
            yield listener
            return
        lists = {"tools_list_changed": True, "resources_list_changed": True}
        async with listen(client.session, **lists, resource_subscriptions=pages):
            yield listener
