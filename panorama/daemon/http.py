"""The daemon's HTTP: MCP on loopback for clients that cannot start a process, behind a random token.

Every request is held against its Host and Origin, so that no page in a browser reaches it through a name that points
here; `/health` alone is answered without the token, and tells nothing.
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

from panorama.errors import UnavailableError

TOKEN_FILE = "http.token"
TOKEN_BYTES = 32
HOST = "127.0.0.1"
CLOSING_SECONDS = 2
_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?")
_ORIGIN = re.compile(rf"(https?://{_HOST.pattern})?")
HEALTH, MCP = "/health", "/mcp"


def token(home: Path) -> str:
    """Return the token that clients send as `Authorization: Bearer …`; it is made once, readable by its owner alone."""
    path = home / TOKEN_FILE
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        os.chmod(path, 0o600)
        kept = path.read_text("ascii", "replace").strip()
        if len(kept) >= TOKEN_BYTES:
            return kept
        path.unlink()
        return token(home)
    with os.fdopen(file, "w") as made:
        made.write(secrets.token_urlsafe(TOKEN_BYTES))
    return token(home)


class Guard:
    """Lets requests pass that carry the token, and that name this machine as plainly as browsers do."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403 or 401 to all others."""
        if scope["type"] == "http" and not _is_local(Headers(scope=scope)):
            await JSONResponse({"error": "forbidden"}, status_code=403)(scope, receive, send)
            return
        if scope["type"] != "http" or scope["path"] == HEALTH or self._is_known(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        told = {"error": "unauthorized", "hint": f"Send the token in {TOKEN_FILE} as Authorization: Bearer …"}
        answer = JSONResponse(told, status_code=401, headers={"WWW-Authenticate": "Bearer"})
        await answer(scope, receive, send)

    def _is_known(self, headers: Headers) -> bool:
        scheme, _, said = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(said.strip().encode(), self._token)


def _is_local(headers: Headers) -> bool:
    return bool(_HOST.fullmatch(headers.get("host", ""))) and bool(_ORIGIN.fullmatch(headers.get("origin", "")))


class _Server(uvicorn.Server):
    """A server that leaves signals to the daemon."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield


class Http:
    """MCP on a port of this machine."""

    def __init__(self, mcp: FastMCP[Any], home: Path, port: int) -> None:
        self.address = f"http://{HOST}:{port}{MCP}"
        self._socket = _bound(port)
        mcp.custom_route(HEALTH, methods=["GET"])(_health)
        app = mcp.http_app(path=MCP, host_origin_protection=True, middleware=[Middleware(Guard, token=token(home))])
        self._ended = anyio.Event()
        self._server = _Server(
            uvicorn.Config(
                app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=CLOSING_SECONDS
            )
        )

    async def serve(self) -> None:
        """Serve until `close`."""
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            self._ended.set()

    async def close(self) -> None:
        """Take no more requests, finish those under way, and end."""
        self._server.should_exit = True
        with anyio.move_on_after(CLOSING_SECONDS + 1):
            await self._ended.wait()


def _bound(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
    except OSError as error:
        made.close()
        raise UnavailableError(
            f"Port {port} of this machine cannot be taken: {error.strerror}.",
            hint="Choose another one with --http or http_port in config.toml.",
        ) from error
    return made


async def _health(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})
