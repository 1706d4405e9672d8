"""A service that embeds texts as Ollama's and OpenAI's APIs have it, and misbehaves when it is told to."""

import hashlib
import json
import math
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SIZE = 8
DIGEST = "sha256:5e2f"

Reply = Callable[["Talk"], None]


@dataclass(frozen=True)
class ReceivedRequest:
    """One request that came."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Service:
    """Where it listens, what it was asked, and how it will answer the next requests: as it should when none is left."""

    url: str = ""
    asked: list[ReceivedRequest] = field(default_factory=list[ReceivedRequest])
    replies: deque[Reply] = field(default_factory=deque[Reply])
    always: Reply | None = None
    size: int = SIZE
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each question, in the order they came."""
        return [asked.body["input"] for asked in self.asked if asked.body]


def vector(text: str, size: int = SIZE) -> list[float]:
    """Return the vector of a text: not of length 1, as some models have it."""
    return [byte / 16 - 7 for byte in hashlib.shake_256(text.encode()).digest(size)]


def unit(text: str) -> list[float]:
    """Return the same, of length 1."""
    length = math.dist(vector(text), [0.0] * SIZE)
    return [item / length for item in vector(text)]


class Talk(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    service: Service
    asked: ReceivedRequest

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _answer(self, body: Any) -> None:
        self.asked = ReceivedRequest(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        self.service.asked.append(self.asked)
        if body is not None and self.service.replies:
            reply = self.service.replies.popleft()
        else:
            reply = (self.service.always if body is not None else None) or proper
        try:
            reply(self)
        except ConnectionError:  # the client has hung up
            self.close_connection = True

    def send(self, status: int, content: bytes, **headers: str) -> None:
        """Send a whole answer."""
        self.send_response(status)
        for name, value in {"content-length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)


def proper(talk: Talk) -> None:
    """Answer as it should."""
    if talk.path == "/api/tags":
        models = [{"name": "other", "digest": "no"}, {"name": "tiny:latest", "digest": DIGEST}]
        return talk.send(200, json.dumps({"models": models}).encode())
    return vectors([vector(text, talk.service.size) for text in talk.asked.body["input"]])(talk)


def vectors(rows: list[Any]) -> Reply:
    """Answer with these vectors; OpenAI's API says which is which, so there they come in reverse."""

    def reply(talk: Talk) -> None:
        if talk.path == "/api/embed":
            return says({"embeddings": rows})(talk)
        data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
        return says({"data": data[::-1]})(talk)

    return reply


def says(body: Any, status: int = 200, **headers: str) -> Reply:
    """Answer with this as JSON."""
    return lambda talk: talk.send(status, json.dumps(body).encode(), **headers)


def raw(content: bytes) -> Reply:
    """Answer with these bytes."""
    return lambda talk: talk.send(200, content)


def hang_up(talk: Talk) -> None:
    """End the connection without an answer."""
    talk.close_connection = True


def trickle(talk: Talk) -> None:
    """Send a blank now and then, for ever."""
    talk.send_response(200)
    talk.send_header("content-length", "1000000")
    talk.end_headers()
    while not talk.service.ended.wait(0.02):
        talk.wfile.write(b" ")


def trickle_headers(talk: Talk) -> None:
    """Send a header now and then, for ever."""
    talk.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while not talk.service.ended.wait(0.02):
        talk.wfile.write(b"x: y\r\n")


def silence(talk: Talk) -> None:
    """Send nothing until the end."""
    talk.service.ended.wait()


def endless(talk: Talk) -> None:
    """Send as much as is taken."""
    talk.send_response(200)
    talk.send_header("connection", "close")
    talk.end_headers()
    while not talk.service.ended.is_set():
        talk.wfile.write(b"[" * 65536)


@contextmanager
def serving() -> Generator[Service]:
    """Serve on this machine for the length of a block."""
    service = Service()
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Talk,), {"service": service})) as server:
        server.daemon_threads = False
        service.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            service.ended.set()
            server.shutdown()
            thread.join()
