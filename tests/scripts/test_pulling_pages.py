"""The shipped script that copies pages from Notion: again and again, only what was edited."""

import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.scripts.conftest import Call
from tests.sources.stand_ins import KEY, Reply, serve
from tests.sources.stand_ins import Call as Request

Pull = Callable[..., dict[str, Any]]


class Workspace:
    """A stand-in of Notion with one page, which tests edit."""

    def __init__(self) -> None:
        self.edited = "2026-05-18T10:00:00.000Z"
        self.text = "# Plan\n\nBuild it."
        self.paths: list[str] = []

    def answer(self, call: Request) -> Reply:
        """Answer as Notion."""
        self.paths.append(call.path)
        if call.path.endswith("/markdown"):
            return Reply(body={"object": "page_markdown", "markdown": self.text})
        title = {"type": "title", "title": [{"plain_text": "Roadmap"}]}
        stage = {"type": "multi_select", "multi_select": [{"name": "won"}, {"name": "warm"}]}
        page = {
            "object": "page", "id": "0a-1b", "url": "https://notion.example/1", "last_edited_time": self.edited,
            "properties": {"Name": title, "Stage": stage},
        }  # fmt: skip
        return Reply(body={"object": "list", "results": [page], "has_more": False, "next_cursor": None})


@pytest.fixture
def workspace(home: Path) -> Generator[Workspace]:
    notion = Workspace()
    with serve(notion.answer) as stand_in:
        entry = {"kind": "notion", "url": stand_in.url, "options": {"key": KEY}}
        (home / "sources.json").write_text(json.dumps({"mcpServers": {"notion": entry}}))
        yield notion


@pytest.fixture
def pull(result: Callable[..., Any]) -> Pull:
    return lambda **arguments: result("notion_pages", **arguments)


def _read(call: Call) -> str:
    return call("get_note", note="Roadmap").data["content"]


@pytest.mark.parametrize("arguments", [{}, {"data_source": "companies"}])
def test_a_page_becomes_a_note_with_its_properties(
    call: Call, pull: Pull, workspace: Workspace, arguments: dict[str, str]
) -> None:
    assert pull(**arguments) == {"made": 1, "pages": 1}

    assert "[Page in Notion](https://notion.example/1)\n\n- Stage: won, warm\n\n# Plan\n\nBuild it." in _read(call)


def test_a_page_that_was_not_edited_is_not_read_again(pull: Pull, workspace: Workspace) -> None:
    pull()
    workspace.paths.clear()

    assert pull() == {"unchanged": 1, "pages": 1}
    assert workspace.paths == ["/search"]


def test_an_edited_page_updates_its_note_and_keeps_what_was_added(call: Call, pull: Pull, workspace: Workspace) -> None:
    pull()
    call("append_to_note", note="Roadmap", block="My own words.")
    workspace.edited, workspace.text = "2026-05-19T10:00:00.000Z", "# Plan\n\nShip it."

    assert pull() == {"updated": 1, "pages": 1}

    assert ("Ship it." in _read(call), "Build it." in _read(call), "My own words." in _read(call)) == (
        True,
        False,
        True,
    )


def test_what_was_changed_or_deleted_here_stays_so(call: Call, pull: Pull, workspace: Workspace) -> None:
    pull()
    call("edit_note", note="Roadmap", old_text="Build it.", new_text="Sell it.")
    workspace.edited = "2026-05-19T10:00:00.000Z"

    assert pull() == {"changed_here": 1, "pages": 1}

    call("delete_item", item="Roadmap", confirm=True)
    assert pull() == {"deleted_here": 1, "pages": 1}


def test_old_pages_are_left_out(pull: Pull, workspace: Workspace) -> None:
    workspace.edited = "2020-01-01T00:00:00.000Z"

    assert pull() == {"pages": 0}


def test_a_copy_of_an_earlier_version_is_found_and_gets_its_name(call: Call, pull: Pull, workspace: Workspace) -> None:
    pull()
    note = call("get_note", note="Roadmap").data["id"]
    call("items.link_source", item=note, source_ref="")
    workspace.edited, workspace.text = "2026-05-19T10:00:00.000Z", "# Plan\n\nShip it."

    assert pull() == {"updated": 1, "pages": 1}

    assert call("items.find_source", source_ref="notion:0a-1b").data["item"]["id"] == note
    assert pull() == {"unchanged": 1, "pages": 1}


@pytest.mark.usefixtures("workspace")
def test_a_renamed_copy_is_found_although_its_mark_is_gone(call: Call, pull: Pull) -> None:
    pull()
    call("update_note", note="Roadmap", title="Way", content="All my own.")

    assert pull() == {"changed_here": 1, "pages": 1}
