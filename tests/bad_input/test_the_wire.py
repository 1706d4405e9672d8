"""Bad input on the real wire: raw JSON lines to the real process."""

import json
import os
import selectors
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.tool_errors import read_result

SILENCE = 20.0
SERVE = (
    "from panorama.daemon.job_scheduler import run_jobs; from panorama.mcp.server import serve_stdio; "
    "serve_stdio(run_jobs)"
)


class Wire:
    """A server process, and the lines that go to it and come from it."""

    def __init__(self, home: Path) -> None:
        environment = {**os.environ, "PANORAMA_HOME": str(home), "PANORAMA_NO_DAEMON": "1", "PANORAMA_EMBEDDER": "none"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self.home = home
        self.number = 0
        self.lines = b""
        client = {"name": "raw", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def send(self, line: bytes) -> None:
        """Send one line."""
        assert self.process.stdin
        rest = memoryview(line + b"\n")
        while rest:
            rest = rest[self.process.stdin.write(rest) or 0 :]

    def answer(self) -> dict[str, Any]:
        """Read lines until one answers the last request; a server that stays silent for twenty seconds has lost it."""
        assert self.process.stdout
        reading = selectors.DefaultSelector()
        with reading:
            reading.register(self.process.stdout, selectors.EVENT_READ)
            while self.lines or reading.select(timeout=SILENCE):
                message = json.loads(self.line())
                if message.get("id") == self.number:
                    return dict(message)
        raise AssertionError("the server never answered")

    def line(self) -> bytes:
        """Return the next whole line."""
        assert self.process.stdout
        while b"\n" not in self.lines:
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            assert chunk, "the server is gone"
            self.lines += chunk
        found, _, rest = self.lines.partition(b"\n")
        self.lines = rest
        return bytes(found)

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer."""
        self.number += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}).encode())
        return self.answer()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; lone surrogates leave as \\ud800."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def close(self) -> None:
        """End the process by closing its input."""
        self.process.communicate(timeout=20)


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """One server for all tests of this module."""
    wire = Wire(tmp_path_factory.mktemp("wire"))
    yield wire
    wire.close()


@pytest.fixture
def wire(process: Wire) -> Iterator[Wire]:
    """The server, which must live on after each test."""
    yield process

    assert process.call("status")["result"]["isError"] is False


def changes(wire: Wire) -> int:
    """Count the changes, beside the server."""
    with closing(sqlite3.connect(wire.home / "panorama.db")) as database:
        return int(database.execute("SELECT count(*) FROM changes").fetchone()[0])


@pytest.mark.parametrize("text", ["a\ud800b", "a\x00b"], ids=ascii)
@pytest.mark.parametrize(
    ("tool", "field", "others"),
    [
        ("create_task", "title", {}),
        ("create_note", "content", {"title": "x"}),
        ("create_task", "project", {"title": "x"}),
        ("create_task", "idempotency_key", {"title": "x"}),
    ],
)
def test_what_is_no_text_is_refused_on_the_wire(
    wire: Wire, tool: str, field: str, others: dict[str, Any], text: str
) -> None:
    before = changes(wire)

    answer = wire.call(tool, **others, **{field: text})

    error = read_result(answer["result"])["error"]
    assert answer["result"]["isError"] is True
    assert error["code"] in ("invalid_input", "not_found")
    assert error["hint"]
    assert changes(wire) == before


def test_half_a_character_in_a_search_is_no_accident(wire: Wire) -> None:
    result = wire.call("search", query="a\ud800b")["result"]

    assert result["isError"] is False or read_result(result)["error"]["code"] == "invalid_input"


def test_half_a_character_in_a_tools_name_is_no_accident(wire: Wire) -> None:
    answer = wire.call("\ud800")

    assert "error" in answer or read_result(answer["result"])["error"]["code"] == "not_found"


def test_half_a_character_in_an_arguments_name_is_refused(wire: Wire) -> None:
    result = wire.call("create_task", **{"title": "x", "\ud800": "x"})["result"]

    assert read_result(result)["error"]["code"] == "invalid_input"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"garbage",
        b"{}",
        b"[]",
        b"\xff\xfe\x00",
        b'{"jsonrpc":"2.0"',
        b"null",
        b"[" * 10_000,
        b'"' + b"x" * 1_000_000,
    ],
)
def test_a_line_that_is_no_message_ends_nothing(wire: Wire, line: bytes) -> None:
    wire.send(line)

    assert wire.call("status")["result"]["isError"] is False


def test_a_pair_of_halves_is_one_character(wire: Wire) -> None:
    wire.number += 1
    wire.send(
        b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"create_note","arguments":{"title":"\\ud83d\\ude42"}}}'
        % wire.number
    )

    assert wire.answer()["result"]["structuredContent"]["data"]["title"] == "🙂"


def test_a_note_of_ten_megabytes_goes_over_the_wire(wire: Wire) -> None:
    made = wire.call("create_note", title="Huge on the wire", content="x" * (10 * 1024 * 1024))

    read = wire.call("get_note", note="Huge on the wire", start=10 * 1024 * 1024 - 5, chars=100)
    assert made["result"]["isError"] is False
    assert read["result"]["structuredContent"]["data"]["content"] == "xxxxx"


@pytest.mark.parametrize("depth", [150, 1_000])
def test_deep_nesting_is_refused_on_the_wire(wire: Wire, depth: int) -> None:
    where = '{"not":' * depth + "{}" + "}" * depth  # written by hand: Python's own encoder gives up at such a depth
    call = f'{{"name":"query","arguments":{{"collection":"tasks","where":{where}}}}}'
    wire.number += 1

    wire.send(f'{{"jsonrpc":"2.0","id":{wire.number},"method":"tools/call","params":{call}}}'.encode())
    answer = wire.answer()

    assert "error" in answer or read_result(answer["result"])["error"]["code"] == "invalid_input"


def test_numbers_that_json_does_not_know_are_refused(wire: Wire) -> None:
    before = changes(wire)

    answer = wire.call("create_task", title="x", rank=float("nan"))

    assert "error" in answer or answer["result"]["isError"] is True
    assert changes(wire) == before
