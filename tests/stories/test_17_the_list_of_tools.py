"""Chapter 17: the list of tools is short, the same for all, and tells what a client may know."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastmcp import Client
from mcp.types import Tool

from panorama.app import App
from panorama.mcp.server import build_server
from tests.conftest import ERAS, Chat

pytestmark = pytest.mark.anyio

DEFAULT = {
    "list_projects",
    "get_project",
    "create_project",
    "update_project",
    "list_tasks",
    "create_task",
    "update_task",
    "list_notes",
    "get_note",
    "create_note",
    "update_note",
    "append_to_note",
    "edit_note",
    "create_link",
    "list_reminders",
    "create_reminder",
    "update_reminder",
    "add_journal_entry",
    "log_session",
    "search",
    "query",
    "get_item",
    "related",
    "project_dashboard",
    "projects_overview",
    "weekly_review",
    "batch",
    "search_sdk",
    "run_code",
    "delete_item",
    "history",
    "undo",
    "status",
    "get_job",
    "cancel_job",
    "list_scripts",
    "save_script",
    "run_script",
}


async def list_tools(chat: Chat) -> list[Tool]:
    """List the tools."""
    return list(await chat.client.list_tools())


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Walk through a schema."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from parts(value)
    if isinstance(schema, list):
        for value in schema:
            yield from parts(value)


async def test_the_default_tools_are_those_of_the_design(either: Chat) -> None:
    assert {tool.name for tool in await list_tools(either)} == DEFAULT


async def test_there_are_at_most_38(either: Chat) -> None:
    assert len(await list_tools(either)) <= 38


async def test_the_list_fits_into_its_budget(either: Chat) -> None:
    sizes = [
        len(
            tool.name
            + (tool.description or "")
            + json.dumps(tool.input_schema, separators=(",", ":"), ensure_ascii=False)
        )
        / 4
        for tool in await list_tools(either)
    ]

    assert sum(sizes) <= 4_900


async def test_all_that_scripts_need_in_the_list_is_two_tools_of_700_tokens(either: Chat) -> None:
    sizes = [
        len(json.dumps(tool.model_dump(include={"name", "description", "input_schema"}), ensure_ascii=False)) / 4
        for tool in await list_tools(either)
        if tool.name in ("run_code", "search_sdk")
    ]

    assert len(sizes) == 2
    assert sum(sizes) <= 700


async def test_every_connection_sees_the_same_list(app: App) -> None:
    seen = []
    for era in (*ERAS, *ERAS):
        async with Client(build_server(app), mode=era) as client:
            seen.append([tool.model_dump(exclude={"meta"}) for tool in await client.list_tools()])

    assert all(entry == seen[0] for entry in seen)


async def test_the_list_stays_the_same_after_calls(either: Chat) -> None:
    before = [tool.name for tool in await list_tools(either)]
    await either("create_project", name="House")
    await either("get_project", project="House")

    assert [tool.name for tool in await list_tools(either)] == before


async def test_every_tool_has_a_title_and_a_description(either: Chat) -> None:
    for tool in await list_tools(either):
        assert tool.title, tool.name
        assert tool.description, tool.name
        assert len(tool.description) <= 600, tool.name


async def test_no_description_sends_to_a_tool_that_is_not_listed(app: App, either: Chat) -> None:
    tools = await list_tools(either)
    others = {
        operation.operation.tool for operation in app.calls.operation_arguments if "_" in operation.operation.tool
    } - DEFAULT

    assert others
    for tool in tools:
        if tool.name == "batch":  # it names what it alone reaches
            continue
        text = f"{tool.description} {json.dumps(tool.input_schema)}"
        assert not {name for name in others if re.search(rf"\b{name}\b", text)}, tool.name


async def test_batch_names_every_tool_that_it_alone_reaches_for_everyday_work(app: App, either: Chat) -> None:
    batch = next(tool for tool in await list_tools(either) if tool.name == "batch")
    others = [
        operation.operation
        for operation in app.calls.operation_arguments
        if operation.operation.toolset in ("more", "files")
    ]
    named = {other.tool for other in others if f" {other.tool}" in str(batch.description)}

    assert {"list_links", "list_journal_entries", "restore_item", "write_file", "create_backup"} <= named


async def test_a_tool_that_waits_for_the_user_is_not_among_those_that_batch_reaches(app: App, either: Chat) -> None:
    waiting = {each.operation.tool for each in app.calls.operation_arguments if each.operation.person} - {""}

    assert waiting == {"save_script", "promote_script"}
    assert waiting.isdisjoint(app.calls.batch_tools)
    for name in waiting:
        step = {"tool": name, "args": {"name": "a", "script": "a", "code": "1"}}
        assert "asks the user" in (await either("batch", operations=[step], atomic=False)).text


async def test_an_unlisted_tool_has_a_schema_that_can_be_read(either: Chat) -> None:
    answer = await either("get_item", item="tool:add_schedule")

    assert answer.data["kind"] == "tool"
    assert {"kind", "cron", "every"} <= set(answer.data["item"]["parameters"]["properties"])
    assert "cron" in answer.text


async def test_an_unknown_tool_that_is_to_be_shown_is_answered_with_the_nearest(either: Chat) -> None:
    refusal = await either.refused("get_item", item="tool:add_scheduel")

    assert "add_schedule" in refusal.hint


async def test_search_sdk_finds_the_tools_that_only_batch_reaches(either: Chat) -> None:
    assert "add_schedule" in (await either("search_sdk")).text
    assert '{"tool": "create_backup"' in (await either("search_sdk", query="make a backup")).text


async def test_free_form_objects_are_open(app: App, either: Chat) -> None:
    tools = {tool.name: tool.input_schema["properties"] for tool in await list_tools(either)}

    for tool, name in (("query", "where"), ("run_code", "inputs"), ("run_script", "args")):
        assert tools[tool][name]["additionalProperties"] is True
    assert tools["batch"]["operations"]["items"]["additionalProperties"] is True


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("to-do", "create_task"), ("memo", "create_note"), ("minutes", "log_session"), ("bookmark", "create_link"),
        ("alarm", "create_reminder"), ("diary", "add_journal_entry"), ("recall", "search"), ("calendar", "create_task"),
        ("remember", "create_note"), ("remove", "delete_item"), ("today", "status"),
    ],
)  # fmt: skip
async def test_descriptions_hold_the_words_that_people_use(either: Chat, word: str, name: str) -> None:
    tool = next(tool for tool in await list_tools(either) if tool.name == name)

    assert word in f"{tool.description} {json.dumps(tool.input_schema)}".lower()


async def test_get_job_without_a_job_lists_them(either: Chat) -> None:
    answer = await either("get_job")

    assert (answer.data, answer.summary) == ([], "0 jobs")


async def test_descriptions_are_about_180_characters_on_average(either: Chat) -> None:
    lengths = [len(tool.description or "") for tool in await list_tools(either)]

    assert sum(lengths) / len(lengths) <= 200


async def test_names_are_a_verb_and_a_noun_and_short(either: Chat) -> None:
    for tool in await list_tools(either):
        assert len(tool.name) <= 40
        assert tool.name.replace("_", "").isalpha()
        assert tool.name.islower()


async def test_every_tool_has_annotations(either: Chat) -> None:
    for tool in await list_tools(either):
        hints = tool.annotations
        assert hints is not None, tool.name
        declared = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
        assert all(isinstance(hint, bool) for hint in declared), tool.name


async def test_reading_tools_say_that_they_only_read(either: Chat) -> None:
    reading = {tool.name for tool in await list_tools(either) if tool.annotations and tool.annotations.read_only_hint}

    writing = (
        "create",
        "update",
        "append",
        "edit",
        "add",
        "batch",
        "delete",
        "undo",
        "run",
        "cancel",
        "save",
        "log",
    )
    assert reading == {name for name in DEFAULT if not name.startswith(writing)}


async def test_what_may_destroy_says_so(either: Chat) -> None:
    tools = {tool.name: tool.annotations for tool in await list_tools(either)}

    assert tools["delete_item"].destructive_hint is True
    assert tools["create_task"].destructive_hint is False


async def test_every_tool_has_an_output_schema_of_the_envelope(either: Chat) -> None:
    for tool in await list_tools(either):
        schema = tool.output_schema or {}
        assert {"data", "summary", "metadata"} <= set(schema.get("properties", {})), tool.name


async def test_input_schemas_show_no_null(either: Chat) -> None:
    for tool in await list_tools(either):
        for part in parts(tool.input_schema):
            assert part.get("type") != "null", tool.name
            assert "null" not in (part.get("type") or []), tool.name
            assert part.get("default", "") is not None, tool.name


async def test_input_schemas_know_no_references(either: Chat) -> None:
    for tool in await list_tools(either):
        assert all("$ref" not in part and "$defs" not in part for part in parts(tool.input_schema)), tool.name


async def test_writes_take_an_idempotency_key_and_reads_do_not(either: Chat) -> None:
    for tool in await list_tools(either):
        reads = bool(tool.annotations and tool.annotations.read_only_hint)
        assert ("idempotency_key" in tool.input_schema["properties"]) is not reads, tool.name


async def test_lists_take_a_limit_and_a_cursor(either: Chat) -> None:
    tools = {tool.name: tool.input_schema["properties"] for tool in await list_tools(either)}

    for name in ("list_projects", "list_tasks", "list_notes", "search", "query", "history"):
        assert {"limit", "cursor"} <= set(tools[name]), name


async def test_the_instructions_are_short_and_teach_the_rules(app: App) -> None:
    instructions = build_server(app).instructions or ""

    assert len(instructions) <= 600
    assert "find, read, add and change" in instructions.split("\n")[0]
    assert all(word in instructions for word in ("undo", "batch", "next_cursor", "idempotency_key", "candidates"))


async def test_a_toolset_adds_to_the_list(app: App, home: Any) -> None:
    from dataclasses import replace

    from panorama.config import read_settings

    more = replace(app, settings=read_settings(home=home, toolsets=("default", "more")))
    async with Client(build_server(more)) as client:
        names = [tool.name for tool in await client.list_tools()]

    assert set(names) > DEFAULT
    assert {"update_link", "update_reminder", "update_journal_entry"} <= set(names)
