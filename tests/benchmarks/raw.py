"""Clients in raw lines that wait for each answer: behind a process's pipes, or straight on the daemon's socket."""

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from panorama.transport.address import Address, handshake, hello_message
from panorama.transport.lines import LineDecoder
from tests.tool_errors import read_result

COMMAND = [sys.executable, "-m", "panorama"]
PATIENCE = 120.0
LEGACY, MODERN = "2025-11-25", "2026-07-28"
CLIENT = {"name": "benchmark", "version": "1"}
META = {
    f"io.modelcontextprotocol/{name}": value
    for name, value in (("protocolVersion", MODERN), ("clientInfo", CLIENT), ("clientCapabilities", {}))
}


class Raw:
    """One client that reads one file and writes another.

    Args:
        rest: What was read already.
    """

    def __init__(self, source: int, sink: int, era: str = LEGACY, rest: bytes = b"") -> None:
        self.era = era
        self._source = source
        self._sink = sink
        self._lines = LineDecoder(1 << 40)
        self._heard = deque(self._lines.feed(rest))
        self._number = 0
        self._waiting = select.poll()
        self._waiting.register(source, select.POLLIN)

    def greet(self) -> None:
        """Do what a client of this era does first."""
        if self.era == LEGACY:
            self.ask("initialize", protocolVersion=LEGACY, capabilities={}, clientInfo=CLIENT)
            self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        else:
            self.ask("server/discover")

    def request(self, method: str, **params: Any) -> bytes:
        """Return the next request as a line."""
        self._number += 1
        if self.era == MODERN:
            params["_meta"] = META
        return json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}).encode() + b"\n"

    def call_of(self, tool: str, **arguments: Any) -> bytes:
        """Return the next call of a tool as a line."""
        return self.request("tools/call", name=tool, arguments=arguments)

    def write(self, line: bytes) -> None:
        """Write all of it."""
        left = memoryview(line)
        while left:
            left = left[os.write(self._sink, left) :]

    def pour(self, lines: Iterable[bytes], patience: float) -> int:
        """Write lines until they are not taken for so many seconds; return how many were taken as a whole."""
        taking = select.poll()
        taking.register(self._sink, select.POLLOUT)
        os.set_blocking(self._sink, False)
        try:
            return self._poured(lines, lambda: bool(taking.poll(patience * 1000)))
        finally:
            os.set_blocking(self._sink, True)

    def _poured(self, lines: Iterable[bytes], takes: Callable[[], bool]) -> int:
        sent = 0
        for line in lines:
            left = memoryview(line)
            while left:
                if not takes():
                    return sent
                with suppress(BlockingIOError):  # it takes less than this line
                    left = left[os.write(self._sink, left) :]
            sent += 1
        return sent

    def next(self) -> bytes:
        """Return the next line; empty once the other side has ended."""
        deadline = time.monotonic() + PATIENCE
        while not self._heard:
            left = deadline - time.monotonic()
            assert left > 0
            assert self._waiting.poll(left * 1000), "no answer"
            if not (chunk := os.read(self._source, 1 << 16)):
                return b""
            self._heard.extend(self._lines.feed(chunk))
        return bytes(self._heard.popleft())  # type: ignore[arg-type] (none is too long)

    def has_line(self) -> bool:
        """Return whether a line has come that was not read."""
        return bool(self._heard or self._waiting.poll(0))

    def answer(self, number: int) -> dict[str, Any]:
        """Wait for the answer to a request."""
        begin = b'{"jsonrpc":"2.0","id":%d,' % number
        while not (line := self.next()).startswith(begin):
            assert line, "the server has ended"
        return dict(json.loads(line))

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return its result."""
        self.write(self.request(method, **params))
        answer = self.answer(self._number)
        assert "result" in answer, answer
        return dict(answer["result"])

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed, and return data, summary and metadata."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return read_result(result)

    def took(self, tool: str, **arguments: Any) -> float:
        """Return how many milliseconds a call takes that must succeed, from its line to the end of its answer."""
        line = self.call_of(tool, **arguments)
        begin = b'{"jsonrpc":"2.0","id":%d,' % self._number
        started = time.perf_counter()
        self.write(line)
        while not (heard := self.next()).startswith(begin):
            assert heard, "the server has ended"
        milliseconds = (time.perf_counter() - started) * 1000
        assert b'"isError":true' not in heard, heard[:500]
        return milliseconds


class ProcessClient(Raw):
    """A client of a process that it starts, as clients do."""

    def __init__(self, home: Path | str, era: str = LEGACY, **settings: str) -> None:
        self.process = subprocess.Popen(
            COMMAND, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(home, **settings)
        )
        assert self.process.stdin
        assert self.process.stdout
        super().__init__(self.process.stdout.fileno(), self.process.stdin.fileno(), era)

    def close(self) -> None:
        """Close its standard input, as clients do, and wait for its end."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


class Straight(Raw):
    """A client that speaks to the daemon without a door; what the daemon says to doors alone is left out."""

    def __init__(self, address: Address, era: str = LEGACY) -> None:
        made = handshake(address, hello_message(address, "mcp", f"v_{os.urandom(5).hex()}"))
        self.stream: socket.socket = made.stream
        super().__init__(self.stream.fileno(), self.stream.fileno(), era, made.rest)

    def next(self) -> bytes:
        """Return the next line that is for a client; empty once the daemon has ended."""
        while (line := super().next()).startswith(b'{"panorama":'):
            pass
        return line

    def close(self) -> None:
        """Hang up."""
        self.stream.close()


def environment(home: Path | str, **settings: str) -> dict[str, str]:
    """Return the environment of a server on a data directory, without the tester's own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PANORAMA_")}
    chosen = {f"PANORAMA_{name.upper()}": value for name, value in settings.items()}
    return kept | {"PANORAMA_HOME": str(home), "PANORAMA_EMBEDDER": "none"} | chosen


@contextmanager
def spawned(home: Path | str, era: str = LEGACY, **settings: str) -> Generator[ProcessClient]:
    """Start what a client starts, greet it, and hang up at the end."""
    client = ProcessClient(home, era, **settings)
    try:
        client.greet()
        yield client
    finally:
        client.close()


@contextmanager
def straight(address: Address, era: str = LEGACY) -> Generator[Straight]:
    """Connect to the daemon, greet it, and hang up at the end."""
    client = Straight(address, era)
    try:
        client.greet()
        yield client
    finally:
        client.close()
