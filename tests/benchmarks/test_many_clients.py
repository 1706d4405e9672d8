"""What a call over MCP costs the daemon beside the same call over its own RPC, and how many calls many clients get.

`BENCH_BASELINE=DIR` names another checkout; its daemon is measured in the same run, in turn with this one's.
"""

import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from panorama.transport.rpc_client import RpcClient

from .measure import Board, median
from .processes import Running, daemon, open_connection
from .raw import LEGACY, MODERN, Raw, spawned, straight
from .test_doors import together

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
ROUNDS, CALLS_IN_TURN = 3, 200
CLIENTS, CALLS_OF_EACH = 8, 40
LIMITS = 400
"""Different arguments of one call, since the same answer nine times in half a minute is refused."""

NUMBERS = count()
Rates = dict[str, list[float]]


def daemon_sources() -> dict[str, Path | None]:
    """Return the checkouts to compare; None is this one."""
    baseline = os.environ.get("BENCH_BASELINE")
    return {"now": None, **({"before": Path(baseline)} if baseline else {})}


def cpu_per_call(running: Running, call: Callable[[], object]) -> float:
    """Return the milliseconds of processor time that the daemon takes for a call."""
    for _ in range(20):
        call()
    before = running.cpu_seconds()
    for _ in range(CALLS_IN_TURN):
        call()
    return (running.cpu_seconds() - before) * 1000 / CALLS_IN_TURN


def calls_of_an_empty_list(rpc: RpcClient, clients: Mapping[str, Raw]) -> dict[str, Callable[[], object]]:
    """Return the same call, by RPC and by each client."""
    numbers = count()

    def by_rpc() -> object:
        arguments = {"limit": 1 + next(numbers) % LIMITS}
        return rpc.request("panorama/call", {"operation": "tasks.list", "arguments": arguments})

    def by(client: Raw) -> Callable[[], float]:
        return lambda: client.took("list_tasks", limit=1 + next(numbers) % LIMITS)

    return {"rpc": by_rpc, **{name: by(client) for name, client in clients.items()}}


@contextmanager
def measured_calls(home: Path, source: Path | None) -> Generator[Callable[[], dict[str, float]]]:
    """Run a daemon; gives what measures the processor time of an empty list once for each way to call it."""
    with (
        daemon(home, source) as running, open_connection(running.address) as rpc,
        straight(running.address, LEGACY) as legacy, straight(running.address, MODERN) as modern,
    ):  # fmt: skip
        calls = calls_of_an_empty_list(rpc, {LEGACY: legacy, MODERN: modern})
        yield lambda: {name: cpu_per_call(running, call) for name, call in calls.items()}


def test_the_processor_time_of_an_empty_call_beside_rpc(tmp_path: Path, board: Board) -> None:
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in daemon_sources()}

    with ExitStack() as stack:
        steps = {
            name: stack.enter_context(measured_calls(tmp_path / name, source))
            for name, source in daemon_sources().items()
        }
        for turn in range(ROUNDS + 1):
            for name, step in steps.items():
                rounds[name] += [step()] if turn else []

    for name, found in rounds.items():
        for era in (LEGACY, MODERN):
            board.show(
                f"server CPU of an empty tools/call / RPC, {era}, {name}", "≤ 1.5 x" if name == "now" else "",
                f"{median([item[era] / item['rpc'] for item in found]):.2f} x",
                f"{median([item[era] for item in found]):.2f} / {median([item['rpc'] for item in found]):.2f} ms",
            )  # fmt: skip


def mixed_calls(client: Raw, name: str) -> None:
    """Read and write in turn."""
    for number in range(CALLS_OF_EACH // 4):
        client.call("create_task", title=f"{name} task {number}")
        client.call("list_tasks", limit=1 + number)
        client.call("create_note", title=f"{name} note {number}", content="Earl Grey and scones. " * 50)
        client.call("search", query=f"scones {name} {number}", limit=10)


def reading_calls(client: Raw, name: str) -> None:
    """Only read; `name` is for calls that write."""
    del name
    for _ in range(CALLS_OF_EACH):
        client.call("list_tasks", limit=1 + next(NUMBERS) % LIMITS)


Work = Callable[[Raw, str], None]


def calls_a_second(clients: list[Raw], work: Work, name: str) -> float:
    """Return how many calls the clients get together in a second."""
    began = time.perf_counter()
    together([lambda n=n, client=client: work(client, f"{name}{n}") for n, client in enumerate(clients)])
    return len(clients) * CALLS_OF_EACH / (time.perf_counter() - began)


@contextmanager
def measured_clients(home: Path, source: Path | None, work: Work, *, doors: bool) -> Generator[Callable[[], Any]]:
    """Run a daemon and eight clients; gives what measures once the calls a second of one and of all."""
    with daemon(home, source) as running, ExitStack() as stack:
        eras = [(LEGACY, MODERN)[number % 2] for number in range(CLIENTS)]
        clients: list[Raw] = [
            stack.enter_context(spawned(home, era) if doors else straight(running.address, era)) for era in eras
        ]
        numbers = count()

        def measure() -> tuple[float, float]:
            turn = next(numbers)
            one = calls_a_second(clients[turn % 2 : turn % 2 + 1], work, f"one{turn}x")
            return one, calls_a_second(clients, work, f"all{turn}x")

        yield measure


@pytest.mark.parametrize("doors", [False, True])
@pytest.mark.parametrize("work", [mixed_calls, reading_calls])
def test_the_calls_a_second_of_eight_clients(tmp_path: Path, board: Board, work: Work, doors: bool) -> None:
    ones: Rates = {name: [] for name in daemon_sources()}
    alls: Rates = {name: [] for name in daemon_sources()}
    with ExitStack() as stack:
        steps = {
            name: stack.enter_context(measured_clients(tmp_path / name, source, work, doors=doors))
            for name, source in daemon_sources().items()
        }
        for turn in range(ROUNDS + 1):
            for name, step in steps.items():
                one, every = step()
                ones[name] += [one] if turn else []
                alls[name] += [every] if turn else []

    what = f"{CLIENTS} clients, {work.__name__.replace('_', ' ')}{', through doors' if doors else ''}"
    for name in ones:
        board.show(
            f"{what}, calls a second / of one client, {name}", "≥ 2 x" if name == "now" else "",
            f"{median([every / one for every, one in zip(alls[name], ones[name], strict=True)]):.2f} x",
            f"{median(alls[name]):.0f} / {median(ones[name]):.0f}",
        )  # fmt: skip
    if "before" in alls:
        board.show(
            f"{what}, calls a second / before", "≥ 2 x",
            f"{median([now / old for now, old in zip(alls['now'], alls['before'], strict=True)]):.2f} x",
            f"{median(alls['now']):.0f} / {median(alls['before']):.0f}; one client {median(ones['now']):.0f} / "
            f"{median(ones['before']):.0f}",
        )  # fmt: skip
