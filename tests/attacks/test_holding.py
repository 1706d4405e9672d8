"""Clients that hold what others need: jobs that sleep, calls that wait, reads that last."""

import itertools
from collections.abc import Iterator
from typing import Any

import anyio
import anyio.to_thread
import pytest
from fastmcp import Client

from panorama.app import App
from panorama.calls import Conversation
from panorama.domain.paging import PageRequest
from panorama.errors import InvalidInputError
from panorama.mcp.call_threads import call_threads
from panorama.mcp.server import build_server
from panorama.services.jobs.progress import StoppedError, ignore_progress, report_progress_to
from tests.services.queued import Call, ended, job
from tests.services.queued import works as works
from tests.working import JobActivity, at_work, until

SLEEPS = "import time\ntime.sleep(3600)"


@pytest.fixture
def working(app: App) -> Iterator[None]:
    """Somebody who runs jobs; what runs or waits at the end is cancelled."""
    with at_work(app):
        yield
        for item in reversed(app.jobs.list(PageRequest(50), "active").items):  # what waits first
            app.jobs.cancel(item.id)


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


@pytest.mark.parametrize(
    ("operation", "arguments"), [("backup", {}), ("export", {}), ("backups.check", {"path": "@kept"})]
)
def test_long_work_ends_when_its_caller_is_gone_though_nobody_listens_to_its_progress(
    app: App, call: Call, operation: str, arguments: dict[str, str]
) -> None:
    kept = str(call("backup").data["path"])
    who = Conversation(id="v_gone", actor="cli", client="panorama")
    given = {name: kept if value == "@kept" else value for name, value in arguments.items()}

    with report_progress_to(ignore_progress, lambda: True), pytest.raises(StoppedError):
        app.calls.call(operation, given, who)

    assert app.jobs.list(PageRequest(50), "active").items == ()
    assert call("backups.list").data["count"] == 1


async def call_and_ignore(client: Client[Any], tool: str, arguments: dict[str, Any]) -> None:
    """Call a tool whose answer does not matter."""
    await client.call_tool(tool, arguments, raise_on_error=False)


@pytest.mark.anyio
async def test_calls_that_wait_for_a_job_hold_no_worker_thread_and_return_at_its_end(working: None, app: App) -> None:
    sleeping, answers = begin_script(app, "greedy"), []

    async def wait(client: Client[Any]) -> None:
        answers.append(await client.call_tool("get_job", {"job": sleeping, "wait": 50}))

    async with Client(build_server(app)) as client, anyio.create_task_group() as tasks:
        for _ in range(60):
            tasks.start_soon(wait, client)
        with anyio.fail_after(SOON):
            while app.jobs.get_job(sleeping).state != "running" or call_threads().is_busy:
                await anyio.sleep(0.05)
        between = len(answers)
        await anyio.to_thread.run_sync(app.jobs.cancel, sleeping)

    assert (between, len(answers)) == (0, 60)
    assert {answer.structured_content["data"]["state"] for answer in answers} == {"cancelled"}


@pytest.mark.anyio
async def test_a_call_that_waits_reports_the_progress_of_the_job(app: App, works: JobActivity) -> None:
    seen: list[str] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        seen.append(str(message))

    with at_work(app):
        id_ = app.jobs.submit("steps", {"steps": 20})
        async with Client(build_server(app)) as client:
            answer = await client.call_tool("get_job", {"job": id_, "wait": 30}, progress_handler=note)

    assert answer.structured_content
    assert answer.structured_content["data"]["state"] == "succeeded"
    assert seen


@pytest.mark.anyio
async def test_a_wait_that_is_refused_is_refused_at_once(app: App) -> None:
    async with Client(build_server(app)) as client:
        with anyio.fail_after(SOON):
            unknown = await client.call_tool("get_job", {"job": "w_7k3q9xv2mh", "wait": 50}, raise_on_error=False)
            long = await client.call_tool("get_job", {"job": "w_7k3q9xv2mh", "wait": 51}, raise_on_error=False)

    assert "There is no job" in str(unknown.content)
    assert "not 51" in str(long.content)


def test_a_step_of_a_batch_does_not_wait(working: None, app: App, call: Call) -> None:
    sleeping = begin_script(app, "greedy")
    step = {"tool": "get_job", "args": {"job": sleeping, "wait": 50}}

    answer = call("batch", operations=[step, {"tool": "list_tasks"}], atomic=False)

    assert "does not wait as a step of a batch" in str(answer.data)


def test_a_search_stops_between_two_results_when_its_client_has_gone(app: App, call: Call) -> None:
    call("create_note", title="Tea", content="Earl Grey")

    with (
        app.context.database.limit_reads(lambda: True),
        pytest.raises(InvalidInputError, match="was stopped"),
    ):
        call("search", query="Earl Grey")


def test_a_query_of_many_conditions_on_few_long_texts_stops_when_its_client_has_gone(app: App, call: Call) -> None:
    for number in range(3):
        call("create_note", title=f"Long {number}", content="tea and scones\n" * 1_000)
    where = {"or": [{"content": {"contains": f"coffee {number}"}} for number in range(250)]}

    with (
        app.context.database.limit_reads(lambda: True),
        pytest.raises(InvalidInputError, match="was stopped"),
    ):
        call("query", collection="notes", where=where)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "zebra"}),
        ("similar", {"item": "Zoo"}),
        ("related", {"item": "Anna Long"}),
    ],
)
def test_a_read_stops_within_a_long_text_when_its_client_has_gone(
    app: App, call: Call, tool: str, arguments: dict[str, str]
) -> None:
    call("create_person", name="Anna Long")
    call("create_note", title="Long", content="`a` tea and scones\n" * 200_000 + "Anna Long saw a zebra")
    call("create_note", title="Zoo", content="A zebra")
    checks = itertools.count()

    with (
        app.context.database.limit_reads(lambda: next(checks) > 12),
        pytest.raises(InvalidInputError, match="was stopped"),
    ):
        call(tool, **arguments)
