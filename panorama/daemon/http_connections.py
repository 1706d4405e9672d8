"""The connections of the HTTP port: few and short until they show the token.

Any user of this machine can connect to the port. Without limits, one that sends half a header on thousands of
connections would take all of the daemon's file descriptors.
"""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

TOKEN_SECONDS = 10.0
"""How long a connection may last without a request that carries the token."""

MAX_UNTRUSTED, MAX_TRUSTED = 64, 512
"""Connections without and with the token; where the process may open few files, an eighth and a quarter of those."""

ClientAddress = tuple[str, int]


class HttpConnections:
    """The open connections by their clients' addresses; of those without the token, the oldest make room for new."""

    def __init__(self) -> None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        limited = files != resource.RLIM_INFINITY
        self._max_untrusted = min(MAX_UNTRUSTED, files // 8) if limited else MAX_UNTRUSTED
        self._max_trusted = min(MAX_TRUSTED, files // 4) if limited else MAX_TRUSTED
        self._untrusted: dict[ClientAddress, tuple[asyncio.Transport, asyncio.TimerHandle]] = {}
        self._trusted: set[ClientAddress] = set()

    def add(self, client: ClientAddress, transport: asyncio.Transport) -> None:
        """Accept a new connection; abort it, or an older one, if there are too many."""
        if len(self._trusted) >= self._max_trusted:
            transport.abort()
            return
        if len(self._untrusted) >= self._max_untrusted:
            self._abort(next(iter(self._untrusted)))
        timer = asyncio.get_running_loop().call_later(TOKEN_SECONDS, self._abort, client)
        self._untrusted[client] = (transport, timer)

    def trust(self, client: ClientAddress) -> None:
        """Keep a connection that has sent the token."""
        if client in self._untrusted:
            _, timer = self._untrusted.pop(client)
            timer.cancel()
            self._trusted.add(client)

    def remove(self, client: ClientAddress) -> None:
        """Remove a connection that has ended."""
        self._trusted.discard(client)
        if client in self._untrusted:
            _, timer = self._untrusted.pop(client)
            timer.cancel()

    def _abort(self, client: ClientAddress) -> None:
        transport, timer = self._untrusted.pop(client)
        timer.cancel()
        transport.abort()


def limited_protocol(connections: HttpConnections) -> type[H11Protocol]:
    """Return uvicorn's protocol with its connections counted."""

    class LimitedProtocol(H11Protocol):
        """One HTTP connection."""

        def connection_made(self, transport: Any) -> None:
            """Count the connection."""
            super().connection_made(transport)
            if self.client:
                connections.add(self.client, transport)

        def connection_lost(self, exc: Exception | None) -> None:
            """Stop counting the connection."""
            if self.client:
                connections.remove(self.client)
            super().connection_lost(exc)

    return LimitedProtocol
