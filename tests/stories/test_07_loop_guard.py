"""Chapter 7: a client that runs in circles is told so."""

from collections.abc import Callable

import pytest

from panorama.calls import Answer
from tests.conftest import Chat, StandingClock

pytestmark = pytest.mark.anyio


async def test_the_ninth_same_call_is_refused(chat: Chat) -> None:
    for _ in range(8):
        await chat("list_tasks", view="today")

    refusal = await chat.refused("list_tasks", view="today")

    assert "8 times" in refusal.message
    assert "list_tasks" in refusal.message


async def test_half_a_minute_later_it_passes_again(chat: Chat, clock: StandingClock) -> None:
    for _ in range(8):
        await chat("list_tasks")

    clock.advance(seconds=31)

    await chat("list_tasks")


async def test_nine_calls_spread_over_a_minute_pass(chat: Chat, clock: StandingClock) -> None:
    for _ in range(20):
        clock.advance(seconds=5)
        await chat("list_tasks")


async def test_a_burst_of_different_calls_passes(chat: Chat, call: Callable[..., Answer]) -> None:
    made = [call("create_task", title=f"task {n}").data["id"] for n in range(40)]

    for item in made:
        await chat("get_item", item=item)


async def test_a_burst_of_writes_that_each_do_something_passes(chat: Chat) -> None:
    for _ in range(20):
        await chat("create_task", title="Tea")

    assert (await chat("list_tasks", limit=50)).metadata["total"] == 20


async def test_the_same_question_with_new_answers_passes(chat: Chat) -> None:
    for n in range(20):
        await chat("create_task", title=f"task {n}")
        await chat("list_tasks")


async def test_status_may_be_asked_at_any_time(chat: Chat) -> None:
    for _ in range(30):
        await chat("status")


async def test_the_same_error_again_and_again_is_stopped_too(chat: Chat) -> None:
    for _ in range(8):
        await chat.refused("get_project", project="Nowhere")

    refusal = await chat.refused("get_project", project="Nowhere")

    assert refusal.code != "not_found"
    assert "8 times" in refusal.message


async def test_arguments_in_another_order_are_the_same(chat: Chat) -> None:
    for _ in range(4):
        await chat("list_tasks", limit=5, view="today")
        await chat("list_tasks", view="today", limit=5)

    await chat.refused("list_tasks", limit=5, view="today")


async def test_another_client_is_not_stopped(chat: Chat, other: Chat) -> None:
    for _ in range(8):
        await chat("list_tasks")

    await other("list_tasks")


async def test_steps_of_a_batch_are_not_a_loop(chat: Chat) -> None:
    await chat("create_project", name="House")

    done = await chat("batch", operations=[{"tool": "get_project", "args": {"project": "House"}}] * 20)

    assert done.data["succeeded"] == 20


async def test_a_write_of_its_own_lets_it_ask_again(chat: Chat) -> None:
    for _ in range(8):
        await chat("search", query="quince", mode="keyword")
    await chat("create_note", title="Quince jam", content="Boil it.")

    assert len((await chat("search", query="quince", mode="keyword")).data) == 1


async def test_a_write_that_changes_nothing_any_more_is_refused_all_the_same(chat: Chat) -> None:
    await chat("create_task", title="Tea")
    for _ in range(9):
        await chat("update_task", task="Tea", urgent=True)

    await chat.refused("update_task", task="Tea", urgent=True)


async def test_an_answer_that_says_to_ask_again_may_be_asked_for_again(chat: Chat) -> None:
    await chat("create_note", title="Quince jam")
    for _ in range(12):
        answer = await chat("search", query="preserves", mode="hybrid")

    assert "by words alone" in answer.summary
