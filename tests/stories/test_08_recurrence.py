"""Chapter 8: a task that recurs makes its next one when it is completed."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer
from tests.conftest import Chat, StandingClock

pytestmark = pytest.mark.anyio


async def completed(chat: Chat, **fields: Any) -> list[dict[str, Any]]:
    """Complete a recurring task and return the open ones."""
    made = await chat("create_task", title="Water plants", **fields)
    await chat("update_task", task=made.id, status="done")
    return list((await chat("list_tasks", detail="full")).data)


@pytest.mark.parametrize(
    ("rule", "deadline", "following"),
    [
        ("FREQ=DAILY", "2026-05-20", "2026-05-21"),
        ("FREQ=WEEKLY", "2026-05-20", "2026-05-27"),
        ("FREQ=WEEKLY;BYDAY=MO,FR", "2026-05-22", "2026-05-25"),
        ("FREQ=WEEKLY;INTERVAL=2", "2026-05-20", "2026-06-03"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "2026-05-31", "2026-06-30"),
        ("FREQ=MONTHLY;BYDAY=1MO", "2026-06-01", "2026-07-06"),
        ("FREQ=YEARLY", "2026-05-20", "2027-05-20"),
        ("RRULE:FREQ=DAILY", "2026-05-20", "2026-05-21"),
    ],
)
async def test_the_next_one_is_due_as_the_rule_says(chat: Chat, rule: str, deadline: str, following: str) -> None:
    rows = await completed(chat, deadline=deadline, recurrence=rule)

    assert [row["deadline"] for row in rows] == [following]


async def test_the_next_one_is_like_the_last(chat: Chat) -> None:
    await chat("create_project", name="Home")
    kept = {
        "urgent": True,
        "important": True,
        "tags": ["green"],
        "notes": "a little",
        "rank": 3,
        "scheduled_minutes": 10,
    }

    rows = await completed(chat, deadline="today", recurrence="FREQ=DAILY", project="Home", **kept)

    assert {name: rows[0][name] for name in kept} == kept
    assert (rows[0]["title"], rows[0]["status"]) == ("Water plants", "todo")
    assert "project" in rows[0]
    assert "completed_at" not in rows[0]


async def test_the_answer_names_the_next_one(chat: Chat) -> None:
    made = await chat("create_task", title="Water plants", deadline="today", recurrence="FREQ=DAILY")

    done = await chat("update_task", task=made.id, status="done")

    following = (await chat("list_tasks")).data[0]
    assert following["id"] in done.text


async def test_a_rule_comes_to_its_end(chat: Chat) -> None:
    rows = await completed(chat, deadline="2026-05-20", recurrence="FREQ=DAILY;UNTIL=20260520")

    assert rows == []


async def test_a_counted_rule_makes_as_many_as_it_counts(chat: Chat) -> None:
    await chat("create_task", title="Pill", deadline="2026-05-20", recurrence="FREQ=DAILY;COUNT=3")
    done = 0

    while rows := (await chat("list_tasks")).data:
        await chat("update_task", task=rows[0]["id"], status="done")
        done += 1
        assert done <= 3

    assert done == 3


async def test_a_moment_keeps_its_hour_when_the_clocks_change(chat: Chat) -> None:
    rows = await completed(chat, deadline="2026-10-21T09:00", recurrence="FREQ=WEEKLY")

    assert rows[0]["deadline"] == "2026-10-28T09:00+01:00"


async def test_a_rule_without_a_deadline_counts_from_today(chat: Chat) -> None:
    rows = await completed(chat, recurrence="FREQ=DAILY")

    assert len(rows) == 1


async def test_the_next_one_of_a_late_task_is_not_late_already(chat: Chat, clock: StandingClock) -> None:
    made = await chat("create_task", title="Water plants", deadline="2026-05-20", recurrence="FREQ=WEEKLY")
    clock.advance(days=30)

    await chat("update_task", task=made.id, status="done")

    assert (await chat("list_tasks")).data[0]["deadline"] == "2026-06-24"


async def test_completing_twice_makes_one(chat: Chat) -> None:
    made = await chat("create_task", title="Water plants", deadline="today", recurrence="FREQ=DAILY")

    for _ in range(2):
        await chat("update_task", task=made.id, status="done")

    assert (await chat("list_tasks")).metadata["total"] == 1


async def test_cancelling_makes_none(chat: Chat) -> None:
    made = await chat("create_task", title="Water plants", deadline="today", recurrence="FREQ=DAILY")

    await chat("update_task", task=made.id, status="cancelled")

    assert (await chat("list_tasks")).data == []


async def test_undoing_a_completion_takes_the_next_one_back(chat: Chat) -> None:
    made = await chat("create_task", title="Water plants", deadline="today", recurrence="FREQ=DAILY")
    await chat("update_task", task=made.id, status="done")

    await chat("undo")

    assert [row["id"] for row in (await chat("list_tasks")).data] == [made.id]


async def test_completing_anew_after_an_undo_makes_one(chat: Chat) -> None:
    made = await chat("create_task", title="Water plants", deadline="today", recurrence="FREQ=DAILY")
    await chat("update_task", task=made.id, status="done")
    await chat("undo")

    await chat("update_task", task=made.id, status="done")

    assert (await chat("list_tasks")).metadata["total"] == 1


async def test_the_history_of_the_next_one_begins_with_the_completion(chat: Chat, call: Callable[..., Answer]) -> None:
    made = await chat("create_task", title="Water plants", deadline="today", recurrence="FREQ=DAILY")
    done = await chat("update_task", task=made.id, status="done")

    following = (await chat("list_tasks")).data[0]["id"]

    assert (await chat("history", item=following)).data[0]["unit"] == done.metadata["undo"]


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SOMETIMES",
        "every blue moon",
        "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;COUNT=-1",
        "BYDAY=MO",
    ],
)
async def test_a_rule_that_is_none_is_refused(chat: Chat, rule: str) -> None:
    refusal = await chat.refused("create_task", title="Water plants", deadline="today", recurrence=rule)

    assert refusal.code == "invalid_input"
    assert "recurrence" in refusal.message
