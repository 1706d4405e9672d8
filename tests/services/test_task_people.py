"""Tasks of people: who does one and who it waits for, its start and priority, and repeating from completion."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from tests.conftest import StandingClock

Call = Callable[..., Answer]


@pytest.fixture
def ana(call: Call) -> Any:
    """A person with an alias."""
    return call("people.create", name="Ana", last_name="Kovač", aliases=["Anka"]).data


def test_a_task_names_people_by_any_of_their_names(call: Call, ana: Any) -> None:
    call("tasks.create", title="Order tiles", assignee="Anka")
    call("tasks.create", title="Get the offer", waiting_for="Ana Kovač")

    listed = call("query", collection="tasks", where={"waiting_for": "Anka", "status": "open"})
    assert [row["title"] for row in listed.data] == ["Get the offer"]
    assert listed.metadata["names"] == {ana["id"]: "Ana Kovač"}
    assert "waiting_for=Ana Kovač" in call("items.get", item="Get the offer").text


def test_people_of_tasks_are_found_by_query_and_cleared(call: Call, ana: Any) -> None:
    task = call("tasks.create", title="Order tiles", assignee="Anka", priority=3).data

    found = call("query", collection="tasks", where={"assignee": "Anka", "priority": {"gte": 3}}).data
    call("tasks.update", task="Order tiles", assignee="", priority=0)

    assert [row["id"] for row in found] == [task["id"]]
    assert call("query", collection="tasks", where={"assignee": "Anka"}).data == []
    call("history.undo")
    assert len(call("query", collection="tasks", where={"assignee": "Anka"}).data) == 1


def test_two_people_of_one_name_are_not_chosen_between(call: Call, ana: Any) -> None:
    call("people.create", name="Ana", last_name="Berg", role="Doctor")

    with pytest.raises(ConflictError) as refusal:
        call("tasks.create", title="Call", waiting_for="Ana")
    with pytest.raises(NotFoundError, match="waiting_for: there is no person “Zoe”"):
        call("tasks.create", title="Call", waiting_for="Zoe")

    assert [row["name"] for row in refusal.value.candidates] == ["Ana Kovač", "Ana Berg"]


def test_a_merge_moves_tasks_and_an_undo_brings_them_back(call: Call, ana: Any) -> None:
    twin = call("people.create", name="A. K.").data
    task = call("tasks.create", title="Order tiles", assignee="A. K.", waiting_for="A. K.").data

    merged = call("people.merge", person="A. K.", into="Anka")

    item = call("items.get", item=task["id"]).data["item"]
    assert (item["assignee"], item["waiting_for"]) == (ana["id"], ana["id"])
    assert merged.metadata["hint"] == "1 item refers to “Ana Kovač” now."
    call("history.undo")
    item = call("items.get", item=task["id"]).data["item"]
    assert (item["assignee"], item["waiting_for"]) == (twin["id"], twin["id"])


@pytest.mark.parametrize("priority", [-1, 5])
def test_a_priority_is_0_to_4(call: Call, priority: int) -> None:
    with pytest.raises(InvalidInputError, match=f"priority is {priority}"):
        call("tasks.create", title="Call", priority=priority)


@pytest.mark.parametrize("recurrence", ["every! 3 days", "every 3 days when done", "alle! 3 Tage"])
def test_a_task_that_repeats_from_completion_is_due_counted_from_that_day(
    call: Call, clock: StandingClock, recurrence: str
) -> None:
    task = call("tasks.create", title="Water plants", deadline="2026-05-20", recurrence=recurrence).data
    clock.advance(days=5)

    call("tasks.update", task=task["id"], status="done")

    following = call("tasks.list").data[0]
    assert (following["deadline"], following["recurrence"]) == ("2026-05-28", "FREQ=DAILY;INTERVAL=3")
    assert call("items.get", item=following["id"]).data["item"]["repeat_from"] == "done"


@pytest.mark.parametrize(
    "more", [{"title": "Prune", "recurrence": "every! month"}, {"title": "Prune every! month", "parse": True}]
)
def test_no_next_days_are_announced_if_completion_decides_them(call: Call, more: dict[str, Any]) -> None:
    answer = call("tasks.create", deadline="2026-06-30", **more)

    assert "FREQ=MONTHLY (counted from completion)" in answer.summary + str(answer.metadata)


def test_a_task_that_repeats_from_its_deadline_keeps_its_rhythm(call: Call, clock: StandingClock) -> None:
    task = call("tasks.create", title="Water plants", deadline="2026-05-20", recurrence="every 3 days").data
    clock.advance(days=5)

    call("tasks.update", task=task["id"], status="done")

    assert call("tasks.list").data[0]["deadline"] == "2026-05-26"


def test_a_moment_keeps_its_local_time_when_it_repeats_from_completion(call: Call, clock: StandingClock) -> None:
    task = call("tasks.create", title="Pill", deadline="2026-10-20T08:00", recurrence="every! 7 days").data
    clock.advance(days=155)

    call("tasks.update", task=task["id"], status="done")

    assert call("tasks.list").data[0]["deadline"] == "2026-10-29T08:00+01:00"


def test_a_new_recurrence_says_anew_from_when_it_counts(call: Call) -> None:
    task = call("tasks.create", title="Water plants", recurrence="every! 3 days").data
    call("tasks.update", task=task["id"], recurrence="every friday")
    first = call("items.get", item=task["id"]).data["item"]["repeat_from"]

    call("tasks.update", task=task["id"], repeat_from="done")

    assert (first, call("items.get", item=task["id"]).data["item"]["repeat_from"]) == ("due", "done")


def test_the_start_moves_along_with_the_deadline(call: Call) -> None:
    task = call(
        "tasks.create", title="Report", start_at="2026-05-18", deadline="2026-05-20", recurrence="every week"
    ).data

    call("tasks.update", task=task["id"], status="done")

    following = call("tasks.list").data[0]
    assert (following["start_at"], following["deadline"]) == ("2026-05-25", "2026-05-27")


def test_reminders_do_not_repeat_from_completion(call: Call) -> None:
    with pytest.raises(InvalidInputError, match="cannot count from completion"):
        call("reminders.create", title="Pill", at="2026-06-01T08:00", recurrence="every! 3 days")


def test_an_area_is_never_inactive(call: Call, clock: StandingClock) -> None:
    call("projects.create", name="House", area=True)
    call("projects.create", name="Attic")
    clock.advance(days=30)

    rows = {row["name"]: row for row in call("overview.projects").data["projects"]}

    assert (rows["House"]["inactive"], rows["House"]["health"]) == (False, 100)
    assert (rows["Attic"]["inactive"], rows["Attic"]["health"]) == (True, 80)
