"""The real server as a process of its own, spoken to in raw lines of JSON over its pipes."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.tool_errors import read_result

COMMAND = [sys.executable, "-m", "panorama"]
"""What an MCP client starts."""

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "faults", "version": "1"}}
PATIENCE = 20
START_PATIENCE, STARTS = 120, 4
"""How long a start may take on a busy machine, and how many times as long as the start an answer may take there."""


class Server:
    """One server process on the store in `home`. Its calls may be sent ahead and their answers fetched later."""

    command: Sequence[str] = COMMAND
    least_patience: float = PATIENCE
    """How many seconds an answer may take, at least."""

    def __init__(self, home: Path, **settings: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PANORAMA_")}
        chosen = {f"PANORAMA_{name.upper()}": value for name, value in settings.items()}
        given = {"PANORAMA_HOME": str(home), "PANORAMA_NO_DAEMON": "1", "PANORAMA_EMBEDDER": "none"}
        environment = kept | given | chosen
        self._errors = (home.parent / f"{home.name}-{id(self)}.stderr").open("w+b")
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._number = 0
        self._early: dict[int, Mapping[str, Any]] = {}
        self._patience: float = START_PATIENCE

    def __enter__(self) -> Self:
        self.greet()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def greet(self) -> None:
        """Shake hands; from then on, the answers are waited for in proportion to what the start took."""
        began = time.monotonic()
        self._answer(self._send("initialize", HELLO))
        self._patience = max(self.least_patience, STARTS * (time.monotonic() - began))
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, tool: str, arguments: Mapping[str, Any]) -> int:
        """Send a call without waiting; return its number."""
        return self._send("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        """Call a tool; return the structure it answered: data and summary, or error."""
        return read_result(self._answer(self.send(tool, arguments)))

    def next_answer(self) -> tuple[int, Mapping[str, Any]]:
        """Return the number and the structure of the next answer.

        Raises:
            EOFError: The process has ended.
            TimeoutError: It does not answer.
        """
        while True:
            try:
                line = self._lines.get(timeout=self._patience)
            except queue.Empty:
                raise TimeoutError(f"no answer within {self._patience:.0f} s; {self.errors()}") from None
            if not line.endswith(b"\n"):
                raise EOFError(self.errors())
            message = json.loads(line)
            if "id" in message and "method" not in message:
                return message["id"], message.get("result", message)

    def kill(self) -> None:
        """End the process as a power cut would end it: kill -9."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def close(self) -> None:
        """Hang up, as a client does; the process ends by itself."""
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait(PATIENCE)
            self._reader.join(PATIENCE)
            self.process.stdout.close()
            self._errors.close()

    def errors(self) -> str:
        """Return what the process wrote to its standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def _read(self) -> None:
        line = b"\n"
        while line.endswith(b"\n"):
            line = self.process.stdout.readline()
            self._lines.put(line)

    def _answer(self, number: int) -> Mapping[str, Any]:
        while number not in self._early:
            got, answer = self.next_answer()
            self._early[got] = answer
        return self._early.pop(number)

    def _send(self, method: str, params: Mapping[str, Any]) -> int:
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def _write(self, message: Mapping[str, Any]) -> None:
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise EOFError(self.errors()) from error
