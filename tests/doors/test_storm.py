"""Storms in small: visitors who come and go, flood, fall silent or talk nonsense leave nothing, and hold up nobody.

`tests/benchmarks/test_storm.py` measures the same at full strength.
"""

import json
import random
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from panorama.transport.address import Address

from ..benchmarks.processes import MB, footprint
from ..benchmarks.raw import Straight, straight
from .conftest import wait
from .peer import LEGACY, MODERN, Peer

pytestmark = pytest.mark.slow

ERAS = (LEGACY, MODERN)
CYCLES, WARM_UP = 60, 10
FLOOD = 2000
GROWN = 64 * MB
"""What may stay in memory after a storm: Python and glibc keep some of what they were once given."""

MORE_THREADS = 40
"""The threads that calls run in are made when they are needed, up to forty, and kept (anyio, `to_thread`)."""

SOON = 5.0


@pytest.fixture
def bystander(address: Address) -> Iterator[Peer]:
    """A client at a door of its own, whose daemon has been used for a while."""
    with Peer(LEGACY) as peer:
        for number in range(WARM_UP):
            visit(address, number)
        yield peer


@contextmanager
def storm(address: Address, bystander: Peer) -> Iterator[None]:
    """Check that the daemon holds no more afterwards than before, and serves the bystander."""
    pid = address.find_pid()
    assert pid is not None
    before = footprint(pid)

    yield

    began = time.monotonic()
    assert bystander.call("create_task", title="Tea")["data"]
    assert time.monotonic() - began < SOON
    wait(lambda: footprint(pid).files <= before.files, "the files' release")
    after = footprint(pid)
    assert address.find_pid() == pid
    assert after.memory - before.memory < GROWN
    assert after.threads - before.threads <= MORE_THREADS


def visit(address: Address, number: int) -> None:
    """Come, call, and go."""
    with straight(address, ERAS[number % 2]) as client:
        client.call("search", query=f"tea {number}")


def hang_up(address: Address, number: int) -> None:
    """Come, call, and go without the answers, in the middle of a line."""
    with straight(address, ERAS[number % 2]) as client:
        for index in range(5):
            client.write(client.call_of("search", query=f"tea {index}"))
        client.write(client.call_of("status")[: number % 40])


def test_visitors_who_come_and_go_leave_nothing_however_they_go(address: Address, bystander: Peer) -> None:
    for goes in (visit, hang_up):
        with storm(address, bystander):
            for number in range(CYCLES):
                goes(address, number)


def test_a_flood_that_nobody_reads_holds_up_nobody_and_is_answered(address: Address, bystander: Peer) -> None:
    for era in ERAS:
        with storm(address, bystander), straight(address, era) as client:
            sent = flood(client)
            began = time.monotonic()
            assert bystander.call("search", query="tea")["summary"]
            assert time.monotonic() - began < SOON
            client.stream.shutdown(socket.SHUT_WR)

            answers = sum(1 for _ in iter(client.next, b""))

            assert answers == sent > 0


def flood(client: Straight) -> int:
    """Send calls until no more are taken; return how many were taken as a whole."""
    calls = (client.call_of("search", query=f"tea {number}") for number in range(FLOOD))
    return client.pour(calls, patience=0.3)


def test_what_waits_of_a_flood_is_let_go_with_its_client(address: Address, bystander: Peer) -> None:
    text = "x" * (4 * MB)
    with storm(address, bystander):
        with straight(address) as client:
            flood(client)
        with straight(address) as client:
            for _ in range(40):  # their answers fill the socket, so that what follows has to wait
                client.write(client.request("tools/list"))
            client.pour((client.call_of("list_tasks", tag=text) for _ in range(40)), patience=0.3)


GARBAGE = (
    random.Random(3).randbytes(100_000).replace(b"\n", b""),
    b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":' + b"9" * 100_000 + b"}}",
    b'{"jsonrpc":"2.0","x":{' + b",".join(b'"k%d":1' % number for number in range(20_000)) + b"}}",
    b'{"jsonrpc":"2.0","id":7,"method":"\\ud800' + b"\\" * 1001,
    b"[1, 2, 3]",
)


def test_each_line_of_garbage_is_refused(address: Address, bystander: Peer) -> None:
    with storm(address, bystander), straight(address) as client:
        for garbage in GARBAGE * 3:
            client.write(garbage + b"\n")

            assert json.loads(client.next())["error"]["code"] in (-32700, -32600)
        assert client.call("status")["data"]


STRANGE = (b"GET / HTTP/1.1\r\n\r\n", b"[" * 50_000 + b"\n", b"\xff\x00 nonsense\n")


def test_who_does_not_greet_is_sent_away_and_who_says_nothing_holds_up_nobody(
    address: Address, bystander: Peer
) -> None:
    with storm(address, bystander), ExitStack() as stack:
        for start in (b"", b"", b'{"panorama": 1, "vers'):
            stack.enter_context(stranger(address, start))
        for start in (b"", b'{"jsonrpc":"2.0","id":"half","meth'):
            stack.enter_context(closing(Straight(address))).write(start)
        for start in STRANGE * 5:
            with stranger(address, start) as stream:
                assert "Invalid handshake" in json.loads(stream.recv(4096))["refused"]
        with pytest.raises(ConnectionError), stranger(address, b"x" * (8 * MB)):
            pass
        assert bystander.call("search", query="tea")["summary"]


@contextmanager
def stranger(address: Address, said: bytes) -> Iterator[socket.socket]:
    """Connect without knowing how to greet."""
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(address.socket)
        stream.sendall(said)
        yield stream
