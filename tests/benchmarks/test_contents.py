"""What 10 MB of a file cost in and out: in the folder, in the tables of a space, and in a bucket."""

import os
import statistics
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from panorama.store.backend import ContentStore
from tests.postgres.space import open_space
from tests.store.content_stores import in_bucket, in_folder, in_tables

from .measure import Board

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]
SIZE = 10 << 20
ROUNDS = 9


def test_ten_megabytes_in_and_out(board: Board, tmp_path: Path, postgres_url: str, s3_address: str) -> None:
    with ExitStack() as stack:
        stores = {
            "folder": in_folder(tmp_path / "files").store,
            "tables": stack.enter_context(in_tables(open_space(postgres_url, "benchmark"))).store,
            "bucket": stack.enter_context(in_bucket(s3_address, tmp_path / "guard")).store,
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in stores}
        for _ in range(ROUNDS):
            for name, store in stores.items():
                times[name].append(measure_once(store))
    base = [statistics.median(column) for column in zip(*times["folder"], strict=True)]
    for name, measured in times.items():
        written, read = (statistics.median(column) for column in zip(*measured, strict=True))
        ratios = f"{written / base[0]:.1f} and {read / base[1]:.1f} times the folder"
        board.show(f"10 MB in and out, {name}", "", f"{written:.0f} ms, {read:.0f} ms", ratios)


def measure_once(store: ContentStore) -> tuple[float, float]:
    """Return how many milliseconds a new content takes in, and out again."""
    content = os.urandom(SIZE)
    started = time.perf_counter()
    name = store.put(content)
    stored = time.perf_counter()
    assert store.get(name) == content
    return (stored - started) * 1000, (time.perf_counter() - stored) * 1000
