"""The embedded index against numpy, which compares every vector, and against qdrant-client's own local mode.

Vectors are mixtures: each text is near some others, as texts are. numpy's part is the product of a matrix and the
choice of the ten highest, with nothing around it.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panorama.index import edge_index
from panorama.index.edge_index import EdgeIndex
from panorama.index.exact_index import ExactIndex
from panorama.index.filters import to_payload
from panorama.index.points import Filter, Model, Point, point_id
from panorama.index.vectors import Matrix

from .measure import Board, in_turn, median, ms, ratio

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]

SIZE = 384
MODEL = Model(id="bench", digest="be9c4000", size=SIZE)
SIZES = {5_000: "≤ 1.5 x", 50_000: "≤ 0.5 x", 200_000: "≤ 0.5 x"}
PROJECTS = 50
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def unit(vectors: Matrix) -> Matrix:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@cache
def vectors(count: int, seed: int = 0, *, near: int = 100) -> Matrix:
    """Return vectors around centres, `near` around each; those of another seed lie around the same centres."""
    centres = np.random.default_rng(7).standard_normal((max(1, count // near), SIZE), np.float32)
    chance = np.random.default_rng(seed)
    chosen = centres[chance.integers(0, len(centres), count)]
    beside = chance.standard_normal((count, SIZE), np.float32) * np.float32(0.6)
    return unit(np.add(chosen, beside, dtype=np.float32))


def queries(count: int) -> Matrix:
    """Return queries that lie among the vectors."""
    return vectors(count, 1)[:200]


def points(count: int) -> Iterator[Point]:
    """Give points, made as they are asked for."""
    for at, vector in enumerate(vectors(count)):
        yield Point(
            chunk=f"n_{at:010d}:0", item=f"n_{at:010d}", kind="task" if at % 2 else "note",
            project=f"p_{at % PROJECTS:010d}", at=BEGIN + timedelta(minutes=at), digest=f"{at:032x}",
            vector=vector.tobytes(),
        )  # fmt: skip


def best(matrix: Matrix, query: Matrix) -> Any:
    scores = matrix @ query
    top = np.argpartition(-scores, 10)[:10]
    return top[np.argsort(-scores[top])]


@dataclass
class Gap:
    """The longest time in ms in which a thread that wants to run every millisecond did not.

    `ours` is the most that this process itself worked in such a time: without it other programs had the cores.
    """

    longest: float = 0.0
    ours: float = 0.0


@contextmanager
def ticking() -> Generator[Gap]:
    """Watch for gaps while the block runs: what holds the GIL stops every thread."""
    gap, done = Gap(), threading.Event()

    def tick() -> None:
        last, worked = time.perf_counter(), time.process_time()
        while not done.is_set():
            time.sleep(0.001)
            now, work = time.perf_counter(), time.process_time()
            waited = (now - last) * 1000
            gap.longest, gap.ours = max(gap.longest, waited), max(gap.ours, min(waited, (work - worked) * 1000))
            last, worked = now, work

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield gap
    finally:
        done.set()
        thread.join()


def timed(step: Callable[[], object]) -> float:
    """Return the seconds that a step takes."""
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


@contextmanager
def build_index(folder: Path, count: int) -> Generator[tuple[EdgeIndex, float]]:
    """Give an index of so many points, and how many were written in a second."""
    index = edge_index.open_index(folder, MODEL)
    try:
        index.count()
        seconds = timed(lambda: index.build(points(count)))
        yield index, count / seconds
    finally:
        index.close()


@pytest.mark.parametrize(("count", "bar"), SIZES.items(), ids=[f"{count:,}" for count in SIZES])
def test_query(tmp_path: Path, board: Board, count: int, bar: str) -> None:
    matrix, exact = vectors(count), ExactIndex(MODEL)
    exact.build(points(count))
    with build_index(tmp_path / "index", count) as (index, rate):
        found = asyncio.run(_queried(index, exact, matrix, count))
        recall = _recall(index, matrix, count)
        state = index.state()

    times, reference = ratio(found, "edge", "numpy"), f"numpy {ms(found['numpy'])}, exact {ms(found['exact'])}"
    board.show(f"query at {count:,}, p50", bar, f"{times:.2f} x", f"edge {ms(found['edge'])}, {reference}")
    board.show("   recall@10", "≥ 0.99", f"{recall:.4f}")
    filtered, masked = found["edge, one project"], found["numpy, one project"]
    board.show("   one project of 50", "", f"{ratio(found, 'edge, one project', 'numpy, one project'):.2f} x",
               f"edge {ms(filtered)}, numpy {ms(masked)}, exact {ms(found['exact, one project'])}")  # fmt: skip
    board.show("   half of the time", "", f"{ratio(found, 'edge, half', 'numpy, half'):.2f} x",
               f"edge {ms(found['edge, half'])}, numpy {ms(found['numpy, half'])}")  # fmt: skip
    board.show("   built", "", f"{rate:,.0f} points/s", f"process {state.anonymous_bytes >> 20} MB anonymous, "
               f"{state.mapped_bytes >> 20} MB mapped, disk {state.disk_bytes >> 20} MB")  # fmt: skip
    assert recall >= 0.99


async def _queried(index: EdgeIndex, exact: ExactIndex, matrix: Matrix, count: int) -> dict[str, list[float]]:
    asked = [(query, query.tobytes()) for query in queries(count)]
    project, half = Filter(project="p_0000000007"), Filter(since=BEGIN + timedelta(minutes=count // 2))
    place = np.arange(count)
    in_project, in_half = place % PROJECTS == 7, place >= count // 2

    def asking(ask: Callable[[Any, bytes], object]) -> Callable[[], Any]:
        turn = cycle(asked)

        async def step() -> object:
            return ask(*next(turn))

        return step

    steps = {
        "edge": asking(lambda _, raw: index.search(raw, 10, Filter())),
        "numpy": asking(lambda query, _: best(matrix, query)),
        "exact": asking(lambda _, raw: exact.search(raw, 10, Filter())),
        "edge, one project": asking(lambda _, raw: index.search(raw, 10, project)),
        "numpy, one project": asking(lambda query, _: best(matrix[in_project], query)),
        "exact, one project": asking(lambda _, raw: exact.search(raw, 10, project)),
        "edge, half": asking(lambda _, raw: index.search(raw, 10, half)),
        "numpy, half": asking(lambda query, _: best(matrix[in_half], query)),
    }
    return await in_turn(steps, times=60 if count < 100_000 else 20)


def _recall(index: EdgeIndex, matrix: Matrix, count: int) -> float:
    hits = 0
    for query in queries(count):
        expected = {f"n_{at:010d}:0" for at in best(matrix, query)}
        hits += len(expected & {hit.chunk for hit in index.search(query.tobytes(), 10, Filter())})
    return hits / (10 * len(queries(count)))


def test_bulk(tmp_path: Path, board: Board) -> None:
    ours, theirs, batches = [], [], []
    local = list(points(1500))
    for round_ in range(3):
        with build_index(tmp_path / f"index{round_}", 20_000) as (index, rate):
            ours.append(rate)
            some = list(points(20_000))[:5120]
            batches.append(len(some) / timed(lambda index=index, some=some: _in_batches(index, some)))
        theirs.append(len(local) / timed(lambda at=round_: _local_mode(local, str(tmp_path / f"local{at}"))))

    board.show("bulk upsert against qdrant-client's local mode", "≥ 20 x", f"{median(ours) / median(theirs):.0f} x",
               f"{median(ours):,.0f} against {median(theirs):,.0f} points/s")  # fmt: skip
    board.show("   in batches of 256 into the live index", "", f"{median(batches) / median(theirs):.0f} x",
               f"{median(batches):,.0f} points/s")  # fmt: skip


def _in_batches(index: EdgeIndex, some: Sequence[Point]) -> None:
    for at in range(0, len(some), 256):
        index.upsert(some[at : at + 256])


def _local_mode(some: Sequence[Point], path: str) -> None:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=path)
    client.create_collection("c", vectors_config=models.VectorParams(size=SIZE, distance=models.Distance.COSINE))
    for at in range(0, len(some), 256):
        batch = some[at : at + 256]
        structs = [
            models.PointStruct(
                id=str(point_id(item.chunk)),
                vector=np.frombuffer(item.vector, "<f4").tolist(),
                payload=to_payload(item),
            )
            for item in batch
        ]
        client.upsert("c", structs)
    client.close()


@pytest.mark.parametrize("count", [50_000, 200_000], ids=lambda count: f"{count:,}")
def test_stalls(tmp_path: Path, board: Board, count: int) -> None:
    folder, some = tmp_path / "index", list(points(5120))
    with build_index(folder, count) as (index, _):
        with ticking() as idle:
            time.sleep(2)
        with ticking() as building:
            index.build(points(count))
        with ticking() as writing:
            _in_batches(index, some)
        with ticking() as flushing:
            flushed = timed(index.flush)
    with ticking() as loading:
        opened = timed(lambda: _reopened(folder))

    times = {"build and swap": building, "5,120 upserts": writing, "flush": flushing, "open and close": loading}
    for what, gap in times.items():
        board.show(f"longest stop of other threads at {count:,}: {what}", "≤ 20 ms", f"{gap.ours:.0f} ms",
                   f"with other programs' work {gap.longest:.0f} ms; doing nothing {idle.longest:.0f} ms")  # fmt: skip
    board.show("   flush took, opening and closing took", "", f"{flushed:.2f} s, {opened:.2f} s")


def _reopened(folder: Path) -> None:
    index = edge_index.open_index(folder, MODEL)
    index.count()
    index.close()
