"""What an answer leaves out stands in the first line of its summary, with the way to get it."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from tests.conftest import Chat, StandingClock
from tests.saved_world import SavedWorld

pytestmark = pytest.mark.anyio

CURSOR = "more with next_cursor"
SIXTY = "for number in range(60): sdk.tasks.create(f'Task {number}')"
LONG = "A long sentence. " * 60

CUT: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("list_projects", {"limit": 5}, ("5 of 33 projects", CURSOR)),
    ("list_tasks", {"limit": 5}, ("5 of 24 tasks", "open ones; status=any lists all", CURSOR)),
    ("list_tasks", {"project": "House", "detail": "full"}, ("long text cut",)),
    ("list_notes", {"limit": 5}, ("5 of 12 notes", CURSOR)),
    ("list_links", {"limit": 5}, ("5 of 11 links", CURSOR)),
    ("list_files", {"limit": 1}, ("1 of 11 files", CURSOR)),
    ("list_reminders", {"limit": 5}, ("5 of 11 reminders", CURSOR)),
    ("list_waiting_reminders", {"limit": 1}, ("1 of 11 reminders wait", CURSOR)),
    ("list_journal_entries", {"limit": 5}, ("5 of 11 entries", CURSOR)),
    ("list_schedules", {"limit": 1}, ("1 of 2 schedules", CURSOR)),
    ("list_scripts", {"limit": 1}, ("1 of ", CURSOR)),
    ("list_trash", {"limit": 1}, ("1 of 2 items", CURSOR)),
    ("list_jobs", {"limit": 1}, ("1 of 2 jobs", CURSOR)),
    ("get_job", {"limit": 1}, ("1 of 2 jobs", CURSOR)),
    ("history", {"limit": 1}, ("1 write", CURSOR)),
    ("history", {"item": "Long note", "limit": 1}, ("1 of 2 changes", CURSOR)),
    ("history", {"item": "Long note"}, ("2 long texts cut",)),
    ("search", {"query": "paint"}, ("10 found", CURSOR)),
    ("search", {"query": "piant"}, ("10 found with corrected words", CURSOR)),
    ("search", {"query": "paint", "until": "2020-01-01"}, ("Nothing found with these filters",)),
    ("similar", {"item": "Paint 1", "limit": 2}, ("2 found", CURSOR)),
    ("query", {"collection": "tasks", "limit": 5}, ("5 of 26 rows", CURSOR)),
    ("query", {"collection": "notes", "select": ["content"], "where": {"title": "Huge note"}}, ("1 long text cut",)),
    ("get_note", {"note": "Huge note"}, ("of 90,000", "read on with start=7000")),
    ("get_file", {"file": "page 1.txt", "chars": 4}, ("characters 0 to 4 of", "read on with start=4")),
    ("get_item", {"item": "House"}, ("not shown: 14 tasks, 1 links, 1 files, 2 closed tasks (list_* shows them)",)),
    ("get_item", {"item": "Huge task"}, ("1 long text cut",)),
    ("related", {"item": "Note 0", "limit": 2}, ("2 items related", "7 more")),
    ("get_item", {"item": "Huge note"}, ("1 long text cut",)),
    ("project_dashboard", {"project": "House"}, ("not shown: 19 next", "6 links (list_* shows them)")),
    ("projects_overview", {}, ("30 of 32 projects", "without 1 archived (list_projects shows them)")),
    ("weekly_review", {}, ("not shown:", "created", "notes written", "2 projects (query shows them)")),
    (
        "batch",
        {"operations": [{"tool": "get_note", "args": {"note": "Huge note", "chars": 35000}}, {"tool": "status"}]},
        ("the data of 1 result left out, call it alone",),
    ),
    ("undo", {"unit": "$many", "confirm": True}, ("and 1 more",)),
    ("create_tasks_from_note", {"note": "Long note"}, ("Made 60 tasks", "the first 50 are listed")),
    ("search_sdk", {"query": "tasks"}, ("3 of ", 'detail="brief" or other words show more')),
    ("run_code", {"code": "print('x' * 9000)"}, ("the output is cut",)),
    ("run_code", {"code": "return 'x' * 9000"}, ("the result is the file f_",)),
    ("run_code", {"code": SIXTY, "dry_run": True}, ("of 60 changes are shown",)),
]  # fmt: skip
"""Calls whose answer cannot hold all, and what their summary says of that."""

WHOLE = {
    *("get_project", "create_project", "update_project", "create_task", "update_task", "create_note", "update_note"),
    *("append_to_note", "edit_note", "create_link", "update_link", "create_reminder", "update_reminder"),
    *("add_journal_entry", "update_journal_entry", "delete_item", "restore_item", "snooze_reminder", "write_file"),
    *("acknowledge_reminder", "update_file", "add_schedule", "pause_schedule", "resume_schedule", "remove_schedule"),
    *("save_script", "promote_script", "get_script", "get_script_history", "run_script", "status", "cancel_job"),
    *(
        "reindex",
        "create_backup",
        "export_data",
        "log_session",
        "list_sources",
        "find_item_by_source",
        "link_item_to_source",
    ),
}
"""Tools that answer with one thing, whole, or as `run_code` does."""


@pytest.fixture
def toolsets() -> tuple[str, ...]:
    """Every tool is listed."""
    return ("default", "more", "files", "jobs")


@pytest.fixture
def world(call: Callable[..., Answer], app: App, clock: StandingClock, saved_world: SavedWorld) -> dict[str, str]:
    """More of each kind than an answer holds."""
    return saved_world.write(app, clock, lambda: write_world(call, app, clock))


def write_world(call: Callable[..., Answer], app: App, clock: StandingClock) -> dict[str, str]:
    """Write more of each kind than an answer holds."""
    many = [
        *({"tool": "create_project", "args": {"name": f"Project {number}"}} for number in range(31)),
        *({"tool": "create_project", "args": {"name": name}} for name in ("House", "Attic")),
        *({"tool": "create_task", "args": {"title": f"Paint {at}", "project": "House"}} for at in range(22)),
        *(
            {"tool": "create_task", "args": {"title": f"Done {at}", "project": "House", "status": "done"}}
            for at in (1, 2)
        ),
        *({"tool": "create_note", "args": {"title": f"Note {at}", "content": "paint [[Note 0]]"}} for at in range(10)),
    ]  # fmt: skip
    call("batch", operations=many)
    rest = [
        *({"tool": "create_link", "args": {"url": f"example.org/{at}", "project": "House"}} for at in range(11)),
        *({"tool": "create_reminder", "args": {"title": f"Ring {at}", "at": "+1h"}} for at in range(11)),
        *({"tool": "add_journal_entry", "args": {"text": f"Day {at}"}} for at in range(11)),
        *(
            {"tool": "write_file", "args": {"name": f"page {at}.txt", "text": "words", "project": "House"}}
            for at in range(11)
        ),
    ]  # fmt: skip
    call("batch", operations=rest)
    call("update_project", project="Attic", status="archived")
    call("create_task", title="Huge task", project="House", notes="x" * 9000)
    call("create_task", title="Long task", project="House", notes=LONG, deadline="2026-05-30")
    call("create_note", title="Huge note", content="y" * 90_000)
    call("create_note", title="Long note", content=LONG)
    call("append_to_note", note="Long note", block="\n".join(f"- [ ] box {at}" for at in range(60)))
    for name in ("Weekly", "Daily"):
        call("add_schedule", kind="backup", name=name, cron="@weekly")
    for title in ("Old", "Older"):
        call("delete_item", item=call("create_note", title=title).data["id"])
    with app.jobs.attach_worker(lambda: None):
        for _ in range(2):
            app.jobs.submit("reindex", {})
    clock.advance(hours=2)
    app.timing.ringing.update_alarms()
    app.timing.ringing.fire_due()
    six = [{"tool": "update_task", "args": {"task": f"Paint {at}", "urgent": True}} for at in range(6)]
    return {"$many": str(call("batch", operations=six).metadata["undo"])}


@pytest.mark.parametrize(("tool", "arguments", "phrases"), CUT)
async def test_what_is_left_out_stands_in_the_summary(
    chat: Chat, world: dict[str, str], tool: str, arguments: dict[str, Any], phrases: tuple[str, ...]
) -> None:
    sent = {name: world.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}

    answer = await chat(tool, **sent)

    assert [phrase for phrase in phrases if phrase not in answer.summary] == [], answer.summary
    assert answer.text.split("\n")[0] == answer.summary


async def test_every_tool_that_can_leave_something_out_stands_in_the_table(chat: Chat) -> None:
    names = {tool.name for tool in await chat.client.list_tools()}

    assert names - WHOLE == {tool for tool, _, _ in CUT}


async def test_nothing_is_said_where_nothing_is_left_out(chat: Chat) -> None:
    project = await chat("create_project", name="House")
    await chat("create_task", title="Paint", project="House")

    summaries = [
        (await chat(tool, **arguments)).summary
        for tool, arguments in (("list_tasks", {}), ("get_item", {"item": "House"}), ("projects_overview", {}))
    ]

    assert summaries == [
        "1 task",
        f"Project “House” ({project.id})",
        "1 project, 1 open tasks, 0 overdue; 0 open without a project",
    ]


async def test_a_date_that_was_given_in_words_stands_in_the_answer_as_it_was_read(
    chat: Chat, clock: StandingClock
) -> None:
    day = f"{clock():%a %Y-%m-%d}"

    made = await chat("create_task", title="Order the tiles", deadline="today at 3pm", scheduled_at="tomorrow morning")
    moved = await chat("update_task", task=made.data["id"], deadline="next monday")
    rung = await chat("create_reminder", title="Bins out", at="morgen um halb acht", recurrence="every friday")
    plain = await chat("create_task", title="Call Ana", deadline="2026-12-01")

    assert f"deadline {day} 15:00, scheduled_at " in made.summary
    assert made.summary.endswith(" 09:00")
    assert "version 2: deadline Mon 2" in moved.summary
    assert " 07:30, recurrence FREQ=WEEKLY;BYDAY=FR (next Fri 2" in rung.summary
    assert rung.summary.count("Fri 2") >= 3
    assert "deadline" not in plain.summary


async def test_a_list_for_days_given_in_words_says_which_they_are(chat: Chat, clock: StandingClock) -> None:
    day = f"{clock():%a %Y-%m-%d}"

    assert (await chat("list_tasks", due_from="today", due_until="2030-01-01")).summary == f"0 tasks (due_from {day})"
    assert f"since {day}" in (await chat("search", query="tiles", since="today")).summary
    assert (await chat("list_tasks", due_from="2026-01-01")).summary == "0 tasks"
