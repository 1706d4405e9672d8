"""Shipped scripts that change something: they propose first, a second run finds nothing more, undo takes one back."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from tests.conftest import StandingClock
from tests.scripts.conftest import Call, Run, Snapshot

Result = Callable[..., Any]

MINUTES = """
## Actions

- Ask Petra by 2026-06-01 about the tap #kitchen ⏫
- [ ] Pay Ortner’s deposit by Überweisung, €412, reference "Vogt Küche"
- [x] Already done
  - a thought, not an action

## Talk

- no action
TODO: 買い物に行く 📅 2026-13-99
**Action:** Anna sends the slides
```
- [ ] only an example
```
* [ ] 🔼
1. [ ] ANNA sends  the slides!
"""


@pytest.fixture
def messy(call: Call) -> None:
    """Tags as they grow when nobody looks, and minutes with actions in them."""
    call("create_task", title="One", tags=["Kitchen", "Ideas", "kichen", "boxes"])
    call("create_task", title="Two", tags=["idea", "kitchen", "halden-2025"])
    call("create_note", title="Three", tags=["KITCHEN", "box", "halden-2026", "größe"])
    call("create_link", url="example.org", tags=["Halden", "Größe"])
    call("write_file", name="four.txt", text="4", tags=["families"])
    call("create_note", title="Standup", content=MINUTES, tags=["meeting"], project="Kitchen renovation")


CHANGING = {
    "triage_overdue": {"apply": True},
    "plan_day": {"apply": True},
    "tidy_tags": {"apply": True},
    "tasks_from_meeting": {},
    "project_report": {},
    "weekly_review": {"keep": True},
}
changing = pytest.mark.parametrize(("name", "arguments"), CHANGING.items())


# What holds for all of them.


@changing
@pytest.mark.usefixtures("messy")
def test_a_run_can_be_looked_at_first_changes_once_and_is_taken_back_by_one_undo(
    run: Run, call: Call, everything: Snapshot, name: str, arguments: dict[str, Any]
) -> None:
    before = everything()
    looked = run(name, dry_run=True, **arguments)
    assert "error" not in looked
    assert everything() == before

    first = run(name, **arguments)
    second = run(name, **arguments)

    assert first["changes"] == looked["changes"] != {}
    assert everything() != before
    assert second["changes"] == {}
    call("undo", unit=first["run_id"])
    assert everything() == before


@pytest.mark.usefixtures("messy")
def test_without_being_told_to_they_only_propose(result: Result, everything: Snapshot) -> None:
    before = everything()

    results = {name: result(name) for name, arguments in CHANGING.items() if "apply" in arguments}

    assert len(results) == 3
    assert all("Nothing was changed; with `apply`" in text for text in results.values())
    assert everything() == before


# triage_overdue


def test_overdue_tasks_get_days_with_room_the_urgent_first_and_no_weekend(result: Result, call: Call) -> None:
    late = {row["id"] for row in call("list_tasks", view="overdue").data}
    taken = {row["deadline"] for row in call("list_tasks", due_from="today").data}

    text = result("triage_overdue", per_day=1, apply=True)

    rows = [[cell.strip() for cell in line.split("|")[1:5]] for line in text.splitlines()[4:]]
    assert text.startswith("Overdue: 6 tasks. 6 changed.")
    assert rows[0] == ["Send the phase 2 invoice to Halden, €14,400", "2", "do it on Wed 27 May", "urgent, important"]
    assert rows[-1][0].startswith("Take Idris his ladder back")
    assert call("get_item", item="Send the phase 2 invoice to Halden, €14,400").data["item"]["deadline"] == "2026-05-27"
    days = [row["deadline"] for row in call("list_tasks", due_from="today").data if row["id"] in late]
    assert len(set(days)) == len(days) == 6
    assert not taken.intersection(days)
    assert all(date.fromisoformat(day).weekday() < 5 for day in days)


def test_what_is_long_overdue_is_parked_unless_it_weighs_something_or_repeats(
    result: Result, call: Call, clock: StandingClock
) -> None:
    made = {"old": {}, "important": {"important": True}, "begun": {"status": "in_progress"}, "parent": {}}
    for title, more in made.items():
        call("create_task", title=title, deadline="2026-04-02", **more)
    call("create_task", title="part", parent="parent")
    call("create_task", title="weekly", deadline="2026-04-02", recurrence="FREQ=WEEKLY")
    call("create_task", title="timed", deadline="2026-05-20T08:30")

    text = result("triage_overdue", park_after=14, apply=True)

    after = {title: call("get_item", item=title).data["item"] for title in (*made, "weekly", "timed")}
    assert after["old"]["status"] == "idea"
    assert [after[title]["status"] for title in ("important", "begun", "parent")] == ["todo", "in_progress", "todo"]
    assert all(after[title]["deadline"] >= "2026-05-20" for title in ("important", "begun", "parent"))
    assert after["weekly"]["deadline"] == "2026-04-02"
    assert "| weekly | 48 | finish or skip it | it repeats |" in text
    assert after["timed"]["deadline"][:16] > "2026-05-20T10:00"
    assert after["timed"]["deadline"][10:16] == "T08:30"


# tasks_from_meeting


def test_every_line_of_the_sample_is_a_task_already(result: Result) -> None:
    answer = result("tasks_from_meeting")

    assert (answer["notes"], answer["made"], answer["passed_over"]) == (5, [], 5)


@pytest.mark.usefixtures("messy")
def test_action_items_become_tasks_with_days_tags_and_where_they_are_from(result: Result, call: Call) -> None:
    answer = result("tasks_from_meeting", note="Standup")

    note, petra = call("get_note", note="Standup").data, call("get_item", item=answer["made"][0]["id"]).data["item"]
    assert [item["title"] for item in answer["made"]] == [
        "Ask Petra by 2026-06-01 about the tap",
        "買い物に行く",
        "Anna sends the slides",
    ]
    assert (petra["deadline"], petra["tags"], petra["important"]) == ("2026-06-01", ["kitchen"], True)
    assert petra["project"] == note["project"]
    assert petra["notes"].startswith(f"From [[{note['id']}]] “Standup”:\n> Ask Petra")
    assert "deadline" not in answer["made"][1]
    assert answer["passed_over"] == 2


@pytest.mark.usefixtures("messy")
def test_a_line_is_not_made_again_after_its_task_was_renamed_done_or_deleted(
    result: Result, call: Call, clock: StandingClock
) -> None:
    petra, shopping, slides = (item["id"] for item in result("tasks_from_meeting")["made"])
    call("update_task", task=petra, title="The tap")
    call("delete_item", item=shopping)
    clock.advance(days=3)
    call("update_task", task=slides, status="done")

    answer = result("tasks_from_meeting")

    assert answer["made"] == []


@pytest.mark.usefixtures("messy")
def test_after_an_undo_the_lines_can_become_tasks_again(run: Run, call: Call) -> None:
    call("undo", unit=run("tasks_from_meeting")["run_id"])

    assert len(run("tasks_from_meeting")["result"]["made"]) == 3


def test_the_words_of_a_task_that_was_closed_before_the_meeting_are_a_new_task(
    result: Result, call: Call, clock: StandingClock
) -> None:
    call("create_task", title="Buy coffee", status="done")
    clock.advance(days=7)
    call("create_note", title="Monday", content="- [ ] Buy coffee", tags=["meeting"])

    assert [item["title"] for item in result("tasks_from_meeting")["made"]] == ["Buy coffee"]


def test_more_than_fifty_are_made_in_several_runs(result: Result, call: Call) -> None:
    call("create_note", title="Long", content="\n".join(f"- [ ] Item {number}" for number in range(60)))

    first, second = (result("tasks_from_meeting", note="Long") for _ in range(2))

    assert (len(first["made"]), first["note"]) == (50, "50 were made; run it again for the rest.")
    assert (len(second["made"]), second["passed_over"]) == (10, 50)


# tidy_tags


@pytest.mark.usefixtures("messy")
def test_tags_that_mean_the_same_become_the_one_that_is_used_most(result: Result, call: Call) -> None:
    text = result("tidy_tags", apply=True)

    one, three = (call("get_item", item=title).data["item"]["tags"] for title in ("One", "Three"))
    assert sorted(one) == ["box", "idea", "kitchen"]
    assert sorted(three) == ["box", "größe", "halden-2026", "kitchen"]
    assert call("get_item", item="Two").data["item"]["tags"] == ["idea", "kitchen", "halden-2025"]
    assert "| families (1) | family (9) | plural |" in text
    assert "They were changed." in text


@pytest.mark.usefixtures("messy")
def test_one_may_ask_for_less_and_leave_tags_out(result: Result) -> None:
    text = result("tidy_tags", alike="case", leave=["#Halden"])

    assert {line.split("|")[3].strip() for line in text.splitlines()[4:]} == {"case"}
    assert "Halden" not in text


def test_a_spelling_that_has_won_may_win_again_in_the_same_run(result: Result, call: Call) -> None:
    for tag in ("gardening", "gardening", "Gardening", "Gardening", "gardning"):
        call("create_link", url="example.org", tags=[tag])

    assert "gardning (1) | gardening (2) | slip" in result("tidy_tags", apply=True)
    assert result("tidy_tags").startswith("None of ")


# plan_day


def test_the_day_is_filled_around_what_has_a_time(result: Result, call: Call) -> None:
    call("create_task", title="Dentist", scheduled_at="2026-05-20T11:00", scheduled_minutes=60)
    call("create_task", title="Call", urgent=True, scheduled_minutes=15)

    text = result("plan_day", end="13:30", pause=0, minutes=60, apply=True)

    assert text.startswith("# Wednesday 20 May 2026\n\n- 10:00 Send the phase 2 invoice to Halden, €14,400 (60 min)\n")
    assert "- 11:00 Dentist (stands)\n" in text
    assert "- 12:00 Book the ryokan" in text
    assert "- 13:00 Call (15 min)\n" in text
    assert "3 given a time." in text
    assert call("get_item", item="Call").data["item"]["scheduled_at"] == "2026-05-20T13:00+02:00"


def test_when_the_hours_are_over_it_plans_tomorrow(result: Result, clock: StandingClock) -> None:
    clock.advance(hours=9)

    assert result("plan_day").startswith("# Thursday 21 May 2026\n\n- 09:00 ")
    assert "- 09:00 " not in result("plan_day", day=date(2026, 5, 20))


NONSENSE = [
    ("weekly_review", {"days": 0}, "days is 0; give 1 to 366."),
    ("weekly_review", {"end": date(2190, 12, 31)}, "end is 2190-12-31; give a day within ten years of today."),
    ("weekly_review", {"project": "Kitchn renovation"}, "there is no project “Kitchn renovation”"),
    ("duplicate_notes", {"likeness": 5}, "likeness is 5; give 30 to 100."),
    ("stale_projects", {"days": 0}, "days is 0; give 1 to 3650."),
    ("plan_day", {"begin": "25:00"}, "begin is '25:00'; give a time of day, as 09:00."),
    ("plan_day", {"begin": "17:00", "end": "09:00"}, "end comes after begin"),
    ("plan_day", {"minutes": 0}, "minutes are 5 to 480"),
    ("plan_day", {"day": date(2026, 5, 19)}, "2026-05-19 is not within a year from today."),
    ("triage_overdue", {"per_day": 0}, "give at least 1"),
    ("tasks_from_meeting", {"days": 0}, "days is 0; give 1 to 3650."),
    ("tasks_from_meeting", {"note": "Nowhere at all"}, "there is no note “Nowhere at all”"),
]


def test_nonsense_is_refused_in_words(refusal: Callable[..., str]) -> None:
    messages = {said: refusal(name, **arguments) for name, arguments, said in NONSENSE}

    assert [said for said, message in messages.items() if said not in message] == []


def test_actions_and_next_steps_of_sessions_become_tasks_once(result: Result, call: Call) -> None:
    lines = [{"type": "action", "text": "Order the hob by 2026-06-01"}, "Looked at tiles"]
    lines += [{"type": "next_step", "text": "Call Ben"}, {"type": "next_step", "text": "Call Ana", "revises": 3}]
    session = call("log_session", title="Kick-off", lines=lines).data["id"]

    first, second = (result("tasks_from_meeting", session="Kick-off") for _ in range(2))

    task = call("get_item", item=first["made"][0]["id"]).data["item"]
    assert [item["title"] for item in first["made"]] == ["Order the hob by 2026-06-01", "Call Ana"]
    assert (task["deadline"], task["notes"].startswith(f"From [[{session}]] “Kick-off”:")) == ("2026-06-01", True)
    assert (second["made"], second["passed_over"], second["sessions"]) == ([], 2, 1)


def test_a_day_is_planned_around_its_events(result: Result, call: Call) -> None:
    call("create_event", title="Tiler", starts_at="2026-05-21T09:00", ends_at="11:00")
    call("create_event", title="Cancelled", starts_at="2026-05-21T13:00", status="cancelled")

    text = result("plan_day", day="2026-05-21", pause=0)

    assert "- 09:00 Tiler (stands)" in text
    assert "Cancelled" not in text
    assert "- 09:45 " not in text
