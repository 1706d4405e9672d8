"""Jobs through the real door and the real daemon: followed, cancelled, told of, in both protocol eras."""

import json
import re
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from panorama.transport.address import Address

from .conftest import wait
from .peer import COMMAND, LEGACY, MODERN, Peer

TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
pytestmark = pytest.mark.slow
LASTS = "import time\nn = 0\nwhile True:\n    n += 1\n    sdk.progress(n, 0, 'counting')\n    time.sleep(0.05)"
SLOW = """
import time
sdk.tasks.create("Tea")
for minute in range(30):
    sdk.progress(minute, 30, "brewing")
    time.sleep(0.1)
return "brewed"
"""


@pytest.fixture
def follower(address: Address) -> Iterator[Peer]:
    """A client that follows tasks."""
    with Peer(MODERN, capabilities=TASKS) as peer:
        peer.call("status")
        yield peer


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=60)


def state(home: Path, id_: str) -> str:
    """Look into the table, so that nobody is told."""
    with closing(sqlite3.connect(home / "panorama.db")) as database:
        return str(database.execute("SELECT state FROM jobs WHERE id = ?", (id_,)).fetchone()[0])


def task(peer: Peer, id_: str) -> dict[str, Any]:
    return peer.ask("tasks/get", taskId=id_)


def test_a_job_is_begun_followed_and_seen_to_its_end(address: Address, era: str) -> None:
    with Peer(era) as peer:
        begun = peer.call("run_code", code="return sdk.tasks.create('Tea').title", background=True)

        ended = peer.call("get_job", job=begun["data"]["id"], wait=30)

        assert (ended["data"]["state"], ended["data"]["result"]["result"]) == ("succeeded", "Tea")
        peer.call("undo", unit=begun["data"]["id"])
        assert peer.call("list_tasks")["data"] == []


def test_who_waits_hears_of_progress(address: Address, era: str) -> None:
    with Peer(era) as peer:
        begun = peer.call("run_code", code=LASTS, background=True)["data"]["id"]
        token = {"progressToken": "p1"}
        asked = peer.send("tools/call", name="get_job", arguments={"job": begun, "wait": 30}, _meta=token)
        heard = [peer.hears("notifications/progress")["params"] for _ in range(3)]

        with Peer(era) as other:
            other.call("cancel_job", job=begun)

        assert peer.answer(asked)["result"]["structuredContent"]["data"]["state"] == "cancelled"
        assert [message["progressToken"] for message in heard] == ["p1"] * 3


def test_a_client_that_listens_hears_that_a_job_came_further(address: Address, era: str) -> None:
    with Peer(era) as peer:
        begun = peer.call("run_code", code=LASTS, background=True)["data"]["id"]
        peer.listen(f"panorama://job/{begun}")

        assert peer.hears("notifications/resources/updated")["params"]["uri"] == f"panorama://job/{begun}"
        page = peer.ask("resources/read", uri=f"panorama://job/{begun}")["contents"][0]["text"]
        assert f"# Job {begun}: run_code" in page
        peer.call("cancel_job", job=begun)
        again = peer.ask("resources/read", uri=f"panorama://job/{begun}")["contents"][0]["text"]
        assert "cancelled" in again


def test_a_short_call_of_a_client_that_follows_tasks_is_answered_as_ever(follower: Peer) -> None:
    answer = follower.ask("tools/call", name="run_code", arguments={"code": "1 + 1"})

    assert answer["structuredContent"]["data"]["result"] == 2
    assert follower.call("get_job")["data"] == []


def test_a_long_call_becomes_a_task_with_the_same_end(follower: Peer) -> None:
    begun = time.monotonic()
    made = follower.ask("tools/call", name="run_code", arguments={"code": SLOW})
    took = time.monotonic() - begun
    wait(lambda: task(follower, made["taskId"])["status"] == "completed", "the task's end")

    assert (made["resultType"], made["status"]) == ("task", "working")
    assert 1.8 < took < 3
    answer = task(follower, made["taskId"])["result"]
    assert answer["structuredContent"]["data"]["result"] == "brewed"
    assert "brewed" in answer["content"][0]["text"]
    assert follower.call("get_job", job=made["taskId"])["data"]["state"] == "succeeded"
    follower.call("undo", unit=made["taskId"])
    assert follower.call("list_tasks")["data"] == []


def test_a_task_tells_how_far_it_is_and_can_be_cancelled(follower: Peer) -> None:
    id_ = follower.ask("tools/call", name="run_code", arguments={"code": LASTS})["taskId"]
    wait(lambda: "counting" in task(follower, id_).get("statusMessage", ""), "its progress")

    begun = time.monotonic()
    follower.ask("tasks/cancel", taskId=id_)
    wait(lambda: task(follower, id_)["status"] == "cancelled", "its end")

    assert time.monotonic() - begun < 2
    assert follower.call("get_job", job=id_)["data"]["state"] == "cancelled"


def test_a_job_is_a_task_too(follower: Peer) -> None:
    id_ = follower.call("run_code", code="1 / 0", background=True)["data"]["id"]

    wait(lambda: task(follower, id_)["status"] == "completed", "its end")

    assert "division by zero" in task(follower, id_)["result"]["content"][0]["text"]


def test_tasks_are_for_clients_that_say_that_they_follow_them(address: Address, follower: Peer) -> None:
    id_ = follower.call("run_code", code="1", background=True)["data"]["id"]

    with Peer(MODERN) as other:
        refused = other.answer(other.send("tasks/get", taskId=id_))["error"]
        unknown = follower.answer(follower.send("tasks/get", taskId="w_zzzzzzzzzz"))["error"]

    assert (refused["code"], unknown["code"]) == (-32021, -32602)


def test_the_extension_is_announced(follower: Peer) -> None:
    answer = follower.ask("server/discover")

    assert "io.modelcontextprotocol/tasks" in answer["capabilities"]["extensions"]


def test_the_daemon_stays_while_a_job_runs_that_nobody_watches(address: Address, home: Path) -> None:
    with Peer() as peer:
        id_ = peer.call("run_code", code=SLOW, background=True)["data"]["id"]
    time.sleep(1)

    assert address.find_pid() is not None
    wait(lambda: address.find_pid() is None, "the daemon's end")
    with Peer() as again:
        assert again.call("get_job", job=id_)["data"]["state"] == "succeeded"


def test_the_end_of_a_job_is_mentioned_once_also_by_the_next_daemon(address: Address, home: Path) -> None:
    with Peer() as peer:
        id_ = peer.call("run_code", code="1", background=True)["data"]["id"]
        wait(lambda: state(home, id_) == "succeeded", "its end")
        assert command("daemon", "restart").returncode == 0

        hints = [peer.call("list_tasks").get("metadata", {}).get("hint", "") for _ in range(2)]

    assert (id_ in hints[0], hints[1]) == (True, "")


def test_a_person_lists_watches_shows_and_cancels_jobs(address: Address) -> None:
    with Peer(LEGACY) as peer:
        done = peer.call("run_code", code="return 'well'", background=True)["data"]["id"]
        runs = peer.call("run_code", code=LASTS, background=True)["data"]["id"]
        wait(lambda: peer.call("get_job", job=done)["data"]["state"] == "succeeded", "its end")

        listed = command("jobs")
        cancelled = command("jobs", "cancel", runs)
        watched = command("jobs", "--watch")
        shown = command("jobs", "show", done)
        again = command("jobs", "cancel", runs)

    assert done in listed.stdout
    assert "running" in listed.stdout
    assert "cancelled" in cancelled.stdout
    assert watched.returncode == 0
    assert re.search(r"result +well", shown.stdout)
    assert (again.returncode, "has been cancelled already" in again.stderr) == (1, True)


def test_a_large_folder_is_imported_as_a_job_and_told_as_ever(address: Address, tmp_path: Path) -> None:
    for number in range(1000):
        (tmp_path / f"note {number}.md").write_text(f"# Note {number}\n\ntext\n- [ ] task {number}\n")

    result = command("import", "markdown", str(tmp_path))
    jobs = command("jobs", "--kind", "import")
    undone = command("undo", "--yes")

    assert "1,000 notes, 1,000 tasks" in result.stdout, result
    assert "succeeded" in jobs.stdout
    assert "Took back 2,000 changes" in undone.stdout


def test_a_large_graph_is_imported_as_a_job_and_told_as_ever(address: Address, tmp_path: Path) -> None:
    entities = [
        {"type": "entity", "name": f"Part {number}", "entityType": "part", "observations": ["x" * 300]}
        for number in range(700)
    ]
    file = tmp_path / "memory.jsonl"
    file.write_text("\n".join(map(json.dumps, entities)))

    result = command("import", "memory", str(file))
    jobs = command("jobs", "--kind", "import_memory")

    assert "700 notes" in result.stdout, result
    assert "succeeded" in jobs.stdout


def test_without_a_daemon_jobs_are_run_by_the_server_itself(address: Address, era: str) -> None:
    with Peer(era, no_daemon="1") as peer:
        id_ = peer.call("run_code", code="return 7", background=True)["data"]["id"]

        assert peer.call("get_job", job=id_, wait=30)["data"]["result"]["result"] == 7
        assert address.find_pid() is None
