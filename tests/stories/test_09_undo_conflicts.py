"""Chapter 9, what stands in its way: what others wrote since is told, and never overwritten."""

import pytest

from tests.conftest import Chat
from tests.stories.living import item, living

pytestmark = pytest.mark.anyio


async def test_a_later_change_of_the_same_field_is_a_conflict(chat: Chat) -> None:
    made = await chat("create_task", title="A")
    first = await chat("update_task", task=made.id, title="B")
    second = await chat("update_task", task=made.id, title="C")

    refusal = await chat.refused("undo", unit=first.metadata["undo"])

    assert refusal.code == "conflict"
    assert made.id in refusal.text
    assert second.metadata["undo"] in refusal.text
    assert await living(chat) == {"C"}


async def test_a_later_change_of_another_field_is_none(chat: Chat) -> None:
    made = await chat("create_task", title="A")
    first = await chat("update_task", task=made.id, title="B")
    await chat("update_task", task=made.id, urgent=True)

    await chat("undo", unit=first.metadata["undo"])

    found = await item(chat, made.id)
    assert (found["title"], found["urgent"]) == ("A", True)


async def test_a_later_change_that_was_itself_undone_is_none(chat: Chat) -> None:
    made = await chat("create_task", title="A")
    first = await chat("update_task", task=made.id, title="B")
    await chat("update_task", task=made.id, title="C")
    await chat("undo")

    await chat("undo", unit=first.metadata["undo"])

    assert await living(chat) == {"A"}


async def test_with_a_conflict_nothing_at_all_is_undone(chat: Chat) -> None:
    done = await chat(
        "batch", operations=[{"tool": "create_task", "args": {"title": title}} for title in ("one", "two")]
    )
    await chat("update_task", task="two", title="TWO")

    refusal = await chat.refused("undo", unit=done.metadata["undo"])

    assert refusal.code == "conflict"
    assert await living(chat) == {"one", "TWO"}


async def test_skipping_conflicts_undoes_the_rest_and_tells_what_it_left(chat: Chat) -> None:
    done = await chat(
        "batch", operations=[{"tool": "create_task", "args": {"title": title}} for title in ("one", "two")]
    )
    await chat("update_task", task="two", title="TWO")

    undone = await chat("undo", unit=done.metadata["undo"], skip_conflicts=True)

    assert await living(chat) == {"TWO"}
    assert [conflict["id"] for conflict in undone.data["conflicts"]] == [done.data["results"][1]["data"]["id"]]


async def test_skipping_conflicts_undoes_the_other_fields(chat: Chat) -> None:
    made = await chat("create_task", title="A", notes="old")
    first = await chat("update_task", task=made.id, title="B", notes="new")
    await chat("update_task", task=made.id, title="C")

    await chat("undo", unit=first.metadata["undo"], skip_conflicts=True)

    found = await item(chat, made.id)
    assert (found["title"], found["notes"]) == ("C", "old")


async def test_a_name_that_is_taken_meanwhile_is_a_conflict(chat: Chat) -> None:
    await chat("create_project", name="House")
    renamed = await chat("update_project", project="House", name="Home")
    await chat("create_project", name="House")

    refusal = await chat.refused("undo", unit=renamed.metadata["undo"])

    assert refusal.code == "conflict"
    assert "House" in refusal.text
    assert await living(chat) == {"House", "Home"}


async def test_the_name_of_a_deleted_project_taken_meanwhile_is_a_conflict(chat: Chat) -> None:
    await chat("create_project", name="House")
    gone = await chat("delete_item", item="House")
    await chat("create_project", name="HOUSE")

    refusal = await chat.refused("undo", unit=gone.metadata["undo"])

    assert refusal.code == "conflict"
    assert await living(chat) == {"HOUSE"}


async def test_a_reference_that_is_gone_meanwhile_is_a_conflict(chat: Chat) -> None:
    await chat("create_project", name="House")
    task = await chat("create_task", title="Paint", project="House")
    moved = await chat("update_task", task=task.id, project="")
    await chat("delete_item", item="House")

    refusal = await chat.refused("undo", unit=moved.metadata["undo"])

    assert refusal.code == "conflict"
    assert "project" not in await item(chat, task.id)


async def test_a_project_that_holds_something_by_now_is_not_uncreated(chat: Chat) -> None:
    made = await chat("create_project", name="House")
    await chat("create_task", title="Paint", project="House")

    refusal = await chat.refused("undo", unit=made.metadata["undo"])

    assert refusal.code == "conflict"
    assert await living(chat) == {"House", "Paint"}
