"""The daemon's death: what was under way is told of truthfully, and the client goes on as if nothing had been."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from panorama.transport.address import Address
from tests.tool_errors import read_result

from .conftest import wait
from .peer import COMMAND, LEGACY, Peer, kill

pytestmark = pytest.mark.slow


@contextmanager
def locked(home: Path) -> Iterator[sqlite3.Connection]:
    """Hold the database's write lock, so that writes wait and are surely under way."""
    with closing(sqlite3.connect(home / "panorama.db", isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield database
        database.execute("ROLLBACK")


def titles(home: Path) -> list[str]:
    """Return the titles of all tasks, read beside the product."""
    with closing(sqlite3.connect(home / "panorama.db")) as database:
        return [row[0] for row in database.execute("SELECT title FROM tasks ORDER BY title")]


def pid_of(address: Address) -> int:
    """Return the daemon's process."""
    pid = address.find_pid()
    assert pid is not None
    return pid


def test_a_call_under_way_is_answered_with_outcome_unknown_and_what_to_check(
    address: Address, home: Path, era: str
) -> None:
    with Peer(era) as peer:
        peer.call("status")
        with locked(home):
            number = peer.start("create_task", title="Tea")
            time.sleep(0.2)
            kill(pid_of(address))
            answer = peer.answer(number)["result"]

        error = read_result(answer)["error"]
        assert (answer["isError"], error["code"]) == (True, "outcome_unknown")
        assert "create_task" in error["message"]
        assert "history" in error["hint"]
        assert error["message"] in answer["content"][0]["text"]
        assert peer.call("create_task", title="Coffee")["data"]["title"] == "Coffee"


def test_the_next_call_works_without_a_new_handshake(address: Address, era: str) -> None:
    with Peer(era) as peer:
        made = peer.call("create_task", title="Tea")["data"]
        old = pid_of(address)

        kill(old)

        assert peer.call("get_item", item=made["id"])["data"]["item"]["title"] == "Tea"
        assert pid_of(address) != old


def test_a_repeated_write_with_the_same_key_gives_the_first_result(address: Address, home: Path, era: str) -> None:
    with Peer(era) as peer:
        first = peer.call("create_task", title="Tea", idempotency_key="k1")
        kill(pid_of(address))

        again = peer.call("create_task", title="Tea", idempotency_key="k1")

        assert again["data"]["id"] == first["data"]["id"]
        assert again["metadata"]["repeated"]
        assert titles(home) == ["Tea"]


def test_reading_requests_under_way_are_sent_again(address: Address, era: str) -> None:
    with Peer(era) as peer:
        peer.call("status")
        os.kill(pid_of(address), signal.SIGSTOP)
        number = peer.send("tools/list")
        time.sleep(0.1)

        kill(pid_of(address))

        assert peer.answer(number)["result"]["tools"]


def test_many_clients_go_on_after_one_death(address: Address, home: Path) -> None:
    peers = [Peer(era).__enter__() for era in (LEGACY, "2026-07-28") * 3]
    try:
        for number, peer in enumerate(peers):
            peer.call("create_task", title=f"Before {number}")
        kill(pid_of(address))

        for number, peer in enumerate(peers):
            peer.call("create_task", title=f"Later {number}")

        assert len(titles(home)) == 12
        with open(address.log, encoding="utf-8") as log:
            assert log.read().count(" serves ") == 2
    finally:
        for peer in peers:
            peer.close()


def test_a_conversation_is_known_again_after_a_restart(address: Address, era: str) -> None:
    with Peer(era) as peer:
        made = peer.call("create_task", title="Tea")["data"]
        kill(pid_of(address))

        peer.call("undo")

        assert peer.call("list_tasks")["data"] == []
        assert made["id"]


def restarted(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the daemon."""
    return subprocess.run([*COMMAND, "daemon", *words], capture_output=True, text=True, timeout=90)


def test_a_restart_loses_no_call(address: Address, home: Path, era: str) -> None:
    with Peer(era) as peer:
        peer.call("status")
        old = pid_of(address)
        numbers: list[int] = []
        with subprocess.Popen([*COMMAND, "daemon", "restart"], stderr=subprocess.PIPE) as restarting:
            while restarting.poll() is None or len(numbers) < 50:
                numbers.append(peer.start("create_task", title=f"Tea {len(numbers):04}"))
                time.sleep(0.005)

        answers = [peer.answer(number)["result"] for number in numbers]

        assert not [answer for answer in answers if answer.get("isError")]
        assert titles(home) == [f"Tea {number:04}" for number in range(len(numbers))]
        assert pid_of(address) != old


def test_a_daemon_that_a_person_stopped_starts_again_when_it_is_needed(address: Address, era: str) -> None:
    with Peer(era) as peer:
        peer.call("status")

        assert restarted("stop").returncode == 0
        time.sleep(0.5)
        assert address.find_pid() is None

        assert peer.call("status")["data"]["today"]


def test_an_older_daemon_hands_over_to_a_newer_one(address: Address, era: str) -> None:
    older = "import panorama; panorama.__version__ = '0.0.9'; from panorama.cli.main import main; main(['serve'])"
    with subprocess.Popen([sys.executable, "-c", older], stderr=subprocess.DEVNULL) as daemon:
        wait(lambda: os.path.exists(address.socket))
        with closing(sqlite3.connect(address.home + "/panorama.db")):
            pass

        with Peer(era) as peer:
            assert not peer.call("status")["summary"].startswith("Panorama 0.0.9")
            assert daemon.wait(30) == 0
            assert pid_of(address) != daemon.pid


def test_a_newer_daemon_serves_an_older_door(address: Address) -> None:
    newer = "import panorama; panorama.__version__ = '99.0'; from panorama.cli.main import main; main(['serve'])"
    with subprocess.Popen([sys.executable, "-c", newer], stderr=subprocess.DEVNULL) as daemon:
        wait(lambda: os.path.exists(address.socket))

        with Peer() as peer:
            assert peer.call("status")["data"]

        assert pid_of(address) == daemon.pid
        daemon.terminate()
        assert daemon.wait(30) == 0


def test_a_second_daemon_is_refused_with_the_process_of_the_first(address: Address) -> None:
    with Peer() as peer:
        peer.call("status")

        second = subprocess.run([*COMMAND, "serve"], capture_output=True, text=True, timeout=60)

        assert second.returncode == 1
        assert f"process {pid_of(address)}" in second.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_daemon_finish_what_runs(address: Address, home: Path, number: signal.Signals) -> None:
    with Peer() as peer:
        peer.call("status")
        with locked(home):
            calling = peer.start("create_task", title="Tea")
            time.sleep(0.2)
            os.kill(pid_of(address), number)
            time.sleep(0.2)

        assert peer.answer(calling)["result"]["structuredContent"]["data"]["title"] == "Tea"
        wait(lambda: address.find_pid() is None)


def test_the_daemon_lives_on_while_a_call_runs_whose_client_is_gone(address: Address, home: Path) -> None:
    with Peer() as peer:
        peer.call("status")
        with locked(home):
            peer.start("create_task", title="Tea")
            time.sleep(0.2)
            peer.process.kill()
            peer.process.wait(10)
            time.sleep(0.3)
            assert address.find_pid() is not None

    wait(lambda: address.find_pid() is None)
    assert titles(home) == ["Tea"]


def test_the_script_of_a_killed_client_ends_a_moment_later(address: Address, home: Path, era: str) -> None:
    with Peer(era) as peer:
        peer.call("status")
        peer.start("run_code", code="import time\ntime.sleep(55)", atomic=True)
        wait(lambda: run_states(home) == ["running"], "the run")

        peer.process.kill()

        wait(lambda: run_states(home) == ["failed"] or run_states(home) == ["cancelled"], "its end")


def run_states(home: Path) -> list[str]:
    """Look into the table of runs."""
    with closing(sqlite3.connect(home / "panorama.db")) as database:
        return [str(row[0]) for row in database.execute("SELECT status FROM runs")]


def test_without_a_daemon_the_same_calls_are_answered(address: Address, era: str) -> None:
    with Peer(era, no_daemon="1") as peer:
        assert peer.call("create_task", title="Tea")["data"]["title"] == "Tea"
        assert address.find_pid() is None
