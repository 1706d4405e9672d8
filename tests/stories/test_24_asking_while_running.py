"""Chapter 24: a script waits while the user is asked for a call that its text did not show."""

import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastmcp import Client
from fastmcp.exceptions import McpError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.types import CallToolResult, InputRequiredResult, InputResponses
from mcp.types import ElicitResult as Answered
from mcp_types import Request

from panorama.app import App
from panorama.mcp import tasks_extension
from panorama.mcp.questions import waiting_calls
from panorama.mcp.server import build_server
from tests.conftest import ERAS, Chat, Era
from tests.mcp.test_tasks import Task, TaskResult
from tests.services.sources.conftest import Configure, configure
from tests.stored_rows import read_rows
from tests.stories.confirming import Call, Person

__all__ = ["configure"]

pytestmark = pytest.mark.anyio

HIDDEN = 'return getattr(sdk, "crm").add_lead(email="a@example.org").email'
TWICE = 'add = getattr(sdk, "crm").add_lead\nreturn add(email="a").email + add(email="b").email'
FETCHING = 'fetch = getattr(sdk, "crm").fetch\nreturn fetch(url="https://a.example"), fetch(url="https://b.example")'
TOGETHER = """
crm = getattr(sdk, "crm")
return [lead.email for lead in sdk.parallel_map(lambda email: crm.add_lead(email=email), ["a", "b", "c"])]
"""


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    """Each protocol era in turn."""
    return request.param


@pytest.fixture
def log(configure: Configure, tmp_path: Path) -> Path:
    """The file in which the source `crm`, for which there are no rules, notes each call."""
    configure("--log", str(tmp_path / "calls"))
    return tmp_path / "calls"


def _calls(log: Path) -> list[Any]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@asynccontextmanager
async def _talk(app: App, era: Era, person: Person | None) -> AsyncGenerator[Chat]:
    async with Client(build_server(app), mode=era, elicitation_handler=person.answer if person else None) as client:
        yield Chat(client)


async def test_the_user_is_shown_what_a_hidden_call_sends_and_the_script_goes_on(app: App, era: Era, log: Path) -> None:
    person = Person()

    async with _talk(app, era, person) as chat:
        answer = await chat("run_code", code=f'sdk.tasks.create("Tea")\n{HIDDEN}')

    assert answer.data["result"] == "a@example.org"
    assert person.asked == [
        "Let a script call crm.add_lead? It may change something and may reach other people.\n"
        "It sends:\n  email: a@example.org\nA yes applies to such calls in this conversation."
    ]
    assert [row["name"] for row in answer.data["calls"]] == ["tasks.create", "crm.add_lead"]
    assert _calls(log) == [["add-lead", {"email": "a@example.org"}]]


async def test_a_no_refuses_the_call_and_is_not_asked_again_in_this_run(app: App, era: Era, log: Path) -> None:
    person = Person("decline", meanwhile=lambda: time.sleep(1.1))
    code = 'add = getattr(sdk, "crm").add_lead\nreturn [sdk.attempt(add, email=name).error for name in "ab"]'

    async with _talk(app, era, person) as chat:
        answer = await chat("run_code", code=code)

    assert ["did not agree to crm.add_lead" in error for error in answer.data["result"]] == [True, True]
    assert (len(person.asked), _calls(log)) == (1, [])


async def test_a_yes_counts_for_the_conversation(app: App, era: Era, log: Path) -> None:
    person = Person()

    async with _talk(app, era, person) as chat:
        answer = await chat("run_code", code=TWICE)
        await chat("run_code", code=HIDDEN)

    assert answer.data["result"] == "ab"
    assert (len(person.asked), len(_calls(log))) == (1, 3)


async def test_an_address_is_asked_for_each_time(app: App, era: Era, log: Path) -> None:
    person = Person()

    async with _talk(app, era, person) as chat:
        await chat("run_code", code=FETCHING)

    assert ["url: https://a.example" in person.asked[0], "url: https://b.example" in person.asked[1]] == [True, True]
    assert (len(person.asked), len(_calls(log))) == (2, 2)


async def test_a_call_that_may_send_private_data_shows_the_data_each_time(app: App, era: Era, log: Path) -> None:
    person = Person()
    code = 'sdk.tasks.create("secret plan")\n[task] = sdk.tasks.list()\ngetattr(sdk, "crm").add_lead(email=task.title)'

    async with _talk(app, era, person) as chat:
        await chat("run_code", code=code)

    assert "the script has read your data" in person.asked[0]
    assert "email: secret plan" in person.asked[0]
    assert _calls(log) == [["add-lead", {"email": "secret plan"}]]


async def test_calls_side_by_side_ask_one_question(app: App, era: Era, log: Path) -> None:
    person = Person()

    async with _talk(app, era, person) as chat:
        answer = await chat("run_code", code=TOGETHER)

    assert answer.data["result"] == ["a", "b", "c"]
    assert (len(person.asked), len(_calls(log))) == (1, 3)


async def test_a_client_that_cannot_ask_gets_the_command(app: App, era: Era, log: Path) -> None:
    async with _talk(app, era, None) as chat:
        answer = await chat("run_code", code=HIDDEN)

    assert "Ask the user to run `panorama sources allow crm.add_lead`." in answer.data["error"]["hint"]
    assert _calls(log) == []


async def test_the_clock_of_the_script_stands_still_and_others_write_meanwhile(
    app: App, call: Call, era: Era, log: Path
) -> None:
    def think() -> None:
        call("create_task", title="Written meanwhile")
        time.sleep(1.5)

    person, code = Person(meanwhile=think), HIDDEN.replace("return", "email =")

    async with _talk(app, era, person) as chat:
        answer = await chat("run_code", code=f"{code}\nreturn email, len(sdk.tasks.list())", timeout=1)

    assert answer.data["result"] == ["a@example.org", 1]
    assert len(_calls(log)) == 1


async def test_a_run_asks_eight_times_at_most(app: App, era: Era, log: Path) -> None:
    person = Person()
    code = 'fetch = getattr(sdk, "crm").fetch\nfor n in range(20):\n    fetch(url=f"https://{n}.example")'

    async with _talk(app, era, person) as chat:
        answer = await chat("run_code", code=code)

    assert "This run has asked the user 8 questions" in answer.data["error"]["message"]
    assert (len(person.asked), len(_calls(log))) == (8, 8)


async def _begin(client: Client[Any], code: str) -> InputRequiredResult:
    result = await client.session.call_tool("run_code", {"code": code}, allow_input_required=True)
    assert isinstance(result, InputRequiredResult)
    return result


async def _go_on(client: Client[Any], code: str, state: str | None) -> CallToolResult:
    yes: InputResponses = {"confirmation": Answered(action="accept", content={"value": True})}
    result = await client.session.call_tool(
        "run_code", {"code": code}, input_responses=yes, request_state=state, allow_input_required=True
    )
    assert isinstance(result, CallToolResult)
    return result


async def test_an_answer_is_taken_once(app: App, log: Path) -> None:
    async with Client(build_server(app), elicitation_handler=Person().answer) as client:
        asked = await _begin(client, HIDDEN)
        first = await _go_on(client, HIDDEN, asked.request_state)
        again = await _go_on(client, HIDDEN, asked.request_state)

    assert (first.is_error, again.is_error) == (False, True)
    assert "no longer waits for this answer" in str(again.content)
    assert len(_calls(log)) == 1


async def test_an_answer_is_not_good_for_another_script(app: App, log: Path) -> None:
    async with Client(build_server(app), elicitation_handler=Person().answer) as client:
        asked = await _begin(client, HIDDEN)
        with pytest.raises(McpError, match="requestState"):
            await _go_on(client, HIDDEN.replace("a@", "evil@"), asked.request_state)

    assert _calls(log) == []


async def test_a_script_whose_client_never_comes_back_is_ended(
    app: App, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_calls, "ANSWER_SECONDS", 0.3)

    async with Client(build_server(app), elicitation_handler=Person().answer) as client:
        asked = await _begin(client, f'sdk.tasks.create("Tea")\n{HIDDEN}')
        with anyio.fail_after(20):
            while _states(app) != ["cancelled"]:
                await anyio.sleep(0.05)  # until the run has ended
        late = await _go_on(client, f'sdk.tasks.create("Tea")\n{HIDDEN}', asked.request_state)

    assert "no longer waits for this answer" in str(late.content)
    assert _calls(log) == []


def _states(app: App) -> list[str]:
    app.recorder.flush()
    return [status for (status,) in read_rows(app, "SELECT status FROM runs")]


async def test_a_text_may_ask_before_and_while_it_runs(app: App, era: Era, log: Path) -> None:
    person = Person()
    code = f'sdk.crm.fetch(url="https://a.example")\n{HIDDEN}'

    async with _talk(app, era, person) as chat:
        answer = await chat("run_code", code=code)

    assert answer.data["result"] == "a@example.org"
    assert ["Let this script call sources?" in person.asked[0], "Let a script call" in person.asked[1]] == [True, True]
    assert len(_calls(log)) == 2


class _Following(ClientExtension):
    """A client that follows tasks to their end; `tasks` has their ids."""

    identifier = tasks_extension.EXTENSION

    def __init__(self) -> None:
        self.tasks: list[str] = []

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Take tasks."""
        return [ResultClaim(result_type="task", model=Task, resolve=self._follow)]

    async def _follow(self, task: Task, context: ClaimContext) -> CallToolResult:
        self.tasks.append(task.task_id)
        get = Request[Any, Any](method="tasks/get", params={"taskId": task.task_id})
        with anyio.fail_after(30):
            while (await context.session.send_request(get, TaskResult)).status == "working":
                await anyio.sleep(0.05)
        return CallToolResult(content=[], structured_content={"data": {}, "summary": "", "metadata": {}})


async def test_a_call_that_asks_is_answered_and_becomes_no_task(app: App, log: Path) -> None:
    person, follower = Person(), _Following()

    async with Client(build_server(app), elicitation_handler=person.answer, extensions=[follower]) as client:
        answer = await Chat(client)("run_code", code=HIDDEN)

    assert answer.data["result"] == "a@example.org"
    assert (follower.tasks, len(_calls(log))) == ([], 1)


async def test_a_call_that_became_a_task_does_not_ask(
    app: App, call: Call, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks_extension, "GRACE_SECONDS", 0.05)
    person, follower = Person(), _Following()

    async with Client(build_server(app), elicitation_handler=person.answer, extensions=[follower]) as client:
        await client.call_tool_mcp("run_code", {"code": f"sdk.crm.wait(seconds=1)\n{HIDDEN}"})

    assert person.asked == []
    assert "panorama sources allow crm.add_lead" in json.dumps(call("get_job", job=follower.tasks[0]).data)
    assert [name for name, _ in _calls(log)] == ["wait"]
