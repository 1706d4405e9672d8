"""What calls of sources cost, and what a source that misbehaves costs others."""

import json
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.errors import PanoramaError
from panorama.mcp.server import build_server
from panorama.sources.mcp.kind import McpSource
from panorama.sources.source import Deadline
from tests.sources.servers import raw_config, raw_entry

from .measure import Board, Step, in_turn, median, ms, ratio
from .processes import daemon, rollup

pytestmark = [pytest.mark.benchmark, pytest.mark.anyio, pytest.mark.timeout(900)]

CALLS = 200
MANY_SOURCES = 20
CHARS_PER_TOKEN = 4
TALK = Conversation("v_bench", "cli", "bench")
REAL_SERVERS = (
    "mcp-server-everything", "mcp-server-filesystem", "mcp-server-memory", "mcp-server-sequential-thinking",
    "mcp-server-git", "mcp-server-time", "mcp-server-fetch", "mcp-server-sqlite", "mcp-server-github",
    "github-mcp-server-mcp", "notion-mcp-server", "mcp-wordpress", "mcp-github-crunchtools",
    "mcp-wordpress-crunchtools", "serena",
)  # fmt: skip
REAL_ARGUMENTS = {
    "mcp-server-filesystem": ["/tmp"], "mcp-server-sqlite": ["--db-path", "/tmp/panorama-benchmark.sqlite"],
    "serena": ["start-mcp-server"],
}  # fmt: skip
REAL_ENVIRONMENT = {
    "NOTION_TOKEN": "none", "GITHUB_PERSONAL_ACCESS_TOKEN": "none", "GITHUB_TOKEN": "none",
    "WORDPRESS_SITE_URL": "http://127.0.0.1:9", "WORDPRESS_URL": "http://127.0.0.1:9", "WORDPRESS_USERNAME": "none",
    "WORDPRESS_APP_PASSWORD": "none",
}  # fmt: skip
"""What the servers need to start; none of them is called."""


def _configure(home: Path, count: int = 1, *flags: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    entries = {f"crm{number or ''}": raw_entry(*flags) for number in range(count)}
    (home / "sources.json").write_text(json.dumps({"mcpServers": entries}))


def _run(app: App, code: str, **more: Any) -> dict[str, Any]:
    return app.calls.call("run_code", {"code": code, **more}, TALK).data


def _as_step(work: Callable[[], object]) -> Step:
    async def step() -> object:
        return work()

    return step


async def test_a_call_beside_a_bare_client(board: Board, tmp_path: Path) -> None:
    _configure(tmp_path)
    entry = raw_entry()
    bare: Client[Any] = Client(StdioTransport(sys.executable, entry["args"], keep_alive=False))
    source = McpSource(raw_config(), str, tmp_path / "direct")
    with open_app(read_settings(home=tmp_path, embedder="none")) as app:
        async with bare:
            [function] = [item for item in source.list_functions(Deadline.after(30)) if item.name == "echo"]
            _run(app, 'sdk.crm.echo(message="x")')

            async def call_bare() -> object:
                return [await bare.call_tool_mcp("echo", {"message": "x"}) for _ in range(CALLS)]

            def call_from_thread() -> object:
                return [source.call(function, {"message": "x"}, Deadline.after(30)) for _ in range(CALLS)]

            code = f'for _ in range({CALLS}): sdk.crm.echo(message="x")'
            steps = {
                "bare": call_bare,
                "thread": _as_step(call_from_thread),
                "script": _as_step(lambda: _run(app, code)),
                "items": _as_step(lambda: _run(app, code.replace('crm.echo(message="x")', "tasks.list(limit=1)"))),
            }
            found = await in_turn(steps, times=2)
    source.close()
    reference = f"bare {ms(median(found['bare']) / CALLS)}, sdk.tasks.list {ms(median(found['items']) / CALLS)} a call"
    for name, bar in (("thread", "≤ 1.6 x"), ("script", "≤ 3 x")):
        board.show(f"{CALLS} calls of a source from a {name}", bar, f"{ratio(found, name, 'bare'):.2f} x", reference)


async def test_calls_side_by_side_and_the_end_of_a_run(board: Board, tmp_path: Path) -> None:
    _configure(tmp_path)
    with open_app(read_settings(home=tmp_path, embedder="none")) as app:
        _run(app, 'sdk.crm.echo(message="x")')
        wait = "sdk.crm.wait(seconds=0.2)"
        steps = {
            "one": _as_step(lambda: _run(app, wait)),
            "eight": _as_step(lambda: _run(app, f"sdk.parallel_map(lambda _: {wait}, range(8))")),
            "over": _as_step(lambda: _run(app, "sdk.crm.wait(seconds=20)", timeout=1)),
        }
        found = await in_turn(steps, times=3, rounds=3)
    board.show("8 calls of 0.2 s side by side", "≤ 350 ms", ms(found["eight"]), f"one {ms(found['one'])}")
    board.show("a run of 1 s that waits for a source", "≤ 1,200 ms", ms(found["over"]))


def test_stubs_of_functions(board: Board, tmp_path: Path) -> None:
    _configure(tmp_path)
    with open_app(read_settings(home=tmp_path, embedder="none")) as app:
        stub = app.calls.call("search_sdk", {"query": "crm.add_lead"}, TALK).text
    board.show("the stub of one function", "≤ 250 tokens", f"{len(stub) // CHARS_PER_TOKEN} tokens")


async def test_definitions_of_published_servers(board: Board, tmp_path: Path) -> None:
    """Run with the servers of REAL_SERVERS on PATH; those that are missing are named."""
    found = {name: shutil.which(name) for name in REAL_SERVERS}
    entries = {
        f"real{number}": {"command": path, "args": REAL_ARGUMENTS.get(name, []), "env": REAL_ENVIRONMENT}
        for number, (name, path) in enumerate(found.items())
        if path
    }
    if not entries:
        pytest.skip("no published MCP server is on PATH")
    with open_app(read_settings(home=tmp_path, embedder="none")) as app:
        before = await _measure_context(app)
        (tmp_path / "sources.json").write_text(json.dumps({"mcpServers": entries}))
        chars, tools, failed = 0, 0, [name for name, path in found.items() if path is None]
        for source in entries:
            try:
                app.calls.call("sources.renew", {"source": source}, TALK)
                config_and_source = app.sources.find(source)
                functions = config_and_source[1].list_functions(Deadline.after(60)) if config_and_source else ()
            except PanoramaError as error:
                failed.append(f"{entries[source]['command']}: {error.message}")
                continue
            tools += len(functions)
            definitions = [
                [function.own_name, function.description, function.parameters, function.returns]
                for function in functions
            ]
            chars += len(json.dumps(definitions))
        after = await _measure_context(app)
    servers = len(entries) - sum(":" in item for item in failed)
    reference = (
        f"{servers} servers, {tools} tools, {chars // CHARS_PER_TOKEN:,} tokens; missing: {', '.join(failed) or '–'}"
    )
    board.show("definitions of published servers in the context", "0 tokens", f"{after - before} characters", reference)


async def _measure_context(app: App) -> int:
    """Return how many characters a client puts before its model: the instructions and the list of tools."""
    async with Client(build_server(app)) as client:
        tools, instructions = await client.list_tools(), client.instructions or ""
    shown = [[tool.name, tool.description, tool.input_schema] for tool in tools]
    return len(instructions) + len(json.dumps(shown))


async def test_sources_that_nobody_calls(board: Board, tmp_path: Path) -> None:
    homes = {"none": tmp_path / "none", "twenty": tmp_path / "twenty"}
    homes["none"].mkdir()
    _configure(homes["twenty"], MANY_SOURCES)
    memory: dict[str, list[float]] = {name: [] for name in homes}
    starts: dict[str, list[float]] = {name: [] for name in homes}
    for _ in range(6):
        for name, home in homes.items():
            began = time.perf_counter()
            with daemon(home) as process:
                starts[name].append((time.perf_counter() - began) * 1000)
                memory[name].append(rollup(process.pid)["Pss"])
    more = median(memory["twenty"]) - median(memory["none"])
    board.show(
        "daemon start with 20 sources", "≤ 1.02 x", f"{ratio(starts, 'twenty', 'none'):.2f} x", ms(starts["none"])
    )
    board.show("its memory with 20 sources", "≤ 1 MB more", f"{more:+.1f} MB", f"{median(memory['none']):.0f} MB")


@pytest.mark.parametrize("code", ["big, kb=30000", "dieReading", "wait, seconds=0.5", "echo, message='flood'"])
def test_other_clients_beside_a_bad_source(board: Board, tmp_path: Path, code: str) -> None:
    _configure(tmp_path, 1, *(["--flood"] if "flood" in code else []))
    with open_app(read_settings(home=tmp_path, embedder="none")) as app:
        app.calls.call("create_task", {"title": "Tea"}, TALK)
        name = code.replace("dieReading", "die_reading")
        bad = f"for _ in range(1000): sdk.attempt(sdk.crm.{name})"
        if "flood" not in code:  # a flood begins with the first call
            _run(app, "sdk.crm.echo(message='x')")

        def measure() -> float:
            times: list[float] = []
            end = time.perf_counter() + 4
            while time.perf_counter() < end:
                began = time.perf_counter()
                app.calls.call("list_tasks", {}, TALK)
                times.append((time.perf_counter() - began) * 1000)
                time.sleep(0.002)
            return quantiles(times, n=20)[-1]

        idle = measure()
        thread = threading.Thread(target=_run, args=(app, bad), kwargs={"timeout": 5})
        thread.start()
        time.sleep(0.5)
        busy = measure()
        thread.join()
    board.show(f"p95 of others beside a source: {code}", "≤ 2 x", f"{busy / idle:.2f} x", f"idle {ms(idle)}")
