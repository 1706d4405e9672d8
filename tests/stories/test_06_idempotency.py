"""Chapter 6: a call that is repeated with its key is done once."""

from typing import Any

import anyio
import pytest

from tests.conftest import Chat, StandingClock

pytestmark = pytest.mark.anyio


async def count(chat: Chat, collection: str = "tasks") -> int:
    """Count a collection."""
    return int((await chat("query", collection=collection)).metadata["total"])


async def test_the_same_key_and_arguments_answer_with_the_first_result(chat: Chat) -> None:
    first = await chat("create_task", title="Tea", idempotency_key="k1")

    again = await chat("create_task", title="Tea", idempotency_key="k1")

    assert (again.data, again.summary) == (first.data, first.summary)
    assert await count(chat) == 1


async def test_without_a_key_a_repeated_call_is_done_again(chat: Chat) -> None:
    for _ in range(2):
        await chat("create_task", title="Tea")

    assert await count(chat) == 2


async def test_the_same_key_with_other_arguments_is_a_conflict(chat: Chat) -> None:
    await chat("create_task", title="Tea", idempotency_key="k1")

    refusal = await chat.refused("create_task", title="Coffee", idempotency_key="k1")

    assert refusal.code == "conflict"
    assert await count(chat) == 1


async def test_the_same_key_with_another_tool_is_a_conflict(chat: Chat) -> None:
    await chat("create_task", title="Tea", idempotency_key="k1")

    refusal = await chat.refused("create_note", title="Tea", idempotency_key="k1")

    assert refusal.code == "conflict"


async def test_a_key_lasts_for_a_day(chat: Chat, clock: StandingClock) -> None:
    await chat("create_task", title="Tea", idempotency_key="k1")

    clock.advance(hours=23, minutes=59)
    await chat("create_task", title="Tea", idempotency_key="k1")

    assert await count(chat) == 1


async def test_after_a_day_a_key_begins_anew(chat: Chat, clock: StandingClock) -> None:
    await chat("create_task", title="Tea", idempotency_key="k1")

    clock.advance(days=1, seconds=1)
    await chat("create_task", title="Coffee", idempotency_key="k1")

    assert await count(chat) == 2


async def test_a_refused_call_does_not_use_up_its_key(chat: Chat) -> None:
    await chat.refused("create_task", title="", idempotency_key="k1")

    await chat("create_task", title="Tea", idempotency_key="k1")

    assert await count(chat) == 1


async def test_a_repeated_append_is_written_once(chat: Chat) -> None:
    note = await chat("create_note", title="Log", content="begin")

    for _ in range(3):
        await chat("append_to_note", note=note.id, block="line", idempotency_key="k1")

    assert (await chat("get_note", note=note.id)).data["content"].count("line") == 1


async def test_a_repeated_delete_answers_as_the_first(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")
    first = await chat("delete_item", item=made.id, idempotency_key="k1")

    again = await chat("delete_item", item=made.id, idempotency_key="k1")

    assert again.data == first.data


async def test_a_repeated_undo_takes_back_once(chat: Chat) -> None:
    await chat("create_task", title="Tea")
    await chat("create_task", title="Coffee")

    for _ in range(2):
        await chat("undo", idempotency_key="k1")

    assert (await chat("list_tasks")).titles == ["Tea"]


async def test_a_repeated_batch_is_done_once(chat: Chat) -> None:
    steps = [{"tool": "create_task", "args": {"title": f"task {n}"}} for n in range(3)]
    first = await chat("batch", operations=steps, idempotency_key="k1")

    again = await chat("batch", operations=steps, idempotency_key="k1")

    assert again.data == first.data
    assert await count(chat) == 3


async def test_a_repeated_batch_that_is_not_atomic_is_done_once(chat: Chat) -> None:
    steps: list[dict[str, Any]] = [
        {"tool": "create_task", "args": {"title": "good"}},
        {"tool": "create_task", "args": {"title": ""}},
    ]

    for _ in range(2):
        await chat("batch", operations=steps, atomic=False, idempotency_key="k1")

    assert await count(chat) == 1


async def test_ten_calls_at_once_with_one_key_make_one_task(chat: Chat, other: Chat) -> None:
    async with anyio.create_task_group() as group:
        for client in (chat, other) * 5:
            group.start_soon(lambda client=client: client("create_task", title="Tea", idempotency_key="k1"))

    assert await count(chat) == 1


async def test_a_long_key_is_refused(chat: Chat) -> None:
    refusal = await chat.refused("create_task", title="Tea", idempotency_key="k" * 201)

    assert "idempotency_key" in refusal.message
