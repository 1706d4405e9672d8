"""A client of the real door, spoken to in raw lines, in either protocol era."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.tool_errors import read_result

COMMAND = [sys.executable, "-m", "panorama"]
PATIENCE = 30.0
LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol"


class Peer:
    """One door, and the client behind it."""

    def __init__(self, era: str = MODERN, *, capabilities: Mapping[str, Any] | None = None, **settings: str) -> None:
        self.era = era
        self.capabilities = dict(capabilities or {})
        self.heard: list[dict[str, Any]] = []
        self.said = ""
        self._number = 0
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._answers: dict[int, dict[str, Any]] = {}
        chosen = {f"PANORAMA_{name.upper()}": value for name, value in settings.items()}
        self.process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | chosen
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        """Shake hands, where the era does."""
        if self.era == LEGACY:
            client = {"name": "peer", "version": "1"}
            greeting = {"protocolVersion": LEGACY, "capabilities": self.capabilities, "clientInfo": client}
            self.ask("initialize", **greeting)
            self.tell("notifications/initialized")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Hang up."""
        self.close()

    def close(self) -> int:
        """Close the door's standard input, as a client does, and return its exit code."""
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        try:
            self.process.stdin.close()
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join(PATIENCE)
            self.process.stdout.close()
            if not self.process.stderr.closed:
                self.said += self.errors()
                self.process.stderr.close()

    def send(self, method: str, **params: Any) -> int:
        """Send a request without waiting, and return its id."""
        self._number += 1
        if self.era == MODERN:
            params["_meta"] = params.get("_meta", {}) | {
                f"{META}/protocolVersion": MODERN,
                f"{META}/clientInfo": {"name": "peer", "version": "1"},
                f"{META}/clientCapabilities": self.capabilities,
            }
        self.write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def write(self, message: Mapping[str, Any]) -> None:
        """Send one line."""
        self.raw(json.dumps(message).encode() + b"\n")

    def raw(self, line: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def answer(self, number: int) -> dict[str, Any]:
        """Return the whole answer to a request: it has a result or an error."""
        self.until(lambda: number in self._answers)
        return self._answers.pop(number)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return its result."""
        answer = self.answer(self.send(method, **params))
        assert "result" in answer, answer
        return dict(answer["result"])

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return what it answered: data, summary and metadata, or error."""
        return read_result(self.ask("tools/call", name=tool, arguments=arguments))

    def start(self, tool: str, **arguments: Any) -> int:
        """Call a tool without waiting, and return the request's id."""
        return self.send("tools/call", name=tool, arguments=arguments)

    def listen(self, *uris: str) -> int:
        """Ask to hear of changed lists and of changes of some pages, as the era does; return the last request's id."""
        if self.era == LEGACY:
            for uri in uris:
                self.ask("resources/subscribe", uri=uri)
            return self._number
        notifications = {"toolsListChanged": True, "resourcesListChanged": True, "resourceSubscriptions": list(uris)}
        number = self.send("subscriptions/listen", notifications=notifications)
        self.until(lambda: any("acknowledged" in message["method"] for message in self.heard))
        return number

    def hears(self, method: str) -> dict[str, Any]:
        """Wait for a notification or a question of the server, and take it."""
        self.until(lambda: any(message["method"] == method for message in self.heard))
        found = next(message for message in self.heard if message["method"] == method)
        self.heard.remove(found)
        return found

    def until(self, so: Callable[[], bool]) -> None:
        """Read lines until something is so."""
        while not so():
            line = self._lines.get(timeout=PATIENCE)
            assert line, f"the door has ended: {self.errors()}"
            message = json.loads(line)
            if "method" in message:
                self.heard.append(message)
            else:
                self._answers[message["id"]] = message

    def errors(self) -> str:
        """Return what an ended door wrote to its standard error."""
        assert self.process.stderr
        return self.process.stderr.read().decode(errors="replace")

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")


def kill(pid: int) -> None:
    """End a process as a power cut would: kill -9."""
    os.kill(pid, signal.SIGKILL)


def database(home: Path) -> Path:
    """Return where the store is."""
    return home / "panorama.db"
