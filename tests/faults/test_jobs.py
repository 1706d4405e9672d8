"""Jobs whose daemon is killed, whose disk is full, or that two processes could run: none is lost or doubled."""

import json
import random
import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from panorama.cli.client import Client
from panorama.domain.jobs import FINAL_STATES
from panorama.transport.address import Address
from tests.doors.conftest import wait
from tests.doors.peer import Peer, kill
from tests.doors.test_dying import restarted

from .files import is_sound, one, rows
from .meanings import assert_converged, until
from .servers import Server
from .test_disk import PAGE
from .test_disk import fill_disk as full
from .test_meaning_killed import SUBJECTS, filled

pytestmark = pytest.mark.slow
PICK_UP_SECONDS = 10.0
COUNTING = "import time\nfor number in range(600):\n    sdk.tasks.create(f'Task {number}')\n    time.sleep(0.05)"


@pytest.fixture
def address(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    """Where the daemon is reached; it leaves as soon as nobody is connected and nothing runs."""
    chosen = {"HOME": home, "EMBEDDER": "static", "LINGER_SECONDS": 0, "TOOLSETS": "more", "TIMEZONE": "Europe/Berlin"}
    monkeypatch.delenv("PANORAMA_NO_DAEMON", raising=False)
    for name, value in chosen.items():
        monkeypatch.setenv(f"PANORAMA_{name}", str(value))
    made = Address(str(home))

    yield made

    if pid := made.find_pid():
        with suppress(ProcessLookupError):
            kill(pid)
    wait(lambda: made.find_pid() is None, "the daemon's end")


def pid_of(address: Address) -> int:
    pid = address.find_pid()
    assert pid is not None
    return pid


def show_job(peer: Peer, id_: str) -> dict[str, Any]:
    return dict(peer.call("get_job", job=id_)["data"])


def has_ended(peer: Peer, id_: str) -> bool:
    return show_job(peer, id_)["state"] in FINAL_STATES


def picked_up(address: Address, peer: Peer, id_: str, attempts: int) -> float:
    """Wait until a job is begun again, or found to have ended; return the seconds since the next daemon began."""
    asked = peer.start("status")
    wait(lambda: address.find_pid() is not None, "the next daemon")
    began = time.monotonic()
    peer.answer(asked)
    until(lambda: has_ended(peer, id_) or show_job(peer, id_)["attempts"] > attempts, "the pick-up")
    return time.monotonic() - began


def moment(chance: random.Random, peer: Peer, id_: str, longest: float) -> None:
    """Wait for a random moment of a job: mostly after it came further than it was, now and then at once."""
    if chance.random() < 0.75:
        before = steps_of(peer, id_)
        until(lambda: has_ended(peer, id_) or steps_of(peer, id_) > before, "a step")
    threading.Event().wait(chance.uniform(0, longest))


def steps_of(peer: Peer, id_: str) -> int:
    """Return how many steps of a job are done."""
    return int(show_job(peer, id_)["current"])


def reindexed_through_kills(address: Address, home: Path, rounds: int, notes: int, longest: float) -> None:
    """Kill the daemon at random moments of a reindex, and see it go on each time, to an index like a fresh one."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 (a failed run must be repeatable)
    chance, waits, ends = random.Random(seed), list[float](), list[str]()
    filled(notes)
    with Peer() as peer:
        id_ = peer.call("reindex", scope="everything", background=True)["data"]["id"]
        for _ in range(rounds):
            if has_ended(peer, id_):
                ends.append(id_)
                id_ = peer.call("reindex", scope="everything", background=True)["data"]["id"]
            moment(chance, peer, id_, longest)
            before = one(home, "SELECT attempts FROM jobs WHERE id = ?", id_)
            kill(pid_of(address))
            wait(lambda: address.find_pid() is None)
            waits.append(picked_up(address, peer, id_, int(before)))
        until(lambda: has_ended(peer, id_), "the job's end")
        found = [show_job(peer, end) for end in (*ends, id_)]
    wait(lambda: address.find_pid() is None, "the daemon's end")
    print(f"picked up after at most {max(waits):.1f} s, {[item['attempts'] for item in found]} attempts")  # noqa: T201 (it is printed if the test fails)

    assert {item["state"] for item in found} == {"succeeded"}, found
    assert max(waits) <= PICK_UP_SECONDS
    assert is_sound(home)
    assert_converged(home, *SUBJECTS)


def test_a_reindex_goes_on_after_its_daemon_was_killed(address: Address, home: Path) -> None:
    reindexed_through_kills(address, home, 2, 300, 0.8)


@pytest.mark.timeout(900)
def test_a_reindex_of_5000_notes_goes_on_after_twenty_kills(address: Address, home: Path) -> None:
    reindexed_through_kills(address, home, 20, 5000, 1.5)


def test_an_import_goes_on_after_a_kill_takes_nothing_twice_and_tells_of_all(address: Address, home: Path) -> None:
    folder = home.parent / "Notes"
    folder.mkdir()
    for number in range(1500):
        (folder / f"{number:04}.md").write_text(f"# Note {number}\n\nAbout {number}.\n- [ ] Task {number}\n")
    with Peer() as peer:
        peer.call("status")
        id_ = begun_import("import.markdown", folder=folder)
        until(lambda: one(home, "SELECT count(*) FROM notes") >= 200, "the first notes")
        kill(pid_of(address))
        until(lambda: has_ended(peer, id_), "the job's end")
        job = show_job(peer, id_)
        undoing = peer.call("undo", unit=id_, confirm=True)["data"]["id"]
        until(lambda: has_ended(peer, undoing), "the end of the undo")
        undone = show_job(peer, undoing)

    result = job["result"]
    assert job["state"] == "succeeded", job
    assert (result["notes_created"], result["tasks_created"], result["unchanged"]) == (1500, 1500, 0)
    assert one(home, "SELECT count(DISTINCT title) FROM notes") == one(home, "SELECT count(*) FROM notes") == 1500
    assert (undone["state"], undone["result"]["count"]) == ("succeeded", 3000)


def begun_import(operation: str, **path: Path) -> str:
    """Ask for an import as the command line does."""
    with Client() as client:
        return str(
            client.call(operation, {name: str(place) for name, place in path.items()} | {"background": True}).data["id"]
        )


def test_an_import_of_a_graph_goes_on_after_a_kill_and_tells_of_all(address: Address, home: Path) -> None:
    count, file = 1000, home.parent / "memory.jsonl"
    entities = [
        {"type": "entity", "name": f"Part {number}", "entityType": "part", "observations": [f"About {number}"]}
        for number in range(count)
    ]
    relations = [
        {"type": "relation", "from": f"Part {number}", "to": f"Part {number - 1}", "relationType": "follows"}
        for number in range(1, count)
    ]
    file.write_text("\n".join(map(json.dumps, [*entities, *relations])))
    with Peer() as peer:
        peer.call("status")
        id_ = begun_import("import.memory", file=file)
        until(lambda: one(home, "SELECT count(*) FROM notes") >= 200, "the first notes")
        kill(pid_of(address))
        until(lambda: has_ended(peer, id_), "the job's end")
        job = show_job(peer, id_)

    result = job["result"]
    assert job["state"] == "succeeded", job
    assert (result["notes_created"], result["relations_created"], result["unchanged"]) == (count, count - 1, 0)
    assert one(home, "SELECT count(DISTINCT title) FROM notes") == one(home, "SELECT count(*) FROM notes") == count
    assert one(home, "SELECT count(*) FROM relations") == count - 1


def test_a_script_whose_daemon_was_killed_is_interrupted_and_can_be_undone(address: Address, home: Path) -> None:
    with Peer() as peer:
        id_ = peer.call("run_code", code=COUNTING, background=True)["data"]["id"]
        until(lambda: one(home, "SELECT count(*) FROM tasks") >= 3, "the first tasks")
        kill(pid_of(address))
        until(lambda: has_ended(peer, id_), "the job's end")
        job = show_job(peer, id_)
        peer.call("undo", unit=id_, confirm=True)

        assert job["state"] == "interrupted"
        assert f"undo {id_}" in job["error"]["hint"]
        assert peer.call("list_tasks")["data"] == []


def test_a_reindex_that_is_cancelled_stops_within_a_second_and_says_how_far_it_came(address: Address) -> None:
    filled(2000)
    with Peer() as peer:
        id_ = peer.call("reindex", scope="everything", background=True)["data"]["id"]
        until(lambda: show_job(peer, id_)["current"] > 0, "its first step")
        began = time.monotonic()
        answer = peer.call("cancel_job", job=id_)
        took = time.monotonic() - began

    assert (answer["data"]["state"], took < 1.5) == ("cancelled", True), answer
    came = re.search(r"It had done ([\d,]+) of ([\d,]+)", answer["data"]["summary"])
    assert came, answer
    done, total = (int(group.replace(",", "")) for group in came.groups())
    assert 0 < done < total
    assert total > 2000  # all notes are cut anew, after what still waited; and the index counts, too


def test_a_restart_puts_jobs_back_and_the_next_daemon_goes_on(address: Address, home: Path) -> None:
    filled(1500)
    with Peer() as peer:
        id_ = peer.call("reindex", scope="everything", background=True)["data"]["id"]
        until(lambda: show_job(peer, id_)["current"] > 0, "its first step")
        assert restarted("restart").returncode == 0
        until(lambda: has_ended(peer, id_), "the job's end")

        assert (show_job(peer, id_)["state"], show_job(peer, id_)["attempts"]) in (("succeeded", 2), ("succeeded", 1))


def test_two_processes_on_the_same_data_run_each_job_once(home: Path) -> None:
    with Server(home) as one_server, Server(home) as other:
        ids = [
            server.call("run_code", code=f"sdk.tasks.create('Task {number}')", background=True)["data"]["id"]
            for number in range(8)
            for server in (one_server, other)
        ]
        until(lambda: one(home, "SELECT count(*) FROM jobs WHERE state = 'succeeded'") == len(ids), "their end")

        assert one_server.call("get_job", job=ids[1])["data"]["state"] == "succeeded"
    assert one(home, "SELECT count(*) FROM tasks") == len(ids)
    assert {attempts for (attempts,) in rows(home, "SELECT attempts FROM jobs")} == {1}


def test_the_job_of_a_killed_process_is_picked_up_by_another_that_lives(home: Path) -> None:
    with Server(home) as one_server, Server(home) as other:
        id_ = one_server.call("run_code", code=COUNTING, background=True)["data"]["id"]
        until(lambda: one(home, "SELECT count(*) FROM tasks") >= 1, "its first step")
        worker = str(one(home, "SELECT worker FROM jobs WHERE id = ?", id_)).split()[-2]
        dying, living = (one_server, other) if worker == str(one_server.process.pid) else (other, one_server)
        began = time.monotonic()
        dying.kill()
        until(lambda: living.call("get_job", job=id_)["data"]["state"] == "interrupted", "the pick-up")

        assert time.monotonic() - began <= PICK_UP_SECONDS


def test_a_full_disk_refuses_a_job_and_ends_one_that_runs_with_the_reason(small_disk: Path) -> None:
    home = small_disk / "home"
    with Server(home) as server:
        server.call("run_code", code="1")
        id_ = server.call("run_code", code=COUNTING, background=True)["data"]["id"]
        until(lambda: one(home, "SELECT count(*) FROM tasks") >= 1, "its first step")
        with full(small_disk):
            refused = server.call("run_code", code=f"1  # {PAGE}", background=True)
            time.sleep(1)
        until(lambda: server.call("get_job", job=id_)["data"]["state"] in FINAL_STATES, "its end")
        job = server.call("get_job", job=id_)["data"]

        assert refused["error"]["message"].startswith("The disk is full; nothing was changed")
        assert (job["state"], "disk is full" in job["error"]["message"]) == ("failed", True), job
        assert server.call("run_code", code="return 7", background=True)["data"]["state"] == "queued"
