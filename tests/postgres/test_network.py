"""A cut network between a machine and the database: others go on, and the machine does too once it is back."""

import os
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from panorama.store.migrate import create_tables
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from tests.faults.servers import COMMAND, Server
from tests.postgres.server import start_server

pytestmark = [pytest.mark.postgres, pytest.mark.slow, pytest.mark.timeout(600)]

SPACE = "team"
ASKED = "PANORAMA_TEST_NETWORK"
HOST, GUEST = "10.213.7.1", "10.213.7.2"
CUT_SECONDS = 25.0
"""Longer than a connection waits for what it sent to be acknowledged (`tcp_user_timeout`)."""

LONGEST_ANSWER = 75.0
"""How long a call of either may take on a busy machine: until the lock of a client that is gone is free."""


@dataclass(frozen=True)
class Network:
    """A network namespace of its own, with one cable to this machine."""

    name: str

    def cut(self) -> None:
        """Lose every packet from now on."""
        _run("ip", "link", "set", self.name, "down")

    def mend(self) -> None:
        """Pass packets on again."""
        _run("ip", "link", "set", self.name, "up")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=30)


@pytest.fixture
def network() -> Iterator[Network]:
    """A namespace in which a machine reaches this one at HOST."""
    if ASKED not in os.environ:
        pytest.skip(f"it makes a network on this machine: set {ASKED}=1")
    if not shutil.which("ip") or os.geteuid() != 0:
        pytest.skip("network namespaces need Linux, root and iproute2")
    name = f"pano{os.getpid()}"
    try:
        _run("ip", "netns", "add", name)
    except subprocess.CalledProcessError:
        pytest.skip("this machine lets nobody make network namespaces")
    try:
        _run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        _run("ip", "addr", "add", f"{HOST}/24", "dev", name)
        _run("ip", "link", "set", name, "up")
        for command in (f"addr add {GUEST}/24 dev eth0", "link set eth0 up", "link set lo up"):
            _run("ip", "-n", name, *command.split())
        yield Network(name)
    finally:
        _run("ip", "netns", "delete", name)


@dataclass
class Machine:
    """A client that writes one task after another, and what it was answered."""

    server: Server
    name: str
    written: dict[str, str] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    last_written: float = 0.0

    def write_until(self, stop: threading.Event) -> None:
        """Write tasks."""
        number = 0
        while not stop.is_set():
            number += 1
            began = time.monotonic()
            answer = self.server.call("create_task", title=f"Water {self.name} {number}")
            self.longest = max(self.longest, time.monotonic() - began)
            if "error" in answer:
                self.refused[answer["error"]["code"]] += 1
                time.sleep(0.2)  # as a person would
            else:
                self.written[answer["data"]["id"]] = f"Water {self.name} {number}"
                self.last_written = time.monotonic()


class RemoteClient(Server):
    """A client in another network namespace."""

    least_patience = LONGEST_ANSWER

    def __init__(self, network: Network, home: Path, **settings: str) -> None:
        self.command: Sequence[str] = ["ip", "netns", "exec", network.name, *COMMAND]
        super().__init__(home, **settings)


class LocalClient(Server):
    """A client on the machine of the database."""

    least_patience = LONGEST_ANSWER


def read_titles(url: str) -> dict[str, str]:
    """Return the titles of all tasks by id."""
    with psycopg.connect(url) as admin:
        return dict(admin.execute(f"SELECT id, title FROM panorama_{SPACE}.tasks").fetchall())


def test_a_machine_without_network_stops_nobody_loses_nothing_and_goes_on_by_itself(
    network: Network, tmp_path: Path
) -> None:
    with start_server() as server:
        url = server.listen_at(HOST)
        with closing(PostgresDatabase(parse_url(url), SPACE)) as database:
            create_tables(database)
        settings = {"no_daemon": "0", "space": SPACE}
        with (
            RemoteClient(network, tmp_path / "far", database_url=url, **settings) as far,
            LocalClient(tmp_path / "near", database_url=server.url, **settings) as near,
        ):
            machines = [Machine(far, "far"), Machine(near, "near")]
            stop = threading.Event()
            threads = [threading.Thread(target=machine.write_until, args=(stop,)) for machine in machines]
            for thread in threads:
                thread.start()
            began = time.monotonic()
            while not all(machine.written for machine in machines) and time.monotonic() < began + LONGEST_ANSWER:
                time.sleep(0.1)
            network.cut()
            time.sleep(CUT_SECONDS)
            near_wrote = machines[1].last_written
            network.mend()
            mended = time.monotonic()
            while machines[0].last_written < mended and time.monotonic() < mended + LONGEST_ANSWER:
                time.sleep(0.1)
            stop.set()
            for thread in threads:
                thread.join(LONGEST_ANSWER)
        titles = read_titles(url)

    assert near_wrote > mended - 5, "the other machine could not write while the network was cut"
    assert machines[0].last_written > mended, machines[0].refused
    for machine in machines:
        print(f"{machine.name}: {len(machine.written)} written, {dict(machine.refused)}, {machine.longest:.1f} s")  # noqa: T201 (figures of a long run)
        assert machine.longest < LONGEST_ANSWER
        assert {id_: titles.get(id_) for id_ in machine.written} == machine.written
