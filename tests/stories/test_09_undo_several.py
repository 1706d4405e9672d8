"""Chapter 9, several writes: undo and redo one after another, and many at once."""

from typing import Any

import pytest

from tests.conftest import Chat
from tests.stories.living import full_house, living

pytestmark = pytest.mark.anyio


async def test_each_undo_goes_one_write_further_back(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")
    await chat("update_task", task=made.id, title="Coffee")
    await chat("create_task", title="Cake")

    states = []
    for _ in range(3):
        await chat("undo")
        states.append(await living(chat))

    assert states == [{"Coffee"}, {"Tea"}, set()]
    assert (await chat.refused("undo")).message == "There is nothing left to undo; nothing was changed."


async def test_each_redo_goes_one_write_forward_again(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")
    await chat("update_task", task=made.id, title="Coffee")
    for _ in range(2):
        await chat("undo")

    states = []
    for _ in range(2):
        await chat("undo", redo=True)
        states.append(await living(chat))

    assert states == [{"Tea"}, {"Coffee"}]
    assert (await chat.refused("undo", redo=True)).message == "There is nothing left to redo; nothing was changed."


async def test_undo_and_redo_go_to_and_fro_any_number_of_times(chat: Chat) -> None:
    house = await full_house(chat)
    await chat("delete_item", item=house.id, items="trash", confirm=True)

    counts = []
    for _ in range(3):
        await chat("undo")
        counts.append(len(await living(chat)))
        await chat("undo", redo=True)
        counts.append(len(await living(chat)))

    assert counts == [5, 0, 5, 0, 5, 0]


async def test_what_was_brought_back_is_the_last_write_again(chat: Chat) -> None:
    await chat("create_task", title="Tea")
    await chat("create_task", title="Cake")
    await chat("undo")
    await chat("undo", redo=True)

    await chat("undo")

    assert await living(chat) == {"Tea"}


async def test_the_last_three_writes_are_taken_back_at_once_and_named(chat: Chat) -> None:
    for title in ("one", "two", "three", "four"):
        await chat("create_task", title=title)

    done = await chat("undo", count=3)

    assert await living(chat) == {"one"}
    assert done.summary == "Took back 3 changes of 3 writes: “four” (create), “three” (create), “two” (create)"
    assert len(done.data["units"]) == 3


async def test_what_was_taken_back_at_once_is_brought_back_at_once(chat: Chat) -> None:
    for title in ("one", "two"):
        await chat("create_task", title=title)
    await chat("undo", count=2)

    done = await chat("undo", redo=True)

    assert await living(chat) == {"one", "two"}
    assert done.summary.startswith("Brought back 2 changes")


async def test_a_write_that_was_brought_back_counts_as_one_of_the_last_three(chat: Chat) -> None:
    for title in ("one", "two", "three", "four"):
        await chat("create_task", title=title)
    await chat("undo")
    await chat("undo", redo=True)

    done = await chat("undo", count=3)

    assert await living(chat) == {"one"}
    assert len(done.data["undone"]) == 3


async def test_an_undo_that_was_brought_back_counts_as_one_of_those_to_redo(chat: Chat) -> None:
    for title in ("one", "two"):
        await chat("create_task", title=title)
    for redo in (False, False, True, False):
        await chat("undo", redo=redo)

    done = await chat("undo", redo=True, count=2)

    assert await living(chat) == {"one", "two"}
    assert len(done.data["undone"]) == 2


async def test_more_writes_than_there_are_are_refused(chat: Chat) -> None:
    await chat("create_task", title="Tea")

    refusal = await chat.refused("undo", count=2)

    assert refusal.message == "Only 1 of 2 writes can be undone; nothing was changed."
    assert await living(chat) == {"Tea"}


@pytest.mark.parametrize("more", [{"count": 2}, {"redo": True}])
async def test_a_unit_does_not_go_with_count_or_redo(chat: Chat, more: dict[str, Any]) -> None:
    made = await chat("create_task", title="Tea")

    refusal = await chat.refused("undo", unit=made.metadata["undo"], **more)

    assert refusal.code == "invalid_input"


@pytest.mark.parametrize("count", [0, -1, 51])
async def test_a_count_is_between_one_and_fifty(chat: Chat, count: int) -> None:
    assert (await chat.refused("undo", count=count)).code == "invalid_input"
