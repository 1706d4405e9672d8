"""The door: what a client's process does from its start to its end."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from panorama.transport.address import Address

from .conftest import wait
from .peer import COMMAND, LEGACY, PATIENCE, Peer


def test_the_door_imports_the_standard_library_alone() -> None:
    counted = "import sys; old = set(sys.modules); import panorama.cli.proxy.proxy; print(*(set(sys.modules) - old))"

    loaded = subprocess.run([sys.executable, "-c", counted], capture_output=True, text=True, check=True).stdout.split()

    foreign = {name for name in loaded if name.partition(".")[0] not in sys.stdlib_module_names}
    assert foreign == {
        "panorama", "panorama.transport", "panorama.transport.address", "panorama.transport.lines",
        "panorama.transport.launch", "panorama.transport.stored_answers", "panorama.cli", "panorama.cli.proxy",
        "panorama.cli.proxy.connector", "panorama.cli.proxy.proxy", "panorama.cli.proxy.requests",
    }  # fmt: skip
    assert not {"asyncio", "dataclasses", "pathlib", "subprocess", "inspect", "ssl"} & set(loaded)


@pytest.mark.slow
def test_the_first_door_starts_a_daemon_and_the_second_finds_it(address: Address, era: str) -> None:
    with Peer(era) as one, Peer(era) as two:
        made = one.call("create_task", title="Tea")["data"]

        found = two.call("list_tasks")["data"]

        assert [row["id"] for row in found] == [made["id"]]
        assert address.find_pid() not in (None, one.process.pid, two.process.pid)


@pytest.mark.slow
def test_the_daemon_leaves_when_its_last_client_has(address: Address) -> None:
    with Peer() as peer:
        peer.call("status")
        pid = address.find_pid()
        assert pid is not None

    wait(lambda: address.find_pid() is None)
    wait(lambda: not psutil.pid_exists(pid))
    assert not os.path.exists(address.socket)


@pytest.mark.slow
def test_answers_that_are_under_way_arrive_after_the_client_has_closed_its_side(address: Address, era: str) -> None:
    peer = Peer(era).__enter__()
    numbers = [peer.start("create_task", title=f"Tea {number}") for number in range(40)]
    assert peer.process.stdin

    peer.process.stdin.close()

    answers = [peer.answer(number) for number in numbers]
    assert all("isError" not in answer["result"] or not answer["result"]["isError"] for answer in answers)
    assert peer.process.wait(30) == 0
    peer.close()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_door_at_once_and_leaves_no_process(address: Address, number: signal.Signals) -> None:
    with Peer() as peer:
        peer.call("status")
        started = time.monotonic()

        peer.process.send_signal(number)

        code = peer.process.wait(10)
        assert time.monotonic() - started < 2
        assert code in (-number, 128 + number, 130)
        assert "Traceback" not in peer.errors()
    wait(lambda: address.find_pid() is None)


@pytest.mark.slow
def test_a_client_that_no_longer_reads_ends_the_door(address: Address) -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as door:
        assert door.stdin
        assert door.stdout
        door.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        door.stdin.flush()
        assert door.stdout.readline()

        door.stdout.close()

        assert door.wait(10) == 0


@pytest.mark.slow
def test_a_door_that_was_killed_costs_the_daemon_nothing(address: Address) -> None:
    with Peer() as one, Peer() as two:
        one.start("list_tasks")
        one.process.kill()
        one.process.wait(10)

        assert two.call("status")["data"]["today"]


def test_a_person_at_a_terminal_is_told_in_three_lines_what_it_is(address: Address) -> None:
    leader, terminal = pty.openpty()

    done = subprocess.run(COMMAND, stdin=terminal, capture_output=True, text=True, timeout=60)

    os.close(leader)
    os.close(terminal)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (0, "", 3)
    assert address.find_pid() is None


@pytest.mark.slow
def test_a_daemon_that_cannot_start_is_told_of_on_both_sides(address: Address, home: Path) -> None:
    (home / "panorama.db").write_bytes(b"this is no database" * 100)

    peer = Peer(LEGACY)
    answer = peer.answer(peer.send("initialize"))

    assert "not a database" in answer["error"]["message"]
    assert peer.process.wait(30) == 1
    assert "panorama: panorama.db is not a database." in peer.errors()
    peer.close()


@pytest.mark.slow
def test_a_daemon_that_breaks_at_the_start_leaves_its_last_words(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANORAMA_LOG", "nonsense")

    done = subprocess.run(COMMAND, input="", capture_output=True, text=True, timeout=60)

    assert done.returncode == 1
    assert "ended while it started" in done.stderr
    assert address.log in done.stderr
    assert "nonsense" in done.stderr.lower()


@pytest.mark.slow
def test_many_doors_at_once_start_one_daemon(address: Address) -> None:
    peers = [Peer(LEGACY) for _ in range(8)]
    try:
        for peer in peers:
            peer.__enter__()

        assert {peer.call("status")["data"]["today"] for peer in peers}
        with open(address.log, encoding="utf-8") as log:
            assert log.read().count(" serves ") == 1
    finally:
        for peer in peers:
            peer.close()


@pytest.mark.slow
def test_many_doors_that_cannot_be_served_are_all_told_soon(address: Address, home: Path) -> None:
    (home / "panorama.db").write_bytes(b"this is no database" * 100)
    started = time.monotonic()

    peers = [Peer(LEGACY) for _ in range(6)]
    codes = [peer.process.wait(60) for peer in peers]

    assert codes == [1] * 6
    assert time.monotonic() - started < 20
    for peer in peers:
        assert "not a database" in peer.errors()
        peer.close()


@pytest.mark.slow
def test_a_message_that_is_too_long_is_refused_and_the_next_is_served(address: Address, era: str) -> None:
    with Peer(era) as peer:
        peer.raw(b'{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"x":"' + b"x" * (60 << 20) + b'"}}\n')
        peer.raw(b"\xff\xfe garbage \x00\n")

        assert peer.call("status")["data"]["today"]
        answers = peer._answers
        peer.until(lambda: "big" in answers and None in answers)
        assert "longer than 32 MB" in answers["big"]["error"]["message"]
        assert answers[None]["error"]["code"] == -32700


@pytest.mark.slow
def test_settings_that_only_the_client_has_are_told_of(address: Address) -> None:
    with Peer() as one:
        one.call("status")
        with Peer(toolsets="more") as two:
            two.call("status")
            two.close()
        assert "PANORAMA_TOOLSETS" in (two.said or "")


@pytest.mark.slow
def test_a_long_data_directory_is_served_too(address: Address, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = home / ("d" * 60) / ("e" * 60)
    monkeypatch.setenv("PANORAMA_HOME", str(deep))
    there = Address(str(deep))

    with Peer() as peer:
        assert peer.call("status")["data"]["today"]
        assert there.socket.startswith("/tmp/panorama-")
        assert os.stat(there.socket_directory).st_mode & 0o777 == 0o700
    wait(lambda: there.find_pid() is None)


@pytest.mark.slow
def test_the_socket_is_for_its_owner_alone(address: Address) -> None:
    with Peer() as peer:
        peer.call("status")

        assert os.stat(address.socket).st_mode & 0o777 == 0o600
        assert os.stat(address.socket_directory).st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_a_stale_socket_is_no_hindrance(address: Address) -> None:
    os.makedirs(address.socket_directory, mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(address.socket)

    with Peer() as peer:
        assert peer.call("status")["data"]["today"]


@pytest.mark.slow
def test_nonsense_on_the_socket_is_refused_and_others_are_served(address: Address) -> None:
    with Peer() as peer:
        peer.call("status")
        for garbage in (b"GET / HTTP/1.1\n", b"{}\n", b"[1]\n", b'{"panorama": 99, "version": "9", "home": "/"}\n'):
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.connect(address.socket)
                stranger.sendall(garbage)
                assert "refused" in json.loads(stranger.recv(4096))

        assert peer.call("status")["data"]["today"]


@pytest.mark.slow
def test_an_id_of_any_length_is_answered(address: Address, era: str) -> None:
    with Peer(era) as peer:
        peer.raw(b'{"jsonrpc":"2.0","id":"' + b"y" * 5000 + b'","method":"ping","params":{}}\n')

        peer.until(lambda: "y" * 5000 in peer._answers)


@pytest.mark.slow
@pytest.mark.parametrize("id_", [b"1.5", b"true", b"null", b'{"a":1}', b"[1]"])
def test_an_id_that_is_none_is_refused_at_once(address: Address, id_: bytes) -> None:
    with Peer(LEGACY) as peer:
        peer.raw(b'{"jsonrpc":"2.0","id":' + id_ + b',"method":"ping"}\n')

        peer.until(lambda: None in peer._answers)
        assert peer._answers[None]["error"]["code"] == -32600


def test_a_file_as_data_directory_is_told_of(address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "file"))

    done = subprocess.run(COMMAND, input="", capture_output=True, text=True, timeout=60)

    assert done.returncode == 1
    assert "cannot be used" in done.stderr
    assert "Internal error" not in done.stderr


@pytest.mark.slow
def test_an_answer_that_cannot_be_written_ends_the_door_quietly(address: Address) -> None:
    with open("/dev/full", "wb") as full:
        ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
        done = subprocess.run(COMMAND, input=ping, stdout=full, stderr=subprocess.PIPE, timeout=60)

    assert b"Internal error" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_without_a_daemon_a_signal_ends_the_process_at_once_too(address: Address, number: signal.Signals) -> None:
    with Peer(no_daemon="1") as peer:
        peer.call("create_task", title="Tea")

        peer.process.send_signal(number)

        assert peer.process.wait(PATIENCE) == 128 + number


@pytest.mark.slow
def test_without_a_daemon_what_a_signal_interrupts_is_let_go_of_before_the_end(home: Path) -> None:
    program = """
import os, signal
from contextlib import nullcontext
from panorama.calls import Conversation
from panorama.mcp import server

async def interrupted(mcp, end):
    app.calls.call("status", {}, Conversation(id="v_1", actor="tool", client="test"))
    with app.context.database._hold_write_lock():
        os.kill(os.getpid(), signal.SIGTERM)
        print("it went on", flush=True)
    await server.anyio.sleep_forever()

def working(opened):
    global app
    app = opened
    return nullcontext()

server._serve_stdio = interrupted
server.serve_stdio(working)
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, timeout=PATIENCE, check=False)

    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, b"it went on\n")


@pytest.mark.slow
def test_without_a_daemon_a_client_that_no_longer_reads_ends_the_process_too(address: Address) -> None:
    env = os.environ | {"PANORAMA_NO_DAEMON": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(COMMAND, env=env, **pipes) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        server.stdin.flush()
        assert server.stdout.readline()

        server.stdout.close()

        assert server.wait(10) == 0
