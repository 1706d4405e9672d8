"""A proxy before the database server that cuts a connection when the client sends a certain word."""

import re
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from sqlalchemy import make_url

from tests.postgres.proxy import Proxy

Cut = Literal["before", "after"]
"""Whether the server still gets the word."""


class CuttingProxy(Proxy):
    """Passes bytes on between clients and the server, until it is told to cut."""

    def __init__(self, folder: Path, server: str) -> None:
        self._cut: tuple[re.Pattern[bytes], Cut] | None = None
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(folder / ".s.PGSQL.5432"))
        listening.listen()
        super().__init__(listening, lambda: _connect(server))

    def cut_at(self, word: str, when: Cut) -> None:
        """Cut the next connection whose client sends a word."""
        self._cut = re.compile(rb"\b%s\b" % word.encode()), when

    def _begin(self, client: socket.socket, server: socket.socket) -> None:
        self._start(self._pass_on, client, server, True)
        self._start(self._pass_on, server, client, False)

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


def _connect(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


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
