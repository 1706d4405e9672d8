"""Calls that are cancelled or abandoned while they work: the daemon works on none of them, by whatever door it came."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.benchmarks.processes import Running, daemon, open_connection

from .abandoning import DOORS, WRITE, Store, fill, give_up, list_calls

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
TRIED = [name for name in DOORS if name != "stdio-modern-killed"]
MOST_CPU_SECONDS = 1.0
"""Processor time, which says the same on a busy machine; each of these calls would take many times more."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A large store."""
    return fill(tmp_path_factory.mktemp("abandoned"), TRIED)


@pytest.fixture(scope="module")
def port() -> int:
    """A free port."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        return int(free.getsockname()[1])


@pytest.fixture
def running(store: Store, port: int) -> Iterator[Running]:
    """A daemon with a reviewed script that writes for ever, and a backup."""
    with daemon(store.home, http_port=str(port), toolsets="default,more,jobs") as running:
        with open_connection(running.address) as rpc:
            rpc.call("scripts.save", {"name": "writer", "code": WRITE, "summary": "Write for ever"})
            rpc.call("scripts.keep", {"script": "writer"})
            if not store.backup.exists():
                Path(rpc.call("backup", {})["data"]["path"]).rename(store.backup)
        yield running


@pytest.mark.parametrize("door", TRIED)
def test_nothing_goes_on_working_for_a_client_that_gave_up(
    store: Store, running: Running, port: int, door: str
) -> None:
    broken: list[str] = []
    caught = ended = 0

    for call in list_calls(store, door):
        if DOORS[door](running, store.home, port).offers(call):
            then = give_up(DOORS[door](running, store.home, port), call)
            if then.cpu > MOST_CPU_SECONDS:  # another process may have had the caches; a fault shows each time
                then = give_up(DOORS[door](running, store.home, port), call)
            caught, ended = caught + (not then.has_ended), ended + then.has_ended
            if then.cpu > MOST_CPU_SECONDS or then.writes or then.jobs:
                broken.append(f"{call.label}: {then}")

    assert not broken, "\n".join(broken)
    assert ended <= caught // 5, "hardly a call was at work any more"
