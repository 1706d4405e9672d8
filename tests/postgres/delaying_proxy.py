"""A proxy before the database server that counts round trips, and delays what passes as a network does."""

import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from queue import SimpleQueue

from sqlalchemy import make_url

from panorama.store.postgres.connections import FEED_NAME
from tests.postgres.proxy import Proxy


class DelayingProxy(Proxy):
    """Passes bytes on between clients and the server, each after a delay; several may be on their way.

    `round_trips` counts how often a client sent something after the server had answered what it sent before; what the
    feed sends, for which no call waits, is left out.
    """

    def __init__(self, server: str, delay_seconds: float) -> None:
        self.round_trips = 0
        self._feeds: set[threading.Event] = set()
        self._delay_seconds = delay_seconds
        listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = listening.getsockname()[1]
        super().__init__(listening, lambda: _connect(server))

    def _begin(self, client: socket.socket, server: socket.socket) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answered = threading.Event()
        for source, target in ((client, server), (server, client)):
            waiting: SimpleQueue[tuple[float, bytes]] = SimpleQueue()
            self._start(self._receive, source, waiting, answered, source is client)
            self._start(_send, target, waiting)

    def _receive(
        self,
        source: socket.socket,
        waiting: SimpleQueue[tuple[float, bytes]],
        answered: threading.Event,
        is_client: bool,
    ) -> None:
        data = b"-"
        while data:
            try:
                data = source.recv(65_536)
            except OSError:
                data = b""
            if is_client and FEED_NAME.encode() in data:  # a connection says its name when it is opened
                self._feeds.add(answered)
            if not is_client:
                answered.set()
            elif answered.is_set() and answered not in self._feeds:
                answered.clear()
                self.round_trips += 1
            waiting.put((time.monotonic() + self._delay_seconds, data))


def _send(target: socket.socket, waiting: SimpleQueue[tuple[float, bytes]]) -> None:
    with suppress(OSError):
        while True:
            at, data = waiting.get()
            time.sleep(max(0.0, at - time.monotonic()))
            if not data:
                target.shutdown(socket.SHUT_WR)
                return
            target.sendall(data)


def _connect(server: str) -> socket.socket:
    """Connect to the server of a URL."""
    url = make_url(server)
    folder = url.query.get("host", url.host)
    if isinstance(folder, str) and folder.startswith("/"):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{folder}/.s.PGSQL.{url.port or 5432}")
        return connection
    connection = socket.create_connection((str(folder or "127.0.0.1"), url.port or 5432))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


@contextmanager
def delaying_proxy(url: str, delay_seconds: float = 0.0) -> Generator[tuple[DelayingProxy, str]]:
    """Run a proxy before the server of a URL that delays each way; yields it, and the URL that leads through it."""
    proxy = DelayingProxy(url, delay_seconds)
    address = make_url(url)
    query = {name: value for name, value in address.query.items() if name != "host"} | {"sslmode": "disable"}
    user = address.username or ""
    through = address.set(host="127.0.0.1", port=proxy.port, query=query, username=user or None)
    try:
        yield proxy, through.render_as_string(hide_password=False)
    finally:
        proxy.close()
