"""A proxy before the database server: accepts connections, opens one to the server for each, and ends with both."""

import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Proxy(ABC):
    """Passes bytes on between clients and the server, as `_begin` says, in threads of its own."""

    def __init__(self, listening: socket.socket, connect: Callable[[], socket.socket]) -> None:
        self._listening = listening
        self._connect = connect
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def close(self) -> None:
        """Cut all connections, and end."""
        for opened in (self._listening, *self._sockets):
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
            opened.close()
        for thread in self._threads:
            thread.join()

    @abstractmethod
    def _begin(self, client: socket.socket, server: socket.socket) -> None:
        """Start the threads that pass bytes on between a client and the server."""

    def _start(self, work: Callable[..., None], *arguments: Any) -> None:
        self._threads.append(threading.Thread(target=work, args=arguments))
        self._threads[-1].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = self._connect()
                self._sockets += [client, server]
                self._begin(client, server)
