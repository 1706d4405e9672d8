"""A proxy before the database server that cuts a connection when the client sends a certain word."""

import re
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from sqlalchemy import make_url

Cut = Literal["before", "after"]
"""Whether the server still gets the word."""


class CuttingProxy:
    """Passes bytes on between clients and the server, until it is told to cut."""

    def __init__(self, folder: Path, server: str) -> None:
        self._path = folder / ".s.PGSQL.5432"
        self._server = server
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self._path))
        self._listening.listen()
        self._cut: tuple[re.Pattern[bytes], Cut] | None = None
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def cut_at(self, word: str, when: Cut) -> None:
        """Cut the next connection whose client sends a word."""
        self._cut = re.compile(rb"\b%s\b" % word.encode()), when

    def close(self) -> None:
        """Cut all connections, and end."""
        for opened in (self._listening, *self._sockets):
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
            opened.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._sockets += [client, server]
                for pair in ((client, server, True), (server, client, False)):
                    self._threads.append(threading.Thread(target=self._pass_on, args=pair))
                    self._threads[-1].start()

    def _pass_on(self, source: socket.socket, target: socket.socket, is_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                cut = self._cut if is_client else None
                if cut and cut[0].search(data):
                    self._cut = None
                    if cut[1] == "after":
                        source.shutdown(socket.SHUT_RDWR)  # the client hears nothing more
                        target.sendall(data)
                    else:
                        for end in (source, target):
                            end.shutdown(socket.SHUT_RDWR)
                    return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@contextmanager
def cutting_proxy(folder: Path, url: str) -> Generator[tuple[CuttingProxy, str]]:
    """Run a proxy before the server of a URL; yields it, and the URL that leads through it."""
    address = make_url(url)
    proxy = CuttingProxy(folder, f"{address.query['host']}/.s.PGSQL.5432")
    through = address.set(query={"host": str(folder)}).render_as_string(hide_password=False)
    try:
        yield proxy, through
    finally:
        proxy.close()
