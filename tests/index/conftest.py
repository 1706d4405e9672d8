"""Indexes of every sort, each of them empty."""

import os
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

from panorama.index import edge_index
from panorama.index.exact_index import ExactIndex
from panorama.index.qdrant_server import ServerIndex
from panorama.ports import Index

from .making_points import SMALL
from .qdrant_stand_in import StandIn, standing_in

HARD = os.environ.get("HYPOTHESIS_PROFILE") == "full"
LAWS = settings(
    max_examples=400 if HARD else 25, deadline=None, print_blob=HARD, suppress_health_check=list(HealthCheck)
)

Sharing = Callable[[], AbstractContextManager[Index]]

REAL = os.environ.get("PANORAMA_TEST_QDRANT_URL", "")
ENGINES = ("exact", "edge", "mirrored edge", "server", *(["real server"] if REAL else []))


@contextmanager
def opened(engine: str, folder: Path) -> Generator[Index]:
    """Open an index of a sort; a mirrored edge keeps its copy up to 20 points, so that tests cross that line."""
    with ExitStack() as stack:
        index: Index
        match engine:
            case "exact":
                index = ExactIndex(SMALL)
            case "edge" | "mirrored edge":
                index = edge_index.open_index(folder, SMALL, mirrored=20 if engine == "mirrored edge" else 0)
            case _:
                url = REAL if engine == "real server" else stack.enter_context(standing_in("secret")).url
                key = os.environ.get("PANORAMA_TEST_QDRANT_KEY", "") if engine == "real server" else "secret"
                index = ServerIndex(url, key, f"test-{uuid4().hex[:8]}", SMALL)
        try:
            yield index
        finally:
            index.close()


@pytest.fixture(params=ENGINES)
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An empty index of each sort in turn, which a test may break."""
    with opened(request.param, tmp_path / "index") as index:
        yield index


@pytest.fixture(scope="module", params=ENGINES)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sharing]:
    """Gives an empty index of each sort in turn; one with a process, which takes 0.3 s to start, is the same again."""
    folder = tmp_path_factory.mktemp("shared") / "index"
    if not request.param.endswith("edge"):
        yield lambda: opened(request.param, folder)
        return
    with opened(request.param, folder) as index:
        settle(index)
        yield lambda: emptied(index)


@contextmanager
def emptied(index: Index) -> Generator[Index]:
    """Empty an index."""
    index.delete([chunk for chunk, _ in index.iter_digests()])
    yield index


def settle(index: Index) -> None:
    """Wait until an index is ready, with its copy."""
    index.count()
    while any(thread.name == "index-start" for thread in threading.enumerate()):
        threading.Event().wait(0.005)


@pytest.fixture
def index(shared: Sharing) -> Iterator[Index]:
    """An empty index of each sort in turn."""
    with shared() as index:
        yield index


@pytest.fixture
def server() -> Iterator[StandIn]:
    """A stand-in for a server that wants a key."""
    with standing_in("secret") as server:
        yield server
