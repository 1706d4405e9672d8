"""Chapter 14: dashboards and the weekly review; every number is the one that a plain loop counts."""

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from panorama.calls import Answer
from tests.conftest import BERLIN, StandingClock

Call = Callable[..., Answer]
TODAY = date(2026, 5, 20)
OPEN = ("todo", "in_progress")


@pytest.fixture
def world(call: Call, clock: StandingClock) -> list[dict[str, Any]]:
    """Forty tasks in three projects, written and completed over eight weeks that end now."""
    dice, end = random.Random(7), clock.moment
    clock.advance(weeks=-8)
    for name in ("Alpha", "Beta", "Quiet"):
        call("create_project", name=name)
    tasks: list[dict[str, Any]] = []
    for number in range(40):
        clock.advance(hours=dice.randint(12, 54))
        deadline = dice.choice(["", *(f"{clock().date() + timedelta(days=days)}" for days in (3, 10, 25, 45))])
        made = call(
            "create_task", title=f"task {number}", project=dice.choice(["Alpha", "Beta", ""]), deadline=deadline
        )
        tasks.append(
            {
                "id": made.data["id"],
                "project": made.data.get("project"),
                "status": "todo",
                "created": clock(),
                "deadline": date.fromisoformat(deadline) if deadline else None,
                "done": None,
                "touched": clock(),
            }
        )
        chosen = dice.choice(tasks)
        status = dice.choice(["done", "in_progress", "cancelled", "idea", "done", "todo"])
        if status != chosen["status"]:
            call("update_task", task=chosen["id"], status=status)
            chosen |= {"status": status, "done": clock() if status == "done" else None, "touched": clock()}
        if number % 9 == 0:
            call("create_note", title=f"note {number}", project=dice.choice(["Alpha", "Beta"]))
    clock.moment = max(end, clock.moment)
    return tasks


def local(moment: datetime) -> date:
    """Return the day of a moment in Berlin."""
    return moment.astimezone(BERLIN).date()


def number(data: dict[str, Any], name: str) -> int:
    """Return a number that may be left out when it is zero."""
    return int(data.get(name, 0))


def overdue(tasks: list[dict[str, Any]], today: date) -> int:
    """Count open tasks whose day is over."""
    return sum(task["status"] in OPEN and bool(task["deadline"]) and task["deadline"] < today for task in tasks)


def counted(tasks: list[dict[str, Any]], today: date) -> dict[str, int]:
    """Count a project's tasks with a plain loop."""
    soon = [
        task
        for task in tasks
        if task["status"] in OPEN and task["deadline"] and today <= task["deadline"] <= today + timedelta(days=3)
    ]
    return {
        "open": sum(task["status"] in OPEN for task in tasks),
        "in_progress": sum(task["status"] == "in_progress" for task in tasks),
        "done": sum(task["status"] == "done" for task in tasks),
        "cancelled": sum(task["status"] == "cancelled" for task in tasks),
        "ideas": sum(task["status"] == "idea" for task in tasks),
        "overdue": overdue(tasks, today),
        "due_soon": len(soon),
    }


def test_the_numbers_of_a_dashboard_are_those_of_a_loop(
    call: Call, world: list[dict[str, Any]], clock: StandingClock
) -> None:
    seen = call("project_dashboard", project="Alpha").data["project"]

    mine = [task for task in world if task["project"] == seen["id"]]
    expected = counted(mine, local(clock()))
    assert {name: number(seen, name) for name in expected} == expected


def test_a_dashboard_counts_what_its_lists_leave_out(call: Call) -> None:
    call("create_project", name="Kitchen")
    for number in range(8):
        call("create_task", title=f"task {number}", project="Kitchen", deadline="2026-05-01" if number < 7 else "")
        call("create_note", title=f"note {number}", project="Kitchen" if number < 6 else "")

    board = call("project_dashboard", project="Kitchen").data

    assert board["more"] == {"next": 3, "overdue": 2, "notes": 1}


def test_the_numbers_of_the_overview_are_those_of_a_loop(
    call: Call, world: list[dict[str, Any]], clock: StandingClock
) -> None:
    rows = call("projects_overview").data["projects"]

    for row in rows:
        mine = [task for task in world if task["project"] == row["id"]]
        expected = counted(mine, local(clock()))
        assert {name: number(row, name) for name in expected} == expected


def test_the_overview_begins_with_the_project_that_needs_attention_most(
    call: Call, world: list[dict[str, Any]]
) -> None:
    seen = call("projects_overview").data

    healths = [number(row, "health") for row in seen["projects"]]
    assert healths == sorted(healths)
    assert seen["unassigned"] == sum(task["status"] in OPEN and not task["project"] for task in world)


def week(tasks: list[dict[str, Any]], first: date, last: date) -> dict[str, int]:
    """Count what a week brought with a plain loop, as it was on its last day."""
    return {
        "completed": sum(task["done"] is not None and first <= local(task["done"]) <= last for task in tasks),
        "created": sum(first <= local(task["created"]) <= last for task in tasks),
    }


def test_the_numbers_of_a_week_are_those_of_a_loop(
    call: Call, world: list[dict[str, Any]], clock: StandingClock
) -> None:
    today = local(clock())

    for back in (0, 7, 21, 40):
        first, last = today - timedelta(days=back + 6), today - timedelta(days=back)
        seen = call("weekly_review", start=str(first), end=str(last)).data
        assert {name: number(seen.get(name, {}), "count") for name in ("completed", "created")} == week(
            world, first, last
        )


def test_what_slipped_and_what_comes_are_those_of_a_loop(
    call: Call, world: list[dict[str, Any]], clock: StandingClock
) -> None:
    last = local(clock())
    due = [task["deadline"] for task in world if task["status"] in OPEN and task["deadline"]]

    seen = call("weekly_review").data

    assert number(seen.get("slipped", {}), "count") == sum(last - timedelta(days=6) <= day < last for day in due)
    assert number(seen.get("due_next_week", {}), "count") == sum(last < day <= last + timedelta(days=7) for day in due)


def test_a_completion_that_was_undone_is_not_in_the_week(call: Call) -> None:
    call("create_task", title="Tea")
    call("update_task", task="Tea", status="done")
    call("undo")

    assert number(call("weekly_review").data.get("completed", {}), "count") == 0


def test_what_is_in_the_trash_counts_nowhere(call: Call) -> None:
    call("create_project", name="House")
    call("create_task", title="Tea", deadline="2026-05-18", project="House")
    call("delete_item", item="Tea")

    assert number(call("project_dashboard", project="House").data["project"], "open") == 0
    assert number(call("weekly_review").data.get("created", {}), "count") == 0


def test_a_day_begins_at_midnight_in_berlin(call: Call, clock: StandingClock) -> None:
    clock.moment = datetime(2026, 5, 20, 22, 30, tzinfo=UTC)
    call("create_task", title="after midnight", status="done")

    assert number(call("weekly_review", start="2026-05-21", end="2026-05-21").data.get("completed", {}), "count") == 1
    assert number(call("weekly_review", start="2026-05-20", end="2026-05-20").data.get("completed", {}), "count") == 0


def test_a_weekly_review_is_the_last_seven_days(call: Call) -> None:
    seen = call("weekly_review").data

    assert (seen["start"], seen["end"]) == ("2026-05-14", "2026-05-20")


def test_a_zero_is_a_number_and_is_told(call: Call) -> None:
    call("create_project", name="House")

    dashboard, week = call("project_dashboard", project="House").data, call("weekly_review").data

    assert (dashboard["project"]["open"], dashboard["project"]["overdue"]) == (0, 0)
    assert (week["completed"]["count"], week["slipped"]["count"]) == (0, 0)


@pytest.mark.parametrize(
    ("late", "notes", "idle_days", "health"),
    [
        (0, 0, 0, 100),
        (1, 0, 0, 92),
        (3, 0, 0, 76),
        (20, 0, 0, 0),
        (2, 3, 0, 90),
        (3, 20, 0, 96),
        (0, 0, 15, 80),
        (2, 0, 15, 64),
    ],
)
def test_health_is_reckoned_as_the_design_says(
    call: Call, clock: StandingClock, late: int, notes: int, idle_days: int, health: int
) -> None:
    call("create_project", name="House")
    for n in range(late):
        call("create_task", title=f"late {n}", deadline="yesterday", project="House")
    for n in range(notes):
        call("create_note", title=f"note {n}", project="House")
    clock.advance(days=idle_days)

    assert number(call("project_dashboard", project="House").data["project"], "health") == health


def test_a_young_project_is_not_inactive(call: Call, clock: StandingClock) -> None:
    call("create_project", name="House")
    clock.advance(days=13)

    assert number(call("project_dashboard", project="House").data["project"], "health") == 100


def test_a_shorter_period_makes_a_project_inactive_sooner(call: Call, clock: StandingClock) -> None:
    call("create_project", name="House")
    call("create_task", title="Tea", project="House")
    clock.advance(days=4)

    assert number(call("project_dashboard", project="House", period_days=3).data["project"], "health") == 80
    assert number(call("project_dashboard", project="House", period_days=5).data["project"], "health") == 100


def test_a_change_of_health_over_the_week_is_told(call: Call, clock: StandingClock) -> None:
    call("create_project", name="House")
    call("create_task", title="Tea", deadline="2026-05-22", project="House")
    clock.advance(days=5)

    row = call("weekly_review").data["projects"][0]

    assert row["change"] == -8


@pytest.mark.parametrize("period", [0, -1, 366])
def test_a_period_outside_a_year_is_refused(call: Call, period: int) -> None:
    from panorama.errors import InvalidInputError

    call("create_project", name="House")

    with pytest.raises(InvalidInputError, match="period_days"):
        call("project_dashboard", project="House", period_days=period)


@pytest.mark.parametrize(("start", "end"), [("2025-05-01", "2026-05-02"), ("2026-05-02", "2026-05-01")])
def test_a_review_of_no_day_or_of_more_than_366_is_refused(call: Call, start: str, end: str) -> None:
    from panorama.errors import InvalidInputError

    call("weekly_review", start="2025-05-01", end="2026-05-01")

    with pytest.raises(InvalidInputError, match="is not 1 to 366 days"):
        call("weekly_review", start=start, end=end)


def test_notes_written_in_the_week_are_counted(call: Call, clock: StandingClock) -> None:
    call("create_note", title="old")
    clock.advance(days=30)
    call("create_note", title="new")
    call("append_to_note", note="old", block="more")

    assert call("weekly_review").data["notes_written"]["count"] == 2
