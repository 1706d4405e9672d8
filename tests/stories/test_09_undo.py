"""Chapter 9: everything can be taken back, the taking back too."""

from typing import Any

import pytest

from tests.conftest import Chat, StandingClock
from tests.stories.living import full_house, item, living

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_project", {"name": "x"}),
        ("create_task", {"title": "x"}),
        ("create_note", {"title": "x", "content": "text"}),
        ("create_link", {"url": "https://example.org", "title": "x"}),
        ("create_reminder", {"title": "x", "at": "2026-06-01T09:00"}),
    ],
)
async def test_a_creation_is_undone_by_the_trash(chat: Chat, tool: str, arguments: dict[str, Any]) -> None:
    made = await chat(tool, **arguments)

    await chat("undo")

    assert await living(chat) == set()
    assert (await chat.refused("get_item", item=made.id)).code == "not_found"


async def test_an_update_is_undone_field_by_field(chat: Chat) -> None:
    made = await chat("create_task", title="Tea", tags=["a"], deadline="2026-06-01")
    await chat("update_task", task=made.id, title="Coffee", tags=["b"], deadline="")

    await chat("undo")

    found = await item(chat, made.id)
    assert (found["title"], found["tags"], found["deadline"]) == ("Tea", ["a"], "2026-06-01")


async def test_an_undo_is_a_version_on(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")
    await chat("update_task", task=made.id, title="Coffee")

    await chat("undo")

    assert (await item(chat, made.id))["version"] == 3


async def test_an_answer_names_the_unit_to_undo(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")
    await chat("create_task", title="Coffee")

    await chat("undo", unit=made.metadata["undo"])

    assert made.metadata["undo"] in made.text
    assert await living(chat) == {"Coffee"}


async def test_a_completion_is_undone_with_its_moment(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")
    await chat("update_task", task=made.id, status="done")

    await chat("undo")

    found = await item(chat, made.id)
    assert (found["status"], found.get("completed_at")) == ("todo", None)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("append_to_note", {"block": "more"}),
        ("append_to_note", {"block": "more", "position": "top"}),
        ("edit_note", {"old_text": "middle", "new_text": "centre"}),
        ("update_note", {"content": "gone"}),
        ("update_note", {"content": ""}),
        ("update_note", {"title": "Other", "tags": ["t"], "pinned": True}),
    ],
)
@pytest.mark.parametrize("size", [1, 8_000])
async def test_a_note_comes_back_to_the_letter(chat: Chat, tool: str, arguments: dict[str, Any], size: int) -> None:
    content = "first äöü 東京\n" * size + "middle\n" + "last\n" * size
    made = await chat("create_note", title="Plan", content=content)
    before = (await item(chat, made.id))["title"], await whole(chat, made.id)
    await chat(tool, note=made.id, **arguments)

    await chat("undo")

    assert ((await item(chat, made.id))["title"], await whole(chat, made.id)) == before


async def whole(chat: Chat, note: str) -> str:
    """Read a note in ranges that are not cut."""
    chars = (await chat("get_note", note=note)).data["chars"]
    parts = [await chat("get_note", note=note, start=start, chars=10_000) for start in range(0, chars, 10_000)]
    return "".join(part.data["content"] for part in parts)


async def test_deleting_a_project_asks_what_happens_to_its_items(chat: Chat) -> None:
    await full_house(chat)

    refusal = await chat.refused("delete_item", item="House")

    assert "keep" in refusal.hint
    assert "trash" in refusal.hint
    assert "House" in await living(chat)


async def test_an_empty_project_is_deleted_without_a_question(chat: Chat) -> None:
    await chat("create_project", name="House")

    await chat("delete_item", item="House")

    assert await living(chat) == set()


async def test_keeping_a_projects_items_they_lose_the_project(chat: Chat) -> None:
    await full_house(chat)

    await chat("delete_item", item="House", items="keep")

    assert await living(chat) == {"Paint", "Clean", "Colours", "Shop"}
    assert all("project" not in row for row in (await chat("list_tasks")).data)


async def test_trashing_a_projects_items_they_go_with_it(chat: Chat) -> None:
    await full_house(chat)

    await chat("delete_item", item="House", items="trash", confirm=True)

    assert await living(chat) == set()


@pytest.mark.parametrize("items", ["keep", "trash"])
async def test_a_deleted_project_comes_back_with_its_items(chat: Chat, items: str) -> None:
    house = await full_house(chat)
    before = await living(chat)
    await chat("delete_item", item="House", items=items, confirm=True)

    await chat("undo")

    assert await living(chat) == before
    assert sorted((await chat("list_tasks", project=house.id)).titles) == ["Clean", "Paint"]
    assert (await chat("list_notes", project=house.id)).titles == ["Colours"]


async def test_what_was_in_the_trash_before_stays_there(chat: Chat) -> None:
    await full_house(chat)
    await chat("delete_item", item="Paint")
    await chat("delete_item", item="House", items="trash", confirm=True)

    await chat("undo")

    assert "Paint" not in await living(chat)


async def test_a_batch_is_undone_as_one(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")
    await chat(
        "batch",
        operations=[
            {"tool": "create_project", "args": {"name": "House"}},
            {"tool": "update_task", "args": {"task": made.id, "title": "Coffee", "project": "$0.data.id"}},
            {"tool": "update_task", "args": {"task": made.id, "title": "Water"}},
        ],
    )

    await chat("undo")

    assert await living(chat) == {"Tea"}
    assert "project" not in await item(chat, made.id)


async def test_one_change_of_a_batch_is_undone_alone(chat: Chat) -> None:
    steps = [{"tool": "create_task", "args": {"title": title}} for title in ("one", "two", "three")]
    done = await chat("batch", operations=steps)
    line = (await chat("history", item=done.data["results"][1]["data"]["id"])).data[0]

    await chat("undo", unit=str(line["change"]))

    assert await living(chat) == {"one", "three"}


async def test_a_batch_that_is_not_atomic_is_undone_as_one(chat: Chat) -> None:
    steps: list[dict[str, Any]] = [{"tool": "create_task", "args": {"title": title}} for title in ("one", "", "three")]
    await chat("batch", operations=steps, atomic=False)

    await chat("undo")

    assert await living(chat) == set()


async def test_the_undo_of_a_creation_is_undone_by_its_unit(chat: Chat) -> None:
    made = await chat("create_note", title="Plan", content="text")
    undone = await chat("undo")

    await chat("undo", unit=undone.metadata["undo"])

    assert (await chat("get_note", note=made.id)).data["content"] == "text"


async def test_the_same_unit_is_not_undone_twice(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")
    await chat("undo", unit=made.metadata["undo"])

    refusal = await chat.refused("undo", unit=made.metadata["undo"])

    assert refusal.code == "conflict"


async def test_undo_without_a_unit_is_about_the_last_write_of_this_conversation(chat: Chat, other: Chat) -> None:
    await chat("create_task", title="mine")
    await other("create_task", title="theirs")

    await chat("undo")

    assert await living(chat) == {"theirs"}


async def test_a_new_conversation_is_offered_the_last_write_of_another_client(chat: Chat, other: Chat) -> None:
    made = await other("create_task", title="theirs")

    refusal = await chat.refused("undo")

    assert refusal.code == "confirmation_needed"
    assert "Take back 1 change and move 1 item to the trash: “theirs” (tasks.create, " in refusal.message
    assert made.metadata["undo"] in refusal.message
    assert await living(chat) == {"theirs"}


async def test_the_write_of_another_client_is_taken_back_once_the_person_agreed(chat: Chat, other: Chat) -> None:
    await other("create_task", title="theirs")
    await chat.refused("undo")

    await chat("undo", confirm=True)

    assert await living(chat) == set()


async def test_after_the_last_write_of_its_own_a_conversation_is_offered_that_of_another(
    chat: Chat, other: Chat
) -> None:
    await other("create_task", title="theirs")
    await chat("create_task", title="mine")
    await chat("undo")

    refusal = await chat.refused("undo")

    assert "“theirs”" in refusal.message
    assert await living(chat) == {"theirs"}


async def test_an_old_write_of_its_own_does_not_hide_a_later_one_of_another(
    chat: Chat, other: Chat, clock: StandingClock
) -> None:
    await chat("create_task", title="mine")
    clock.advance(minutes=11)
    await other("create_task", title="theirs")

    refusal = await chat.refused("undo")

    assert "“theirs”" in refusal.message


async def test_what_another_client_took_back_is_brought_back_after_a_question(chat: Chat, other: Chat) -> None:
    await other("create_task", title="theirs")
    await other("undo")

    assert (await chat.refused("undo", redo=True)).code == "confirmation_needed"
    await chat("undo", redo=True, confirm=True)

    assert await living(chat) == {"theirs"}


async def test_nothing_written_is_nothing_to_undo(chat: Chat) -> None:
    assert (await chat.refused("undo")).code == "not_found"


async def test_reading_or_failing_is_no_write_to_undo(chat: Chat) -> None:
    await chat("create_task", title="Tea")
    await chat("list_tasks")
    await chat.refused("update_task", task="Nobody", title="x")

    await chat("undo")

    assert await living(chat) == set()


async def test_a_write_that_changed_nothing_is_not_the_last_one(chat: Chat) -> None:
    await chat("create_task", title="Tea")
    await chat("update_task", task="Tea", title="Tea")

    await chat("undo")

    assert await living(chat) == set()


async def test_an_unknown_unit_is_not_found(chat: Chat) -> None:
    await chat("create_task", title="Tea")

    refusal = await chat.refused("undo", unit="c_zzzzzzzzzz")

    assert refusal.code == "not_found"
    assert await living(chat) == {"Tea"}


async def test_an_old_write_is_undone_days_later(chat: Chat, clock: StandingClock) -> None:
    made = await chat("create_task", title="Tea")
    clock.advance(days=20)

    await chat("undo", unit=made.metadata["undo"])

    assert await living(chat) == set()


async def test_search_follows_an_undo(chat: Chat) -> None:
    made = await chat("create_note", title="Plan", content="zebra")
    await chat("update_note", note=made.id, content="giraffe")

    await chat("undo")

    assert [row["id"] for row in (await chat("search", query="zebra")).data] == [made.id]
    assert (await chat("search", query="giraffe")).data == []


async def test_a_subtask_comes_back_under_its_parent(chat: Chat) -> None:
    parent = await chat("create_task", title="Move")
    await chat("create_task", title="Pack", parent=parent.id)
    await chat("delete_item", item=parent.id, items="trash")

    await chat("undo")

    assert (await chat("list_tasks", parent=parent.id)).titles == ["Pack"]


async def test_a_journal_entry_is_undone(chat: Chat) -> None:
    await chat("add_journal_entry", text="rain")

    await chat("undo")

    assert (await chat("query", collection="journal")).data == []
