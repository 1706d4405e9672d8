"""Loopback stand-ins for web services, in the form of their documentation.

A stand-in answers 400 to a request that the documentation does not allow, and counts it among `faults`, which tests
check at their end. `fail_next` makes it misbehave.
"""

import base64
import json
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

KEY = "k3y-0123456789abcdef"


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request as the stand-in received it."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: Any

    def value(self, name: str, default: str = "") -> str:
        """Return a parameter of the query."""
        return self.query.get(name, [default])[0]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer; `pace_seconds` is the time between its bytes, `cut` means that the connection ends in its middle."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    pace_seconds: float = 0.0
    cut: bool = False


class ShapeError(Exception):
    """A request has something that the documentation does not allow."""


Route = Callable[[Call], Reply]


@dataclass
class StandIn:
    """A service: it answers `routes` by method and first match of the path."""

    answer: Route
    calls: list[Call] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _next: list[Reply] = field(default_factory=list)
    url: str = ""

    def fail_next(self, *replies: Reply) -> None:
        """Give these answers to the next requests."""
        self._next += replies

    def reply(self, call: Call) -> Reply:
        """Return the answer to a request."""
        self.calls.append(call)
        if self._next:
            return self._next.pop(0)
        try:
            return self.answer(call)
        except ShapeError as error:
            self.faults.append(f"{call.method} {call.path}: {error}")
            return Reply(status=400, body={"message": str(error)})


def allow(names: object, *known: str) -> None:
    """Check that there are no names but the known ones."""
    if unknown := set(names) - set(known):  # type: ignore[call-overload] (JSON of any shape)
        raise ShapeError(f"unknown {sorted(unknown)}")


def require(is_right: bool, problem: str) -> None:
    """Check a rule of the documentation."""
    if not is_right:
        raise ShapeError(problem)


def read_basic(call: Call) -> str:
    """Return the credentials of HTTP Basic authentication."""
    return base64.b64decode(call.headers.get("authorization", "").removeprefix("Basic ")).decode()


@contextmanager
def serve(answer: Route) -> Generator[StandIn]:
    """Serve a stand-in, and check at the end that every request had the documented form."""
    stand_in = StandIn(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def handle_request(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            url = urlsplit(self.path)
            is_json = "json" in self.headers.get("Content-Type", "")
            body = json.loads(raw) if is_json and raw else {name: row[0] for name, row in parse_qs(raw).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            call = Call(
                method=self.command, path=unquote(url.path), query=parse_qs(url.query), headers=headers, body=body
            )
            self._send(stand_in.reply(call))

        def _send(self, reply: Reply) -> None:
            text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            content = b"" if reply.body is None else text.encode()
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                if reply.cut:
                    self.wfile.write(content[: len(content) // 2])
                    self.close_connection = True
                elif reply.pace_seconds:
                    for byte in content:
                        self.wfile.write(bytes([byte]))
                        time.sleep(reply.pace_seconds)
                else:
                    self.wfile.write(content)
            except OSError:
                self.close_connection = True

    for method in ("GET", "POST", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.handle_request)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stand_in.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert stand_in.faults == []
