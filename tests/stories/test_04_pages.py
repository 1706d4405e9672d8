"""Chapter 4: long lists come in pages, and nothing is lost or told twice between them."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError
from tests.conftest import Chat, ToolAnswer

pytestmark = pytest.mark.anyio


async def pages(chat: Chat, tool: str, **arguments: Any) -> AsyncIterator[ToolAnswer]:
    """Read every page of a list."""
    page = await chat(tool, **arguments)
    yield page
    while cursor := page.metadata.get("next_cursor"):
        page = await chat(tool, **arguments, cursor=cursor)
        yield page


@pytest.fixture
def thirty(call: Callable[..., Answer]) -> list[str]:
    """Thirty tasks, five with each of six deadlines."""
    return [call("create_task", title=f"task {n:02}", deadline=f"+{n // 5}d").data["title"] for n in range(30)]


async def test_pages_together_are_the_whole_list_in_order(chat: Chat, thirty: list[str]) -> None:
    seen = [title async for page in pages(chat, "list_tasks", limit=7) for title in page.titles]

    assert seen == thirty


async def test_a_page_says_how_many_there_are_in_all(chat: Chat, thirty: list[str]) -> None:
    page = await chat("list_tasks", limit=7)

    assert page.metadata["total"] == 30
    assert "7 of 30" in page.summary
    assert f"next_cursor: {page.metadata['next_cursor']}" in page.text


async def test_the_last_page_has_no_cursor(chat: Chat, thirty: list[str]) -> None:
    page = await chat("list_tasks", limit=30)

    assert "next_cursor" not in page.metadata


async def test_a_task_that_is_done_meanwhile_neither_hides_nor_repeats_others(chat: Chat, thirty: list[str]) -> None:
    seen: list[str] = []

    async for page in pages(chat, "list_tasks", limit=7):
        seen += page.titles
        await chat("update_task", task=page.titles[0], status="done")
        await chat("update_task", task=page.titles[-1], status="done")

    assert seen == thirty


async def test_a_task_that_is_begun_meanwhile_neither_hides_nor_repeats_others(chat: Chat, thirty: list[str]) -> None:
    seen: list[str] = []

    async for page in pages(chat, "list_tasks", limit=4):
        seen += page.titles
        await chat("update_task", task=page.titles[-1], status="in_progress")

    assert set(thirty) == set(seen)


async def test_a_note_that_is_deleted_meanwhile_hides_no_other(chat: Chat, call: Callable[..., Answer]) -> None:
    titles = {call("create_note", title=f"note {n}").data["title"] for n in range(12)}
    seen: list[str] = []

    async for page in pages(chat, "list_notes", limit=5):
        seen += page.titles
        await chat("delete_item", item=page.titles[-1])

    assert sorted(seen) == sorted(titles)


@pytest.mark.parametrize(
    ("tool", "arguments", "key"),
    [
        ("list_projects", {}, "id"),
        ("list_notes", {}, "id"),
        ("query", {"collection": "notes"}, "id"),
        ("query", {"collection": "notes", "sort": ["-pinned", "title"]}, "id"),
        ("query", {"collection": "notes", "sort": ["project"]}, "id"),
        ("query", {"collection": "changes"}, "id"),
        ("query", {"collection": "notes", "group_by": ["title"]}, "title"),
        ("search", {"query": "note"}, "id"),
    ],
)
async def test_every_list_is_read_to_its_end(
    chat: Chat, call: Callable[..., Answer], tool: str, arguments: dict[str, Any], key: str
) -> None:
    for n in range(11):
        call("create_project", name=f"project {n}")
        call("create_note", title=f"note {n}", pinned=n % 3 == 0, project=f"project {n}" if n % 2 else "")

    seen = [row[key] async for page in pages(chat, tool, limit=4, **arguments) for row in page.data]

    assert len(seen) == len(set(seen)) == (22 if "changes" in arguments.values() else 11)


async def test_a_history_is_read_to_its_end(chat: Chat, call: Callable[..., Answer]) -> None:
    made = call("create_task", title="0")
    for n in range(1, 10):
        call("update_task", task=made.data["id"], title=str(n))

    seen = [row["version"] async for page in pages(chat, "history", item=made.data["id"], limit=4) for row in page.data]

    assert seen == list(range(10, 0, -1))


async def test_a_page_that_is_not_limited_fits_into_eight_kilobytes(chat: Chat, call: Callable[..., Answer]) -> None:
    for n in range(120):
        call("create_task", title=f"{n} " + "long title " * 15, tags=["one", "two"])

    page = await chat("list_tasks")

    assert len(page.text.encode()) <= 8 * 1024
    assert "next_cursor" in page.metadata


async def test_a_page_of_wide_signs_fits_into_eight_kilobytes(chat: Chat, call: Callable[..., Answer]) -> None:
    for n in range(120):
        call("create_task", title=f"{n} " + "東京会議" * 30)

    page = await chat("list_tasks")

    assert len(page.text) <= 8 * 1024


@pytest.mark.parametrize("detail", ["brief", "full"])
async def test_the_largest_page_stays_under_the_hard_cap(chat: Chat, call: Callable[..., Answer], detail: str) -> None:
    for n in range(300):
        call("create_task", title=f"{n} " + "long title " * 15, notes="story " * 400)

    page = await chat("list_tasks", limit=500, detail=detail)

    assert len(page.text) <= 40_000
    assert len(json.dumps(page.data, ensure_ascii=False)) <= 40_000
    assert "next_cursor" in page.metadata


async def test_a_page_cut_by_its_size_goes_on_where_it_was_cut(chat: Chat, call: Callable[..., Answer]) -> None:
    titles = [call("create_task", title=f"{n:03} " + "x" * 150).data["title"] for n in range(100)]

    seen = [title async for page in pages(chat, "list_tasks") for title in page.titles]

    assert seen == titles


async def test_a_cursor_of_another_question_is_refused(chat: Chat, thirty: list[str]) -> None:
    page = await chat("list_tasks", limit=7)

    refusal = await chat.refused("list_tasks", limit=7, view="today", cursor=page.metadata["next_cursor"])

    assert refusal.code == "invalid_input"
    assert "cursor" in refusal.message


async def test_a_cursor_goes_with_another_limit(chat: Chat, thirty: list[str]) -> None:
    page = await chat("list_tasks", limit=7)

    rest = await chat("list_tasks", limit=100, cursor=page.metadata["next_cursor"])

    assert rest.titles == thirty[7:]


async def test_a_long_body_is_cut_with_its_length_and_a_way_to_read_on(chat: Chat) -> None:
    made = await chat("create_note", title="Long", content="word " * 20_000)

    read = await chat("get_note", note=made.id)

    assert len(read.text) <= 8 * 1024
    assert "100,000" in read.text or "100000" in read.text
    assert str(read.data["end"]) in read.text


async def test_a_long_note_is_read_in_ranges(chat: Chat) -> None:
    content = "".join(f"line {n}\n" for n in range(20_000))
    made = await chat("create_note", title="Long", content=content)
    parts: list[str] = []

    while (at := sum(map(len, parts))) < len(content):
        parts.append((await chat("get_note", note=made.id, start=at, chars=35_000)).data["content"])

    assert "".join(parts) == content


@pytest.mark.parametrize(
    ("tool", "first", "last"),
    [("list_tasks", "due_from", "due_until"), ("list_journal_entries", "first_day", "last_day")],
)
def test_a_period_that_ends_before_it_begins_is_refused(
    call: Callable[..., Answer], tool: str, first: str, last: str
) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        call(tool, **{first: "2026-06-02", last: "2026-06-01"})

    assert refusal.value.message == f"{first} (2026-06-02) is later than {last} (2026-06-01)."
