"""What the tests of the doors share: a data directory whose daemon is stopped at the end."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from panorama.transport.address import Address

from .peer import LEGACY, MODERN

PATIENCE = 30.0


def wait(so: Callable[[], object], what: str = "it") -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline, f"{what} did not come about within {PATIENCE:g} s"
        time.sleep(0.01)


@pytest.fixture(params=[MODERN, LEGACY])
def era(request: pytest.FixtureRequest) -> str:
    """Each protocol era in turn."""
    return str(request.param)


@pytest.fixture
def address(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    """Where the daemon of this test's data is reached; it leaves as soon as nobody is connected."""
    monkeypatch.delenv("PANORAMA_NO_DAEMON")
    monkeypatch.setenv("PANORAMA_LINGER_SECONDS", "0")
    made = Address(str(home))

    yield made

    if pid := made.find_pid():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    wait(lambda: made.find_pid() is None, "the daemon's end")
    with suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
