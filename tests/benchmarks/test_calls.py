"""What one call costs, in memory and over stdio, beside a call that does nothing."""

import asyncio
import json
import os
import sys
import time
from itertools import count
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from panorama.app import open_app
from panorama.config import Settings
from panorama.mcp.server import build_server

from .measure import Board, in_turn, median, ms, ratio
from .stores import Town

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
NOOP = Path(__file__).with_name("noop_server.py")
WORDS = 300


def stdio(home: Path) -> Client:
    """Return a client of the real server on a data directory."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PANORAMA_")}
    environment = kept | {"PANORAMA_HOME": str(home), "PANORAMA_NO_DAEMON": "1"}
    return Client(StdioTransport(sys.executable, ["-m", "panorama"], env=environment, keep_alive=False))


def doing_nothing() -> Client:
    """Return a client of the server that does nothing."""
    return Client(StdioTransport(sys.executable, [str(NOOP)], keep_alive=False))


def noop() -> str:
    """Do nothing."""
    return "done"


def test_creating_a_task_in_memory(tmp_path: Path, board: Board) -> None:
    async def measured() -> dict[str, list[float]]:
        with open_app(Settings(home=tmp_path / "home")) as app:
            server = build_server(app)
            server.tool(noop)
            async with Client(server) as client:
                numbers = count()
                steps = {
                    "noop": lambda: client.call_tool("noop", {}),
                    "create_task": lambda: client.call_tool("create_task", {"title": f"Task {next(numbers)}"}),
                    "list_tasks": lambda: client.call_tool("list_tasks", {"limit": 1 + next(numbers) % 400}),
                }
                return await in_turn(steps, times=100)

    found = asyncio.run(measured())

    board.show(
        "create_task in memory, p50 / no-op tool", "≤ 3.0 x", f"{ratio(found, 'create_task', 'noop'):.2f} x",
        f"{ms(found['create_task'])} / {ms(found['noop'])}",
    )  # fmt: skip


def test_creating_a_note_over_stdio_in_an_empty_and_in_a_large_store(
    tmp_path: Path, many_notes: Path, board: Board
) -> None:
    text = Town().language.text

    async def measured() -> dict[str, list[float]]:
        async with doing_nothing() as nothing, stdio(tmp_path / "home") as small, stdio(many_notes) as large:
            steps = {
                "noop": lambda: nothing.call_tool("noop", {}),
                "empty": lambda: small.call_tool("create_note", {"title": "Bench", "content": text(WORDS)}),
                "large": lambda: large.call_tool("create_note", {"title": "Bench", "content": text(WORDS)}),
            }
            return await in_turn(steps, times=100)

    found = asyncio.run(measured())

    board.show(
        "create_note (300 words) over stdio, p50 / no-op server", "≤ 4 x", f"{ratio(found, 'empty', 'noop'):.2f} x",
        f"{ms(found['empty'])} / {ms(found['noop'])}",
    )  # fmt: skip
    board.show(
        "the same at 100,000 notes / at an empty store", "≤ 1.3 x", f"{ratio(found, 'large', 'empty'):.2f} x",
        f"{ms(found['large'])} / {ms(found['empty'])}",
    )  # fmt: skip


def test_two_thousand_notes_one_by_one_over_stdio(tmp_path: Path, board: Board) -> None:
    async def measured() -> tuple[float, float]:
        texts = [Town().language.text(WORDS)] * 2000
        async with stdio(tmp_path / "home") as client, doing_nothing() as nothing:
            started = time.perf_counter()
            for number, text in enumerate(texts):
                await client.call_tool("create_note", {"title": f"Note {number}", "content": f"{number} {text}"})
            between = time.perf_counter()
            for _ in texts:
                await nothing.call_tool("noop", {})
            return between - started, time.perf_counter() - between

    seconds, reference = asyncio.run(measured())

    board.show(
        "2,000 notes one by one over stdio", "≤ 10 s", f"{seconds:.1f} s", f"2,000 no-op calls: {reference:.1f} s"
    )


def test_the_start_of_the_server(tmp_path: Path, board: Board) -> None:
    async def started(client: Client) -> float:
        begun = time.perf_counter()
        async with client:
            await client.list_tools()
        return time.perf_counter() - begun

    async def measured() -> tuple[list[float], list[float]]:
        await started(stdio(tmp_path / "home"))
        pairs = [(await started(stdio(tmp_path / "home")), await started(doing_nothing())) for _ in range(3)]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    ours, theirs = asyncio.run(measured())

    board.show(
        "start over stdio to first answer, and end", "", f"{median(ours):.2f} s", f"no-op server {median(theirs):.2f} s"
    )


def test_the_list_of_tools(tmp_path: Path, board: Board) -> None:
    async def listed() -> list[dict[str, object]]:
        with open_app(Settings(home=tmp_path / "home")) as app:
            async with Client(build_server(app)) as client:
                tools = await client.list_tools()
        return [{"name": t.name, "description": t.description, "inputSchema": t.input_schema} for t in tools]

    tools = asyncio.run(listed())

    chars = sum(len(json.dumps(tool, ensure_ascii=False, separators=(",", ":"))) for tool in tools)
    described = [len(str(tool["description"])) for tool in tools]
    board.show("tools listed", "≤ 36", str(len(tools)))
    board.show(
        "tools/list: name, description, input schema", "≤ 4,900 tokens", f"{chars / 4:,.0f} tokens", f"{chars:,} chars"
    )
    board.show(
        "descriptions",
        "≤ 600 chars, about 180",
        f"{max(described)} at most, {sum(described) / len(described):.0f} on average",
    )
