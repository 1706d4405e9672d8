"""A browser that is signed in, and a web site of somebody else that it visits."""

import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from tests.browser.conftest import nothing_is_left
from tests.browser.fixtures import page

__all__ = ["nothing_is_left", "page"]


class OtherSite:
    """A web server on another port, which shows the page it is given and keeps the headers it is sent."""

    def __init__(self) -> None:
        self.html = ""
        self.cookies: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version: ClassVar[str] = "HTTP/1.1"

            def do_GET(self) -> None:
                """Send the page."""
                site.cookies.append(self.headers.get("Cookie", ""))
                body = site.html.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Keep silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port, which leads here under every name of this machine."""
        return self._server.server_address[1]

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="session")
def other_site() -> Iterator[OtherSite]:
    """The web site of somebody else."""
    site = OtherSite()
    yield site
    site.close()


@pytest.fixture
def origins(other_site: OtherSite) -> Mapping[str, str]:
    """Where the other site is: on the number of our page but another port, and under a name of its own."""
    return {
        "another port": f"http://127.0.0.1:{other_site.port}",
        "localhost": f"http://localhost:{other_site.port}",
        "another host": f"http://evil.test:{other_site.port}",
    }
