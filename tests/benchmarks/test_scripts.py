"""What scripts cost, beside FastMCP's own code mode and Monty: to begin, to call, to read, to compute, to be ended."""

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import quantiles
from typing import Any

import pytest

from panorama.calls import msgpack_rows
from panorama.domain.scripts.scripts import RunOutcome

from . import code_mode, monty, processes, sandboxes, wild
from .conversations import WORKS, Model, fill_store, read_contents
from .loads import LOADS, plain
from .measure import ROUNDS, Board, Step, in_turn, median, ms, ratio
from .processes import daemon, rollup
from .raw import Raw, spawned
from .sandboxes import Tasks, do_nothing, run_source, sandbox
from .stores import store

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]

TASKS = 17_000
STARTS = 30
CALLS, FEW_CALLS = 2_000, 200
OVER_SECONDS = 0.3
SLOW_SECONDS = 0.005
UNGUARDED = """
from panorama.sandbox.runner import ForkServer
ForkServer.__init__.__kwdefaults__["language"] = False
"""
"""Lets scripts be all of Python, so that a worker can lie."""


@pytest.fixture(scope="module", autouse=True)
def begun() -> None:
    """Start what Monty never ends."""
    monty.begin()


def stepped(work: Callable[[], object]) -> Step:
    """Return plain work as a step."""

    async def step() -> object:
        return work()

    return step


def times(found: dict[str, list[float]], slow: str, fast: str) -> str:
    """Return how many times faster one is than the other."""
    return f"{ratio(found, slow, fast):.1f} x"


def test_a_warm_start(board: Board) -> None:
    async def measured() -> dict[str, list[float]]:
        async with AsyncExitStack() as stack:
            ours = stack.enter_context(sandbox())
            steps: dict[str, Step] = {
                "ours": stepped(lambda: ours.ran("return 1")),
                "python -I": stepped(lambda: subprocess.run([sys.executable, "-I", "-c", "1"], check=True)),
            }
            if monty.is_here():
                pool = stack.enter_context(monty.pool())
                client = await stack.enter_async_context(code_mode.client())
                steps["monty"] = stepped(lambda: pool.ran("return 1"))
                steps["code mode"] = lambda: code_mode.executed(client, "return 1")
            return await in_turn(steps, times=STARTS, before=ours.ready)

    found = asyncio.run(measured())

    mine = ms(found["ours"])
    board.show(
        "warm start of `return 1`: python -I -c 1 / ours", "≥ 12 x", times(found, "python -I", "ours"),
        f"{ms(found['python -I'])} / {mine}",
    )  # fmt: skip
    monty.needed()
    board.show(
        "   FastMCP's code mode / ours",
        "≥ 6 x",
        times(found, "code mode", "ours"),
        f"{ms(found['code mode'])} / {mine}",
    )
    board.show("   ours / a pool of Monty", "≤ 2.5 x", times(found, "ours", "monty"), f"{mine} / {ms(found['monty'])}")


NOTHING = {
    "nothing": ("sdk.status()", "call_tool('noop', {})"),
    "nothing, with two arguments": (
        "sdk.overview.week(start='2026-05-01', end='2026-05-31')",
        "call_tool('noop_of_two', {'start': '2026-05-01', 'end': '2026-05-31'})",
    ),
}


@pytest.mark.parametrize("what", NOTHING)
def test_a_call_that_does_nothing(tmp_path: Path, board: Board, what: str) -> None:
    our_call, their_call = NOTHING[what]

    def our_script(count: int) -> str:
        return f"for _ in range({count}):\n    {our_call}\nreturn 1"

    def their_script(count: int) -> str:
        return f"for _ in range({count}):\n    await {their_call}\nreturn 1"

    async def measured() -> dict[str, list[float]]:
        with sandboxes.app(tmp_path / "home") as app:
            do_nothing(app)
            async with code_mode.client() as client:
                steps: dict[str, Step] = {
                    "ours": stepped(lambda: run_source(app, our_script(CALLS))),
                    "ours, no call": stepped(lambda: run_source(app, our_script(0))),
                    "theirs": lambda: code_mode.executed(client, their_script(FEW_CALLS)),
                    "theirs, no call": lambda: code_mode.executed(client, their_script(0)),
                }
                return await in_turn(steps, times=5)

    found = asyncio.run(measured())

    item = {"ours": _each(found, "ours", CALLS), "theirs": _each(found, "theirs", FEW_CALLS)}
    board.show(
        f"one call from a script that does {what}: FastMCP's code mode / ours", "≥ 8 x", times(item, "theirs", "ours"),
        f"{median(item['theirs']) * 1000:.0f} / {median(item['ours']) * 1000:.0f} µs; ours is logged",
    )  # fmt: skip


def _each(found: dict[str, list[float]], name: str, count: int) -> list[float]:
    return [(many - none) / count for many, none in zip(found[name], found[f"{name}, no call"], strict=True)]


OUR_READING = "return len(sdk.tasks.list(status='any'))"
THEIR_READING = """
rows = []
cursor = ""
while True:
    page = {}
    rows.extend(page["rows"])
    cursor = page["next"]
    if not cursor:
        break
return len(rows)
"""
MONTY_READING = THEIR_READING.replace("{}", "list_tasks(cursor)")
CODE_MODE_READING = THEIR_READING.replace("{}", "await call_tool('list_tasks', {'cursor': cursor})")


@pytest.fixture(scope="module")
def seventeen_thousand(folder: Path) -> Path:
    """The data directory of a store with 17,000 tasks."""
    return store(folder / "rows", tasks=TASKS)


def test_reading_rows_into_a_script(seventeen_thousand: Path, board: Board) -> None:
    async def measured(app: Any, tasks: Tasks) -> dict[str, list[float]]:
        with monty.pool() as pool:
            async with code_mode.client(tasks.page) as client:
                steps: dict[str, Step] = {
                    "ours": stepped(lambda: run_source(app, OUR_READING)),
                    "monty": stepped(lambda: pool.ran(MONTY_READING, list_tasks=tasks.page)),
                    "code mode": lambda: code_mode.executed(client, CODE_MODE_READING),
                    "reading alone": stepped(tasks.pages),
                }
                for step in list(steps.values())[:3]:
                    assert str(TASKS) in str(await step())
                return await in_turn(steps, times=3)

    with sandboxes.app(seventeen_thousand) as app:
        found = asyncio.run(measured(app, Tasks(app)))

    _rows_shown(board, f"{TASKS:,} tasks into a script, read from the store", found)
    board.show("   the reading itself, the same on each side", "", ms(found["reading alone"]))


def test_moving_rows_into_a_script(seventeen_thousand: Path, board: Board) -> None:
    with sandboxes.app(seventeen_thousand) as app:
        pages = Tasks(app).pages()
    metadata = {cursor: {"next_cursor": page["next"]} if page["next"] else {} for cursor, page in pages.items()}
    frames = {cursor: msgpack_rows.pack(page["rows"], metadata[cursor]) for cursor, page in pages.items()}

    async def measured() -> dict[str, list[float]]:
        with sandbox() as ours, monty.pool() as pool:
            async with code_mode.client(lambda cursor: pages[cursor]) as client:

                def read(answered: Callable[[str], bytes]) -> RunOutcome:
                    return ours.ran(
                        OUR_READING, answered=lambda _, sent: answered(sent.get("cursor", "")),
                        operations=frozenset({"tasks.list"}),
                    )  # fmt: skip

                def packed(cursor: str) -> bytes:
                    return msgpack_rows.pack(pages[cursor]["rows"], metadata[cursor])

                steps: dict[str, Step] = {
                    "ours": stepped(lambda: read(packed)),
                    "ours, packed before": stepped(lambda: read(frames.__getitem__)),
                    "monty": stepped(lambda: pool.ran(MONTY_READING, list_tasks=pages.__getitem__)),
                    "code mode": lambda: code_mode.executed(client, CODE_MODE_READING),
                }
                for step in steps.values():
                    assert str(TASKS) in str(await step())
                return await in_turn(steps, times=5, before=ours.ready)

    found = asyncio.run(measured())

    _rows_shown(board, f"{TASKS:,} tasks into a script, from memory", found)
    size = sum(map(len, frames.values())) / (1 << 20)
    board.show(
        "   ours, if they are packed already", "", ms(found["ours, packed before"]),
        f"{len(frames)} pages, {size:.1f} MB of msgpack",
    )  # fmt: skip


def _rows_shown(board: Board, what: str, found: dict[str, list[float]]) -> None:
    mine = ms(found["ours"])
    board.show(f"{what}: Monty / ours", "≥ 1.5 x", times(found, "monty", "ours"), f"{ms(found['monty'])} / {mine}")
    board.show(
        "   FastMCP's code mode / ours",
        "≥ 4 x",
        times(found, "code mode", "ours"),
        f"{ms(found['code mode'])} / {mine}",
    )


@pytest.mark.parametrize("what", LOADS)
def test_computing(board: Board, what: str) -> None:
    async def measured() -> dict[str, list[float]]:
        with sandbox() as ours, plain() as plainly:
            assert json.loads(ours.ran(LOADS[what]).result) == json.loads(plainly(LOADS[what]))
            steps = {
                "ours": stepped(lambda: ours.ran(LOADS[what])),
                "ours, nothing": stepped(lambda: ours.ran("return 1")),
                "plain": stepped(lambda: plainly(LOADS[what])),
                "plain, nothing": stepped(lambda: plainly("return 1")),
            }
            return await in_turn(steps, times=20, before=ours.ready)

    found = asyncio.run(measured())

    item = {name: _without_start(found, name) for name in ("ours", "plain")}
    board.show(
        f"{what}: in a worker / plain exec", "≤ 1.6 x", times(item, "ours", "plain"),
        f"{ms(item['ours'])} / {ms(item['plain'])}, compiled each time",
    )  # fmt: skip


def _without_start(found: dict[str, list[float]], name: str) -> list[float]:
    return [whole - start for whole, start in zip(found[name], found[f"{name}, nothing"], strict=True)]


def test_the_over_run_of_a_limit(board: Board) -> None:
    answer = msgpack_rows.pack({}, {})
    over: dict[str, list[float]] = {name: [] for name in wild.HOSTILE}
    reasons: dict[str, str] = {}
    with sandbox() as ours:
        for _ in range(ROUNDS):
            for name, source in wild.HOSTILE.items():
                asyncio.run(ours.ready())
                began = time.perf_counter()
                ending = ours.ran(
                    source, answered=lambda _, __: answer, seconds=OVER_SECONDS,
                    operations=frozenset({"status", "tasks.list"}),
                )  # fmt: skip
                over[name].append((time.perf_counter() - began - OVER_SECONDS) * 1000)
                reasons[name] = ending.failure.reason if ending.failure else "none"

    ran_over = {name: values for name, values in over.items() if reasons[name] == "time"}
    every = [value for values in ran_over.values() for value in values]
    worst = sorted(ran_over, key=lambda name: -max(ran_over[name]))
    board.show(
        f"over-run of 300 ms, {len(ran_over)} scripts, {ROUNDS} times each: worst", "≤ 50 ms", f"{max(every):.1f} ms",
        f"median {median(every):.1f} ms, p95 {p95(every):.1f} ms",
    )  # fmt: skip
    for name in worst[:5]:
        board.show(f"   {name}: worst", "", f"{max(over[name]):.1f} ms", f"median {median(over[name]):.1f} ms")
    others = (f"{name}: {reasons[name]}, after {_took(over[name])}" for name in wild.HOSTILE if name not in ran_over)
    board.show("   ended before by another limit", "", str(len(over) - len(ran_over)), "; ".join(others))


def test_the_over_run_of_a_worker_that_reads_nothing(board: Board) -> None:
    def slow(operation: str, arguments: Mapping[str, Any]) -> bytes:
        time.sleep(SLOW_SECONDS)
        return msgpack_rows.pack("x" * 2000, {})

    over = list[float]()
    with sandbox(language=False) as ours:
        for _ in range(ROUNDS):
            asyncio.run(ours.ready())
            began = time.perf_counter()
            ours.ran(wild.NEVER_READING, answered=slow, seconds=OVER_SECONDS, operations=frozenset({"status"}))
            over.append((time.perf_counter() - began - OVER_SECONDS) * 1000)

    board.show(
        "over-run of 300 ms, a lying worker: calls of 5 ms, no answer read", "≤ 50 ms", f"{max(over):.0f} ms",
        f"median {median(over):.0f} ms",
    )  # fmt: skip


def _took(over: list[float]) -> str:
    return f"{median(over) + OVER_SECONDS * 1000:.0f} ms"


def p95(values: list[float]) -> float:
    """Return what 95 of 100 stay below."""
    return quantiles(values, n=20)[-1]


def test_the_memory_of_what_waits(board: Board) -> None:
    with sandbox() as ours:
        for _ in range(3):
            asyncio.run(ours.ready())
            ours.ran("return 1")
        asyncio.run(ours.ready())
        template, standby = rollup(ours.template), rollup(ours.standby)

    board.show(
        "memory of template and one worker ahead, PSS", "≤ 25 MB", f"{template['Pss'] + standby['Pss']:.1f} MB",
        f"{template['Pss']:.1f} + {standby['Pss']:.1f} MB; private to the worker {standby['Private_Dirty']:.1f} MB",
    )  # fmt: skip


@pytest.mark.parametrize("name", WORKS)
def test_the_tokens_of_a_piece_of_work(tmp_path: Path, board: Board, name: str) -> None:
    work = WORKS[name]
    ways: dict[str, Callable[[Model], object]] = {
        "tools": work.by_tools,
        "one by one": lambda model: work.by_tools(model, at_a_time=1),
        "script": lambda model: model.script(work.asked, work.script),
    }
    tokens, calls, results = dict[str, int](), dict[str, int](), list[object]()
    for way, done in ways.items():
        with sandboxes.app(tmp_path / way) as app:
            fill_store(app)
            model = Model(app)
            results.append((done(model), read_contents(app)))
            tokens[way], calls[way] = model.tokens, model.calls

    assert results[0] == results[1] == results[2]
    less = 100 * (1 - tokens["script"] / tokens["tools"])
    board.show(
        f"tokens of {name}: a script instead of tools", "70 % less (a hope)", f"{less:.0f} % less",
        f"{tokens['script']:,} tokens in {calls['script']} calls, search_sdk among them / {tokens['tools']:,} in "
        f"{calls['tools']} (batches of 100) / {tokens['one by one']:,} in {calls['one by one']} one by one; answers as "
        "in the call log, arguments as sent, 4 characters a token",
    )  # fmt: skip


@pytest.fixture
def home(seventeen_thousand: Path, tmp_path: Path) -> Path:
    """A data directory with 17,000 tasks, to which others may be added."""
    return Path(shutil.copytree(seventeen_thousand, tmp_path / "home"))


def test_other_clients_while_a_script_runs_wild(home: Path, board: Board) -> None:
    with daemon(home), spawned(home) as client, spawned(home) as other:
        for name, source in wild.BESIDE.items():
            _beside(board, name, client, wild.Client(other, source))


def test_other_clients_while_a_worker_reads_nothing(home: Path, board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "TELLING", UNGUARDED + processes.TELLING)
    with daemon(home), spawned(home) as client, spawned(home) as other:
        _beside(board, "never reading", client, wild.Client(other, wild.NEVER_READING))


def _beside(board: Board, name: str, client: Raw, raging: wild.Client) -> None:
    quiet, busy = list[list[float]](), list[list[float]]()
    for _ in range(ROUNDS):
        quiet.append(wild.worked(client))
        with raging.raging():
            busy.append(wild.worked(client))

    ratio_ = [p95(mine) / p95(idle) for mine, idle in zip(busy, quiet, strict=True)]
    calm, meanwhile = [value for some in quiet for value in some], [value for some in busy for value in some]
    runs = [took / 1000 for took in raging.took]
    board.show(
        f"others' p95 while a script runs wild ({name}) / in quiet", "≤ 3 x", f"{median(ratio_):.2f} x",
        f"{p95(meanwhile):.1f} / {p95(calm):.1f} ms, p50 {median(meanwhile):.1f} / {median(calm):.1f} ms; {len(runs)} "
        f"runs of 1 s at most, the longest took {max(runs):.1f} s",
    )  # fmt: skip
