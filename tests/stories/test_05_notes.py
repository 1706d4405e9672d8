"""Chapter 5: notes are read by heading, added to, and edited without sending them whole."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer
from tests.conftest import Chat

pytestmark = pytest.mark.anyio

TEXT = "# Plan\n\nintro\n\n## Today\n\nbuy tea\n\n### Later\n\ndrink it\n\n## Tomorrow\n\nsleep\n"


@pytest.fixture
async def plan(chat: Chat) -> str:
    """A note with headings."""
    return (await chat("create_note", title="Plan", content=TEXT)).id


async def content(chat: Chat, note: str) -> str:
    """Read a whole note."""
    return str((await chat("get_note", note=note)).data["content"])


async def test_a_note_comes_back_as_it_was_written(chat: Chat, plan: str) -> None:
    assert await content(chat, plan) == TEXT


async def test_a_heading_names_its_section_with_what_stands_under_it(chat: Chat, plan: str) -> None:
    read = await chat("get_note", note=plan, heading="Today")

    assert read.data["content"].strip() == "## Today\n\nbuy tea\n\n### Later\n\ndrink it"


async def test_an_unknown_heading_is_answered_with_those_that_exist(chat: Chat, plan: str) -> None:
    refusal = await chat.refused("get_note", note=plan, heading="Todai")

    assert refusal.code == "not_found"
    assert "Today" in refusal.text


async def test_a_heading_inside_a_code_block_is_none(chat: Chat) -> None:
    await chat("create_note", title="Code", content="# A\n\n```\n# not me\n```\n\nend\n")

    read = await chat("get_note", note="Code", heading="A")

    assert "end" in read.data["content"]


async def test_a_range_is_counted_in_characters(chat: Chat) -> None:
    await chat("create_note", title="Signs", content="äö🙂東京x")

    read = await chat("get_note", note="Signs", start=2, chars=3)

    assert read.data["content"] == "🙂東京"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, TEXT.rstrip("\n") + "\n\nend"),
        ({"position": "top"}, "end\n\n" + TEXT),
    ],
)
async def test_a_block_is_added_at_an_end(chat: Chat, plan: str, arguments: dict[str, Any], expected: str) -> None:
    await chat("append_to_note", note=plan, block="end", **arguments)

    read = await content(chat, plan)

    assert [line for line in read.splitlines() if line] == [line for line in expected.splitlines() if line]


async def test_a_block_is_added_after_a_marker(chat: Chat, plan: str) -> None:
    await chat("append_to_note", note=plan, block="- milk", after_marker="## Today")

    read = await content(chat, plan)

    assert read.index("## Today") < read.index("- milk") < read.index("buy tea")


async def test_a_marker_that_is_missing_or_not_alone_is_refused(chat: Chat, plan: str) -> None:
    missing = await chat.refused("append_to_note", note=plan, block="x", after_marker="## Never")
    twice = await chat.refused("append_to_note", note=plan, block="x", after_marker="## ")

    assert await content(chat, plan) == TEXT
    assert "Never" in missing.text
    assert twice.code != missing.code or twice.message != missing.message


async def test_a_block_that_is_there_already_is_skipped(chat: Chat, plan: str) -> None:
    done = await chat("append_to_note", note=plan, block="buy tea", skip_if_contains="buy tea")

    assert await content(chat, plan) == TEXT
    assert done.data["version"] == 1


async def test_an_edit_replaces_what_occurs_once(chat: Chat, plan: str) -> None:
    await chat("edit_note", note=plan, old_text="buy tea", new_text="buy coffee")

    assert await content(chat, plan) == TEXT.replace("buy tea", "buy coffee")


@pytest.mark.parametrize("block", ["", " \n"])
async def test_a_block_of_nothing_is_refused(chat: Chat, plan: str, block: str) -> None:
    refusal = await chat.refused("append_to_note", note=plan, block=block)

    assert refusal.code == "invalid_input"
    assert await content(chat, plan) == TEXT


@pytest.mark.parametrize("old", ["not there", "##", ""])
async def test_an_edit_of_what_does_not_occur_exactly_once_is_refused(chat: Chat, plan: str, old: str) -> None:
    refusal = await chat.refused("edit_note", note=plan, old_text=old, new_text="x")

    assert refusal.code in ("conflict", "invalid_input", "not_found")
    assert await content(chat, plan) == TEXT


async def test_overlapping_occurrences_are_more_than_one(chat: Chat) -> None:
    await chat("create_note", title="Overlap", content="aXaXa")

    await chat.refused("edit_note", note="Overlap", old_text="aXa", new_text="b")

    assert await content(chat, "Overlap") == "aXaXa"


async def test_content_read_at_an_older_version_is_not_overwritten(chat: Chat, other: Chat, plan: str) -> None:
    read = await chat("get_note", note=plan)
    await other("append_to_note", note=plan, block="theirs")

    refusal = await chat.refused("update_note", note=plan, content="mine", expected_version=read.data["version"])

    assert refusal.code == "conflict"
    assert "theirs" in await content(chat, plan)


async def test_content_read_at_the_newest_version_is_replaced(chat: Chat, plan: str) -> None:
    await chat("update_note", note=plan, content="mine", expected_version=1)

    assert await content(chat, plan) == "mine"


async def test_an_empty_content_clears_a_note(chat: Chat, plan: str) -> None:
    await chat("update_note", note=plan, content="")

    assert not (await chat("get_note", note=plan)).data.get("content")


@pytest.mark.parametrize(
    "text", ["\r\nwindows\r\n", "\ttabs\t", "  spaces  ", "a\u2028b", "\n\n\n", "e\u0301 é", "👩‍👩‍👧 🇩🇪"]
)
async def test_content_is_kept_to_the_character(chat: Chat, text: str) -> None:
    await chat("create_note", title="Exact", content=text)

    assert await content(chat, "Exact") == text


async def test_twenty_appends_at_once_are_all_kept(call: Callable[..., Answer], chat: Chat, plan: str) -> None:
    import anyio

    async with anyio.create_task_group() as group:
        for n in range(20):
            group.start_soon(lambda n=n: chat("append_to_note", note=plan, block=f"<{n}>"))

    read = await content(chat, plan)
    assert all(f"<{n}>" in read for n in range(20))
