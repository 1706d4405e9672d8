"""Indexes of every sort, each of them empty."""

import os
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from qdrant_client import QdrantClient

from panorama.index import edge_index
from panorama.index.exact_index import ExactIndex
from panorama.index.qdrant.layout import ServerLayout
from panorama.index.qdrant.server_index import ServerIndex
from panorama.ports import Index

from .making_points import OTHER, SMALL
from .qdrant_stand_in import StandIn, standing_in

HARD = os.environ.get("HYPOTHESIS_PROFILE") == "full"
LAWS = settings(
    max_examples=400 if HARD else 25, deadline=None, print_blob=HARD, suppress_health_check=list(HealthCheck)
)

Sharing = Callable[[], AbstractContextManager[Index]]

REAL = os.environ.get("PANORAMA_TEST_QDRANT_URL", "")
REAL_KEY = os.environ.get("PANORAMA_TEST_QDRANT_KEY", "")
TOLERANCE = 2e-3 if REAL else 1e-5
"""How much a score may be off: a server keeps vectors in half precision."""

REAL_ENGINES = ["real server", "real shared server"] if REAL else []
ENGINES = ("exact", "edge", "mirrored edge", "server", "shared server", *REAL_ENGINES)


@contextmanager
def open_kind(engine: str, folder: Path) -> Generator[Index]:
    """Open an index of a sort; a mirrored edge keeps its copy up to 20 points, so that tests cross that line."""
    with ExitStack() as stack:
        index: Index
        match engine:
            case "exact":
                index = ExactIndex(SMALL)
            case "edge" | "mirrored edge":
                index = edge_index.open_index(folder, SMALL, mirrored=20 if engine == "mirrored edge" else 0)
            case _:
                url, key = REAL, REAL_KEY
                if engine in REAL_ENGINES:
                    stack.callback(drop_collections)
                else:
                    url, key = stack.enter_context(standing_in("secret")).url, "secret"
                layout = ServerLayout(is_shared="shared" in engine)
                index = ServerIndex(url, key, f"test-{uuid4().hex[:8]}", SMALL, layout=layout)
        try:
            yield index
        finally:
            index.close()


def drop_collections() -> None:
    """Delete the collections of the tests from the real server."""
    client = QdrantClient(url=REAL, headers={"api-key": REAL_KEY}, check_compatibility=False)
    shared = {f"panorama-shared-{model.digest}" for model in (SMALL, OTHER)}
    for entry in client.get_collections().collections:
        if entry.name in shared or entry.name.startswith("panorama-test-"):
            client.delete_collection(entry.name)
    client.close()


@pytest.fixture(params=ENGINES)
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """An empty index of each sort in turn, which a test may break."""
    with open_kind(request.param, tmp_path / "index") as index:
        yield index


@pytest.fixture(scope="module", params=ENGINES)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sharing]:
    """Gives an empty index of each sort in turn; one with a process, which takes 0.3 s to start, is the same again."""
    folder = tmp_path_factory.mktemp("shared") / "index"
    if not request.param.endswith("edge"):
        yield lambda: open_kind(request.param, folder)
        return
    with open_kind(request.param, folder) as index:
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
