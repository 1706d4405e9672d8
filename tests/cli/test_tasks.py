"""`panorama tasks`: listing, adding, completing."""

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Command

Given = Callable[..., Any]


def test_the_structured_answer_is_all_that_json_prints(run: Command, given: Given) -> None:
    task = given("create_task", title="Tea", deadline="tomorrow")

    listed = run("tasks", "--json")

    assert listed.err == ""
    assert set(listed.answer) == {"data", "summary", "metadata"}
    assert [row["id"] for row in listed.answer["data"]] == [task["id"]]


def test_projects_are_shown_by_name(run: Command, given: Given) -> None:
    given("create_project", name="Garden")
    given("create_task", title="Seeds", project="Garden")

    row = run("tasks").lines[1]

    assert row.split()[1:] == ["Seeds", "todo", "Garden"]


@pytest.mark.parametrize(
    ("options", "titles"),
    [
        ((), {"Late", "Soon"}),
        (("--view", "overdue"), {"Late"}),
        (("--project", "Garden"), {"Soon"}),
        (("--project", ""), {"Late", "Soon"}),
        (("--status", "any"), {"Late", "Soon", "Pond"}),
        (("--tag", "spring"), {"Soon"}),
    ],
)
def test_options_narrow_the_list(run: Command, given: Given, options: tuple[str, ...], titles: set[str]) -> None:
    given("create_project", name="Garden")
    given("create_task", title="Late", deadline="-2d")
    given("create_task", title="Soon", deadline="+2d", project="Garden", tags=["spring"])
    given("create_task", title="Pond", status="idea")

    listed = run("tasks", *options, "--json")

    assert {row["title"] for row in listed.answer["data"]} == titles


def test_a_limit_beyond_one_page_is_filled_from_the_next_ones(run: Command, given: Given) -> None:
    steps = [{"tool": "create_task", "args": {"title": f"{n:03} {'x' * 400}"}} for n in range(100)]
    for _ in range(2):
        given("batch", operations=steps)

    listed = run("tasks", "--limit", "150", "--json").answer

    assert len(listed["data"]) == 150
    assert len({row["id"] for row in listed["data"]}) == 150
    assert listed["summary"] == "150 of 200 tasks, more with next_cursor"


def test_what_a_list_leaves_out_is_said_beside_it(run: Command, given: Given) -> None:
    for title in ("Tea", "Milk"):
        given("create_task", title=title)

    listed = run("tasks", "--limit", "1")

    assert len(listed.lines) == 2
    assert listed.err == "1 of 2 tasks; --limit shows more\n"


def test_a_pipe_gets_each_task_on_one_whole_line(run: Command, given: Given) -> None:
    title = "word " * 90 + "end"
    given("create_task", title=title)

    listed = run("tasks")

    assert title in listed.lines[1]
    assert "\x1b" not in listed.out


def test_markup_and_escapes_in_titles_are_only_text(run: Command, given: Given) -> None:
    given("create_task", title="[red]Tea[/red] \x1b[31m:smile:")

    listed = run("tasks")

    assert "[red]Tea[/red] [31m:smile:" in listed.out
    assert "\x1b" not in listed.out


def test_a_task_is_added_with_all_that_was_said(run: Command, given: Given) -> None:
    given("create_project", name="Garden")

    words = (
        "Seeds",
        "-p",
        "Garden",
        "-d",
        "2026-05-31",
        "-t",
        "spring",
        "-t",
        "shop",
        "--urgent",
        "--notes",
        "two bags",
    )
    added = run("tasks", "add", *words, "--json").answer["data"]

    expected = {"title": "Seeds", "deadline": "2026-05-31", "tags": ["spring", "shop"], "urgent": True}
    assert expected.items() <= added.items()


def test_a_task_is_completed_by_its_title_and_can_be_taken_back(run: Command, given: Given) -> None:
    task = given("create_task", title="Tea")

    done = run("tasks", "done", "tea")

    assert done.code == 0
    assert "panorama undo c_" in done.err
    assert run("undo").code == 0
    assert run("tasks", "--json").answer["data"][0]["id"] == task["id"]


def test_a_recurring_task_tells_when_it_comes_again(run: Command, given: Given) -> None:
    given("create_task", title="Bins", deadline="today", recurrence="FREQ=DAILY")

    done = run("tasks", "done", "Bins")

    assert "It recurs" in done.err


def test_a_title_is_read_unless_it_is_to_be_kept(run: Command) -> None:
    read = run("tasks", "add", "order tiles tomorrow #kitchen !high", "--json")
    kept = run("tasks", "add", "order tiles tomorrow", "--no-parse", "--json")

    assert (read.answer["data"]["title"], read.answer["data"]["tags"]) == ("order tiles", ["kitchen"])
    assert "deadline" in read.answer["metadata"]["hint"]
    assert kept.answer["data"]["title"] == "order tiles tomorrow"


def test_the_dashboard_of_a_person_shows_tasks_mentions_and_the_birthday(run: Command, given: Given) -> None:
    given("create_person", name="Ana", last_name="Kovač", birthday="1992-02-29")
    given("create_task", title="Lay the tiles", assignee="Ana")
    given("create_note", title="Floor", content="Ana Kovač knows.")

    shown = run("people", "dashboard", "Ana")

    assert shown.code == 0
    for text in ("next birthday", "Lay the tiles", "Floor", "Ana Kovač knows."):
        assert text in shown.out
