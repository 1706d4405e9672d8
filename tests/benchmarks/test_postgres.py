"""What everyday calls cost on a PostgreSQL server beside SQLite; name a server that syncs in PANORAMA_TEST_POSTGRES."""

import asyncio
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import Settings
from panorama.domain.changes import ItemChange, Origin
from panorama.domain.items.notes import Note
from panorama.store.items import rows
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.postgres.transfer import moving
from tests.postgres.delaying_proxy import delaying_proxy
from tests.postgres.space import open_space

from .measure import Board, Step, in_turn, ms, ratio
from .stores import Town

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
PERSON = Conversation(id="v_benchmark", actor="cli", client="benchmark")
NOTES, TASKS, WORDS = 2_000, 500, 300
BAR = 2.0
ONE_WAY_SECONDS = 0.0025
"""The delay of a network whose round trip takes 5 ms."""

RANKS = (0, 5, 50, 500, 3000)
"""Words by how many are more frequent: the first stands in every second note, the last in a few."""

SEVERAL = {"a common and a rarer word": (5, 300), "two common words": (1, 4), "three words": (5, 60, 900)}
WRITERS, WRITING_SECONDS = 4, 8.0
_WRITER = """
import sys, time
from pathlib import Path
from pydantic import SecretStr
from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import Settings
home, url, space, seconds = sys.argv[1:]
person = Conversation(id="v_benchmark", actor="cli", client="benchmark")
with open_app(Settings(home=Path(home), database_url=SecretStr(url), space=space, embedder="none")) as app:
    print("ready", flush=True)
    sys.stdin.readline()
    written, end = 0, time.monotonic() + float(seconds)
    while time.monotonic() < end:
        app.calls.call("create_task", {"title": f"Task {written}"}, person)
        written += 1
print(written)
"""
SLOW_CALLS = ("create_task", "create_note", "update_task", "get_note", "list_tasks")
WRITER = Origin(actor="tool", client="benchmark", conversation="", operation="", call="", unit="")
HEARD_SECONDS = 0.5


@contextmanager
def open_filled(settings: Settings) -> Generator[Callable[..., Any]]:
    """Yield how to call a product with some notes and tasks."""
    with open_app(settings) as app:
        call = caller(app)
        words = Town().language.text
        call("create_project", name="Garden")
        for start in range(0, NOTES, 100):
            steps = [
                {"tool": "create_note", "args": {"title": f"Note {start + number}", "content": words(WORDS)}}
                for number in range(100)
            ]
            call("batch", operations=steps)
        for start in range(0, TASKS, 100):
            call(
                "batch",
                operations=[{"tool": "create_task", "args": {"title": f"Task {start}", "project": "Garden"}}] * 100,
            )
        yield call


def caller(app: App) -> Callable[..., Any]:
    """Return how to call an operation."""
    return lambda operation, **arguments: app.calls.call(operation, arguments, PERSON)


def as_steps(name: str, call: Callable[..., Any]) -> dict[str, Step]:
    """Return the calls to measure on one database."""
    numbers, text = count(), Town().language.text
    note = call("create_note", title="Read again", content=text(WORDS)).data["id"]
    task = call("create_task", title="Changed again").data["id"]
    common = text(40).split()
    steps: dict[str, Callable[[], Any]] = {
        "create_task": lambda: call("create_task", title=f"Bench {next(numbers)}"),
        "create_note": lambda: call("create_note", title=f"Bench {next(numbers)}", content=text(WORDS)),
        "update_task": lambda: call("update_task", task=task, title=f"Changed {next(numbers)}"),
        "get_note": lambda: call("get_note", note=note),
        "list_tasks": lambda: call("list_tasks", limit=1 + next(numbers) % 20),
        "project_dashboard": lambda: call("project_dashboard", project="Garden"),
        "search": lambda: call("search", query=common[next(numbers) % len(common)], mode="keyword"),
    }

    return {f"{name} {label}": as_step(work) for label, work in steps.items()}


def as_step(work: Callable[[], Any]) -> Step:
    """Return a step that calls a function."""

    async def step() -> None:
        work()

    return step


def test_everyday_calls(tmp_path: Path, postgres_url: str, board: Board) -> None:
    with closing(psycopg.connect(postgres_url)) as server:
        (synced,) = server.execute("SHOW fsync").fetchone() or ("",)
    chosen: dict[str, Any] = {"timezone": "Europe/Berlin", "embedder": "none", "toolsets": ("default", "more")}
    file = Settings(home=tmp_path / "file", **chosen)
    space = Settings(home=tmp_path / "space", database_url=SecretStr(postgres_url), space="bench", **chosen)
    with open_filled(file) as on_file, open_filled(space) as on_space:
        steps = as_steps("file", on_file) | as_steps("space", on_space)
        found = asyncio.run(in_turn(steps, times=40))

    for label in (name.removeprefix("file ") for name in steps if name.startswith("file ")):
        board.show(
            f"{label} on PostgreSQL / SQLite, p50", f"≤ {BAR:g} x",
            f"{ratio(found, f'space {label}', f'file {label}'):.2f} x",
            f"{ms(found[f'space {label}'])} / {ms(found[f'file {label}'])}; fsync {synced}",
        )  # fmt: skip


class Silent(PostgresDatabase):
    """A space whose writer notifies nobody."""

    def announce(self, topic: object) -> None:
        """Do nothing."""


def note_writer(database: PostgresDatabase, first: int) -> Callable[[], str]:
    """Return how to write a further note."""
    numbers, now = count(first), datetime.now(UTC)

    def write() -> str:
        note = Note(id=f"n_{next(numbers):010}", created_at=now, updated_at=now, title="Heard")
        with database.transaction(WRITER) as session:
            rows.add(session, note)
        return note.id

    return write


def measure_delays(write: Callable[[], str], listener: PostgresDatabase, pause: float) -> list[float]:
    """Return how many milliseconds after its commit the listener heard of each write."""
    heard: dict[str, float] = {}
    arrived = threading.Condition()

    def on_changes(changes: Sequence[ItemChange]) -> None:
        with arrived:
            heard.update({change.id: time.perf_counter() for change in changes})
            arrived.notify_all()

    stop = listener.subscribe(on_changes)
    committed: dict[str, float] = {}
    for _ in range(100):
        id_ = write()
        committed[id_] = time.perf_counter()
        time.sleep(pause)
    with arrived:
        arrived.wait_for(lambda: committed.keys() <= heard.keys(), 30)
    stop()
    return sorted(1000 * (heard[id_] - moment) for id_, moment in committed.items())


def test_changes_of_another_daemon(postgres_url: str, board: Board) -> None:
    url = parse_url(postgres_url)
    with (
        closing(open_space(postgres_url, "feed")) as listener,
        closing(PostgresDatabase(url, "feed")) as writer,
        closing(Silent(url, "feed")) as silent,
    ):
        write = note_writer(writer, 0)
        for name, pause in (("one by one", 0.15), ("without a pause", 0.0)):
            delays = measure_delays(write, listener, pause)
            board.show(
                f"change heard by another daemon, {name}, p50 / p95", f"≤ {1000 * HEARD_SECONDS:g} ms",
                f"{ms(statistics.median(delays))} / {ms(delays[int(0.95 * len(delays))])}", f"longest {ms(delays[-1])}",
            )  # fmt: skip

        async def announced() -> None:
            write()

        write_silently = note_writer(silent, 1_000_000)

        async def unannounced() -> None:
            write_silently()

        found = asyncio.run(in_turn({"announced": announced, "unannounced": unannounced}, times=100))
    board.show(
        "a write with / without notification, p50", "≤ 1.05 x", f"{ratio(found, 'announced', 'unannounced'):.2f} x",
        f"{ms(found['announced'])} / {ms(found['unannounced'])}",
    )  # fmt: skip


def test_calls_over_a_slow_network(tmp_path: Path, postgres_url: str, board: Board) -> None:
    chosen: dict[str, Any] = {"timezone": "Europe/Berlin", "embedder": "none", "toolsets": ("default", "more")}
    near = Settings(home=tmp_path, database_url=SecretStr(postgres_url), space="slow", **chosen)
    with open_filled(near):
        pass
    with delaying_proxy(postgres_url, ONE_WAY_SECONDS) as (_, through):
        far = near.model_copy(update={"database_url": SecretStr(through)})
        with open_app(far) as app:
            found = asyncio.run(in_turn(as_steps("slow", caller(app)), times=20))

    for label in SLOW_CALLS:
        board.show(f"{label} over a network of 5 ms, p50", "≤ 30 ms", ms(found[f"slow {label}"]))


def test_search_by_rank_of_word(many_notes: Path, tmp_path: Path, postgres_url: str, board: Board) -> None:
    moving.fill_space(many_notes, postgres_url, "ranks", datetime.now(UTC))
    chosen: dict[str, Any] = {"timezone": "Europe/Berlin", "embedder": "none"}
    file = Settings(home=many_notes, **chosen)
    space = Settings(home=tmp_path, database_url=SecretStr(postgres_url), space="ranks", **chosen)
    words = Town().language.words
    queries = {f"word {rank}": words[rank] for rank in RANKS}
    queries |= {name: " ".join(words[rank] for rank in ranks) for name, ranks in SEVERAL.items()}
    queries |= {"a phrase": f'"{words[1]} {words[4]}"', "three letters": words[40][:3]}
    with open_app(file) as on_file, open_app(space) as on_space:
        steps = as_searches("file", caller(on_file), queries) | as_searches("space", caller(on_space), queries)
        found = asyncio.run(in_turn(steps, times=10))

    for name in queries:
        board.show(
            f"search for {name} in 100,000 notes on PostgreSQL / SQLite, p50", f"≤ {BAR:g} x",
            f"{ratio(found, f'space {name}', f'file {name}'):.2f} x",
            f"{ms(found[f'space {name}'])} / {ms(found[f'file {name}'])}",
        )  # fmt: skip


def as_searches(label: str, call: Callable[..., Any], queries: Mapping[str, str]) -> dict[str, Step]:
    """Return keyword searches on one database, each under its name."""
    return {
        f"{label} {name}": as_step(partial(call, "search", query=query, mode="keyword"))
        for name, query in queries.items()
    }


def test_writers_in_spaces_of_their_own(tmp_path: Path, postgres_url: str, board: Board) -> None:
    alone = sum(write_in_spaces(tmp_path / "one", postgres_url, 1))
    several = write_in_spaces(tmp_path / "four", postgres_url, WRITERS)

    board.show(
        f"{WRITERS} writers in {WRITERS} spaces / 1 writer, writes", "≥ 3 x", f"{sum(several) / alone:.2f} x",
        f"{sum(several) / WRITING_SECONDS:.0f} / {alone / WRITING_SECONDS:.0f} a second; by writer {several}",
    )  # fmt: skip


def write_in_spaces(folder: Path, url: str, number: int) -> list[int]:
    """Let some processes write tasks at once, each in a space of its own; return how many each has written."""
    writers: list[subprocess.Popen[str]] = []
    for place in range(number):
        command = [sys.executable, "-c", _WRITER, str(folder / str(place)), url, f"writer{number}_{place}"]
        command.append(str(WRITING_SECONDS))
        writers.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    for writer in writers:
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("\n")
        writer.stdin.flush()
    return [int(writer.communicate()[0]) for writer in writers]
