"""A web server without Panorama that answers each path of the page from memory, with what the page answered once.

`python -m tests.benchmarks.page_copy HOST PORT COOKIE` copies the page of this name and port. It prints its own port,
then the requests since the last line of its input as JSON after each line. A browser does the same with it as with the
page, so what both cost is what the browser costs.
"""

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from http.client import HTTPConnection, HTTPResponse
from itertools import cycle, pairwise
from subprocess import PIPE, Popen
from typing import Any, NamedTuple
from urllib.parse import urlsplit

STREAM_PATH = "/live"


class SentRequest(NamedTuple):
    """A request of a browser: when it was sent, in seconds of a clock that only goes forward, and its path."""

    at: float
    path: str


class PageCopy:
    """Copies answers of the page when they are first asked for."""

    def __init__(self, host: str, port: int, cookie: str) -> None:
        self._port = port
        self._headers = {"Host": host, "Cookie": cookie, "Accept-Encoding": "identity"}
        self._answers: dict[str, bytes] = {}
        self.requests: list[SentRequest] = []

    def answer(self, path: str) -> bytes:
        """Return the whole answer to a request."""
        self.requests.append(SentRequest(time.monotonic(), path))
        if path not in self._answers:
            self._answers[path] = self._copy(path)
        return self._answers[path]

    def _copy(self, path: str) -> bytes:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=30)
        connection.request("GET", path, headers=self._headers)
        answer = connection.getresponse()
        is_stream = path == STREAM_PATH
        body = b"".join(answer.readline() for _ in range(5)) if is_stream else answer.read()
        left_out = ("transfer-encoding", "content-length", "date")
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in left_out]
        if not is_stream:
            headers.append(("content-length", str(len(body))))
        connection.close()
        head = "".join(f"{name}: {value}\r\n" for name, value in headers)
        return f"HTTP/1.1 {answer.status} {answer.reason}\r\n{head}\r\n".encode() + body


class CopyProtocol(asyncio.Protocol):
    """One connection of a browser. A stream is left open: its answer has no length."""

    def __init__(self, page: PageCopy) -> None:
        self._page = page
        self._rest = b""
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep where answers are written."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer all requests that are complete."""
        self._rest += data
        while b"\r\n\r\n" in self._rest:
            head, _, self._rest = self._rest.partition(b"\r\n\r\n")
            self._transport.write(self._page.answer(head.split(b" ", 2)[1].decode()))


@contextlib.contextmanager
def copy_page(origin: str, cookie: str) -> "Generator[CopyProcess]":
    """Serve a copy of a page in a process of its own."""
    address = urlsplit(origin)
    command = [sys.executable, "-m", "tests.benchmarks.page_copy", address.netloc, str(address.port), cookie]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        try:
            yield CopyProcess(process, cookie)
        finally:
            process.terminate()


class CopyProcess:
    """The process that serves a copy."""

    def __init__(self, process: Popen[str], cookie: str) -> None:
        assert process.stdin
        assert process.stdout
        self._stdin, self._stdout = process.stdin, process.stdout
        self.cookie = cookie
        self.origin = f"http://127.0.0.1:{self._stdout.readline().strip()}"

    def take_requests(self) -> list[SentRequest]:
        """Return the requests since this was last called."""
        self._stdin.write("\n")
        self._stdin.flush()
        return [SentRequest(*row) for row in json.loads(self._stdout.readline())]


class Replay:
    """Sends what a browser sent to the page, at the same pace, with one stream open as the browser has."""

    def __init__(self, origin: str, cookie: str, requests: Sequence[SentRequest]) -> None:
        address = urlsplit(origin)
        self._headers = {"Host": address.netloc, "Cookie": cookie}
        self._connection, self._stream = (HTTPConnection("127.0.0.1", address.port or 0, timeout=60) for _ in range(2))
        self._steps = self._iter_steps([request for request in requests if request.path != STREAM_PATH])
        self._send(self._stream, STREAM_PATH)

    def send_next(self) -> None:
        """Send the next request, and wait as long as the browser did."""
        path, seconds = next(self._steps)
        self._send(self._connection, path).read()
        time.sleep(seconds)

    def close(self) -> None:
        """End the connections."""
        self._connection.close()
        self._stream.close()

    def _iter_steps(self, requests: Sequence[SentRequest]) -> Iterator[tuple[str, float]]:
        return cycle((later.path, later.at - earlier.at) for earlier, later in pairwise(requests))

    def _send(self, connection: HTTPConnection, path: str) -> HTTPResponse:
        connection.request("GET", path, headers=self._headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        return answer


@contextlib.contextmanager
def replay_requests(origin: str, cookie: str, requests: Sequence[SentRequest]) -> Generator[Replay]:
    """Replay the requests of a browser, and close the connections at the end."""
    replay = Replay(origin, cookie, requests)
    try:
        yield replay
    finally:
        replay.close()


async def _serve(page: PageCopy) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: CopyProtocol(page), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        requests, page.requests = page.requests, []
        print(json.dumps(requests), flush=True)


if __name__ == "__main__":
    asyncio.run(_serve(PageCopy(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
