"""How long the work of a call goes on after its client has cancelled it, for the calls that work longest."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from fastmcp import Client

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import Settings
from panorama.daemon.job_scheduler import run_jobs
from panorama.domain.changes import CLI_ACTOR, Origin
from panorama.domain.paging import PageRequest
from panorama.mcp.call_threads import call_threads
from panorama.mcp.server import build_server

from .measure import Board

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800), pytest.mark.anyio]
BAR_SECONDS = 1.0
CANCEL_AFTER_SECONDS = 0.3
GIVE_UP_SECONDS = 60.0
NOTES, TASKS = 300, 1_500
LONG = "Earl Grey and scones at noon. " * 3_000
PERSON = Conversation(id="v_benchmark", actor=CLI_ACTOR, client="benchmark")
UNIT = Origin(
    actor="script", client="benchmark", conversation="", operation="tasks.create", call="x_0000000001",
    unit="x_0000000001",
)  # fmt: skip
SLEEPING = "import time\ntime.sleep(60)"
WRITING = "for n in range(100000): sdk.tasks.create(f'Task {n}')"

Step = tuple[str, str, dict[str, Any]]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """A store with long notes, and a unit of many tasks."""
    settings = Settings(home=tmp_path, timezone="Europe/Berlin", embedder="none", toolsets=("default", "more"))
    with open_app(settings) as app, run_jobs(app):
        for start in range(0, NOTES, 50):
            with app.context.database.transaction(UNIT):
                for number in range(start, start + 50):
                    app.calls.call("create_note", {"title": f"Note {number}", "content": LONG}, PERSON)
        app.calls.call("create_project", {"name": "Garden"}, PERSON)
        for start in range(0, TASKS, 500):
            with app.context.database.transaction(UNIT):
                for number in range(start, start + 500):
                    app.calls.call("create_task", {"title": f"Task {number}", "project": "Garden"}, PERSON)
        yield app


def steps(sleeping_job: str) -> list[Step]:
    """Return the calls, by what they are."""
    unlike = {"or": [{"content": {"contains": f"word{number}"}} for number in range(40)]}
    query = {"collection": "notes", "where": unlike, "count": True}
    return [
        ("query with 40 `contains` over long texts", "query", query),
        ("batch of 100 such queries", "batch", {"operations": [{"tool": "query", "args": query}] * 100}),
        ("create_note of 10 MB", "create_note", {"title": "Large", "content": "- [ ] a [[b]]\n" * 700_000}),
        ("get_job that waits", "get_job", {"job": sleeping_job, "wait": 50}),
        ("script that sleeps", "run_code", {"code": SLEEPING, "timeout": 60}),
        ("script that writes", "run_code", {"code": WRITING, "timeout": 60}),
        ("delete of a project with its tasks", "delete_item", {"item": "Garden", "items": "trash", "confirm": True}),
        ("restore of that project", "restore_item", {"item": "Garden", "items": True}),
        ("undo of a unit", "undo", {"unit": UNIT.unit, "confirm": True, "skip_conflicts": True}),
        ("backup", "create_backup", {}),
        ("export", "export_data", {}),
    ]


async def test_the_work_of_a_cancelled_call(app: App, board: Board) -> None:
    sleeping = app.calls.call("run_code", {"code": SLEEPING, "timeout": 3600, "background": True}, PERSON).data["id"]
    async with Client(build_server(app)) as client:
        for label, tool, arguments in steps(sleeping):
            if tool == "restore_item":  # what was deleted of it before the cancel stays deleted
                app.calls.call("delete_item", {"item": "Garden", "items": "trash", "confirm": True}, PERSON)
            answer, seconds = await cancel(app, client, tool, arguments)
            measured = "ended before" if answer else f"{seconds:.2f} s"
            board.show(f"work after cancel: {label}", f"≤ {BAR_SECONDS:g} s", measured, answer)
    app.jobs.cancel(sleeping)


async def cancel(app: App, client: Client[Any], tool: str, arguments: dict[str, Any]) -> tuple[str, float]:
    """Cancel a call after a moment; return its answer if it had ended, and how many seconds its work went on."""
    ended: list[str] = []

    async def call() -> None:
        answer = await client.call_tool(tool, arguments, raise_on_error=False)
        ended.append(str(getattr(answer.content[0], "text", ""))[:100])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await anyio.sleep(CANCEL_AFTER_SECONDS)
        tasks.cancel_scope.cancel()
    since = time.perf_counter()
    while is_working(app) and time.perf_counter() - since < GIVE_UP_SECONDS:
        await anyio.sleep(0.01)
    return "".join(ended), time.perf_counter() - since


def is_working(app: App) -> bool:
    """Return whether a thread works on a call, or a job runs other than the one that sleeps."""
    running = app.jobs.list(PageRequest(10), "running").items
    return call_threads().is_busy or len(running) > 1
