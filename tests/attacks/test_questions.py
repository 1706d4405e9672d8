"""Questions whose names want to say something else, and answers that are no yes: a person agrees to what they read."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult

from panorama.app import App, open_app
from panorama.calls import Answer, Conversation
from panorama.calls.terminal_commands import format_terminal_command
from panorama.config import read_settings
from panorama.errors import ConfirmationError, PanoramaError
from panorama.mcp.questions import elicitation
from panorama.mcp.server import build_server
from tests.conftest import ERAS, Chat, Era, Refusal, StandingClock
from tests.stories.confirming import Person

pytestmark = pytest.mark.anyio

Call = Callable[..., Answer]
FIRST_LINES = 3
LINE_CHARS = 200

HOSTILE_NAMES = {
    "closing quotation": "Tea” with 0 tasks to the trash? It is empty. Ignore “",
    "plain quotation": 'Tea" and nothing else? "',
    "foreign quotation": "Tea« 〟 ＂ and nothing else?",
    "spaces": "Tea" + " " * 5000 + "and 0 tasks",
    "hidden spaces": "Tea" + "\u3164" * 90 + "and 0 tasks",
    "direction": "Tea \u202eksat 0 htiw",
    "isolate": "Tea \u2067ksat 0 htiw\u2069",
    "no width": "T\u200be\u200ca\u2060\ufeff",
    "controls": "Tea\u009b2J\u0085",
    "lines": "Tea\u2028Nothing is deleted.\u2029",
    "tags": "Tea" + "".join(chr(0xE0000 + ord(sign)) for sign in "approve"),
    "marks": "Te" + "a" + "\u0336" * 60,
    "long": "Tea and " + "very " * 300 + "much",
    "selectors": "Tea\U000e0101\U000e0102\u034f",
}


@pytest.fixture(params=HOSTILE_NAMES.values(), ids=HOSTILE_NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """A name that wants to say something else."""
    return request.param


def store(call: Call, name: str) -> str:
    """Create a project with two tasks, rename it behind the back of what checks names, and return its id."""
    project = str(call("create_project", name="Tea").data["id"])
    for title in ("Pot", "Cup"):
        call("create_task", title=title, project=project)
    return project


def rename(app: App, table: str, column: str, id_: str, text: str) -> None:
    """Store a text as an earlier version or another program may have stored it."""
    from sqlalchemy import text as sql

    from panorama.store.items.passages import INDEXER

    with app.context.database.transaction(INDEXER) as session:
        session.connection.execute(
            sql(f"UPDATE {table} SET {column} = :text WHERE id = :id"), {"text": text, "id": id_}
        )


def check_question(question: str, start: str) -> None:
    """Look that a question begins with the act and its number, hides nothing and quotes names as data."""
    assert question.startswith(start), question
    for line in question.split("\n")[:FIRST_LINES]:
        assert line.isprintable(), [hex(ord(sign)) for sign in line if not sign.isprintable()]
        assert len(line) <= LINE_CHARS, len(line)
        assert "  " not in line
        assert not set("\u3164\u034f") & set(line)
        assert not [sign for sign in line if "\U000e0000" <= sign <= "\U000e0fff"]
        assert "\u0336" * 4 not in line
    bare = re.sub(r"\\.", "", question)
    assert (bare.count("“"), bare.count("”"), bare.count('"')) == (1, 1, 0), question


async def ask(app: App, tool: str, **arguments: Any) -> str:
    """Call a tool in a client that can ask, and return its question."""
    person = Person("decline")
    async with Client(build_server(app), elicitation_handler=person.answer) as client:
        await Chat(client).refused(tool, **arguments)
    return person.asked[0]


async def test_the_name_of_a_project_says_nothing_in_a_question(app: App, call: Call, name: str) -> None:
    project = store(call, name)
    rename(app, "projects", "name", project, name)

    question = await ask(app, "delete_item", item=project, items="trash")

    check_question(question, "Move 2 tasks to the trash, with the project “T")


async def test_the_title_of_a_foreign_write_says_nothing_in_a_question(app: App, call: Call, name: str) -> None:
    task = call("create_task", title="Tea").data["id"]
    rename(app, "tasks", "title", task, name)

    question = await ask(app, "undo")

    check_question(question, "Take back 1 change and move 1 item to the trash: “T")


async def test_the_name_of_a_schedule_says_nothing_in_a_question(app: App, call: Call, name: str) -> None:
    schedule = call("add_schedule", kind="backup", name="Tea", every="1d").data["id"]
    rename(app, "schedules", "name", schedule, name)

    with pytest.raises(ConfirmationError) as refusal:
        call("remove_schedule", schedule=schedule)

    check_question(refusal.value.question, "Remove the schedule “T")


@pytest.mark.parametrize("sign", ["”", "\u202e", "\u200b", " " * 30, "\u009b"])
async def test_the_path_of_a_backup_says_nothing_in_a_question(call: Call, sign: str) -> None:
    for tool in ("create_backup", "export_data"):
        with pytest.raises(ConfirmationError) as refusal:
            call(tool, folder=f"/tmp/a{sign}b? It is your own disk.")

        start = {"create_backup": "Write a backup of", "export_data": "Write an export of"}[tool]
        check_question(refusal.value.question, f"{start} all your data into “/tmp/a")


async def test_of_a_long_path_the_beginning_and_the_end_are_shown(call: Call) -> None:
    with pytest.raises(ConfirmationError) as refusal:
        call("create_backup", folder=f"/media/{'own/' * 100}stranger", with_secrets=True)

    question = refusal.value.question
    assert question.startswith("Write a backup with the keys in config.toml of all your data into “/media/own")
    assert question.endswith("own/stranger”?")
    assert len(question) < 2 * LINE_CHARS


def test_what_a_schedule_gets_says_nothing_before_its_act(home: Path) -> None:
    sent = {"kind": "backup", "every": "1d", "arguments": {"folder": "/tmp/x\u202e ” daily" + " " * 90}}

    with open_app(read_settings(home=home)) as alone, pytest.raises(ConfirmationError) as refusal:
        alone.calls.call("add_schedule", sent, Conversation("v_talk", "tool", "talk"))

    first, second, *rest = refusal.value.question.split("\n")
    assert first == "Run backup automatically every 1d? It will not ask again."
    assert second.isprintable()
    assert len(second) < 2 * LINE_CHARS
    assert rest == []


async def test_fifty_writes_are_counted_and_a_few_of_them_named(app: App, call: Call, chat: Chat) -> None:
    for number in range(50):
        call("create_task", title=f"Task {number} " + "x" * 90)

    refusal = await chat.refused("undo", count=50)

    assert refusal.message.startswith("Take back 50 changes and move 50 items to the trash: “Task 49 x")
    assert "; and 45 more?" in refusal.message
    assert len(refusal.message) < 5 * LINE_CHARS


async def test_the_first_lines_of_a_review_say_what_a_script_writes(app: App, call: Call) -> None:
    code = 'def main():\n    """Count. ”\n\nIt writes: nothing.\n"""\n    sdk.tasks.delete("a")\n    sdk.notes.list()\n'
    call("save_script", name="sly", code=code.replace('"""Count. ”\n\nIt writes: nothing.\n"""', '"""Count ” all."""'))

    with pytest.raises(ConfirmationError) as refusal:
        call("promote_script", script="sly", to="reviewed")

    lines = refusal.value.question.split("\n")
    assert lines[0] == "Approve the script sly?"
    assert "writes: tasks.delete" in "\n".join(lines[1:FIRST_LINES])
    assert "Its description: “Count \\” all.”" in lines


# Answers that are no yes.

NO_YES: dict[str, Any] = {
    "number": {"value": 1},
    "fraction": {"value": 1.0},
    "word": {"value": "yes"},
    "text": {"value": "True"},
    "list": {"value": ["true"]},
    "null": {"value": None},
    "other box": {"Value": True, "confirmation": True},
    "no box": {},
    "no form": None,
}


@pytest.mark.parametrize("content", NO_YES.values(), ids=NO_YES)
async def test_a_form_that_holds_no_true_changes_nothing(app: App, call: Call, era: Era, content: Any) -> None:
    project = store(call, "Tea")

    async with Client(build_server(app), mode=era, elicitation_handler=Person(content=content).answer) as client:
        refusal = await Chat(client).refused("delete_item", item=project, items="trash")

    assert refusal.code == "declined"
    assert call("get_project", project=project).data["name"] == "Tea"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    """Each protocol era in turn."""
    return request.param


@pytest.fixture
def agreement(call: Call) -> Callable[[str], str]:
    """Asks for the deletion of a project, and returns what a yes to it is worth."""

    def ask_for(project: str) -> str:
        with pytest.raises(ConfirmationError) as refusal:
            call("delete_item", item=project, items="trash")
        return refusal.value.agreement

    return ask_for


def test_an_agreement_counts_for_five_minutes(
    app: App, call: Call, clock: StandingClock, conversation: Conversation, agreement: Callable[[str], str]
) -> None:
    project = store(call, "Tea")
    agreed = agreement(project)

    clock.advance(seconds=301)

    with pytest.raises(ConfirmationError):
        app.calls.call("delete_item", {"item": project, "items": "trash"}, conversation, agreed=agreed)


def test_an_agreement_counts_once(
    app: App, call: Call, conversation: Conversation, agreement: Callable[[str], str]
) -> None:
    project = store(call, "Tea")
    agreed, sent = agreement(project), {"item": project, "items": "trash"}
    done = app.calls.call("delete_item", sent, conversation, agreed=agreed)
    call("undo", unit=done.metadata["undo"])

    with pytest.raises(ConfirmationError):
        app.calls.call("delete_item", sent, conversation, agreed=agreed)


@pytest.mark.parametrize("change", ["later", "earlier", "longer", "shorter", "other sign"])
def test_an_agreement_that_was_changed_is_none(
    app: App, call: Call, conversation: Conversation, agreement: Callable[[str], str], change: str
) -> None:
    project = store(call, "Tea")
    expected, at, nonce = agreement(project).split(".")
    changed = {
        "later": (expected, str(int(at) + 400), nonce), "earlier": (expected, str(int(at) - 400), nonce),
        "longer": (expected, at, nonce, nonce), "shorter": (expected, nonce),
        "other sign": (expected, f"{at}\n", nonce),
    }  # fmt: skip

    sent, agreed = {"item": project, "items": "trash"}, ".".join(changed[change])
    with pytest.raises(ConfirmationError):
        app.calls.call("delete_item", sent, conversation, agreed=agreed)


# Clients that answer for the user.


async def refuse(app: App, era: Era, action: str, tool: str, **arguments: Any) -> Refusal:
    """Call a tool in a client that refuses every question at once."""
    async with Client(build_server(app), mode=era, elicitation_handler=Person(action).answer) as client:
        return await Chat(client).refused(tool, **arguments)


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_client_that_refuses_by_itself_is_told_the_terminal_command(
    app: App, call: Call, era: Era, action: str
) -> None:
    project = store(call, "Tea")

    refusal = await refuse(app, era, action, "delete_item", item=project, items="trash")

    assert refusal.code == "declined"
    assert "user was asked" not in refusal.message
    assert "The question was: Move 2 tasks to the trash, with the project “Tea”?" in refusal.message
    assert f"`panorama projects delete {project} --items trash`" in refusal.hint


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_refusal_that_takes_as_long_as_reading_is_the_persons(
    app: App, call: Call, era: Era, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elicitation, "READING_SECONDS", 0.0)

    refusal = await refuse(app, era, action, "delete_item", item=store(call, "Tea"), items="trash")

    assert refusal.message.startswith(("The user was asked and did not agree", "The user closed the question"))


async def test_a_client_that_cannot_ask_is_told_the_terminal_command(call: Call, either: Chat) -> None:
    project = store(call, "Tea")

    refusal = await either.refused("delete_item", item=project, items="trash")

    assert f"`panorama projects delete {project} --items trash`" in refusal.hint


def test_each_tool_that_may_ask_has_a_terminal_command(app: App) -> None:
    values: dict[str, Any] = {
        "item": "p_1", "items": "trash", "unit": "", "count": 3, "redo": False, "skip_conflicts": False, "folder": "",
        "with_secrets": True, "schedule": "daily", "kind": "backup", "name": "daily", "cron": "", "every": "1d",
        "at": "", "zone": "", "arguments": {"folder": "/tmp"}, "script": "count", "to": "promoted", "read_only": True,
        "args": {"days": 3}, "atomic": True, "state": "", "run": "", "summary": "", "replace": True,
    }  # fmt: skip
    asking = [operation.operation for operation in app.calls.operation_arguments if operation.operation.asks]

    commands = {request.name: format_terminal_command(request.name, values) for request in asking if request.tool}

    assert all(command.startswith("panorama ") for command in commands.values()), commands
    assert commands["history.undo"] == "panorama undo --count 3"
    assert commands["schedules.add"] == "panorama schedule add backup daily --every 1d --input 'folder=\"/tmp\"'"


@pytest.mark.parametrize("unit", ["x; rm -rf ~", "$(reboot)", "`id`", "a\nb", "a\u202eb", "x" * 5000])
def test_a_terminal_command_quotes_what_a_model_wrote(unit: str) -> None:
    values = {"item": unit, "items": "trash"}

    command = format_terminal_command("items.delete", values)

    assert command == "" or shlex.split(command) == ["panorama", "projects", "delete", unit, "--items", "trash"]
    assert command.isprintable()
    assert len(command) <= 300


async def test_a_fast_yes_is_still_a_yes(app: App, call: Call, era: Era) -> None:
    async def accept(*_: Any) -> ElicitResult[dict[str, Any]]:
        return ElicitResult(action="accept", content={"value": True})

    project = store(call, "Tea")
    async with Client(build_server(app), mode=era, elicitation_handler=accept) as client:
        gone = await Chat(client)("delete_item", item=project, items="trash")

    assert gone.data["trashed"] == 3
    with pytest.raises(PanoramaError):
        call("get_project", project=project)
