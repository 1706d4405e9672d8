"""What a morning's work costs a model, whatever its client feeds to it of an answer."""

import json
from typing import Any

import pytest
from fastmcp import Client
from mcp.types import Implementation

from panorama.app import App
from panorama.mcp.server import build_server
from tests.conftest import Chat, StandingClock

pytestmark = pytest.mark.anyio

MORNING: list[tuple[str, dict[str, Any]]] = [
    ("status", {}),
    ("list_tasks", {"view": "today"}),
    ("projects_overview", {}),
    ("list_notes", {}),
    ("search", {"query": "paint"}),
    ("get_note", {"note": "Colours"}),
    ("create_task", {"title": "Buy brushes", "project": "House", "deadline": "2026-05-22"}),
    ("update_task", {"task": "Call the bank", "status": "done"}),
    ("append_to_note", {"note": "Colours", "block": "Kitchen: green"}),
    ("get_item", {"item": "Paint the hall"}),
    ("query", {"collection": "tasks", "group_by": ["status"]}),
    ("create_reminder", {"title": "Water the plants", "at": "2026-05-21T09:00"}),
    ("update_task", {"task": "Paint the hal", "status": "done"}),
    ("undo", {}),
]
"""Fourteen calls; the last but one names a task that does not exist."""


async def prepare(chat: Any) -> None:
    """Make a small store: a project, four tasks and a note."""
    await chat("create_project", name="House")
    for title, project, deadline in (
        ("Paint the hall", "House", "2026-05-20"), ("Order paint", "House", "2026-05-18"),
        ("Call the bank", "", "2026-05-20"), ("Sow beans", "", "2026-05-25"),
    ):  # fmt: skip
        await chat("create_task", title=title, project=project, deadline=deadline)
    await chat("create_note", title="Colours", content="# Walls\n\nwhite paint\n", project="House")


async def cost(app: App, client_name: str) -> tuple[int, int]:
    """Return the characters of text and structure that a morning's answers have for a client.

    The data directory counts as one of a usual length, wherever the tests keep theirs.
    """
    text = structure = 0
    home = str(app.settings.home)
    async with Client(build_server(app), client_info=Implementation(name=client_name, version="1")) as client:
        await prepare(Chat(client))
        for tool, arguments in MORNING:
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            text += sum(len(getattr(part, "text", "")) for part in result.content)
            if result.structured_content:
                answer = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
                structure += len(answer.replace(home, "/home/ada/.local/share/panorama"))
    return text, structure


async def test_a_client_that_reads_the_structure_pays_at_most_3_800_characters_a_morning(app: App) -> None:
    _, structure = await cost(app, "claude-code")

    assert structure <= 3_800


async def test_a_client_that_reads_text_and_structure_pays_at_most_4_200_characters_a_morning(app: App) -> None:
    text, structure = await cost(app, "codex-mcp-client")

    assert text + structure <= 4_200


async def test_a_client_that_reads_text_pays_no_more_than_one_that_reads_the_structure(app: App) -> None:
    text, structure = await cost(app, "gemini-cli-mcp-client")

    assert text <= structure


async def test_a_client_that_reads_the_structure_gets_the_summary_alone_as_text(app: App) -> None:
    async with Client(build_server(app), client_info=Implementation(name="claude-code", version="2")) as client:
        result = await client.call_tool("create_task", {"title": "Tea"})

    assert getattr(result.content[0], "text", "") == (result.structured_content or {})["summary"]


async def test_a_structure_begins_with_the_summary_and_holds_nothing_empty_or_constant(chat: Chat) -> None:
    await chat("create_task", title="Tea")

    structure = (await chat.raw("get_item", item="Tea")).structured_content or {}

    assert list(structure) == ["summary", "data"]
    assert not [name for name, value in structure["data"]["item"].items() if value in ("", [], {}, None)]


async def test_an_item_names_a_later_time_only_if_it_was_changed(chat: Chat, clock: StandingClock) -> None:
    await chat("create_task", title="Tea")
    later = {"updated_at", "status_changed_at"}

    as_created = (await chat("get_item", item="Tea")).data["item"]
    clock.advance(hours=1)
    await chat("update_task", task="Tea", status="done")
    changed = (await chat("get_item", item="Tea")).data["item"]

    assert later & set(as_created) == set()
    assert later <= set(changed)


async def test_a_project_is_named_where_its_tasks_are_read(chat: Chat) -> None:
    await chat("create_project", name="House")
    await chat("create_task", title="Paint", project="House")

    answer = await chat("list_tasks")

    assert answer.data[0]["project"] == "House"
    assert "names" not in answer.text


async def test_what_a_script_returned_stays_as_it_is(chat: Chat) -> None:
    made = await chat("create_project", name="House")

    answer = await chat("run_code", code=f"return {{'project': '{made.id}', 'empty': [], 'text': ''}}")

    assert answer.data["result"] == {"project": made.id, "empty": [], "text": ""}


async def test_an_error_is_text_alone(chat: Chat) -> None:
    result = await chat.raw("get_note", note="Nothing")

    assert (result.is_error, result.structured_content) == (True, None)


@pytest.mark.parametrize("tool", ["create_task", "get_note", "update_reminder", "create_link"])
async def test_an_output_schema_says_that_id_and_title_are_always_there(chat: Chat, tool: str) -> None:
    (schema,) = [entry.output_schema for entry in await chat.client.list_tools() if entry.name == tool]

    assert schema
    assert schema["required"] == ["summary", "data"]
    assert schema["properties"]["data"]["required"] == ["id", "title"]
