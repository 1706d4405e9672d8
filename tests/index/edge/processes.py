"""The process of an embedded index, to be found, killed and waited for."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from panorama.errors import UnavailableError
from panorama.index import edge_index
from panorama.index.edge_index import EdgeIndex
from panorama.index.points import Filter

from ..conftest import settle
from ..making_points import SMALL, many

ALL = Filter()
POINTS = many(40)


@contextmanager
def opened(folder: Path, mirrored: int = 0) -> Iterator[EdgeIndex]:
    index = edge_index.open_index(folder, SMALL, mirrored=mirrored)
    try:
        settle(index)
        yield index
    finally:
        index.close()


def child() -> psutil.Process:
    return psutil.Process().children()[-1]


def kill() -> None:
    process = child()
    process.kill()
    with suppress(psutil.NoSuchProcess):
        psutil.wait_procs([process], timeout=5)


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def persistently(write: Callable[[], None]) -> None:
    """Write as the catch-up does: again until it succeeds."""

    def succeeded() -> bool:
        with suppress(UnavailableError):
            write()
            return True
        return False

    until(succeeded)
