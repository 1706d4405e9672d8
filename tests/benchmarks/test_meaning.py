"""What search by meaning costs: a search through the door, a reindex, everybody else meanwhile, and memory."""

import random
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import Settings
from panorama.domain.text.chunks import split_chunks
from panorama.index.embedders.registry import create_embedder
from tests.training import costs

from . import processes
from .meanings import indexed, until, write_notes
from .measure import Board, median, ms
from .processes import daemon, rollup
from .raw import Raw, spawned
from .stores import Language, Town
from .test_large import questions

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(3600)]
SEARCHES = 240
REINDEXED = {"static": 5_000, "minilm": 800, "duo": 500}
BARS = {"static": "≥ 0.6 x", "minilm": "≥ 0.9 x", "duo": "≥ 0.9 x"}
BATCH = 64
TURNS = 3
WRITES = 30
MEANWHILE, CALLS = 5_000, 300
WHOLE_BATCH = 100
NAP = """
from datetime import timedelta
from panorama.index.embedders.lifecycle import ManagedEmbedder
ManagedEmbedder.__init__.__kwdefaults__["idle"] = timedelta(seconds=8)
"""
"""Lets the model rest after eight seconds instead of ten minutes."""


@pytest.fixture(scope="module")
def meant(folder: Path) -> Path:
    """The data directory of a store with 100,000 notes, all of them in the index of `duo`."""
    return indexed(folder / "meanings")


def p95(values: list[float]) -> float:
    """Return what 95 of 100 stay below."""
    return statistics.quantiles(values, n=20)[-1]


def is_ready(client: Raw) -> bool:
    """Return whether both searches run, and nothing is pending."""
    client.call("search", query=f"anything at {time.monotonic_ns()}")  # loads the model
    search = client.call("status")["data"]["search"]
    return search.get("model_state") == "ready" and "semantic" in search["modes"] and not search.get("pending")


def build_query_makers(language: Language, chance: random.Random) -> dict[str, Callable[[], str]]:
    """Return makers of queries: those of the keyword benchmark, and one as long as people ask."""
    made = questions(language, chance)
    return made | {"a question of nine words": lambda: " ".join(chance.sample(language.words[10:3000], 9))}


def test_a_search_through_the_door(meant: Path, board: Board) -> None:
    chance = random.Random(23)
    sorts = build_query_makers(Town().language, chance)
    took: dict[str, list[float]] = {name: [] for name in sorts}
    words: list[float] = []
    with daemon(meant, embedder="duo"), spawned(meant, embedder="duo") as client:
        until(lambda: is_ready(client))
        for _ in range(SEARCHES // len(sorts)):
            for name, make in sorts.items():
                took[name].append(client.took("search", query=make(), limit=10))
                words.append(client.took("search", query=make(), limit=10, mode="keyword"))
        noops = [client.took("status") for _ in range(50)]

    every = [value for values in took.values() for value in values]
    board.show(
        "hybrid search through the door, 100,000 notes, p50 / p95", "≤ 30 / ≤ 80 ms",
        f"{median(every):.1f} / {p95(every):.1f} ms",
        f"keywords alone {median(words):.1f} / {p95(words):.1f} ms; status {median(noops):.1f} ms",
    )  # fmt: skip
    for name, values in took.items():
        board.show(f"   {name}", "", f"{median(values):.1f} / {max(values):.1f} ms")


def test_how_soon_a_write_is_found_by_meaning(tmp_path: Path, board: Board) -> None:
    took = list[float]()
    with daemon(tmp_path, embedder="duo"), spawned(tmp_path, embedder="duo") as client:
        client.call("create_note", title="The first", content="So that there is an index.")
        until(lambda: is_ready(client))
        for number in range(WRITES):
            time.sleep(0.3)
            subject = f"Plum {number} {time.monotonic_ns()}"
            made = client.call("create_note", title=subject, content="They ripen late.")["data"]["id"]
            begun = time.perf_counter()
            while made not in [row["id"] for row in client.call("search", query=subject, mode="semantic")["data"]]:
                time.sleep(0.005)
            took.append((time.perf_counter() - begun) * 1000)

    board.show(
        "from a write's answer until it is found by meaning, at rest, p50 / max", "≤ 1,000 ms",
        f"{median(took):.0f} / {max(took):.0f} ms", f"{WRITES} notes, one after another",
    )  # fmt: skip


@pytest.mark.parametrize("name", REINDEXED)
def test_a_reindex_beside_the_bare_embedder(tmp_path: Path, board: Board, name: str) -> None:
    bodies = costs.sample_prose(REINDEXED[name])
    texts = [chunk.text for number, body in enumerate(bodies) for chunk in split_chunks(f"Note {number}", body)]
    bare, took = list[float](), list[float]()
    model = create_embedder(name)
    model.load()
    for round_ in range(TURNS):
        begun = time.perf_counter()
        for at in range(0, len(texts), BATCH):
            model.embed_documents(texts[at : at + BATCH])
        bare.append(time.perf_counter() - begun)
        with open_app(Settings(home=tmp_path / str(round_), timezone="UTC", embedder=name)) as app:
            write_notes(app, bodies)
            until(app.meaning.ensure_open().chosen.resident.ensure_loading)
            begun = time.perf_counter()
            app.calls.call("reindex", {}, Conversation("v_bench", "tool", "benchmark"))
            took.append(time.perf_counter() - begun)
    model.close()

    ratio = median([mine / whole for mine, whole in zip(bare, took, strict=True)])
    board.show(
        f"reindex of {len(texts):,} passages beside the bare embedder, {name}", BARS[name], f"{ratio:.2f} x",
        f"{len(texts) / median(took):,.0f} beside {len(texts) / median(bare):,.0f} passages a second",
    )  # fmt: skip


def test_everybody_else_while_notes_are_indexed(tmp_path: Path, board: Board) -> None:
    bodies = costs.sample_prose(MEANWHILE)
    with daemon(tmp_path, embedder="duo"), ExitStack() as stack:
        client = stack.enter_context(spawned(tmp_path, embedder="duo"))
        for at in range(0, 200, WHOLE_BATCH):
            tasks = [{"tool": "create_task", "args": {"title": f"Task {at + more}"}} for more in range(WHOLE_BATCH)]
            client.call("batch", operations=tasks)
        until(lambda: client.call("status")["data"]["search"].get("pending") == 0)
        time.sleep(3)
        quiet = worked(client)
        for at in range(0, MEANWHILE, WHOLE_BATCH):
            notes = [
                {"tool": "create_note", "args": {"title": f"Note {at + more}", "content": body}}
                for more, body in enumerate(bodies[at : at + WHOLE_BATCH])
            ]
            client.call("batch", operations=notes)
        busy = worked(client)
        left = client.call("status")["data"]["search"]["pending"]

    assert left, "all was indexed before the measurement ended"
    for name in quiet:
        board.show(
            f"{name} while 5,000 notes are indexed / in quiet, p50", "≤ 1.5 x",
            f"{median(busy[name]) / median(quiet[name]):.2f} x",
            f"{ms(busy[name])} / {ms(quiet[name])}, p95 {p95(busy[name]):.1f} / {p95(quiet[name]):.1f} ms",
        )  # fmt: skip


def worked(client: Raw) -> dict[str, list[float]]:
    """Return what calls of several sorts take."""
    took: dict[str, list[float]] = {"create_task": [], "list_tasks": [], "search (keyword)": [], "query": []}
    for number in range(CALLS):
        took["create_task"].append(client.took("create_task", title=f"Errand {number} {time.monotonic_ns()}"))
        took["list_tasks"].append(client.took("list_tasks", limit=10 + number % 20))
        took["search (keyword)"].append(client.took("search", query=f"task {number}", mode="keyword"))
        took["query"].append(client.took("query", collection="tasks", where={"title": {"ne": f"x{number}"}}, limit=5))
    return took


def test_memory_with_the_model_and_without(meant: Path, board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "TELLING", NAP + processes.TELLING)
    with daemon(meant, embedder="duo") as running, spawned(meant, embedder="duo") as client:
        until(lambda: is_ready(client))
        for number in range(200):
            client.took("search", query=f"word number {number}")
        loaded = measure_memory(running.pid)
        until(lambda: client.call("status")["data"]["search"]["model_state"] == "resting")
        released = measure_memory(running.pid)
    for name, bar, (anonymous, file) in (("loaded", 450, loaded), ("released", 300, released)):
        board.show(
            f"daemon and index, 100,000 notes, model {name}", f"≤ {bar} MB anonymous", f"{anonymous:.0f} MB",
            f"{file:.0f} MB of mapped files beside it",
        )  # fmt: skip


def measure_memory(pid: int) -> tuple[float, float]:
    """Return the anonymous memory and the mapped files of a process and its children, in MB (PSS)."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    every = [rollup(child_pid) for child_pid in (pid, *map(int, children))]
    return sum(item["Pss_Anon"] for item in every), sum(item["Pss_File"] for item in every)
