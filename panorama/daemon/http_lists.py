"""Answers requests for lists over HTTP from the stored answers, as each connection of the socket does."""

import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from fastmcp.server.http import StreamableHTTPASGIApp
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from panorama.domain.text.json_types import is_object
from panorama.mcp.connection import FindAnswer
from panorama.transport.stored_answers import describe_client

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
MAX_BYTES = 4096
"""A request for a list is short; a longer body is not looked into."""

MAX_CLIENTS = 1000
"""Sessions whose handshake is remembered, the latest; for others the server answers."""


class ListMiddleware:
    """Answers a request for a list if its answer is stored and its session, if the era has sessions, is known.

    What the client of a session can do is only in its handshake, which is remembered.
    """

    def __init__(self, app: ASGIApp, find_answer: FindAnswer, path: str) -> None:
        self._app = app
        self._find_answer = find_answer
        self._path = path
        self._clients: OrderedDict[str, str] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on unchanged."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] != self._path:
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        version, length = headers.get("mcp-protocol-version", ""), headers.get("content-length", "")
        if (
            not length.isdigit()
            or int(length) > MAX_BYTES
            or not _accepts_json(headers)
            or not _has_session(scope, headers)
        ):
            return await self._app(scope, receive, send)
        messages = [message := await receive()]
        while message.get("more_body"):
            messages.append(message := await receive())
        request = _parse_request(b"".join(message.get("body", b"") for message in messages))
        if request.get("method") == "initialize":
            return await self._app(scope, _replay(messages, receive), self._remember_client(request, send))
        client = "" if version in MODERN_PROTOCOL_VERSIONS else self._clients.get(headers.get("mcp-session-id", ""))
        is_plain = bool(version and request) and client is not None and _headers_match(headers, request)
        line = await self._find_answer(request, client or version) if is_plain else None
        if line:
            return await Response(line.rstrip(), media_type="application/json")(scope, receive, send)
        return await self._app(scope, _replay(messages, receive), send)

    def _remember_client(self, request: Mapping[str, Any], send: Send) -> Send:
        """Return a send function that learns the session that a handshake is answered with."""
        params = request.get("params")
        given: Mapping[str, Any] = params if is_object(params) else {}

        async def send_and_learn(message: Message) -> None:
            session = Headers(raw=message["headers"]).get("mcp-session-id") if "headers" in message else None
            if session:
                self._clients[session] = describe_client(given.get("protocolVersion"), given.get("capabilities"))
                if len(self._clients) > MAX_CLIENTS:
                    self._clients.popitem(last=False)
            await send(message)

        return send_and_learn


def _accepts_json(headers: Headers) -> bool:
    return "application/json" in headers.get("accept", "") and headers.get("content-type", "").startswith(
        "application/json"
    )


def _has_session(scope: Scope, headers: Headers) -> bool:
    """Return whether the server would accept the request: older eras need a known session, the newest has none."""
    if headers.get("mcp-protocol-version") in MODERN_PROTOCOL_VERSIONS:
        return True
    ends = (getattr(route, "endpoint", None) for route in scope["app"].routes)
    managers = (end.session_manager for end in ends if isinstance(end, StreamableHTTPASGIApp))
    session = headers.get("mcp-session-id")
    return any(manager and session in manager._server_instances for manager in managers)  # pyright: ignore[reportPrivateUsage] (the SDK tells it in no other way)


def _headers_match(headers: Headers, request: Mapping[str, Any]) -> bool:
    """Return whether the headers agree with the body and no browser page sent it; the server handles all others.

    Since 2026-07-28 a request carries its method and version in both, and the server has to compare them.
    """
    if "origin" in headers or "mcp-name" in headers:
        return False
    version = headers.get("mcp-protocol-version")
    if version not in MODERN_PROTOCOL_VERSIONS:
        return True
    params = request.get("params")
    meta = params.get("_meta") if is_object(params) else None
    body_version = meta.get(_VERSION_KEY) if is_object(meta) else None
    return headers.getlist("mcp-method") == [request.get("method")] and body_version == version


def _parse_request(body: bytes) -> Mapping[str, Any]:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return request if is_object(request) else {}


def _replay(messages: list[Message], receive: Receive) -> Receive:
    """Return a receive function that repeats the received messages, then continues."""

    async def receive_again() -> Message:
        return messages.pop(0) if messages else await receive()

    return receive_again
