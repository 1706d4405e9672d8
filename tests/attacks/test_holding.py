"""Clients that hold what others need: jobs that sleep, calls that wait, reads that last."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from fastmcp import Client

from panorama.app import App
from panorama.calls import Conversation
from panorama.domain.paging import PageRequest
from panorama.mcp.server import build_server
from tests.services.queued import Call, ended, job
from tests.working import at_work, until

SLEEPS = "import time\ntime.sleep(3600)"


@pytest.fixture
def working(app: App) -> Iterator[None]:
    """Somebody who runs jobs; what runs or waits at the end is cancelled."""
    with at_work(app):
        yield
        for each in reversed(app.jobs.list(PageRequest(50), "active").items):  # what waits first
            app.jobs.cancel(each.id)


def begin_script(app: App, client: str) -> str:
    """Start a script that sleeps for an hour, and return its job."""
    who = Conversation(id=f"v_{client}", actor="tool", client=client)
    begun = app.calls.call("run_code", {"code": SLEEPS, "timeout": 3600, "background": True}, who)
    return str(begun.data["id"])


def test_scripts_that_sleep_for_an_hour_keep_no_backup_waiting(working: None, app: App, call: Call) -> None:
    sleeping = [begin_script(app, "greedy") for _ in range(3)]
    until(lambda: job(app, sleeping[1]).state == "running")

    backup = call("backup", background=True).data["id"]

    assert ended(app, backup).state == "succeeded"
    assert [job(app, id_).state for id_ in sleeping] == ["running", "running", "queued"]


def test_the_scripts_of_one_client_leave_places_to_others(working: None, app: App) -> None:
    greedy = [begin_script(app, "greedy") for _ in range(6)]
    until(lambda: job(app, greedy[1]).state == "running")

    other = begin_script(app, "modest")

    until(lambda: job(app, other).state == "running", "the other client's script")
    assert [job(app, id_).state for id_ in greedy] == ["running"] * 2 + ["queued"] * 4


def test_a_client_that_waits_gets_its_place_back_when_a_script_of_its_own_ends(working: None, app: App) -> None:
    first, second, third = (begin_script(app, "greedy") for _ in range(3))
    until(lambda: job(app, second).state == "running")

    app.jobs.cancel(first)

    until(lambda: job(app, third).state == "running", "the third script")
    assert job(app, second).state == "running"


SOON = 25.0
"""Seconds after which a call counts as held up, on a machine that is busy."""


@pytest.mark.anyio
async def test_calls_that_wait_for_a_job_hold_up_no_other_call(working: None, app: App) -> None:
    sleeping = begin_script(app, "greedy")

    async with Client(build_server(app)) as client, anyio.create_task_group() as tasks:
        for _ in range(60):
            tasks.start_soon(client.call_tool, "get_job", {"job": sleeping, "wait": 50})
        await anyio.sleep(1)
        with anyio.fail_after(SOON):
            listed = await client.call_tool("list_tasks", {})
        app.jobs.cancel(sleeping)

    assert listed.structured_content == {"summary": "0 tasks", "data": []}


@pytest.mark.anyio
async def test_scripts_that_sleep_hold_up_neither_calls_nor_those_who_wait(working: None, app: App) -> None:
    async with Client(build_server(app)) as client, anyio.create_task_group() as tasks:
        for _ in range(45):
            tasks.start_soon(call_and_ignore, client, "run_code", {"code": SLEEPS, "timeout": 60})
        await anyio.sleep(1)
        with anyio.fail_after(SOON):
            await client.call_tool("create_task", {"title": "Tea"})
            waited = await client.call_tool("get_job", {"job": begin_script(app, "other"), "wait": 1})
        tasks.cancel_scope.cancel()

    assert waited.structured_content
    assert waited.structured_content["data"]["state"] in ("queued", "running")


async def call_and_ignore(client: Client[Any], tool: str, arguments: dict[str, Any]) -> None:
    """Call a tool whose answer does not matter."""
    await client.call_tool(tool, arguments, raise_on_error=False)
