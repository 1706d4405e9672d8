"""Reindexing as a tool: a client that asks for progress hears how far it is."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from fastmcp import Client

from panorama.app import App, open_app
from panorama.config import read_settings
from panorama.mcp.cancellation import MIN_STEP, next_progress
from panorama.mcp.server import build_server
from panorama.services.search import index_sync, reindex
from tests.conftest import Chat, Era

pytestmark = [pytest.mark.anyio, pytest.mark.slow]  # they follow the changes


@pytest.fixture
def following(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """A store with search by meaning that nobody follows, and that tells of every step."""
    monkeypatch.setattr(reindex, "REPORT_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(index_sync, "CHANGES_PER_STEP", 8)
    settings = read_settings(home=home, toolsets=("default", "more"), embedder="static", index_engine="exact")
    with open_app(settings) as app:
        yield app


@pytest.mark.parametrize("era", ["auto", "legacy"])
@pytest.mark.parametrize("scope", ["changes", "everything"])
async def test_progress_only_grows_and_says_how_fast_it_is(following: App, era: Era, scope: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async with Client(build_server(following), mode=era) as client:
        for number in range(30):
            await Chat(client)("create_note", title=f"Jam {number}", content="Quince.")
        result = await client.call_tool("reindex", {"scope": scope}, progress_handler=progress)

    steps = [done for done, _, _ in heard]
    assert (result.structured_content or {})["data"]["embedded"] == 30
    assert all(one < next_ for one, next_ in pairwise(steps))
    assert all(done <= (total or 0.0) for done, total, _ in heard)
    assert heard[-1][0] == heard[-1][1]
    assert any("30 texts embedded" in (message or "") and "a second" in (message or "") for _, _, message in heard)


async def test_a_search_while_meaning_catches_up_may_be_asked_again(following: App) -> None:
    async with Client(build_server(following)) as client:
        chat = Chat(client)
        await chat("create_note", title="Hob", content="Induction.")
        await chat("reindex")
        await chat("create_note", title="Kettle", content="It sings.")
        answers = [await chat("search", query="what sings") for _ in range(12)]

    assert all("1 newer change is searched by words alone so far" in answer.summary for answer in answers)


async def test_a_project_is_found_by_its_name_and_one_that_is_not_there_is_refused(following: App) -> None:
    async with Client(build_server(following)) as client:
        chat = Chat(client)
        await chat("create_project", name="Kitchen")
        await chat("create_note", title="Hob", content="Induction.", project="Kitchen")
        await chat("create_note", title="Elsewhere", content="Nothing.")
        await chat("reindex")
        result = await client.call_tool("reindex", {"project": "Kitchen"})
        refusal = await chat.refused("reindex", project="Nowhere")

    assert (result.structured_content or {})["data"]["items"] == 2  # the project itself, and its note
    assert refusal.code == "not_found"


@pytest.mark.parametrize("expected", [[0] * 5000, [2] * 9, [1, 2, 2, 3], [5, 6]], ids=str)
def test_what_is_told_grows_and_is_never_over_the_total(expected: list[int]) -> None:
    steps = [-MIN_STEP]
    for done in expected:
        steps.append(next_progress(steps[-1], done, 2))

    assert steps == sorted(steps)
    assert max(steps) <= 2
    assert max(expected) < 2 or steps[-1] > 1.9


async def test_without_search_by_meaning_it_is_refused_with_what_to_do(home: Path) -> None:
    with open_app(read_settings(home=home, toolsets=("default", "more"))) as app:
        async with Client(build_server(app)) as client:
            refusal = await Chat(client).refused("reindex")

    assert (refusal.code, refusal.message) == ("unavailable", "Search by meaning is off.")


async def test_a_scope_that_does_not_exist_is_refused(following: App) -> None:
    async with Client(build_server(following)) as client:
        refusal = await Chat(client).refused("reindex", scope="all")

    assert refusal.code == "invalid_input"
