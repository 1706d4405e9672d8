"""What the door costs: its start, each call through it, its memory; and many doors at once."""

import random
import socket
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from panorama.transport.address import Address

from .http_client import HttpClient
from .measure import Board, median, ms
from .processes import daemon, mapped, rollup, stop, stopped_later, until
from .raw import LEGACY, MODERN, ProcessClient, Raw, spawned
from .stores import Language, Town

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
STARTS, COLD_STARTS = 20, 7
CALLS, CALLS_IN_TURN = 1000, 50
ROUNDS_OF_WORK = 15
DOORS, CLIENTS, CALLS_OF_EACH, STORM = 5, 8, 500, 50
ROUNDS_OF_STORM = 5
IN_PROCESS = {"no_daemon": "1"}


def time_start(home: Path, era: str, **settings: str) -> float:
    """Return how many milliseconds it takes from the start of the process to the list of tools."""
    began = time.perf_counter()
    client = ProcessClient(home, era, **settings)
    try:
        client.greet()
        assert client.ask("tools/list")["tools"]
        return (time.perf_counter() - began) * 1000
    finally:
        client.close()


def in_turns(steps: Mapping[str, Callable[[], float]], times: int) -> dict[str, list[float]]:
    """Return what each step measures; they take turns, so that noise meets all alike; the first turn only warms up."""
    found: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(times + 1):
        for name, step in steps.items():
            value = step()
            if turn:
                found[name].append(value)
    return found


def p95(values: list[float]) -> float:
    """Return what 95 of 100 stay below."""
    return statistics.quantiles(values, n=20)[-1]


def test_the_start_of_a_door_while_a_daemon_runs(tmp_path: Path, board: Board) -> None:
    with stopped_later(tmp_path / "home") as address, spawned(address.home):
        found = in_turns(
            {
                "door": lambda: time_start(tmp_path / "home", LEGACY),
                "door, 2026-07-28": lambda: time_start(tmp_path / "home", MODERN),
                "in-process": lambda: time_start(tmp_path / "alone", LEGACY, **IN_PROCESS),
            },
            STARTS,
        )

    theirs = median(found["in-process"])
    for name in ("door", "door, 2026-07-28"):
        board.show(
            f"start of a {name} to tools/list, daemon running, p50", "≤ 80 ms, ≥ 15 x faster",
            f"{ms(found[name])}, {theirs / median(found[name]):.1f} x",
            f"in-process {theirs:.0f} ms; fastest {min(found[name]):.0f} / {min(found['in-process']):.0f} ms",
        )  # fmt: skip


def test_the_start_of_a_door_that_starts_the_daemon(tmp_path: Path, board: Board) -> None:
    def cold() -> float:
        stop(address)
        return time_start(tmp_path / "home", LEGACY)

    with stopped_later(tmp_path / "home") as address:
        steps = {"door": cold, "in-process": lambda: time_start(tmp_path / "alone", LEGACY, **IN_PROCESS)}
        found = in_turns(steps, COLD_STARTS)

    board.show(
        "the same with no daemon running, p50 / in-process", "≤ 1.6 x",
        f"{median(found['door']) / median(found['in-process']):.2f} x",
        f"{ms(found['door'])} / {ms(found['in-process'])}; fastest {min(found['door']):.0f} / "
        f"{min(found['in-process']):.0f} ms",
    )  # fmt: skip


def compared(clients: Mapping[str, Raw], call: Callable[[Raw], float]) -> dict[str, list[float]]:
    """Return what a call takes at each client, the median of each turn: fifty at one client, fifty at the next …"""
    found: dict[str, list[float]] = {name: [] for name in clients}
    for turn in range(1 + CALLS // CALLS_IN_TURN):
        for name, client in clients.items():
            taken = median([call(client) for _ in range(CALLS_IN_TURN)])
            found[name] += [taken] if turn else []  # the first only warms up
    return found


def request_took(client: Raw, method: str) -> float:
    """Return how many milliseconds a request takes."""
    began = time.perf_counter()
    client.ask(method)
    return (time.perf_counter() - began) * 1000


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_what_the_door_adds_to_each_call(tmp_path: Path, board: Board, era: str) -> None:
    # Where Linux gives each session its share of a busy machine (sched_autogroup_enabled), a daemon that a door
    # started waits for its share at every call, being in a session of its own. The bar is meant for one in the
    # client's session.
    numbers = count()
    calls: dict[str, Callable[[Raw], float]] = {
        "tools/list (30 kB)": lambda client: request_took(client, "tools/list"),
        "list_tasks": lambda client: client.took("list_tasks", limit=1 + next(numbers) % 400),
        "create_task": lambda client: client.took("create_task", title=f"Task {next(numbers)}"),
    }

    with (
        daemon(tmp_path / "home") as running,
        stopped_later(tmp_path / "other") as other,
        spawned(running.address.home, era) as door,
        spawned(other.home, era) as detached,
        spawned(tmp_path / "alone", era, **IN_PROCESS) as alone,
    ):
        for name, call in calls.items():
            found = compared({"door": door, "detached": detached, "in-process": alone}, call)
            added = {text: in_excess(found, text, "in-process") for text in ("door", "detached")}
            board.show(
                f"what the door adds to {name}, p50, {era}", "≤ 0.3 ms", f"{added['door']:+.3f} ms",
                f"{ms(found['door'])} / {ms(found['in-process'])} in-process; of the fastest turns "
                f"{min(found['door']) - min(found['in-process']):+.3f} ms; daemon in a session of its own "
                f"{added['detached']:+.3f} ms",
            )  # fmt: skip


def in_excess(found: Mapping[str, list[float]], name: str, reference: str) -> float:
    """Return the median over the turns of what one takes longer than the other."""
    return median([mine - theirs for mine, theirs in zip(found[name], found[reference], strict=True)])


def busy(client: Raw, language: Language, seed: int) -> None:
    """Do what a client does in a long day: searches, lists, overviews, writes."""
    chance = random.Random(seed)
    project = client.call("query", collection="projects", select=["id"], limit=1)["data"][0]["id"]
    for number in range(ROUNDS_OF_WORK):
        note = client.call("create_note", title=f"{language.title()} {seed} {number}", content=language.text(300))
        id_ = note["data"]["id"]
        for tool, arguments in _a_round(language, chance, id_, project, 7 + number):
            client.call(tool, **arguments)
        client.ask("tools/list")
        client.ask("resources/list")


def _a_round(
    language: Language, chance: random.Random, note: str, project: str, number: int
) -> Iterable[tuple[str, dict[str, Any]]]:
    common, rare = chance.choice(language.words[50:500]), chance.choice(language.words[1000:])
    return (
        ("search", {"query": common, "limit": 20}),
        ("search", {"query": f"{common} {rare}", "limit": 20}),
        ("search", {"query": rare[:3], "limit": number}),
        ("list_notes", {"limit": number * 5}),
        ("list_notes", {"tag": f"tag{number}", "limit": 50}),
        ("query", {"collection": "notes", "group_by": ["project"], "limit": number}),
        ("create_task", {"title": f"{rare} {number}", "project": project, "deadline": "today"}),
        ("list_tasks", {"view": "this_week", "limit": number}),
        ("append_to_note", {"note": note, "block": language.text(50)}),
        ("get_note", {"note": note}),
        ("project_dashboard", {"project": project, "period_days": number}),
        ("projects_overview", {"period_days": number}),
        ("weekly_review", {"start": f"2026-01-{number - 6:02}", "end": f"2026-01-{number:02}"}),
        ("history", {"item": note}),
    )  # fmt: skip


def test_the_memory_of_doors_and_daemon(many_notes: Path, board: Board) -> None:
    language = Town().language
    with stopped_later(many_notes) as address, ExitStack() as stack:
        doors = [stack.enter_context(spawned(many_notes, era)) for era in (LEGACY, MODERN, LEGACY, MODERN, LEGACY)]
        pid = address.find_pid()
        assert pid is not None
        rested = rollup(pid)
        together([lambda door=door, seed=seed: busy(door, language, seed) for seed, door in enumerate(doors)])
        held, database = rollup(pid), mapped(pid, "panorama.db")
        shares = [rollup(door.process.pid)["Pss"] for door in doors]

    board.show(
        f"memory of a door (PSS), {DOORS} doors", "≤ 15 MB", f"{max(shares):.1f} MB", f"median {median(shares):.1f} MB"
    )
    for name, told in (
        ("before the first call", rested),
        (f"after {DOORS * ROUNDS_OF_WORK * 17:,} mixed requests through {DOORS} doors", held),
    ):
        board.show(
            f"daemon with 100,000 notes (PSS), {name}", "≤ 200 MB", f"{told['Pss']:.0f} MB",
            f"RSS {told['Rss']:.0f}, anonymous {told['Pss_Anon']:.0f}, file-mapped {told['Pss_File']:.0f}"
            + (f" (database {database:.0f})" if told is held else ""),
        )  # fmt: skip


def together(steps: Iterable[Callable[[], object]]) -> None:
    """Do several things at once, each in a thread; none may fail."""
    failures: list[BaseException] = []

    def done(step: Callable[[], object]) -> None:
        try:
            step()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=done, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def mixed(client: Raw, name: str) -> list[float]:
    """Read and write in turn, five hundred calls; return the milliseconds of each."""
    project = client.call("create_project", name=f"Project of {name}")["data"]["id"]
    calls: list[tuple[str, dict[str, Any]]] = []
    for number in range(CALLS_OF_EACH // 4):
        calls += (
            ("create_task", {"title": f"{name} task {number}", "project": project}),
            ("list_tasks", {"project": project, "limit": 1 + number}),
            ("create_note", {"title": f"{name} note {number}", "content": "Earl Grey and scones. " * 50}),
            ("search", {"query": f"scones {number}", "limit": 10}),
        )
    return [client.took(tool, **arguments) for tool, arguments in calls]


def count_titles(client: Raw, collection: str) -> Counter[str]:
    """Return the first words of all titles, and how often each is there."""
    titles: list[str] = []
    page: dict[str, Any] = {}
    while not page or page["metadata"].get("next_cursor"):
        cursor = page["metadata"]["next_cursor"] if page else ""
        page = client.call("query", collection=collection, select=["title"], limit=200, cursor=cursor)
        titles += [row["title"] for row in page["data"]]
    return Counter(title.partition(" ")[0] for title in titles)


def test_eight_doors_at_once(tmp_path: Path, board: Board) -> None:
    found: dict[str, list[float]] = {}

    def work(name: str, client: Raw) -> None:
        found[name] = mixed(client, name)

    with stopped_later(tmp_path / "home") as address, ExitStack() as stack:
        doors = [stack.enter_context(spawned(address.home, (LEGACY, MODERN)[n % 2])) for n in range(CLIENTS)]
        mixed(doors[0], "warm-up")
        alone = mixed(doors[0], "before")
        began = time.perf_counter()
        together([lambda n=n, door=door: work(f"door{n}", door) for n, door in enumerate(doors)])
        seconds = time.perf_counter() - began
        alone += mixed(doors[0], "after")
        counted = [count_titles(doors[0], collection) for collection in ("tasks", "notes")]

    many = [value for values in found.values() for value in values]
    for amount in counted:
        assert all(amount[name] == CALLS_OF_EACH // 4 for name in ("warm-up", "before", "after", *found)), amount
    board.show(
        f"{CLIENTS} doors, {CALLS_OF_EACH} reads and writes each: p95 / p50 of one alone", "≤ 20 x, all kept",
        f"{p95(many) / median(alone):.1f} x, all kept",
        f"p95 {ms(p95(many))}, p50 {ms(many)}, max {max(many):.0f} ms / alone p50 {ms(alone)}, p95 {ms(p95(alone))}; "
        f"{len(many) / seconds:.0f} calls/s, alone {1000 / statistics.mean(alone):.0f}",
    )  # fmt: skip
    board.show(
        f"{CLIENTS} doors, {CALLS_OF_EACH} reads and writes each: p95 / p95 of one alone", "≤ 8 x, 0 errors",
        f"{p95(many) / p95(alone):.1f} x, 0 errors",
    )  # fmt: skip


def test_fifty_clients_that_find_no_daemon(tmp_path: Path, board: Board) -> None:
    served: list[float] = []

    def wait(client: Raw) -> None:
        client.greet()
        assert client.ask("tools/list")["tools"]
        served.append(time.perf_counter() - began)

    began = time.perf_counter()
    alone = time_start(tmp_path / "alone", LEGACY) / 1000
    stop(Address(str(tmp_path / "alone")))
    with stopped_later(tmp_path / "home") as address, ExitStack() as stack:
        clients: list[ProcessClient] = []
        began = time.perf_counter()
        for number in range(STORM):
            clients.append(ProcessClient(address.home, (LEGACY, MODERN)[number % 2]))
            stack.callback(clients[-1].close)
        came = time.perf_counter() - began
        together([lambda client=client: wait(client) for client in clients])
        with open(address.log, encoding="utf-8") as log:
            daemons = log.read().count(" serves ")

    assert (daemons, len(served)) == (1, STORM)
    board.show(
        f"{STORM} clients that come within {came:.1f} s to no daemon", "one daemon, 50 served",
        f"{daemons} daemon, {len(served)} served, all after {max(served):.2f} s",
        f"the first after {min(served):.2f} s, half after {median(served):.2f} s; one client alone {alone:.2f} s",
    )  # fmt: skip


def all_at_once(client: Raw, method: str, **params: Any) -> float:
    """Return how many milliseconds a connection takes for many requests that it is sent together."""
    lines = [client.request(method, **params) for _ in range(STORM)]
    began = time.perf_counter()
    client.write(b"".join(lines))
    for _ in lines:
        assert b'"result"' in client.next()
    return (time.perf_counter() - began) * 1000


def test_the_list_of_tools_asked_for_many_times_at_once(tmp_path: Path, board: Board) -> None:
    with stopped_later(tmp_path / "home") as address:
        for era in (LEGACY, MODERN):
            with spawned(address.home, era) as client:
                client.call("status")
                found = in_turns(
                    {
                        "list": lambda client=client: all_at_once(client, "tools/list"),
                        "call": lambda client=client: all_at_once(client, "tools/call", name="status", arguments={}),
                    },
                    ROUNDS_OF_STORM,
                )
            board.show(
                f"{STORM} tools/list at once / {STORM} calls of status, {era}", "≤ 1 x",
                f"{median(found['list']) / median(found['call']):.2f} x", f"{ms(found['list'])}, {ms(found['call'])}",
            )  # fmt: skip


def test_the_list_of_tools_over_http_asked_for_many_times_at_once(tmp_path: Path, board: Board) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with daemon(tmp_path / "home", http_port=str(port)):
        until((tmp_path / "home" / "http.token").exists)
        until(lambda: answers(port))
        url, token = f"http://127.0.0.1:{port}/mcp", (tmp_path / "home" / "http.token").read_text()
        for era in (LEGACY, MODERN):
            with HttpClient(url, token, era) as client, ThreadPoolExecutor(CLIENTS) as threads:

                def many(method: str, client: HttpClient = client, **params: Any) -> float:
                    began = time.perf_counter()
                    list(threads.map(lambda _: client.ask(method, **params), range(STORM)))
                    return (time.perf_counter() - began) * 1000

                steps = {
                    "list": lambda: many("tools/list"),
                    "call": lambda: many("tools/call", name="status", arguments={}),
                }
                found = in_turns(steps, ROUNDS_OF_STORM)
            board.show(
                f"the same over HTTP, {era}", "≤ 1 x",
                f"{median(found['list']) / median(found['call']):.2f} x", f"{ms(found['list'])}, {ms(found['call'])}",
            )  # fmt: skip


def answers(port: int) -> bool:
    """Tell whether something listens on a port."""
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0
