"""Every tool, called once rightly and once wrongly, in both protocol eras."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from panorama.app import App
from panorama.calls import Answer
from tests.conftest import Chat, StandingClock
from tests.kept import COUNTING
from tests.saved_world import SavedWorld

pytestmark = pytest.mark.anyio

RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("list_projects", {"status": "active"}),
    ("get_project", {"project": "House"}),
    ("create_project", {"name": "Garden", "target_date": "2026-09-01", "tags": ["green"], "favorite": True}),
    ("update_project", {"project": "House", "status": "blocked"}),
    ("list_tasks", {"project": "House", "detail": "full"}),
    ("create_task", {"title": "Clean", "project": "House", "deadline": "2026-06-01T15:00", "scheduled_minutes": 20}),
    ("update_task", {"task": "Paint", "status": "done"}),
    ("list_notes", {"pinned": False}),
    ("get_note", {"note": "Colours", "heading": "Walls"}),
    ("create_note", {"title": "Plan", "content": "text", "tags": ["a"]}),
    ("update_note", {"note": "Colours", "content": "blue", "expected_version": 1}),
    ("append_to_note", {"note": "Colours", "block": "more", "after_marker": "# Walls"}),
    ("log_session", {"title": "Meeting", "lines": ["one", {"text": "two", "type": "decision"}]}),
    ("edit_note", {"note": "Colours", "old_text": "white", "new_text": "blue"}),
    ("create_link", {"url": "example.org", "title": "Store"}),
    ("create_reminder", {"title": "Call", "at": "2026-06-01T09:00", "recurrence": "FREQ=DAILY", "item": "Paint"}),
    ("add_journal_entry", {"text": "sun"}),
    ("search", {"query": "white", "kinds": ["note"], "since": "2026-05-01"}),
    ("similar", {"item": "Colours"}),
    ("query", {"collection": "tasks", "where": {"status": "todo"}, "sort": ["-rank"]}),
    ("query", {"collection": "tasks", "group_by": ["status"], "sum": ["scheduled_minutes"]}),
    ("get_item", {"item": "House"}),
    ("related", {"item": "Colours", "kinds": ["mentions"], "depth": 2, "direction": "in", "limit": 3}),
    ("project_dashboard", {"project": "House"}),
    ("projects_overview", {"period_days": 30}),
    ("weekly_review", {"start": "2026-05-14", "end": "2026-05-20"}),
    ("batch", {"operations": [{"tool": "create_task", "args": {"title": "x"}}, {"tool": "status"}], "atomic": False}),
    ("delete_item", {"item": "House", "items": "keep"}),
    ("history", {"item": "Colours"}),
    ("undo", {"unit": "$last"}),
    ("search_sdk", {"query": "group by"}),
    ("run_code", {"code": "return len(sdk.tasks.list())"}),
    ("run_code", {"code": "sdk.tasks.create(title)", "inputs": {"title": "Tea"}, "dry_run": True}),
    ("list_scripts", {"state": "draft"}),
    ("list_scripts", {"suggest": True}),
    ("save_script", {"name": "late", "code": "len(sdk.tasks.list(view='overdue'))", "summary": "Count what is late."}),
    ("run_script", {"script": "count", "args": {"project": "House"}, "dry_run": True}),
    ("get_script", {"script": "count"}),
    ("get_script_history", {"script": "count"}),
    ("status", {}),
    ("list_jobs", {"state": "active"}),
    ("get_job", {"job": "$job"}),
    ("cancel_job", {"job": "$job"}),
    ("reindex", {"scope": "index"}),
    ("reindex", {"project": "House", "kind": "note"}),
    ("create_backup", {}),
    ("export_data", {}),
    ("create_tasks_from_note", {"note": "Colours"}),
    ("list_links", {}),
    ("update_link", {"link": "Shop", "url": "https://example.com"}),
    ("list_reminders", {"enabled": True}),
    ("update_reminder", {"reminder": "Water", "snoozed_until": "2026-06-02T09:00"}),
    ("list_waiting_reminders", {}),
    ("snooze_reminder", {"reminder": "Water", "until": "2h"}),
    ("acknowledge_reminder", {"reminder": "Water"}),
    ("add_schedule", {"kind": "backup", "name": "Nightly", "cron": "0 3 * * *", "zone": "Europe/Paris"}),
    ("add_schedule", {"kind": "reindex", "every": "2h", "arguments": {"scope": "changes"}, "missed": "skip"}),
    ("list_schedules", {"paused": False}),
    ("list_sources", {}),
    ("pause_schedule", {"schedule": "Weekly"}),
    ("resume_schedule", {"schedule": "weekly"}),
    ("remove_schedule", {"schedule": "Weekly", "confirm": True}),
    ("list_journal_entries", {"first_day": "2026-05-01"}),
    ("update_journal_entry", {"entry": "$entry", "text": "snow"}),
    ("list_trash", {}),
    ("restore_item", {"item": "$trashed"}),
    ("find_item_by_source", {"source_ref": "claap:rec_1", "kind": "note"}),
    ("link_item_to_source", {"item": "Paint", "source_ref": "claap:rec_1"}),
    ("write_file", {"name": "plan.md", "text": "# Plan", "project": "House", "tags": ["a"]}),
    ("write_file", {"name": "dot.png", "base64": "iVBORw0KGgo="}),
    ("list_files", {"name": ".csv"}),
    ("get_file", {"file": "costs.csv", "chars": 4}),
    ("update_file", {"file": "costs.csv", "name": "prices.csv", "project": ""}),
]

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("list_projects", {"status": "sleeping"}, "status"),
    ("get_project", {"project": "Nowhere"}, "Nowhere"),
    ("create_project", {"name": "house"}, "House"),
    ("update_project", {"project": "House", "target_date": "2026-13-01"}, "target_date"),
    ("list_tasks", {"limit": 0}, "limit"),
    ("create_task", {"titel": "Clean"}, "title"),
    ("update_task", {"task": "Paint", "status": "finished"}, "status"),
    ("list_notes", {"cursor": "garbage"}, "cursor"),
    ("get_note", {"note": "Colours", "heading": "Roof"}, "Roof"),
    ("create_note", {"title": "  "}, "title"),
    ("update_note", {"note": "Colours", "content": "blue", "expected_version": 9}, "version"),
    ("append_to_note", {"note": "Colours", "block": "more", "after_marker": "Roof"}, "Roof"),
    ("log_session", {"title": "Meeting", "lines": [{"text": "two", "kind": "decision"}]}, "no field 'kind'"),
    ("edit_note", {"note": "Colours", "old_text": "purple", "new_text": "blue"}, "old_text"),
    ("create_link", {"url": "javascript:alert"}, "http"),
    ("create_reminder", {"title": "Call", "at": "2026-06-01"}, "at"),
    ("add_journal_entry", {"text": ""}, "text"),
    ("search", {"query": "x", "kinds": ["animal"]}, "kinds"),
    ("similar", {"item": "Nowhere"}, "Nowhere"),
    ("query", {"collection": "animals"}, "collection"),
    ("get_item", {"item": "n_zzzzzzzzzz"}, "n_zzzzzzzzzz"),
    ("related", {"item": "Colours", "depth": 5}, "depth"),
    ("project_dashboard", {}, "project"),
    ("projects_overview", {"period_days": 0}, "period_days"),
    ("weekly_review", {"start": "2026-05-20", "end": "2026-05-01"}, "start"),
    ("batch", {"operations": []}, "operations"),
    ("delete_item", {"item": "House"}, "keep"),
    ("history", {"item": "Nowhere"}, "Nowhere"),
    ("undo", {"unit": "c_zzzzzzzzzz"}, "c_zzzzzzzzzz"),
    ("search_sdk", {"query": "x", "detail": "some"}, "detail"),
    ("run_code", {"code": 5}, "code"),
    ("run_code", {"code": "1", "timeout": 61}, "timeout"),
    ("run_code", {"code": "1", "inputs": {"a b": 1}}, "a b"),
    ("run_code", {"code": "1", "background": True}, "background"),
    ("list_scripts", {"state": "asleep"}, "state"),
    ("save_script", {"name": "../late", "code": "5", "summary": "Five."}, "../late"),
    ("save_script", {"name": "count", "code": "5", "summary": "Five."}, "replace=true"),
    ("run_script", {"script": "cuont"}, "count"),
    ("run_script", {"script": "count", "args": {"projct": "House"}}, "projct"),
    ("promote_script", {"script": "count"}, "panorama scripts review count"),
    ("promote_script", {"script": "count", "confirm": True}, "confirm"),
    ("get_script", {"script": "nothing"}, "nothing"),
    ("get_script_history", {"script": "for"}, "Python"),
    ("status", {"verbose": True}, "verbose"),
    ("list_jobs", {"state": "asleep"}, "state"),
    ("get_job", {"job": "w_zzzzzzzzzz"}, "w_zzzzzzzzzz"),
    ("get_job", {"job": "$job", "wait": 51}, "wait"),
    ("cancel_job", {"job": "w_zzzzzzzzzz"}, "w_zzzzzzzzzz"),
    ("reindex", {"scope": "tomorrow"}, "scope"),
    ("create_backup", {"with_secrets": "perhaps"}, "with_secrets"),
    ("create_backup", {"folder": "/tmp"}, "Write a backup of all your data"),
    ("export_data", {"folder": 5}, "folder"),
    ("create_tasks_from_note", {"note": "Colours", "lines": ["Roof"]}, "Roof"),
    ("list_links", {"project": "Nowhere"}, "Nowhere"),
    ("update_link", {"link": "Shop", "url": "ftp://example.org"}, "http"),
    ("list_reminders", {"enabled": "perhaps"}, "enabled"),
    ("update_reminder", {"reminder": "Water", "at": "never"}, "at"),
    ("list_waiting_reminders", {"cursor": "garbage"}, "cursor"),
    ("snooze_reminder", {"reminder": "Water", "until": "yesterday"}, "until"),
    ("acknowledge_reminder", {"reminder": "Nothing"}, "Nothing"),
    ("add_schedule", {"kind": "bakcup", "every": "1d"}, "backup"),
    ("add_schedule", {"kind": "backup", "cron": "0 0 31 2 *"}, "never fires"),
    ("add_schedule", {"kind": "backup", "cron": "61 0 * * *"}, "minute"),
    ("add_schedule", {"kind": "backup", "every": "1d", "zone": "Europe/Berln"}, "Europe/Berlin"),
    ("add_schedule", {"kind": "backup", "every": "5s"}, "every"),
    ("add_schedule", {"kind": "backup", "at": "2020-01-01T10:00"}, "passed"),
    ("add_schedule", {"kind": "backup"}, "cron"),
    ("add_schedule", {"kind": "backup", "cron": "0 3 * * *", "every": "1d"}, "one of cron"),
    ("add_schedule", {"kind": "backup", "every": "1d", "name": "WEEKLY"}, "Weekly"),
    ("list_schedules", {"paused": "perhaps"}, "paused"),
    ("list_sources", {"kind": "mcp"}, "kind"),
    ("pause_schedule", {"schedule": "Dayly"}, "candidates"),
    ("resume_schedule", {"schedule": "e_zzzzzzzzzz"}, "e_zzzzzzzzzz"),
    ("remove_schedule", {"schedule": ""}, "schedule"),
    ("list_journal_entries", {"first_day": "yesteryear"}, "first_day"),
    ("update_journal_entry", {"entry": "j_zzzzzzzzzz", "text": "x"}, "j_zzzzzzzzzz"),
    ("list_trash", {"limit": -1}, "limit"),
    ("restore_item", {"item": "n_zzzzzzzzzz"}, "n_zzzzzzzzzz"),
    ("find_item_by_source", {"source_ref": "rec_1"}, "a colon"),
    ("link_item_to_source", {"item": "House", "source_ref": "claap:rec_1"}, "Only tasks, notes and sessions"),
    ("write_file", {"name": "../plan.md", "text": "x"}, "path"),
    ("list_files", {"project": "Nowhere"}, "Nowhere"),
    ("get_file", {"file": "costs.csv", "chars": 0}, "chars"),
    ("update_file", {"file": "costs.csv", "media_type": "table"}, "text/csv"),
]


@pytest.fixture
def toolsets() -> tuple[str, ...]:
    """Every tool is listed."""
    return ("default", "more", "files", "jobs")


@pytest.fixture(autouse=True)
def meaning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search by meaning is there for whoever asks for it."""
    monkeypatch.setenv("PANORAMA_EMBEDDER", "static")


@pytest.fixture
def world(call: Callable[..., Answer], app: App, clock: StandingClock, saved_world: SavedWorld) -> dict[str, str]:
    """One thing of each kind, and what stands for ids in the tables above."""
    return saved_world.write(app, clock, lambda: write_world(call, app))


def write_world(call: Callable[..., Answer], app: App) -> dict[str, str]:
    """Write one thing of each kind."""
    call("create_project", name="House")
    call("create_task", title="Paint", project="House", notes="two coats")
    call("add_schedule", kind="backup", name="Weekly", cron="@weekly")
    call("create_note", title="Colours", content="# Walls\n\nwhite\n", project="House")
    call("create_link", url="example.org", title="Shop")
    call("save_script", name="count", code=COUNTING)
    call("create_reminder", title="Water", at="2026-06-01T09:00")
    call("write_file", name="costs.csv", text="paint,20\n", project="House")
    entry = call("add_journal_entry", text="rain")
    trashed = call("create_note", title="Old")
    call("delete_item", item=trashed.data["id"])
    last = call("create_task", title="Extra")
    with app.jobs.attach_worker(lambda: None):
        job = app.jobs.submit("reindex", {})
    undo = str(last.metadata["undo"])
    return {"$job": job, "$entry": entry.data["id"], "$trashed": trashed.data["id"], "$last": undo}


def fill_ids(arguments: dict[str, Any], world: dict[str, str]) -> dict[str, Any]:
    """Put ids in."""
    return {name: world.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}


@pytest.mark.parametrize(("tool", "arguments"), RIGHT)
async def test_a_right_call_answers_with_the_envelope_of_its_schema(
    either: Chat, world: dict[str, str], tool: str, arguments: dict[str, Any]
) -> None:
    schemas = {listed_tool.name: listed_tool for listed_tool in await either.client.list_tools()}
    sent = fill_ids(arguments, world)

    result = await either.raw(tool, **sent)

    assert not result.is_error, result.content
    jsonschema.validate(sent, schemas[tool].input_schema)
    jsonschema.validate(result.structured_content, schemas[tool].output_schema)
    structure, text = result.structured_content or {}, str(getattr(result.content[0], "text", ""))
    assert text.split("\n")[0] == structure["summary"]
    assert list(structure)[:2] == ["summary", "data"]
    assert len(text) <= 8 * 1024


@pytest.mark.parametrize(("tool", "arguments"), RIGHT)
async def test_null_is_taken_as_absent(chat: Chat, world: dict[str, str], tool: str, arguments: dict[str, Any]) -> None:
    schemas = {listed_tool.name: listed_tool.input_schema for listed_tool in await chat.client.list_tools()}
    nulls = dict.fromkeys(schemas[tool]["properties"])

    result = await chat.raw(f"mcp__panorama__{tool}", **nulls | fill_ids(arguments, world))

    assert not result.is_error, result.content


@pytest.mark.parametrize(("tool", "arguments", "named"), WRONG)
async def test_a_wrong_call_is_refused_in_words_and_changes_nothing(
    chat: Chat,
    world: dict[str, str],
    rows: Callable[[], dict[str, int]],
    tool: str,
    arguments: dict[str, Any],
    named: str,
) -> None:
    before = rows()

    refusal = await chat.refused(tool, **arguments)

    assert named in f"{refusal.message} {refusal.hint}"
    assert rows() == before


async def test_every_tool_stands_in_both_tables(either: Chat) -> None:
    names = {tool.name for tool in await either.client.list_tools()}

    assert {tool for tool, _ in RIGHT} | {"promote_script"} == names  # a person answers it: see chapter 22
    assert {tool for tool, _, _ in WRONG} == names


@pytest.mark.parametrize(
    "sent",
    [
        {"title": 5},
        {"title": None},
        {"title": ["x"]},
        {"title": "x", "tags": 5},
        {"title": "x", "rank": 1.5},
        {"title": "x", "urgent": "perhaps"},
    ],
)
async def test_a_wrong_type_is_named_with_its_parameter(either: Chat, sent: dict[str, Any]) -> None:
    refusal = await either.refused("create_task", **sent)

    wrong = list(sent)[-1]
    assert refusal.code == "invalid_input"
    assert wrong in refusal.message
    assert "pydantic" not in refusal.text


async def test_every_wrong_parameter_is_named_at_once(either: Chat) -> None:
    refusal = await either.refused("create_task", tittle="x", rank="high", urgent="perhaps")

    assert all(name in refusal.message for name in ("title", "tittle", "rank", "urgent"))


async def test_an_unknown_tool_is_answered_in_the_same_voice(either: Chat) -> None:
    refusal = await either.refused("create_tasks", title="x")

    assert refusal.code == "not_found"
    assert "create_task" in refusal.text


async def test_a_bug_is_told_without_its_trace(either: Chat, app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("secret detail /home/someone")

    monkeypatch.setattr(app.calls, "_invoke", broken, raising=True)
    monkeypatch.setattr(type(app.calls), "call", broken)
    result = await either.raw("status")

    assert result.is_error
    assert "secret detail" not in str(result)
