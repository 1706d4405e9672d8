"""Chapter 22: what proves useful is kept. A script is saved, run by name, approved by a person, and becomes a tool."""

from collections.abc import Callable
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.exceptions import McpError
from mcp.types import ElicitResult as Answered

from panorama.app import App
from panorama.calls import Answer
from panorama.mcp.server import build_server
from tests.conftest import ERAS, Chat, Era
from tests.kept import COUNTING, Person, changed_text_ends_it, put
from tests.listeners import TOOLS, listening

pytestmark = pytest.mark.anyio

MARKING = '''"""Mark what is late as urgent."""

from datetime import date
from typing import Literal


def main(before: date, how: Literal["urgent", "important"] = "urgent", most: int = 50) -> list[str]:
    """Return the titles.

    Args:
        before: Only what was due before this day.
    """
    late = [task for task in sdk.tasks.list(status="todo") if task.deadline and task.deadline < before.isoformat()]
    for task in late[:most]:
        sdk.tasks.update(task, **{how: True})
    return [task.title for task in late[:most]]
'''
Call = Callable[..., Answer]


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    """Each protocol era in turn."""
    return request.param


@pytest.fixture
def toolsets() -> tuple[str, ...]:
    """The tool that promotes a script is listed."""
    return ("default", "more")


class AnsweringUser:
    """Someone at a client that can ask; answers each question in the same way."""

    def __init__(self, action: Any = "accept") -> None:
        self.action = action
        self.questions: list[str] = []

    async def answer(self, message: str, *_: Any) -> ElicitResult[dict[str, Any]]:
        """Answer a question."""
        self.questions.append(message)
        return ElicitResult(action=self.action, content={"value": True} if self.action == "accept" else None)


async def tools(chat: Chat) -> list[str]:
    """List the tools that are scripts."""
    return [tool.name for tool in await chat.client.list_tools() if tool.name.startswith("script_")]


async def test_what_a_script_takes_is_known_and_checked_before_it_runs(either: Chat) -> None:
    await either("create_task", title="Order tiles", deadline="2026-05-18")
    saved = await either("save_script", name="mark_late", code=MARKING)

    ran = await either("run_script", script="mark_late", args={"before": "today"}, dry_run=True)
    refusal = await either.refused("run_script", script="mark_late", args={"before": "soon", "how": "loud", "x": 1})

    assert saved.data["parameters"] == "before, how='urgent', most=50"
    assert ran.data["result"] == ["Order tiles"]
    assert ran.summary.startswith("Draft mark_late: dry run x_")
    assert all(
        word in refusal.message for word in ("before", "how must be one of 'urgent', 'important'", "x is not one")
    )


async def test_a_run_that_proved_useful_is_kept_with_its_inputs(either: Chat) -> None:
    run = await either("run_code", code="return title.upper()", inputs={"title": "tea"})

    await either("save_script", name="shout", run=run.data["run_id"], summary="Shout")

    assert (await either("run_script", script="shout", args={"title": "milk"})).data["result"] == "MILK"


async def test_a_person_approves_in_the_client_and_a_tool_comes(app: App, era: Era) -> None:
    person = AnsweringUser()
    async with Client(build_server(app), mode=era, elicitation_handler=person.answer) as client:
        chat = Chat(client)
        await chat("save_script", name="mark_late", code=MARKING)
        before = await tools(chat)

        answer = await chat("promote_script", script="mark_late")

        tool = next(listed_tool for listed_tool in await client.list_tools() if listed_tool.name == "script_mark_late")
        ran = await chat("script_mark_late", before="2026-06-01")
    assert (before, answer.data["tool"]) == ([], "script_mark_late")
    assert "writes: tasks.update" in person.questions[0]
    assert len(person.questions) == 1
    assert tool.description == "Mark what is late as urgent."
    assert tool.input_schema["properties"]["how"] == {
        "type": "string", "enum": ["urgent", "important"], "default": "urgent",
    }  # fmt: skip
    assert tool.input_schema["required"] == ["before"]
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint is False
    assert ran.data["result"] == []


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_without_a_yes_it_stays_a_draft(app: App, era: Era, action: str) -> None:
    async with Client(build_server(app), mode=era, elicitation_handler=AnsweringUser(action).answer) as client:
        chat = Chat(client)
        await chat("save_script", name="mark_late", code=MARKING)

        refusal = await chat.refused("promote_script", script="mark_late")

        assert refusal.code == "declined"
        assert (await chat("list_scripts", state="draft")).data[0]["name"] == "mark_late"
        assert await tools(chat) == []


async def test_a_client_that_cannot_ask_is_told_to_use_the_terminal(either: Chat) -> None:
    await either("save_script", name="mark_late", code=MARKING)

    refusal = await either.refused("promote_script", script="mark_late")

    assert refusal.code == "confirmation_needed"
    assert "`panorama scripts review mark_late` in a terminal" in refusal.hint
    assert "confirm=true" not in refusal.text
    assert await tools(either) == []


async def test_a_tool_that_only_reads_says_so(app: App, chat: Chat) -> None:
    put(app, "count", COUNTING)
    Person(app).promotes("count", read_only=True)

    tool = next(listed_tool for listed_tool in await chat.client.list_tools() if listed_tool.name == "script_count")

    assert tool.annotations is not None
    assert (tool.annotations.read_only_hint, tool.title) == (True, "Script count")
    assert "idempotency_key" not in tool.input_schema["properties"]
    assert {"data", "summary", "metadata"} <= set((tool.output_schema or {})["properties"])


async def test_a_tool_whose_script_writes_nothing_is_not_asked_about_as_if_it_did(app: App, era: Era) -> None:
    person = AnsweringUser()
    async with Client(build_server(app), mode=era, elicitation_handler=person.answer) as client:
        chat = Chat(client)
        await chat("save_script", name="count", code=COUNTING)
        await chat("promote_script", script="count")

        tool = next(listed_tool for listed_tool in await client.list_tools() if listed_tool.name == "script_count")
        ran = await chat("script_count")
    assert person.questions[0].startswith("Make the script count a tool for your assistants, which only reads?")
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint is True
    assert not {"dry_run", "idempotency_key"} & set(tool.input_schema["properties"])
    assert ran.data["result"] == 0


@pytest.mark.parametrize(
    "body",
    ["getattr(sdk, 'tasks').list()", "sdk.state.update(x=1)", "sdk.scripts.count()", "sdk.files.write('a.txt', 'x')"],
)
async def test_a_tool_that_could_write_is_asked_about_as_one_that_does(app: App, chat: Chat, body: str) -> None:
    put(app, "sly", f'"""Count."""\n\n\ndef main():\n    return {body}\n')
    asked = await chat.refused("promote_script", script="sly")
    Person(app).promotes("sly")

    tool = next(listed_tool for listed_tool in await chat.client.list_tools() if listed_tool.name == "script_sly")

    assert "which can change your data" in asked.message
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint is False


@changed_text_ends_it
async def test_every_connected_client_hears_of_a_new_tool_and_of_its_end(app: App, era: Era) -> None:
    path = put(app, "count", COUNTING)
    server = build_server(app)
    async with listening(server, era) as one, listening(server, "auto") as other:
        Person(app).promotes("count")
        for item in (one, other):
            await item.until(TOOLS)
            item.heard.clear()
        there = await tools(one.chat), await tools(other.chat)

        path.write_text(COUNTING + "# other\n")
        gone = await tools(one.chat)
        for item in (one, other):
            await item.until(TOOLS)
        left = await tools(other.chat)

    assert there == (["script_count"], ["script_count"])
    assert (gone, left) == ([], [])


@changed_text_ends_it
async def test_a_changed_text_is_refused_at_the_next_call(app: App, either: Chat) -> None:
    path = put(app, "count", COUNTING)
    Person(app).promotes("count")
    before = await either("script_count")
    path.write_text(COUNTING.replace("return len", "sdk.tasks.create('x')\n    return len"))

    refusal = await either.refused("script_count")

    assert before.data["result"] == 0
    assert "its script was changed" in refusal.message
    assert (await either("list_tasks")).data == []


async def test_the_list_of_tools_is_the_same_for_all_and_in_one_order(app: App) -> None:
    for name in ("zebra", "ant", "mole"):
        put(app, name, COUNTING)
        Person(app).promotes(name)
    seen = []

    for item in (*ERAS, *ERAS):
        async with Client(build_server(app), mode=item) as client:
            seen.append([tool.name for tool in await client.list_tools()])

    assert all(entry == seen[0] for entry in seen)
    assert seen[0][-3:] == ["script_ant", "script_mole", "script_zebra"]


async def test_a_tool_is_called_by_its_script_too(app: App, either: Chat) -> None:
    put(app, "count", COUNTING)
    Person(app).promotes("count")
    await either("create_task", title="Tea")

    in_a_script = await either("run_code", code="return sdk.scripts.count()")
    in_a_batch = await either("batch", operations=[{"tool": "script_count"}], atomic=False)

    assert in_a_script.data["result"] == 1
    assert in_a_batch.data["results"][0]["data"]["result"] == 1


async def test_what_was_done_again_and_again_is_suggested(app: App, either: Chat) -> None:
    for title in ("a", "b", "c"):
        await either("run_code", code=f"sdk.tasks.create({title!r})")
    app.recorder.flush()

    answer = await either("list_scripts", suggest=True)
    review = await either("weekly_review")

    assert answer.summary == "1 thing is worth a script"
    assert "ran 3 times and cost" in answer.text
    assert "Worth a script" in review.text


async def test_a_question_about_one_text_is_not_answered_for_another(app: App) -> None:
    path = put(app, "count", COUNTING)
    person = AnsweringUser()
    async with Client(build_server(app), elicitation_handler=person.answer) as client:
        asked = await client.session.call_tool("promote_script", {"script": "count"}, allow_input_required=True)
        path.write_text(MARKING)
        answers = {"confirmation": Answered(action="accept", content={"value": True})}
        again = await client.session.call_tool(
            "promote_script", {"script": "count"}, input_responses=answers,
            request_state=getattr(asked, "request_state", None), allow_input_required=True,
        )  # fmt: skip
        with pytest.raises(McpError):
            await client.session.call_tool(
                "promote_script", {"script": "count"}, input_responses=answers, request_state="yes",
                allow_input_required=True,
            )  # fmt: skip

        assert type(again).__name__ == "InputRequiredResult"
        assert await tools(Chat(client)) == []
