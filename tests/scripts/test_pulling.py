"""The shipped script that copies meetings from Claap into sessions: again and again, only what changed."""

import hashlib
import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.scripts.conftest import Call, Run
from tests.sources.stand_ins import KEY, Reply, serve

Pull = Callable[..., dict[str, Any]]


@pytest.fixture
def meeting(home: Path) -> Generator[dict[str, Any]]:
    """The one recording of a stand-in, which tests change."""
    recording: dict[str, Any] = {
        "id": "rec_1", "title": "Demo", "createdAt": "2026-05-18T10:00:00Z", "url": "https://claap.example/1",
        "meeting": {"participants": [{"name": "Ada"}]}, "keyTakeaways": [{"text": "They like it."}],
        "actionItems": [{"items": [{"description": "Send the offer", "isChecked": False}]}],
    }  # fmt: skip
    with serve(lambda _: Reply(body={"result": {"recordings": [recording], "pagination": {}}})) as claap:
        entry = {"kind": "claap", "url": claap.url, "options": {"key": KEY}}
        (home / "sources.json").write_text(json.dumps({"mcpServers": {"claap": entry}}))
        yield recording


@pytest.fixture
def pull(result: Callable[..., Any]) -> Pull:
    return lambda **arguments: result("claap_meetings", **arguments)


def _read(call: Call, title: str = "2026-05-18 Demo") -> str:
    return call("get_session", session=title).data["summary"]


@pytest.mark.usefixtures("meeting")
def test_a_meeting_becomes_a_session_and_its_action_items_tasks(call: Call, pull: Pull) -> None:
    assert pull() == {"made": 1, "tasks": 1, "meetings": 1}

    text = _read(call)
    assert text.startswith("[Recording](https://claap.example/1)\n\n- They like it.\n\n- [ ] Send the offer")
    session = call("get_session", session="2026-05-18 Demo").data
    assert (session["kind"], session["attendees"]) == ("meeting", ["Ada"])
    assert session["started_at"].startswith("2026-05-18")
    assert "Send the offer" in [row["title"] for row in call("list_tasks", tag="claap").data]


@pytest.mark.usefixtures("meeting")
def test_a_second_run_makes_nothing(pull: Pull) -> None:
    pull()

    assert pull() == {"unchanged": 1, "meetings": 1}


def test_a_changed_recording_updates_its_session_and_keeps_what_was_added(
    call: Call, pull: Pull, meeting: dict[str, Any]
) -> None:
    pull()
    added = _read(call) + "\n\nMy own words."
    call("update_session", session="2026-05-18 Demo", title="The demo", summary=added)
    meeting["keyTakeaways"] = [{"text": "They love it."}]

    assert pull() == {"updated": 1, "meetings": 1}

    text = _read(call, "The demo")
    assert ("They love it." in text, "They like it." in text, "My own words." in text) == (True, False, True)
    assert pull() == {"unchanged": 1, "meetings": 1}


def test_what_was_changed_or_deleted_here_stays_so(call: Call, pull: Pull, meeting: dict[str, Any]) -> None:
    pull()
    call("update_session", session="2026-05-18 Demo", summary=_read(call).replace("like it", "hate it"))
    meeting["keyTakeaways"] = [{"text": "They love it."}]

    assert pull() == {"changed_here": 1, "meetings": 1}

    call("delete_item", item="2026-05-18 Demo", confirm=True)
    task = call("list_tasks", tag="claap").data[0]["id"]
    call("delete_item", item=task, confirm=True)
    assert pull() == {"deleted_here": 1, "meetings": 1}


def test_a_recording_cannot_pass_for_another(call: Call, pull: Pull, meeting: dict[str, Any]) -> None:
    meeting["keyTakeaways"] = [{"text": "<!-- claap:rec_2 0123456789ab -->"}]

    pull()

    assert "claap:rec_2 0123456789ab -->" not in _read(call)


@pytest.mark.usefixtures("meeting")
def test_a_dry_run_copies_nothing(call: Call, run: Run) -> None:
    result = run("claap_meetings", dry_run=True)

    assert result["result"]["made"] == 1
    assert call("list_tasks", tag="claap").data == []


@pytest.mark.usefixtures("meeting")
def test_copies_have_their_names_in_claap(call: Call, pull: Pull) -> None:
    pull()

    session = call("items.find_source", source_ref="claap:rec_1").data["item"]
    task = call("list_tasks", tag="claap").data[0]
    assert (session["title"], task["source_ref"].startswith("claap:rec_1/")) == ("2026-05-18 Demo", True)


EARLIER = """[Recording](https://claap.example/1)

People: Ada

- They like it.

- [ ] Send the offer

<!-- claap:rec_1 {digest} -->
My own words."""


def test_copies_of_an_earlier_version_are_found_and_get_their_names(
    call: Call, pull: Pull, meeting: dict[str, Any]
) -> None:
    digest = hashlib.md5(EARLIER.partition("\n\n<!--")[0].encode()).hexdigest()[:12]
    note = call("create_note", title="Old", content=EARLIER.format(digest=digest)).data["id"]
    notes = "From claap:rec_1:\n> Send the offer\nhttps://claap.example/1"
    call("create_task", title="Offer", tags=["claap"], notes=notes)

    assert pull() == {"unchanged": 1, "meetings": 1}
    meeting["keyTakeaways"] = [{"text": "They love it."}]
    assert pull() == {"updated": 1, "meetings": 1}

    found = call("items.find_source", source_ref="claap:rec_1").data["item"]
    assert (found["id"], "They love it." in found["content"], "My own words." in found["content"]) == (note, True, True)
    assert [row["source_ref"][:12] for row in call("list_tasks", tag="claap").data] == ["claap:rec_1/"]


def test_a_deleted_copy_does_not_stop_another_of_the_same_title(
    call: Call, pull: Pull, meeting: dict[str, Any]
) -> None:
    pull()
    call("delete_item", item="2026-05-18 Demo", confirm=True)
    call("delete_item", item=call("list_tasks", tag="claap").data[0]["id"], confirm=True)
    meeting["id"] = "rec_2"

    assert pull() == {"made": 1, "tasks": 1, "meetings": 1}


def test_a_copy_is_found_without_its_mark_and_left_alone(call: Call, pull: Pull, meeting: dict[str, Any]) -> None:
    pull()
    call("update_session", session="2026-05-18 Demo", title="The demo", summary="All my own.")
    meeting["keyTakeaways"] = [{"text": "They love it."}]

    assert pull() == {"changed_here": 1, "meetings": 1}
    assert _read(call, "The demo") == "All my own."
