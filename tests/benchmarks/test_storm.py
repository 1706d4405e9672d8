"""Storms: what the daemon keeps of visitors who come and go, flood, fall silent or talk nonsense.

Memory, files, threads and tasks are compared before and after; a bystander at a door of its own works all the while.
"""

import json
import os
import random
import socket
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from panorama.transport.address import hello_message
from tests.tool_errors import read_result

from .measure import Board, ms
from .processes import MB, Bystander, Running, daemon, footprint, rollup
from .raw import LEGACY, MODERN, ProcessClient, Raw, Straight, spawned, straight

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
ERAS = (LEGACY, MODERN)
WARM_UP, CYCLES, THROUGH_DOORS = 200, 1000, 40
FLOOD, PAUSE = 100_000, 1.0
LARGE, SILENT, CROWD, MOST_VISITORS = 40, 300, 1050, 1000
TASKS, CHANGES = 50, 60
GROWN = 40 * MB
"""What may stay in memory after a storm: Python and glibc keep some of what they were once given."""

MORE_THREADS = 40
"""The threads that calls run in are made when they are needed, up to forty, and kept (anyio, `to_thread`)."""


@dataclass
class Scene:
    """A daemon, a bystander at its door, and the board on which a storm is written."""

    daemon: Running
    bystander: ProcessClient
    board: Board

    @contextmanager
    def storm(self, what: str, *, grown: int = GROWN) -> Generator[None]:
        """Compare what the daemon holds before and after, and tell how the bystander was served meanwhile."""
        calm = [self.bystander.took("search", query=f"calm {number}") for number in range(100)]
        before = self.daemon.footprint()
        began = time.perf_counter()
        with Bystander(self.bystander).watching() as took:
            yield
        seconds = time.perf_counter() - began
        after = self.daemon.settled(before)
        self.board.show(
            what, "no growth, others served", after.since(before),
            f"{seconds:.1f} s; bystander p50 {ms(took)}, max {max(took):.0f} ms of {len(took)}; in calm p50 {ms(calm)}",
        )  # fmt: skip
        assert after.memory - before.memory < grown
        assert after.threads - before.threads <= MORE_THREADS

    def visit(self, number: int) -> None:
        """Come, call, and go."""
        with straight(self.daemon.address, ERAS[number % 2]) as client:
            client.call("search", query=f"task {number}")

    def peak(self) -> str:
        """Return how much memory the daemon has held at most."""
        return f"{self.daemon.peak() / MB:.0f} MB at most since its start"


@pytest.fixture
def scene(tmp_path: Path, board: Board) -> Iterator[Scene]:
    """A daemon with some tasks, warmed up, and a bystander."""
    with daemon(tmp_path / "home") as running, spawned(tmp_path / "home") as bystander:
        for number in range(TASKS):
            bystander.call("create_task", title=f"Task {number}")
        scene = Scene(running, bystander, board)
        with Bystander(bystander).watching():
            for number in range(WARM_UP):
                scene.visit(number)
        yield scene


def test_visitors_who_come_and_go(scene: Scene) -> None:
    for what in (f"{CYCLES:,} times connect, call, disconnect", "the same again"):
        with scene.storm(what):
            for number in range(CYCLES):
                scene.visit(number)


def test_doors_that_come_and_go(scene: Scene) -> None:
    with scene.storm(f"{THROUGH_DOORS} times the same through a real door"):
        for number in range(THROUGH_DOORS):
            with spawned(scene.daemon.address.home, ERAS[number % 2]) as door:
                door.call("search", query=f"task {number}")


def test_visitors_who_hang_up_in_the_middle(scene: Scene) -> None:
    with scene.storm(f"{CYCLES // 2} that hang up without their answers"):
        for number in range(CYCLES // 2):
            with straight(scene.daemon.address, ERAS[number % 2]) as client:
                for index in range(5):
                    client.write(client.call_of("search", query=f"task {index}"))
                client.write(client.call_of("status")[: number % 60])


def flood(client: Raw) -> int:
    """Send calls until no more are taken; return how many were taken as a whole."""
    calls = (client.call_of("search", query=f"task {number}") for number in range(FLOOD))
    return client.pour(calls, patience=PAUSE)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_floods_without_reading(scene: Scene, era: str) -> None:
    with (
        scene.storm(f"a flood of calls, nothing read, then all ({era})"),
        straight(scene.daemon.address, era) as client,
    ):
        before = scene.daemon.footprint()
        sent = flood(client)
        held = scene.daemon.footprint()
        client.stream.shutdown(socket.SHUT_WR)
        answers = sum(1 for _ in iter(client.next, b""))
        assert answers == sent

    scene.board.show("   taken before it was read no more", "", f"{sent:,} calls", f"held then: {held.since(before)}")


def test_a_door_whose_client_floods_without_reading(scene: Scene) -> None:
    with scene.storm("a flood through a real door, which is then killed"):
        door = ProcessClient(scene.daemon.address.home)
        door.greet()
        before, small = scene.daemon.footprint(), rollup(door.process.pid)["Pss"]
        sent = flood(door)
        held, large = scene.daemon.footprint(), rollup(door.process.pid)["Pss"]
        door.process.kill()
        door.close()

    scene.board.show(
        "   taken before it was read no more", "", f"{sent:,} calls",
        f"held then: {held.since(before)}; the door {small:.1f} → {large:.1f} MB",
    )  # fmt: skip


def test_a_flood_of_large_calls(scene: Scene) -> None:
    large_flood(scene)
    with scene.storm(f"{LARGE} calls of 8 MB each, nothing read, given up", grown=3 * GROWN):
        sent, held = large_flood(scene)

    scene.board.show("   taken before it was read no more", "", f"{sent} calls", f"held then: {held}")


def large_flood(scene: Scene) -> tuple[int, str]:
    """Send large calls that have to wait; return how many were taken, and what the daemon held then."""
    with straight(scene.daemon.address) as client:
        for _ in range(LARGE):  # their answers fill the socket, so that what follows has to wait
            client.write(client.request("tools/list"))
        before, text = scene.daemon.footprint(), "x" * (8 * MB)
        sent = client.pour((client.call_of("list_tasks", tag=text) for _ in range(LARGE)), patience=PAUSE)
        return sent, scene.daemon.footprint().since(before)


def test_a_flood_of_requests_with_one_id(scene: Scene) -> None:
    with scene.storm("a flood of 5,000 requests, all with one id, nothing read", grown=3 * GROWN):
        before = scene.daemon.footprint()
        with straight(scene.daemon.address, MODERN) as client:
            line = client.request("tools/list")
            sent = client.pour((line for _ in range(5000)), patience=PAUSE)
            held = scene.daemon.footprint()

    scene.board.show("   taken before it was read no more", "", f"{sent:,}", f"held then: {held.since(before)}")


def test_a_flood_of_garbage_that_is_not_read(scene: Scene) -> None:
    chance = random.Random(5)
    with scene.storm("a flood of garbage, nothing read"):
        client = Straight(scene.daemon.address)
        client.greet()
        before = scene.daemon.footprint()
        sent = client.pour((chance.randbytes(200).replace(b"\n", b"") + b"\n" for _ in range(FLOOD)), patience=PAUSE)
        held = scene.daemon.footprint()
        client.close()

    scene.board.show("   taken before it was read no more", "", f"{sent:,} lines", f"held then: {held.since(before)}")


@pytest.mark.parametrize("era", ERAS)
def test_a_listener_that_does_not_read(scene: Scene, era: str) -> None:
    tasks = [row["id"] for row in scene.bystander.call("list_tasks", limit=TASKS)["data"]]
    pages = [f"panorama://task/{id_}" for id_ in tasks]
    with (
        scene.storm(f"a listener to {TASKS} pages that reads none of {TASKS * CHANGES:,} changes ({era})"),
        straight(scene.daemon.address) as writer,
        straight(scene.daemon.address, era) as deaf,
    ):
        if era == LEGACY:
            for page in pages:
                deaf.ask("resources/subscribe", uri=page)
        else:
            deaf.write(deaf.request("subscriptions/listen", notifications={"resourceSubscriptions": pages}))
        for number in range(CHANGES):
            steps = [{"tool": "update_task", "args": {"task": id_, "notes": f"Change {number}"}} for id_ in tasks]
            writer.call("batch", operations=steps)


@contextmanager
def half_open(running: Running, number: int) -> Generator[socket.socket]:
    """Come and fall silent: at once, in the greeting, or in the first line after it."""
    if number % 3 == 2:
        with straight(running.address) as client:
            client.write(b'{"jsonrpc":"2.0","id":"half","meth')
            yield client.stream
        return
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(running.address.socket)
        stream.settimeout(30)
        stream.sendall(b'{"panorama": 1, "vers' if number % 3 else b"")
        yield stream


def test_visitors_who_fall_silent(scene: Scene) -> None:
    with scene.storm(f"{SILENT} half-open: silent, half a greeting, half a line"), ExitStack() as stack:
        began, before = time.perf_counter(), scene.daemon.footprint()
        silent = [stack.enter_context(half_open(scene.daemon, number)) for number in range(SILENT)]
        held = scene.daemon.footprint()
        for number, item in enumerate(silent):
            assert number % 3 == 2 or item.recv(4096) == b""
        seconds = time.perf_counter() - began

    scene.board.show("   who never greeted is sent away", "", f"after {seconds:.1f} s", f"held: {held.since(before)}")


def test_more_visitors_than_there_is_room_for(scene: Scene) -> None:
    with scene.storm(f"{CROWD:,} connections at once"), ExitStack() as stack:
        before = scene.daemon.footprint()
        for number in range(CROWD):
            stack.enter_context(half_open(scene.daemon, 3 * number))
        refusal = greeting_answered(scene.daemon, b"")
        held = footprint(scene.daemon.pid)

    scene.board.show("   one more is", "refused", str(refusal.get("refused")), f"held: {held.since(before)}")
    assert str(MOST_VISITORS) in refusal["refused"]


def greeting_answered(running: Running, said: bytes) -> dict[str, str]:
    """Return what is answered to the first line of a visitor, a proper greeting if none is given."""
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(running.address.socket)
        stream.settimeout(30)
        stream.sendall(said or json.dumps(hello_message(running.address, "mcp", "v_crowd")).encode() + b"\n")
        return dict(json.loads(stream.recv(1 << 16) or b"{}"))


@pytest.mark.parametrize("era", ERAS)
def test_a_line_of_sixty_megabytes(scene: Scene, era: str) -> None:
    long = b'{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"x":"' + b"x" * (60 * MB) + b'"}}\n'
    with scene.storm(f"five lines of 60 MB ({era})"), straight(scene.daemon.address, era) as client:
        for _ in range(5):
            client.write(long)
            refusal = json.loads(client.next())
            assert (refusal["id"], "longer than 32 MB" in refusal["error"]["message"]) == ("big", True)

    scene.board.show("   it is", "refused", refusal["error"]["message"], scene.peak())


def test_a_line_as_long_as_it_may_be(scene: Scene) -> None:
    refused_five_times(scene)
    with scene.storm("five calls of 31 MB", grown=10 * GROWN):  # what is left goes with the next full collection
        answer = refused_five_times(scene)

    scene.board.show("   each is", "refused", answer, scene.peak())


def refused_five_times(scene: Scene) -> str:
    """Write a note that is too long, five times; return the last refusal."""
    with straight(scene.daemon.address) as client:
        for _ in range(5):
            answer = client.ask(
                "tools/call", name="create_note", arguments={"title": "Long", "content": "x" * (31 * MB)}
            )
            assert answer["isError"]
        return str(read_result(answer)["error"]["message"])


def garbage() -> dict[str, bytes]:
    """Return lines that are no messages, by what is wrong with them."""
    return {
        "random bytes": random.Random(3).randbytes(1 * MB).replace(b"\n", b""),
        "deep nesting": b"[" * (8 * MB),
        "a number of 2 million digits": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":'
        + b"9" * (2 * MB)
        + b"}}",
        "a million keys": b'{"jsonrpc":"2.0","x":{' + b",".join(b'"k%d":1' % n for n in range(1_000_000)) + b"}}",
        "half an escape": b'{"jsonrpc":"2.0","id":1,"method":"\\ud800' + b"\\" * 1001,
        "no object": b"[1, 2, 3]",
    }


@pytest.mark.parametrize("what", garbage())
def test_garbage(scene: Scene, what: str) -> None:
    send_until_refused(scene, garbage()[what], 5)
    with scene.storm(f"twenty lines of garbage: {what}", grown=3 * GROWN):
        refusal = send_until_refused(scene, garbage()[what], 20)

    scene.board.show("   each is", "refused", refusal, scene.peak())


def send_until_refused(scene: Scene, line: bytes, times: int) -> str:
    """Send a line some times, then a proper call; return the line's last refusal."""
    with straight(scene.daemon.address) as client:
        for _ in range(times):
            client.write(line + b"\n")
            answer = json.loads(client.next())
            assert answer["error"]["code"] in (-32700, -32600)
        client.call("status")
        return str(answer["error"])


def test_garbage_in_place_of_a_greeting(scene: Scene) -> None:
    with scene.storm("600 strangers who do not greet"):
        for number in range(600):
            said = (b"GET / HTTP/1.1\r\n\r\n", b"[" * 50_000 + b"\n", os.urandom(500).replace(b"\n", b"") + b"\n")
            refusal = greeting_answered(scene.daemon, said[number % 3])
            assert "greeting" in refusal["refused"]

    scene.board.show("   each is", "refused", refusal["refused"])


def test_a_greeting_without_end(scene: Scene) -> None:
    with scene.storm("twenty greetings of 60 MB"):
        for _ in range(20):
            with socket.socket(socket.AF_UNIX) as stream:
                stream.connect(scene.daemon.address.socket)
                stream.settimeout(30)
                with pytest.raises(ConnectionError):
                    stream.sendall(b"x" * (60 * MB))

    scene.board.show("   each is", "cut off", "cut off", scene.peak())
