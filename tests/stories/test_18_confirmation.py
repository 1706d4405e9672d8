"""Chapter 18: before much goes at once, the user is asked, and a yes is worth what was shown."""

import inspect
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import McpError
from mcp import ClientSession
from mcp.types import (
    ClientCapabilities,
    ElicitationCapability,
    UrlElicitationCapability,
)

from panorama.app import App
from panorama.mcp.server import build_server
from tests.conftest import ERAS, Chat, Era
from tests.stories.confirming import ALL_OF_IT, Call, Person, Rows, furnished

__all__ = ["furnished"]

pytestmark = pytest.mark.anyio

QUESTION = "Move 2 tasks, 1 note and 1 link to the trash, with the project “House”?"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    """Each protocol era in turn."""
    return request.param


@asynccontextmanager
async def asking(app: App, era: Era, person: Person) -> AsyncGenerator[Chat]:
    """Speak with the server as a client that can put questions to a person."""
    async with Client(build_server(app), mode=era, elicitation_handler=person.answer) as client:
        yield Chat(client)


def many(call: Call, count: int) -> str:
    """Write as many tasks in one batch, and return its unit."""
    steps = [{"tool": "create_task", "args": {"title": f"task {n}"}} for n in range(count)]
    return str(call("batch", operations=steps).metadata["undo"])


@pytest.mark.usefixtures("furnished")
async def test_a_project_with_its_items_goes_only_after_a_yes(app: App, era: Era) -> None:
    person = Person()

    async with asking(app, era, person) as chat:
        gone = await chat("delete_item", **ALL_OF_IT)

    assert person.asked == [QUESTION]
    assert gone.data["trashed"] == 5


@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.usefixtures("furnished")
async def test_without_a_yes_nothing_is_changed(app: App, era: Era, rows: Rows, action: str) -> None:
    before = rows()

    async with asking(app, era, Person(action)) as chat:
        refusal = await chat.refused("delete_item", **ALL_OF_IT)

    assert refusal.code == "declined"
    assert "nothing was changed" in refusal.message
    assert rows() == before


@pytest.mark.usefixtures("furnished")
@pytest.mark.parametrize(
    "content",
    [{"value": False}, {"value": "no"}, {"value": "false"}, {"value": "true"}, {"value": 1}, {"other": True}, {}],
)
async def test_an_accepted_form_without_true_in_its_box_is_no_yes(
    app: App, era: Era, rows: Rows, content: dict[str, Any]
) -> None:
    before = rows()

    async with asking(app, era, Person(content=content)) as chat:
        refusal = await chat.refused("delete_item", **ALL_OF_IT)

    assert refusal.code == "declined"
    assert rows() == before


@pytest.mark.usefixtures("furnished")
async def test_a_client_that_cannot_ask_is_told_the_question(either: Chat, rows: Rows) -> None:
    before = rows()

    refusal = await either.refused("delete_item", **ALL_OF_IT)

    assert refusal.code == "confirmation_needed"
    assert refusal.message == f"{QUESTION} Nothing was changed yet."
    assert "confirm=true" in refusal.hint
    assert rows() == before


@pytest.mark.usefixtures("furnished")
async def test_a_yes_from_the_chat_is_confirm(either: Chat) -> None:
    await either.refused("delete_item", **ALL_OF_IT)

    assert (await either("delete_item", **ALL_OF_IT, confirm=True)).data["trashed"] == 5


@pytest.mark.usefixtures("furnished")
async def test_a_program_finds_the_question_by_itself(chat: Chat) -> None:
    result = await chat.raw("delete_item", **ALL_OF_IT)

    assert QUESTION in getattr(result.content[0], "text", "")


@pytest.mark.usefixtures("furnished")
async def test_who_has_confirmed_is_not_asked(app: App, era: Era) -> None:
    person = Person()

    async with asking(app, era, person) as chat:
        await chat("delete_item", **ALL_OF_IT, confirm=True)

    assert person.asked == []


@pytest.mark.usefixtures("furnished")
async def test_what_takes_little_away_is_done_without_a_question(app: App, call: Call, era: Era) -> None:
    person = Person("decline")
    call("create_project", name="Empty")
    call("create_task", title="Pack", parent=call("create_task", title="Move").data["id"])

    async with asking(app, era, person) as chat:
        await chat("delete_item", item="Empty", items="trash")
        await chat("delete_item", item="Move", items="trash")
        await chat("delete_item", item="House", items="keep")
        await chat("undo")

    assert person.asked == []


async def test_more_than_twenty_changes_are_taken_back_only_after_a_yes(app: App, call: Call, era: Era) -> None:
    unit, person = many(call, 21), Person()

    async with asking(app, era, person) as chat:
        undone = await chat("undo", unit=unit)

    question = f"Take back 21 changes and move 21 items to the trash: the batch of 2026-05-20 10:00 ({unit})?"
    assert person.asked == [question]
    assert undone.data["count"] == 21


async def test_twenty_are_taken_back_at_once(chat: Chat, call: Call) -> None:
    unit = many(call, 20)

    assert (await chat("undo", unit=unit)).data["count"] == 20


async def test_what_is_taken_back_already_does_not_count(chat: Chat, call: Call) -> None:
    unit = many(call, 21)
    first = call("history", item="task 0").data[0]["change"]
    call("undo", unit=str(first))

    assert (await chat("undo", unit=unit)).data["count"] == 20


async def test_this_clients_last_write_too_is_asked_for(chat: Chat) -> None:
    await chat("batch", operations=[{"tool": "create_task", "args": {"title": f"task {n}"}} for n in range(21)])

    refusal = await chat.refused("undo")

    assert "Take back 21 changes and move 21 items to the trash: the batch" in refusal.message


async def test_an_undo_that_would_conflict_refuses_without_a_question(app: App, call: Call, era: Era) -> None:
    unit, person = many(call, 30), Person()
    call("update_task", task="task 7", title="other")

    async with asking(app, era, person) as chat:
        refusal = await chat.refused("undo", unit=unit)
        await chat("undo", unit=unit, skip_conflicts=True)

    assert refusal.code == "conflict"
    assert [question[:21] for question in person.asked] == ["Take back 29 changes "]


@pytest.mark.usefixtures("furnished")
async def test_a_yes_to_something_else_is_none(app: App, call: Call, era: Era) -> None:
    person = Person()

    def once_more_is_added() -> None:
        if len(person.asked) == 1:
            call("create_task", title="Sweep", project="House")

    person.meanwhile = once_more_is_added
    async with asking(app, era, person) as chat:
        gone = await chat("delete_item", **ALL_OF_IT)

    assert person.asked == [QUESTION, QUESTION.replace("2 tasks", "3 tasks")]
    assert gone.data["trashed"] == 6


@pytest.mark.usefixtures("furnished")
async def test_a_house_that_does_not_stand_still_is_left_alone(app: App, call: Call) -> None:
    person = Person()
    person.meanwhile = lambda: call("create_task", title="Sweep", project="House")

    async with asking(app, "legacy", person) as chat:
        refusal = await chat.refused("delete_item", **ALL_OF_IT)

    assert len(person.asked) == 3
    assert "Move 5 tasks" in refusal.message


@pytest.mark.parametrize(
    ("declared", "asked"),
    [(ElicitationCapability(), 1), (ElicitationCapability(url=UrlElicitationCapability()), 0), (None, 0)],
    ids=["older", "links-only", "none"],
)
@pytest.mark.usefixtures("furnished")
async def test_a_client_is_asked_in_the_way_it_declares(
    app: App, era: Era, declared: ElicitationCapability | None, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ClientSession, "_build_capabilities", lambda *_: ClientCapabilities(elicitation=declared))
    person = Person()

    async with asking(app, era, person) as chat:
        await chat.raw("delete_item", **ALL_OF_IT)

    assert len(person.asked) == asked


async def broken(*_: Any) -> Any:
    """Fail to show a question."""
    raise RuntimeError("no window")


@pytest.mark.usefixtures("furnished")
async def test_a_client_that_fails_to_ask_is_told_the_question(app: App) -> None:
    async with Client(build_server(app), mode="legacy", elicitation_handler=broken) as client:
        refusal = await Chat(client).refused("delete_item", **ALL_OF_IT)

    assert refusal.code == "confirmation_needed"


@pytest.mark.usefixtures("furnished")
async def test_a_client_of_today_that_fails_to_ask_has_changed_nothing(app: App, rows: Rows) -> None:
    before = rows()

    async with Client(build_server(app), elicitation_handler=broken) as client:
        with pytest.raises(McpError, match="no window"):
            await client.call_tool("delete_item", ALL_OF_IT)

    assert rows() == before


@pytest.mark.usefixtures("furnished")
async def test_a_confirmed_call_that_is_repeated_with_its_key_is_done_once(either: Chat) -> None:
    await either.refused("delete_item", **ALL_OF_IT, idempotency_key="k1")
    first = await either("delete_item", **ALL_OF_IT, idempotency_key="k1", confirm=True)

    again = await either("delete_item", **ALL_OF_IT, idempotency_key="k1")

    assert (again.data, again.metadata["repeated"]) == (first.data, True)


@pytest.mark.usefixtures("furnished")
async def test_what_was_agreed_to_and_done_is_not_asked_again(app: App, era: Era) -> None:
    person = Person()

    async with asking(app, era, person) as chat:
        for _ in range(2):
            await chat("delete_item", **ALL_OF_IT, idempotency_key="k1")

    assert person.asked == [QUESTION]


@pytest.mark.usefixtures("furnished")
async def test_a_step_of_a_batch_says_for_itself_that_the_person_agreed(app: App, era: Era, rows: Rows) -> None:
    before, person = rows(), Person()
    steps: list[dict[str, Any]] = [
        {"tool": "create_task", "args": {"title": "Rest"}},
        {"tool": "delete_item", "args": ALL_OF_IT},
    ]

    async with asking(app, era, person) as chat:
        refusal = await chat.refused("batch", operations=steps, idempotency_key="k1")
        assert rows() == before
        steps[1]["args"] = ALL_OF_IT | {"confirm": True}
        await chat("batch", operations=steps, idempotency_key="k1")

    assert refusal.message == f"Step 1 (delete_item): {QUESTION} No step of the batch was kept."
    assert "confirm=true among the args of this step" in refusal.hint
    assert person.asked == []


@pytest.mark.usefixtures("furnished")
async def test_a_step_that_stands_alone_tells_that_it_waits_for_a_yes(chat: Chat) -> None:
    steps = [{"tool": "delete_item", "args": ALL_OF_IT}, {"tool": "create_task", "args": {"title": "Rest"}}]

    answer = await chat("batch", operations=steps, atomic=False)

    assert [result["ok"] for result in answer.data["results"]] == [False, True]
    assert answer.data["results"][0]["error"]["code"] == "confirmation_needed"


@pytest.mark.usefixtures("furnished")
async def test_a_yes_after_many_refusals_is_no_loop(chat: Chat) -> None:
    for _ in range(8):
        await chat.refused("delete_item", **ALL_OF_IT)

    await chat("delete_item", **ALL_OF_IT, confirm=True)


@pytest.mark.usefixtures("furnished")
async def test_the_person_may_change_their_mind(app: App, era: Era) -> None:
    person = Person("decline")

    async with asking(app, era, person) as chat:
        for _ in range(7):
            await chat.refused("delete_item", **ALL_OF_IT)
        person.action = "accept"

        assert (await chat("delete_item", **ALL_OF_IT)).data["trashed"] == 5


@pytest.mark.usefixtures("furnished")
async def test_the_log_tells_that_the_person_was_asked_and_said_no(app: App, call: Call, era: Era) -> None:
    async with asking(app, era, Person("decline")) as chat:
        await chat.refused("delete_item", **ALL_OF_IT)

    app.recorder.flush()
    lines = [line for line in call("calls.list").data if line["name"] == "delete_item"]
    assert [line["code"] for line in lines] == ["declined", "confirmation_needed"]


async def test_only_what_may_ask_takes_confirm(chat: Chat) -> None:
    tools = await chat.client.list_tools()

    confirming = {tool.name for tool in tools if "confirm" in tool.input_schema["properties"]}
    assert confirming == {"delete_item", "undo", "run_code", "run_script"}


@pytest.mark.usefixtures("furnished")
async def test_a_script_that_confirms_for_the_person_runs_only_after_their_yes(app: App, era: Era, rows: Rows) -> None:
    before, person = rows(), Person("decline")
    code = 'sdk.projects.delete("House", items="trash", confirm=True)'

    async with asking(app, era, person) as chat:
        refusal = await chat.refused("run_code", code=code)
        assert rows() == before
        person.action = "accept"
        await chat("run_code", code=code)

    assert refusal.code == "declined"
    assert len(person.asked) == 2
    assert "sdk.projects.delete('House', items='trash', confirm=True)" in person.asked[0]
    assert rows() != before


def test_a_question_takes_what_its_operation_takes(app: App) -> None:
    asking_ones = [item.operation for item in app.calls.operation_arguments if item.operation.asks]

    assert len(asking_ones) > 10
    for operation in asking_ones:
        assert operation.plan is not None
        planned = dict(inspect.signature(operation.plan).parameters)
        takes_more = planned.pop("_", None) is not None
        own = inspect.signature(operation.call).parameters
        assert all(parameter == own[name] for name, parameter in planned.items()), operation.name
        assert takes_more or planned == dict(own), operation.name
        # A backup and an export change no data, so nothing can come in between. What forgets in steps cannot be one
        # transaction; no client can call it, and what comes into the trash meanwhile is too young for it.
        # A script is not one transaction; the question is about its text, which is among the arguments or was kept.
        in_steps = ("models.remove", "purge", "backup", "export", "run_code", "run_script", "scripts.save")
        assert operation.transactional or operation.name in in_steps
