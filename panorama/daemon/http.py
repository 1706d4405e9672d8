"""The daemon's HTTP server: MCP on loopback for clients that cannot start a process, behind a random token.

Every request is held against its Host and Origin, so that no page in a browser reaches it through a name that points
here; only `/health` is answered without the token, and reveals nothing.
"""

import hmac
import os
import re
import secrets
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from fastmcp import FastMCP
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from panorama.daemon.http_connections import HttpConnections, limited_protocol
from panorama.daemon.http_lists import ListMiddleware
from panorama.mcp.connection import FindAnswer

TOKEN_FILE = "http.token"
TOKEN_BYTES = 32
SHUTDOWN_SECONDS = 2
KEEP_ALIVE_SECONDS = 75
"""How long an idle connection is kept: clients that call now and then need not connect again each time."""

BACKLOG = 128
_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?")
_ORIGIN = re.compile(rf"(https?://{_HOST.pattern})?")
HEALTH, MCP = "/health", "/mcp"


def load_token(home: Path) -> str:
    """Return the token that clients send as `Authorization: Bearer …`; it is created once, with mode 0600."""
    path = home / TOKEN_FILE
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        os.chmod(path, 0o600)
        token = path.read_text("ascii", "replace").strip()
        if len(token) >= TOKEN_BYTES:
            return token
        path.unlink()
        return load_token(home)
    with os.fdopen(file, "w") as file_:
        file_.write(secrets.token_urlsafe(TOKEN_BYTES))
    return load_token(home)


_UNAUTHORIZED = JSONResponse(
    {"error": "unauthorized", "hint": f"Send the token in {TOKEN_FILE} as Authorization: Bearer …"},
    status_code=401,
    headers={"WWW-Authenticate": "Bearer"},
)


class TokenMiddleware:
    """Passes on requests with the token and with this machine in Host and Origin."""

    def __init__(self, app: ASGIApp, token: str, connections: HttpConnections) -> None:
        self._app = app
        self._connections = connections
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer other requests with 403 or 401."""
        if scope["type"] == "lifespan":
            app = self._app
        elif scope["type"] != "http":
            app = WebSocketClose()  # Panorama serves no WebSockets
        elif not _is_local(Headers(scope=scope)):
            app = JSONResponse({"error": "forbidden"}, status_code=403)
        elif self._has_token(Headers(scope=scope)):
            self._connections.trust(scope["client"])
            app = self._app
        elif scope["path"] == HEALTH:
            app = self._app
        else:
            app = _UNAUTHORIZED
        await app(scope, receive, send)

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self._token)


def _is_local(headers: Headers) -> bool:
    return bool(_HOST.fullmatch(headers.get("host", ""))) and bool(_ORIGIN.fullmatch(headers.get("origin", "")))


class SignalFreeServer(uvicorn.Server):
    """A server that leaves signals to the daemon."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture no signals."""
        yield


class HttpServer:
    """MCP on a port of this machine."""

    def __init__(self, mcp: FastMCP[Any], home: Path, port: socket.socket, find_answer: FindAnswer) -> None:
        self._socket = port
        connections = HttpConnections()
        mcp.custom_route(HEALTH, methods=["GET"])(_health)
        app = mcp.http_app(
            path=MCP,
            host_origin_protection=True,
            middleware=[
                Middleware(TokenMiddleware, token=load_token(home), connections=connections),
                Middleware(ListMiddleware, find_answer=find_answer, path=MCP),
            ],
        )
        self._ended = anyio.Event()
        self._server = SignalFreeServer(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="on",
                ws="none",
                http=limited_protocol(connections),
                backlog=BACKLOG,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )

    @property
    def is_started(self) -> bool:
        """Whether requests are answered."""
        return self._server.started

    async def serve(self) -> None:
        """Serve until `close`."""
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            self._ended.set()

    async def close(self) -> None:
        """Accept no more requests, finish pending ones, and end."""
        self._server.should_exit = True
        with anyio.move_on_after(SHUTDOWN_SECONDS + 1):
            await self._ended.wait()


async def _health(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})
