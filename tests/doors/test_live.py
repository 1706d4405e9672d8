"""What one client changes, every other hears of, through the daemon and over its death; questions outlive it too."""

import json
import subprocess
from typing import Any

import pytest

from panorama.transport.address import Address
from tests.tool_errors import read_result

from .conftest import wait
from .peer import COMMAND, LEGACY, MODERN, Peer, kill

pytestmark = pytest.mark.slow

UPDATED = "notifications/resources/updated"


@pytest.mark.parametrize("writer", [MODERN, LEGACY])
def test_a_note_open_in_one_client_hears_that_another_changed_it(address: Address, era: str, writer: str) -> None:
    with Peer(era) as reader, Peer(writer) as other:
        note = other.call("create_note", title="Log", content="one")["data"]["id"]
        reader.listen(f"panorama://note/{note}")

        other.call("append_to_note", note=note, block="two")

        assert reader.hears(UPDATED)["params"]["uri"] == f"panorama://note/{note}"


def test_what_the_command_line_changes_is_heard(address: Address, era: str) -> None:
    with Peer(era) as reader:
        reader.listen("panorama://today")

        subprocess.run([*COMMAND, "tasks", "add", "Tea", "--deadline", "today"], check=True, capture_output=True)

        assert reader.hears(UPDATED)["params"]["uri"] == "panorama://today"


def test_subscriptions_outlive_the_daemon(address: Address, era: str) -> None:
    with Peer(era) as reader, Peer() as other:
        note = other.call("create_note", title="Log", content="one")["data"]["id"]
        reader.listen(f"panorama://note/{note}")
        pid = address.find_pid()
        assert pid is not None

        kill(pid)
        wait(lambda: address.find_pid() not in (None, pid))
        reader.call("status")
        other.call("append_to_note", note=note, block="two")

        assert reader.hears(UPDATED)["params"]["uri"] == f"panorama://note/{note}"


def test_a_changed_list_of_tools_is_heard_of_after_a_restart(address: Address, era: str) -> None:
    with Peer(era) as peer:
        peer.listen()
        before = {tool["name"] for tool in peer.ask("tools/list")["tools"]}
        with open(address.home + "/config.toml", "w", encoding="utf-8") as settings:
            settings.write('toolsets = ["more"]\n')

        subprocess.run([*COMMAND, "daemon", "restart"], check=True, capture_output=True)

        peer.hears("notifications/tools/list_changed")
        assert {tool["name"] for tool in peer.ask("tools/list")["tools"]} > before


def asking(peer: Peer) -> tuple[dict[str, Any], str]:
    """Ask for something that needs a yes; return the unanswered call and the project's id."""
    project = peer.call("create_project", name="Garden")["data"]["id"]
    peer.call("create_task", title="Dig", project=project)
    return {"name": "delete_item", "arguments": {"item": project, "items": "trash"}}, project


def test_a_question_of_the_newest_protocol_outlives_the_daemon(address: Address) -> None:
    with Peer(MODERN, capabilities={"elicitation": {"form": {}}}) as peer:
        call, project = asking(peer)
        asked = peer.ask("tools/call", **call)
        assert asked["resultType"] == "input_required"
        pid = address.find_pid()
        assert pid is not None
        kill(pid)

        answers = {name: {"action": "accept", "content": {"value": True}} for name in asked["inputRequests"]}
        done = peer.ask("tools/call", **call, inputResponses=answers, requestState=asked["requestState"])

        assert not done.get("isError"), json.dumps(done)
        assert peer.call("get_item", item=project)["error"]["code"] == "not_found"


def test_a_question_of_an_earlier_protocol_is_put_while_the_call_waits(address: Address) -> None:
    with Peer(LEGACY, capabilities={"elicitation": {}}) as peer:
        call, _ = asking(peer)
        number = peer.send("tools/call", **call)
        question = peer.hears("elicitation/create")
        assert "Garden" in question["params"]["message"]

        peer.write({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"value": True}}})

        assert not peer.answer(number)["result"].get("isError")


def test_a_question_that_a_restart_left_open_is_taken_back_and_nothing_is_done(address: Address) -> None:
    with Peer(LEGACY, capabilities={"elicitation": {}}) as peer:
        call, project = asking(peer)
        number = peer.send("tools/call", **call)
        peer.hears("elicitation/create")

        subprocess.run([*COMMAND, "daemon", "restart"], check=True, capture_output=True)

        assert read_result(peer.answer(number)["result"])["error"]["code"] == "confirmation_needed"
        assert peer.call("get_item", item=project)["data"]["item"]["name"] == "Garden"
