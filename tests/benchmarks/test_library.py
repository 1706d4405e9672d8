"""What the library costs: a tool that is a script beside the same script as code, and a list that holds twelve."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from panorama.app import App
from panorama.mcp.server import build_server
from tests.kept import COUNTING, Person, put

from . import sandboxes
from .measure import Board, Step, in_turn, ms, ratio

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]

SAVED, PROMOTED = 500, 12
CALLS, LISTS = 60, 100


def fill_library(app: App, saved: int, promoted: int) -> None:
    """Save scripts, and make some of them tools."""
    for number in range(saved):
        put(app, f"count_{number}", COUNTING)
    for number in range(promoted):
        Person(app).promotes(f"count_{number}", read_only=bool(number % 2))


async def called(client: Client[Any], tool: str, **arguments: Any) -> object:
    """Call a tool that must succeed."""
    answer = await client.call_tool(tool, arguments)
    assert (answer.structured_content or {})["data"]["result"] == 0
    return answer


def test_a_promoted_tool(tmp_path: Path, board: Board) -> None:
    code = f"{COUNTING}\nreturn main(project)"

    async def measured() -> dict[str, list[float]]:
        async with AsyncExitStack() as stack:
            app = stack.enter_context(sandboxes.app(tmp_path / "home"))
            fill_library(app, SAVED, PROMOTED)
            client = await stack.enter_async_context(Client(build_server(app)))
            steps: dict[str, Step] = {
                "tool": lambda: called(client, "script_count_0"),
                "run_code": lambda: called(client, "run_code", code=code, inputs={"project": ""}),
                "run_script": lambda: called(client, "run_script", script="count_0"),
            }
            return await in_turn(steps, times=CALLS, before=lambda: asyncio.sleep(0.05))

    found = asyncio.run(measured())

    both = f"{ms(found['tool'])} / {ms(found['run_code'])}"
    board.show("a promoted tool / the same script by run_code, p50", "≤ 1.15 x", _times(found, "tool"), both)
    board.show("   run_script / the same by run_code", "", _times(found, "run_script"), ms(found["run_script"]))


def _times(found: dict[str, list[float]], name: str) -> str:
    return f"{ratio(found, name, 'run_code'):.2f} x"


def test_a_list_of_tools_with_twelve_of_them(tmp_path: Path, board: Board) -> None:
    async def measured() -> dict[str, list[float]]:
        async with AsyncExitStack() as stack:
            clients: dict[str, Client[Any]] = {}
            for name, saved, promoted in (("none", 0, 0), ("twelve", SAVED, PROMOTED)):
                app = stack.enter_context(sandboxes.app(tmp_path / name))
                fill_library(app, saved, promoted)
                clients[name] = await stack.enter_async_context(Client(build_server(app)))
            counts = {name: len(await client.list_tools()) for name, client in clients.items()}
            assert counts["twelve"] == counts["none"] + PROMOTED
            steps: dict[str, Step] = {name: client.list_tools for name, client in clients.items()}
            return await in_turn(steps, times=LISTS)

    found = asyncio.run(measured())

    board.show(
        f"tools/list with {PROMOTED} promoted of {SAVED} saved / none, p50", "≤ 1.5 x",
        f"{ratio(found, 'twelve', 'none'):.2f} x", f"{ms(found['twelve'])} / {ms(found['none'])}",
    )  # fmt: skip
