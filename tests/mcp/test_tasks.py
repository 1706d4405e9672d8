"""Tasks: a client follows a long call as a job, and what it cancels ends quietly."""

import logging
from collections.abc import Sequence
from typing import Any, Literal

import anyio
import pytest
from fastmcp import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import CallToolResult, Request, Result
from pydantic import Field

from panorama.app import App
from panorama.calls import Conversation
from panorama.domain.jobs import JobKind
from panorama.mcp import tasks_extension
from panorama.mcp.server import build_server
from panorama.operation import Operation
from tests.working import JobActivity, at_work

ACTS = "cancel", "get"
SOMEBODY = Conversation(id="v_0000000000", actor="cli", client="tests")
pytestmark = pytest.mark.anyio


class Task(Result):
    """What a call is answered with that became a task."""

    result_type: Literal["task"] = Field(default="task", alias="resultType")
    task_id: str = Field(alias="taskId")


class TaskResult(Result):
    """What is told of a task."""

    status: str


class Cancelling(ClientExtension):
    """A client that follows tasks, and cancels each at once; `ended` tells how they ended."""

    identifier = tasks_extension.EXTENSION

    def __init__(self) -> None:
        self.ended: list[str] = []

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Take tasks."""
        return [ResultClaim(result_type="task", model=Task, resolve=self._cancelled)]

    async def _cancelled(self, task: Task, context: ClaimContext) -> CallToolResult:
        cancel, get = (Request[Any, Any](method=f"tasks/{act}", params={"taskId": task.task_id}) for act in ACTS)
        await context.session.send_request(cancel, Result)
        with anyio.fail_after(20):
            while (answer := await context.session.send_request(get, TaskResult)).status == "working":
                await anyio.sleep(0.01)
        self.ended.append(answer.status)
        return CallToolResult(content=[], structured_content={"data": {}, "summary": "", "metadata": {}})


async def test_a_cancelled_task_ends_without_a_trace_in_the_log(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tasks_extension, "GRACE_SECONDS", 0.05)
    works, follower = stepping(app), Cancelling()

    with at_work(app), caplog.at_level(logging.WARNING, "panorama"):
        async with Client(build_server(app), extensions=[follower]) as client:
            await client.call_tool_mcp("take_steps", {})

    app.recorder.flush()
    logged = app.calls.call("calls.list", {"failed": True}, SOMEBODY).data
    assert (follower.ended, works.now, caplog.text) == (["cancelled"], 0, "")
    assert [(row["name"], row["code"]) for row in logged] == [("take_steps", "cancelled")]


async def test_a_call_that_waited_for_a_place_becomes_a_task_once_it_runs(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_tracked = tasks_extension._call_tracked

    async def call_later(*given: Any) -> Any:
        await anyio.sleep(0.3)
        return await call_tracked(*given)

    monkeypatch.setattr(tasks_extension, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(tasks_extension, "_call_tracked", call_later)
    works, follower = stepping(app), Cancelling()

    with at_work(app):
        async with Client(build_server(app), extensions=[follower]) as client:
            await client.call_tool_mcp("take_steps", {})

    assert (follower.ended, works.now) == (["cancelled"], 0)


def stepping(app: App) -> JobActivity:
    """Offer a tool that takes steps until it is stopped."""
    works = JobActivity()
    step = Operation(
        name="test.steps", call=works.steps, summary=str, policy="write", tool="take_steps", transactional=False,
        long=True, job=JobKind(name="steps", resumable=True),
    )  # fmt: skip
    app.calls.register([step])
    return works
