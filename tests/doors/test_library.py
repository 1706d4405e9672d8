"""The library through the real door: a question, a tool for every client, and its end when the file changes."""

import sqlite3
import subprocess
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from panorama.transport.address import Address
from tests.kept import COUNTING

from .conftest import wait
from .peer import COMMAND, LEGACY, Peer, kill

pytestmark = pytest.mark.slow

CAN_ASK: dict[str, Any] = {"elicitation": {"form": {}}}
CHANGED = "notifications/tools/list_changed"


def scripts(peer: Peer) -> list[str]:
    """Return the tools that are scripts."""
    return [tool["name"] for tool in peer.ask("tools/list")["tools"] if tool["name"].startswith("script_")]


def promoted(peer: Peer, name: str) -> dict[str, Any]:
    """Promote a script, with the user's yes."""
    call = {"name": "promote_script", "arguments": {"script": name}}
    if peer.era == LEGACY:
        number = peer.send("tools/call", **call)
        question = peer.hears("elicitation/create")
        assert "sha256" in question["params"]["message"]
        yes = {"action": "accept", "content": {"value": True}}
        peer.write({"jsonrpc": "2.0", "id": question["id"], "result": yes})
        return dict(peer.answer(number)["result"])
    asked = peer.ask("tools/call", **call)
    answers = {name: {"action": "accept", "content": {"value": True}} for name in asked["inputRequests"]}
    return peer.ask("tools/call", **call, inputResponses=answers, requestState=asked["requestState"])


def test_a_promoted_script_is_a_tool_for_every_client_until_its_file_changes(address: Address, era: str) -> None:
    with Peer(era, capabilities=CAN_ASK, toolsets="more") as peer, Peer(toolsets="more") as other:
        other.listen()
        peer.call("save_script", name="count", code=COUNTING)

        done = promoted(peer, "count")
        other.hears(CHANGED)
        there = scripts(peer), scripts(other)
        answer = other.call("script_count")
        path = Path(address.home) / "scripts" / "count.py"
        path.write_text(COUNTING.replace("return len", "sdk.tasks.create('evil')\n    return len"))
        refused = other.call("script_count")
        other.hears(CHANGED)

        assert not done.get("isError"), done
        assert there == (["script_count"], ["script_count"])
        assert (answer["data"]["result"], answer["data"]["script_state"]) == (0, "promoted")
        assert "its script was changed" in refused["error"]["message"]
        assert (scripts(peer), scripts(other)) == ([], [])
        assert peer.call("list_tasks")["data"] == []


def test_a_changed_list_of_tools_is_notified_once(address: Address, era: str) -> None:
    with Peer(era, capabilities=CAN_ASK, toolsets="more") as peer, Peer(era, toolsets="more") as other:
        other.listen()
        peer.call("save_script", name="count", code=COUNTING)

        promoted(peer, "count")
        other.hears(CHANGED)
        note = other.call("create_note", title="Log")["data"]["id"]
        other.call("append_to_note", note=note, block="more")
        time.sleep(0.2)  # notifications are gathered for 0.04 s
        other.call("status")

        assert [message for message in other.heard if message["method"] == CHANGED] == []


def test_tools_and_their_texts_outlive_the_daemon(address: Address) -> None:
    with Peer(capabilities=CAN_ASK, toolsets="more") as peer:
        peer.call("save_script", name="count", code=COUNTING)
        promoted(peer, "count")
        pid = address.find_pid()
        assert pid is not None
        kill(pid)
        wait(lambda: address.find_pid() not in (None, pid))

        assert peer.call("script_count")["data"]["result"] == 0
        assert scripts(peer) == ["script_count"]


def test_the_command_line_runs_it_through_the_same_daemon(address: Address) -> None:
    with Peer(toolsets="more") as peer:
        peer.call("create_project", name="Alpha")
        peer.call("create_task", title="Tea", project="Alpha")
        peer.call("save_script", name="count", code=COUNTING)

        done = subprocess.run([*COMMAND, "run", "count", "--project", "Alpha"], capture_output=True, text=True)

        assert (done.stdout, done.returncode) == ("1\n", 0)


def test_a_script_runs_in_the_background_and_on_a_schedule(address: Address) -> None:
    with Peer(toolsets="more") as peer:
        peer.call("save_script", name="count", code=COUNTING)
        job = peer.call("run_script", script="count", background=True)["data"]["id"]

        ended = peer.call("get_job", job=job, wait=30)["data"]
        step = {"tool": "add_schedule", "args": {"kind": "run_script", "every": "1h", "arguments": {"script": "count"}}}
        refused = peer.call("batch", operations=[step], atomic=False)["data"]["results"][0]

        assert (ended["state"], ended["result"]["result"]) == ("succeeded", 0)
        assert "reviewed scripts only" in refused["error"]["message"]


def test_a_reviewed_script_runs_no_unreviewed_text_in_the_background_or_at_the_terminal(address: Address) -> None:
    outer = '"""Go on."""\n\n\ndef main():\n    return sdk.scripts.count()\n'
    with Peer(capabilities=CAN_ASK, toolsets="more") as peer:
        for name, text in (("count", COUNTING), ("outer", outer)):
            peer.call("save_script", name=name, code=text)
            promoted(peer, name)
        evil = COUNTING.replace("return len", "sdk.tasks.create('evil')\n    return len")
        peer.call("save_script", name="count", code=evil, replace=True)

        job = peer.call("run_script", script="outer", background=True)["data"]["id"]
        ended = peer.call("get_job", job=job, wait=30)["data"]
        typed = subprocess.run([*COMMAND, "run", "outer"], capture_output=True, text=True)
        tool = peer.call("script_outer")

        for shown in (str(ended), typed.stderr, str(tool)):
            assert "the text of count was not reviewed" in shown
        assert peer.call("list_tasks")["data"] == []


def test_a_tool_that_hides_what_it_calls_says_so_and_one_that_does_not_is_held_to_it(address: Address) -> None:
    hidden = '"""Count."""\n\n\ndef main():\n    return len(getattr(sdk, "tasks").list())\n'
    with Peer(capabilities=CAN_ASK, toolsets="more") as peer:
        for name, text in (("hidden", hidden), ("count", COUNTING)):
            peer.call("save_script", name=name, code=text)
            promoted(peer, name)
        listed = {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in peer.ask("tools/list")["tools"]}
        with closing(sqlite3.connect(Path(address.home) / "panorama.db")) as database, database:
            database.execute("UPDATE scripts SET calls = '[]'")  # as if its review had shown nothing

        refused = peer.call("script_count")

        assert (listed["script_hidden"], listed["script_count"]) == (False, True)
        assert "did not show that it calls tasks.list" in str(refused)


def test_a_schedule_runs_what_was_reviewed_and_nothing_else(address: Address) -> None:
    with Peer(capabilities=CAN_ASK, toolsets="more,jobs") as peer:
        peer.call("save_script", name="count", code=COUNTING)
        promoted(peer, "count")

        job = scheduled(peer, "first")["last_job"]
        ended = peer.call("get_job", job=job, wait=30)["data"]
        path = Path(address.home) / "scripts" / "count.py"
        soon = add(peer, "second")
        path.write_text(COUNTING + "# other\n")
        refused = awaited(peer, soon)

        assert (ended["state"], ended["result"]["script_state"]) == ("succeeded", "promoted")
        assert "reviewed scripts only" in refused["problem"]


def add(peer: Peer, name: str) -> str:
    """Schedule the script for a moment from now."""
    at = (datetime.now(UTC) + timedelta(seconds=3)).isoformat(timespec="seconds")
    sent = {"kind": "run_script", "name": name, "at": at, "arguments": {"script": "count"}}
    return str(peer.call("add_schedule", **sent)["data"]["id"])


def scheduled(peer: Peer, name: str) -> dict[str, Any]:
    """Schedule the script, and return the schedule once it was due."""
    return awaited(peer, add(peer, name))


def awaited(peer: Peer, id_: str) -> dict[str, Any]:
    """Return a schedule once it was due."""
    limits: list[int] = []

    def now() -> dict[str, Any]:
        time.sleep(0.5)
        limits.append(20 + len(limits))  # another question each time: this is no model that runs in circles
        rows = peer.call("list_schedules", detail="full", limit=limits[-1])["data"]
        return next(row for row in rows if row["id"] == id_)

    wait(lambda: now().get("last_at"), "the schedule's moment")
    return now()
