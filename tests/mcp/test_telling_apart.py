"""What a model needs to choose: candidates that differ, few hits, and hints about what is there already."""

import pytest

from tests.conftest import Chat

pytestmark = pytest.mark.anyio


async def test_candidates_of_one_name_differ_in_what_a_person_knows(chat: Chat) -> None:
    await chat("create_project", name="House")
    await chat("create_note", title="Plan", content="Paint the hall first.", project="House")
    await chat("create_note", title="Plan", content="Sow beans.")

    refusal = await chat.refused("get_note", note="Plan")

    assert "project: House" in refusal.text
    assert "begins: Paint the hall first." in refusal.text
    assert "begins: Sow beans." in refusal.text
    assert "created_at: 2026-05-20" in refusal.text


async def test_a_search_gives_ten_rows_unless_asked_for_more(chat: Chat) -> None:
    for number in range(12):
        await chat("create_note", title=f"Tea {number}")

    few, all_ = await chat("search", query="tea"), await chat("search", query="tea", limit=50)

    assert (len(few.data), len(all_.data)) == (10, 12)
    assert few.summary.startswith("10 found, more with next_cursor")
    assert few.metadata["next_cursor"]


async def test_an_exact_title_comes_first(chat: Chat) -> None:
    await chat("create_note", title="Tea", content="x")
    await chat("create_note", title="Tea tea tea", content="tea " * 20)

    assert (await chat("search", query="tea")).titles[0] == "Tea"


async def test_a_link_with_an_address_that_is_there_says_so(chat: Chat) -> None:
    first = await chat("create_link", url="https://example.org", title="Shop")

    again = await chat("create_link", url="example.org")

    assert again.metadata["hint"] == f"Possible duplicate: {first.id} “Shop” has this address."


async def test_the_view_of_today_says_that_it_includes_what_is_overdue(chat: Chat) -> None:
    await chat("create_task", title="Paint", deadline="2026-05-18")

    assert (await chat("list_tasks", view="today")).summary == "1 task (with overdue)"


@pytest.mark.parametrize(
    ("where", "titles"),
    [
        ({"status": "open"}, ["a", "b"]), ({"status": {"ne": "open"}}, ["c"]), ({"status": {"eq": "open"}}, ["a", "b"]),
        ({"status": {"in": ["open", "done"]}}, ["a", "b", "c"]), ({"not": {"status": "open"}}, ["c"]),
    ],
)  # fmt: skip
async def test_query_takes_open_as_list_tasks_does(chat: Chat, where: dict[str, object], titles: list[str]) -> None:
    for title, status in (("a", "todo"), ("b", "in_progress"), ("c", "done")):
        await chat("create_task", title=title, status=status)

    assert sorted((await chat("query", collection="tasks", where=where)).titles) == titles


@pytest.mark.parametrize("query", ['sdk.query("changes")', "who changed what", "audit log"])
async def test_search_sdk_finds_the_collection_of_changes_with_its_fields(chat: Chat, query: str) -> None:
    python = (await chat("search_sdk", query=query)).data["python"]

    assert 'sdk.query("changes")\n    Fields: id' in python


async def test_search_sdk_gives_three_hits_unless_asked_for_more(chat: Chat) -> None:
    assert (await chat("search_sdk", query="overdue tasks")).data["shown"] == 3


async def test_search_sdk_says_shortly_that_nothing_fits(chat: Chat) -> None:
    answer = await chat("search_sdk", query="import from Todoist")

    assert answer.data["shown"] == 0
    assert len(answer.text) < 150
