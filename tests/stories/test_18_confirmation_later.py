"""Chapter 18, its end: an answer that comes later is worth what was asked, and nothing that was not."""

import time
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import McpError
from mcp.types import (
    CallToolResult,
    InputRequiredResult,
    InputResponses,
)
from mcp.types import ElicitResult as Answered

from panorama.app import App
from panorama.mcp.server import build_server
from tests.stories.confirming import ALL_OF_IT, Call, Person, Rows, furnished

__all__ = ["furnished"]

pytestmark = pytest.mark.anyio


async def ask_deletion(app: App) -> InputRequiredResult:
    """Ask for a deletion as a client of today that answers later."""
    async with Client(build_server(app), elicitation_handler=Person().answer) as client:
        result = await client.session.call_tool("delete_item", ALL_OF_IT, allow_input_required=True)
    assert isinstance(result, InputRequiredResult)
    return result


async def answered(app: App, state: str | None, arguments: dict[str, Any] = ALL_OF_IT) -> Any:
    """Answer yes to a question, to a server that may be another one than the one that asked it."""
    yes: InputResponses = {"confirmation": Answered(action="accept", content={"value": True})}
    async with Client(build_server(app), elicitation_handler=Person().answer) as client:
        return await client.session.call_tool(
            "delete_item", arguments, input_responses=yes, request_state=state, allow_input_required=True
        )


@pytest.mark.usefixtures("furnished")
async def test_a_question_survives_a_restart(app: App) -> None:
    question = await ask_deletion(app)

    result = await answered(app, question.request_state)

    assert isinstance(result, CallToolResult)
    assert (result.structured_content or {})["data"]["trashed"] == 5


@pytest.mark.usefixtures("furnished")
async def test_an_answer_counts_once(app: App, call: Call, rows: Rows) -> None:
    question = await ask_deletion(app)
    done = await answered(app, question.request_state)
    call("undo", unit=done.structured_content["metadata"]["undo"])
    before = rows()

    again = await answered(app, question.request_state)

    assert isinstance(again, InputRequiredResult)
    assert rows() == before


@pytest.mark.usefixtures("furnished")
async def test_an_answer_that_comes_after_five_minutes_is_refused(
    app: App, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, question = rows(), await ask_deletion(app)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 301)

    with pytest.raises(McpError, match="Invalid or expired requestState"):
        await answered(app, question.request_state)

    assert rows() == before


@pytest.mark.usefixtures("furnished")
async def test_a_yes_to_a_question_that_was_never_put_is_asked_for(app: App, rows: Rows) -> None:
    before = rows()

    result = await answered(app, None)

    assert isinstance(result, InputRequiredResult)
    assert rows() == before


@pytest.mark.usefixtures("furnished")
async def test_a_forged_state_is_refused(app: App, rows: Rows) -> None:
    before, question = rows(), await ask_deletion(app)
    state = question.request_state or ""

    for forged in ("yes", state[:-4] + "AAAA", state + "A"):
        with pytest.raises(McpError, match="Invalid or expired requestState"):
            await answered(app, forged)

    assert rows() == before


@pytest.mark.usefixtures("furnished")
async def test_the_state_of_another_call_is_refused(app: App, call: Call) -> None:
    call("create_task", title="Dig", project=call("create_project", name="Garden").data["id"])
    question = await ask_deletion(app)

    with pytest.raises(McpError, match="Invalid or expired requestState"):
        await answered(app, question.request_state, {"item": "Garden", "items": "trash"})


@pytest.mark.usefixtures("furnished")
async def test_the_state_of_another_house_is_refused(app: App, rows: Rows) -> None:
    before, question = rows(), await ask_deletion(app)
    (app.settings.home / "state.key").write_bytes(b"k" * 32)

    with pytest.raises(McpError, match="Invalid or expired requestState"):
        await answered(app, question.request_state)

    assert rows() == before
