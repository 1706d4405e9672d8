"""The daemon's web page: its own port on this machine, opened when the user asks for the page."""

import gc
import logging
import math
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import uvicorn

from panorama.app import App
from panorama.daemon.http import BACKLOG, KEEP_ALIVE_SECONDS, SHUTDOWN_SECONDS, SignalFreeServer
from panorama.daemon.http_connections import HttpConnections, limited_protocol
from panorama.daemon.http_socket import HOST, bind_port
from panorama.errors import NotFoundError, UnavailableError
from panorama.mcp.call_threads import call_threads
from panorama.web.access import Access
from panorama.web.page_calls import CLIENT
from panorama.web.rendering import compile_all
from panorama.web.site import REDIRECT_FILE, Site, view_names
from panorama.web.texts import LANGUAGES

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


class PageServer:
    """Serves the page; a daemon whose page was never opened has none of it."""

    def __init__(self, app: App, home: Path, port: int) -> None:
        self._home = home
        self._access = Access(home)
        self._socket = _bind(port, self._access.port)
        self._access.keep_port(self._socket.getsockname()[1])
        self._linger_seconds = app.settings.linger_seconds
        self._requested_at = -math.inf
        self._connections = HttpConnections()
        self._site = Site(app, self._access, _run_in_thread, self._on_request)
        self._ended = anyio.Event()
        self._server = SignalFreeServer(
            uvicorn.Config(
                self._site.asgi,
                log_config=None,
                access_log=False,
                proxy_headers=False,  # any program of this machine could send them
                server_header=False,
                lifespan="off",
                ws="none",
                http=limited_protocol(self._connections),
                backlog=BACKLOG,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        compile_all(LANGUAGES)
        gc.freeze()

    @property
    def is_open(self) -> bool:
        """Whether a page is in use: it is live, or a page without JavaScript was requested recently."""
        return len(self._site.streams) > 0 or time.monotonic() - self._requested_at < self._linger_seconds

    @property
    def addresses(self) -> tuple[str, str]:
        """The address by a name that no other program has cookies for, and the one by number."""
        port = self._access.port
        return f"http://{self._access.name}.localhost:{port}", f"http://{HOST}:{port}"

    async def serve(self) -> None:
        """Serve until `close`."""
        _log.info("serves the page on %s", self.addresses[1])
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            self._ended.set()

    async def close(self) -> None:
        """End the streams and the requests under way, and stop."""
        self._site.streams.close()
        self._server.should_exit = True
        with anyio.move_on_after(SHUTDOWN_SECONDS + 1):
            await self._ended.wait()

    def create_sign_in(self, view: str, *, read_only: bool) -> dict[str, Any]:
        """Return addresses that sign one browser in, once, within a minute.

        Raises:
            NotFoundError: There is no such view.
        """
        if view and view not in view_names():
            raise NotFoundError(f"There is no view {view[:40]!r}.", hint=f"Use one of {', '.join(view_names())}.")
        code = self._access.create_code(read_only=read_only)
        end = f"/in#{code}/{view}" if view else f"/in#{code}"
        return {
            "addresses": [f"{address}{end}" for address in self.addresses],
            "code": code,
            "file": str(self._home / REDIRECT_FILE),
        }

    def _on_request(self, client: tuple[str, int]) -> None:
        """Trust a client's connection, and stay for the next page it asks for."""
        self._connections.trust(client)
        self._requested_at = time.monotonic()


def _bind(chosen: int, last: int) -> socket.socket:
    """Return a socket on the chosen port; without one on the last one, so that bookmarks work, or any other.

    Raises:
        UnavailableError: The chosen port is taken.
    """
    if chosen or not last:
        return bind_port(chosen)
    try:
        return bind_port(last)
    except UnavailableError:
        return bind_port(0)


async def _run_in_thread(call: Callable[[], Result]) -> Result:
    """Run a function in one of the threads for calls; all pages of the user share the places of one client."""
    return await call_threads().run(call, "short", CLIENT)
