"""The page of the chat as a resource, and the tool that it shows: both only for clients with MCP Apps.

The page is one HTML file that loads nothing: its style and its script are inside, and its content security policy
names them by their hashes.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from fastmcp import FastMCP
from fastmcp.apps import AppConfig, ResourceCSP
from fastmcp.resources import Resource
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool
from mcp.types import ListResourcesRequest, ListToolsRequest

from panorama.translations import GERMAN, chat
from panorama.translations.explanations import KINDS
from panorama.transport.stored_answers import APPS_EXTENSION

VIEW_URI = "ui://panorama/view.html"
TOOL_META = {"ui": {"resourceUri": VIEW_URI}, "ui/resourceUri": VIEW_URI}
"""How a tool names its page; some clients only know the flat key."""

_TEXT = re.compile(r"\bt\('([^']+)'")
_TOKENS = re.compile(r":root \{[^}]*\}")


class AppsMiddleware(Middleware):
    """Lists the tool and its page for clients that show pages in a chat; `is_listed` lists them for all."""

    def __init__(self, tool: str, *, is_listed: bool) -> None:
        self._tool = tool
        self._is_listed = is_listed

    async def on_list_tools(
        self, context: MiddlewareContext[ListToolsRequest], call_next: CallNext[ListToolsRequest, Sequence[Tool]]
    ) -> Sequence[Tool]:
        """Leave the tool out for other clients."""
        tools = await call_next(context)
        return tools if self._is_listed or has_apps() else [tool for tool in tools if tool.name != self._tool]

    async def on_list_resources(
        self,
        context: MiddlewareContext[ListResourcesRequest],
        call_next: CallNext[ListResourcesRequest, Sequence[Resource]],
    ) -> Sequence[Resource]:
        """Leave the page out for other clients."""
        resources = await call_next(context)
        if self._is_listed or has_apps():
            return resources
        return [resource for resource in resources if str(resource.uri) != VIEW_URI]


def has_apps() -> bool:
    """Return whether the client of the request can show pages in a chat."""
    return get_context().client_supports_extension(APPS_EXTENSION)


def add_view(mcp: FastMCP[Any]) -> None:
    """Offer the page."""
    config = AppConfig(
        prefers_border=False,
        csp=ResourceCSP(connect_domains=[], resource_domains=[], frame_domains=[], base_uri_domains=[]),
    )
    description = "The page in the chat that the tool show fills."
    mcp.resource(VIEW_URI, name="view", title="Panorama", description=description, app=config)(_read_view)


async def _read_view() -> str:
    return build_view()


@cache
def build_view() -> str:
    """Return the page, with its style and its script inside."""
    folder, page = files("panorama") / "mcp" / "apps", files("panorama") / "web" / "static" / "panorama.css"
    tokens = _TOKENS.search(page.read_text("utf-8"))
    assert tokens, "the style sheet of the web page begins with its tokens"
    style = f"{tokens[0]}\n{(folder / 'view.css').read_text('utf-8')}"
    script = _add_texts((folder / "view.js").read_text("utf-8"))
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    html = (folder / "view.html").read_text("utf-8")
    for name, value in (("{policy}", policy), ("{style}", style), ("{script}", script)):
        html = html.replace(name, value, 1)
    return html


def list_texts(script: str) -> set[str]:
    """Return the texts that the page shows: those of its script, and those of the server that it translates."""
    return {*_TEXT.findall(script), *chat.SERVER_TEXTS, *chat.SERVER_SENTENCES.values(), *KINDS.values()}


def _add_texts(script: str) -> str:
    german = {text: GERMAN[text] for text in sorted(list_texts(script))}
    for name, value in (("GERMAN = {}", german), ("SENTENCES = {}", chat.SERVER_SENTENCES)):
        encoded = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        script = script.replace(name, f"{name[:-2]}{encoded}", 1)
    return script


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
