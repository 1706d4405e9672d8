"""The tool `show` and its page in the chat: who is offered them, what they cost, and what each view says in words."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from fastmcp import Client
from mcp.client.extension import ClientExtension

from panorama.app import App
from panorama.calls import Answer
from panorama.errors import NotFoundError
from panorama.mcp.apps.apps import VIEW_URI, build_view
from panorama.mcp.server import build_server
from tests.conftest import ERAS, StandingClock
from tests.kept import COUNTING

pytestmark = pytest.mark.anyio


class Apps(ClientExtension):
    """A client that shows pages in a chat."""

    identifier = "io.modelcontextprotocol/ui"

    def settings(self) -> dict[str, Any]:
        """Announce the pages that it shows."""
        return {"mimeTypes": ["text/html;profile=mcp-app"]}


@pytest.mark.parametrize("era", ERAS)
async def test_only_clients_with_apps_are_offered_the_tool_and_its_page(app: App, era: Any) -> None:
    async with (
        Client(build_server(app), mode=era) as plain,
        Client(build_server(app), mode=era, extensions=[Apps()]) as rich,
    ):
        plain_tools, rich_tools = await plain.list_tools(), await rich.list_tools()
        pages = [str(page.uri) for page in await rich.list_resources()]

        assert VIEW_URI in pages
        assert VIEW_URI not in [str(page.uri) for page in await plain.list_resources()]
        assert [tool.name for tool in rich_tools if tool not in plain_tools] == ["show"]
        assert len(rich_tools) == len(plain_tools) + 1


async def test_the_tool_costs_a_model_at_most_100_tokens_and_names_its_page_in_both_ways(app: App) -> None:
    async with Client(build_server(app), extensions=[Apps()]) as client:
        show = next(tool for tool in await client.list_tools() if tool.name == "show")

    schema = json.dumps(show.input_schema, separators=(",", ":"), ensure_ascii=False)
    assert len(show.name + (show.description or "") + schema) / 4 <= 100
    assert show.meta
    assert (show.meta["ui"]["resourceUri"], show.meta["ui/resourceUri"]) == (VIEW_URI, VIEW_URI)


async def test_the_page_is_one_file_that_may_load_nothing(app: App) -> None:
    async with Client(build_server(app), extensions=[Apps()]) as client:
        page = (await client.read_resource(VIEW_URI))[0]

    assert page.mime_type == "text/html;profile=mcp-app"
    assert page.meta
    assert all(value == [] for value in page.meta["ui"]["csp"].values())
    html = build_view()
    assert "default-src 'none'" in html
    assert "unsafe" not in html
    assert not re.search(r"(src|href)=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)", html)


def test_today_says_in_words_what_the_user_sees(call: Callable[..., Answer], app: App, clock: StandingClock) -> None:
    call("create_reminder", title="Water", at="+1h")
    call("create_task", title="Late", deadline="2026-05-19")
    call("create_task", title="Now", deadline="2026-05-20")
    call("create_event", title="Dentist", starts_at="2026-05-20T15:00")
    clock.advance(hours=2)
    app.timing.ringing.update_alarms()
    app.timing.ringing.fire_due()

    shown = call("show")

    assert shown.summary == "The user sees “Today”: events 1, reminders that wait 1, overdue 1, today 1"
    assert all(title in shown.text for title in ("Late", "Now", "Dentist", "Water"))
    assert shown.structure["data"]["lists"]["Today"][0]["title"] == "Now"


def test_an_empty_day_says_so(call: Callable[..., Answer]) -> None:
    assert call("show").summary == "The user sees “Today”: nothing"


def test_more_rows_than_a_list_holds_are_counted(call: Callable[..., Answer]) -> None:
    many = [{"tool": "create_task", "args": {"title": f"Late {at}", "deadline": "2026-05-19"}} for at in range(25)]
    call("batch", operations=many)

    assert "not shown: 5 Overdue" in call("show").summary


def test_the_week_and_a_project_have_figures_and_days(call: Callable[..., Answer]) -> None:
    call("create_project", name="House")
    call("create_task", title="Paint", project="House")
    call("create_task", title="Plan", project="House", status="done")

    week, project = call("show", view="week").data, call("show", view="project", of="House").data

    assert week["figures"] == {"Completed": 1, "Created": 2, "Slipped": 0, "Notes written": 0}
    assert (len(week["days"]["completed"]), week["days"]["created"][-1]) == (7, 2)
    assert [row["title"] for row in project["lists"]["Open tasks"]] == ["Paint"]
    assert (len(project["days"]["created"]), project["figures"]["Open"]) == (28, 1)


def test_a_batch_is_previewed_with_each_fields_value_now_and_then(call: Callable[..., Answer]) -> None:
    task = call("create_task", title="Paint", deadline="2026-05-19").data
    steps = [
        {"tool": "update_task", "args": {"task": "Paint", "deadline": "2026-05-25", "notes": None}},
        {"tool": "create_note", "args": {"title": "Plan"}},
        {"tool": "append_to_note", "args": {"note": "$1.data.id", "block": "more"}},
        {"tool": "delete_item", "args": {"item": "Nowhere"}},
    ]

    plan = call("show", view="batch", operations=steps).data["plan"]

    assert plan[0]["item"] == "Paint"
    assert plan[0]["fields"] == [{"name": "deadline", "now": "2026-05-19", "then": "2026-05-25"}]
    assert [step.get("item") for step in plan[1:]] == [None, "result of step 1", "Nowhere"]
    assert "no item" in plan[3]["problem"]
    assert call("get_item", item=task["id"]).data["item"]["version"] == 1


@pytest.mark.parametrize("tool", ["no_such_tool", "batch", "save_script"])
def test_a_step_whose_tool_cannot_be_called_in_a_batch_is_marked(call: Callable[..., Answer], tool: str) -> None:
    steps = [{"tool": "create_task", "args": {"title": "Sow"}}, {"tool": tool, "args": {"title": "Reap"}}]

    possible, impossible = call("show", view="batch", operations=steps).data["plan"]

    assert "problem" not in possible
    assert tool in impossible["problem"]


def test_a_step_of_a_batch_that_meets_a_newer_version_is_marked(call: Callable[..., Answer]) -> None:
    call("create_note", title="Plan", content="First.")
    steps = [{"tool": "update_note", "args": {"note": "Plan", "content": "Second.", "expected_version": version}}
             for version in (1, 7)]  # fmt: skip

    current, stale = call("show", view="batch", operations=steps).data["plan"]

    assert "problem" not in current
    assert "has version 1, not 7" in stale["problem"]
    assert [field["name"] for field in stale["fields"]] == ["content"]


def test_a_step_that_needs_an_earlier_one_is_not_marked(call: Callable[..., Answer]) -> None:
    call("create_note", title="Plan", content="First.")
    steps = [
        {"tool": "create_task", "args": {"title": "Sow beans"}},
        {"tool": "update_task", "args": {"task": "sow  Beans", "status": "done"}},
        {"tool": "update_note", "args": {"note": "Plan", "content": "Second.", "expected_version": 1}},
        {"tool": "update_note", "args": {"note": "Plan", "content": "Third.", "expected_version": 2}},
    ]

    plan = call("show", view="batch", operations=steps).data["plan"]
    call("batch", operations=steps)

    assert [step for step in plan if "problem" in step] == []
    assert plan[1]["item"] == "result of step 0"


def test_a_name_that_an_earlier_step_gives_is_found(call: Callable[..., Answer]) -> None:
    task = call("create_task", title="Paint").data["id"]
    steps = [
        {"tool": "update_task", "args": {"task": task, "title": "Paint the door"}},
        {"tool": "update_task", "args": {"task": "paint the Door", "status": "done"}},
        {"tool": "write_file", "args": {"name": "a.txt", "text": "beans"}},
        {"tool": "delete_item", "args": {"item": "a.txt"}},
    ]

    plan = call("show", view="batch", operations=steps).data["plan"]
    call("batch", operations=steps)

    assert [step for step in plan if "problem" in step or "warning" in step] == []
    assert (plan[1]["id"], plan[3]["item"]) == (task, "result of step 2")


def test_a_step_that_names_an_item_of_another_kind_is_marked(call: Callable[..., Answer]) -> None:
    steps = [
        {"tool": "create_note", "args": {"title": "Garden"}},
        {"tool": "update_task", "args": {"task": "Garden", "status": "done"}},
    ]

    plan = call("show", view="batch", operations=steps).data["plan"]

    assert "no task “Garden”" in plan[1]["problem"]
    with pytest.raises(NotFoundError):
        call("batch", operations=steps)


@pytest.mark.parametrize(
    "first",
    [
        {"tool": "create_tasks_from_note", "args": {"note": "Plan"}},
        {"tool": "create_task", "args": {"title": "Sow beans #garden", "parse": True}},
        {"tool": "edit_note", "args": {"note": "Plan", "old_text": "peas", "new_text": "beans"}},
        {"tool": "create_task", "args": {"title": "$0.data.title"}},
        {"tool": "restore_item", "args": {"item": "Sow beans"}},
    ],
)
def test_a_step_that_only_the_run_can_check_is_warned_about(call: Callable[..., Answer], first: object) -> None:
    call("create_note", title="Plan", content="- [ ] Sow peas")
    call("delete_item", item=call("create_task", title="Sow beans").data["id"])
    steps = [first, {"tool": "update_task", "args": {"task": "Sow beans", "status": "done"}}]

    step = call("show", view="batch", operations=steps).data["plan"][1]

    assert "problem" not in step
    assert step["warning"] == "This step depends on earlier ones and can only be checked when they run."


def test_a_name_of_two_items_is_marked_unless_an_earlier_step_may_take_it(call: Callable[..., Answer]) -> None:
    tasks = [call("create_task", title="Sweep").data["id"] for _ in range(2)]
    last = {"tool": "update_task", "args": {"task": "Sweep", "status": "done"}}

    marked, warned = (
        call("show", view="batch", operations=[first, last]).data["plan"][1]
        for first in (
            {"tool": "create_task", "args": {"title": "Paint"}},
            {"tool": "delete_item", "args": {"item": tasks[0]}},
        )
    )

    assert "are called “Sweep”" in marked["problem"]
    assert ("problem" not in warned, "warning" in warned) == (True, True)


def test_a_step_that_takes_an_item_from_the_trash_is_not_marked(call: Callable[..., Answer]) -> None:
    task = call("create_task", title="Paint").data["id"]
    call("delete_item", item=task)
    steps = [
        {"tool": "restore_item", "args": {"item": "Paint"}},
        {"tool": "get_item", "args": {"item": "tool:update_link"}},
        {"tool": "list_tasks", "args": {"project": ""}},
    ]

    plan = call("show", view="batch", operations=steps).data["plan"]
    call("batch", operations=steps)

    assert [step for step in plan if "problem" in step] == []
    assert plan[0]["id"] == task


def test_a_version_that_a_renamed_note_has_by_then_is_not_marked(call: Callable[..., Answer]) -> None:
    note = call("create_note", title="Plan", content="First.").data["id"]
    steps = [
        {"tool": "update_note", "args": {"note": "Plan", "title": "Garden"}},
        {"tool": "append_to_note", "args": {"note": "Garden", "block": "Second."}},
        {"tool": "update_note", "args": {"note": note, "content": "Third.", "expected_version": 3}},
    ]

    plan = call("show", view="batch", operations=steps).data["plan"]
    call("batch", operations=steps)

    assert [step for step in plan if "problem" in step or "warning" in step] == []


def test_a_script_is_compared_and_its_approval_stays_outside(call: Callable[..., Answer]) -> None:
    call("save_script", name="count", code=COUNTING)

    shown = call("show", view="script", of="count")

    assert "panorama scripts review count" in shown.summary
    assert "panorama open scripts" in shown.summary
    assert shown.data["texts"]["New script"].splitlines()[3].startswith("+")


def test_a_run_can_be_undone_as_a_whole(call: Callable[..., Answer]) -> None:
    run = call("run_code", code="sdk.tasks.create('Tea')").data["run_id"]

    shown = call("show", view="run").data

    assert (shown["unit"], shown["figures"]["Changes"]) == (run, 1)
    assert shown["lists"]["Changes"][0]["label"] == "Tea"


def test_hits_are_shown_with_their_snippets(call: Callable[..., Answer]) -> None:
    call("create_note", title="Colours", content="The walls are white.")

    assert "walls" in call("show", view="search", of="walls").data["lists"]["Found"][0]["snippet"]
