"""What rows carry: over every function that gives rows, a field is what is stored, or it is said to be missing."""

import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest

from panorama.sdk import InvalidInputError, NotFoundError, Row
from panorama.sdk.core.rows import FIELDS, KINDS, NOUNS, NoFieldError

from .conftest import InProcessClient, run_plain
from .test_examples import EVERY, example

WHOLE = {
    f"{noun}.{verb}"
    for noun in ("tasks", "notes", "projects", "links", "reminders", "journal", "files")
    for verb in ("list", "get", "create", "write", "update", "append", "edit", "snooze")
} & {*EVERY}
"""The functions that give whole rows."""

NOT_CARRIED = {
    "notes": {"content", "aliases", "properties", "chars", "headings", "start", "end"},
    "projects": {"tasks", "notes", "links"},
    "files": {"text", "chars", "start", "end"},
}
"""What whole rows of some kinds may be without: texts, how long they are, and counts."""

MORE = """
sdk.links.create("example.org/tiles", title="Tiles", project="Kitchen renovation", tags=["tiles"])
sdk.files.write("plan.txt", "The plan", project="Kitchen renovation", tags=["plans"])
task = sdk.tasks.create("Sweep", urgent=True, tags=["floor"], deadline="today", project="Kitchen renovation")
sdk.tasks.create("First the corners", parent=task, tags=["floor"])
sdk.reminders.create("Sweep!", at="2026-05-31T09:00", item=task)
"""
"""What the sample workspace lacks: links, files, reminders, and tags to lose."""

ASKED = """
sdk.search("tiles floor plan", limit=None), sdk.similar("Kitchen budget"), sdk.items.get("Kitchen renovation")
sdk.items.get("Sweep"), sdk.overview.week(), sdk.overview.project("Kitchen renovation"), sdk.overview.projects()
sdk.query("tasks"), sdk.query("notes", select=["id", "title"]), sdk.query("files"), sdk.reminders.waiting()
sdk.batch([{"tool": "tasks.create", "args": {"title": "A"}}, {"tool": "list_tasks", "args": {}}])
sdk.batch([{"tool": "notes.list", "args": {"limit": 5}}, {"tool": "search", "args": {"query": "kitchen"}}])
"""
"""What answers with more than one row, or with less than whole ones."""


def rows(value: Any) -> Iterator[Row]:
    """Give each row in an answer that stands for an item."""
    if isinstance(value, Row):
        if re.fullmatch(r"[a-z]_\w{10}", str(value.get("id"))) and value["id"][0] in KINDS:
            yield value
        value = [*value.values()]
    if isinstance(value, Iterable) and not isinstance(value, str):
        for item in value:
            yield from rows(item)


def misread(row: Row, sdk: ModuleType) -> list[str]:
    """Return the fields that a row gives for something else than what is stored."""
    noun = NOUNS[KINDS[row["id"][0]]]
    try:
        stored = getattr(sdk, noun).get(row)
    except (NotFoundError, InvalidInputError):  # it is in the trash
        stored = Row()
    wrong: list[str] = []
    for name in FIELDS[row["id"][0]]:
        try:
            read = getattr(row, name)
        except NoFieldError as error:
            wrong += [name] if name in row or "It has" not in str(error) else []
        else:
            same = name not in stored or stored[name] == read or row.get("version", 0) < stored["version"]
            wrong += [] if name in row and (same or name in NOT_CARRIED.get(noun, ())) else [name]
    return wrong


@pytest.mark.parametrize("name", EVERY)
def test_no_row_of_any_function_invents_what_it_does_not_carry(
    name: str, sdk: ModuleType, way: InProcessClient
) -> None:
    run_plain(MORE, sdk)
    answers = record_answers(way)

    run_plain(example(EVERY[name]), sdk)

    assert {str(row): wrong for answer in [*answers] for row in rows(answer) if (wrong := misread(row, sdk))} == {}


def test_no_row_of_an_overview_a_search_or_a_batch_invents_anything(sdk: ModuleType, way: InProcessClient) -> None:
    run_plain(MORE, sdk)
    answers = record_answers(way)

    run_plain(ASKED, sdk)

    found = [row for answer in [*answers] for row in rows(answer)]
    assert len(found) > 100
    assert {str(row): wrong for row in found if (wrong := misread(row, sdk))} == {}


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_whole_row_carries_every_field_empty_ones_too(name: str, sdk: ModuleType) -> None:
    noun = name.partition(".")[0]
    run_plain(MORE, sdk)
    answer = run_plain(f"{example(EVERY[name])}\nreturn locals()", sdk)

    made = [row for row in rows([*answer.values()]) if NOUNS[KINDS[row["id"][0]]] == noun]

    for row in made:
        assert {*FIELDS[row["id"][0]]} - {*row} <= NOT_CARRIED.get(noun, set())


def test_a_hit_does_not_take_the_tags_of_its_task_away(sdk: ModuleType) -> None:
    run_plain(MORE, sdk)
    hit = next(hit for hit in sdk.search("Sweep", kinds=["task"]) if hit.title == "Sweep")

    with pytest.raises(NoFieldError, match=r"sdk\.tasks\.get\(row\)\.tags"):
        sdk.tasks.update(hit, tags=[*hit.tags, "garden"])

    assert sdk.tasks.get(hit).tags == ["floor"]


def test_a_row_of_the_week_has_its_deadline_and_project_also_where_there_is_none(sdk: ModuleType) -> None:
    done = sdk.tasks.create("Free", status="done")

    week = sdk.overview.week()

    assert {task.id: (task.deadline, task.project) for task in week.completed["items"]}[done.id] == (None, None)
    assert all("deadline" in task for task in [*week.created["items"], *week.slipped["items"]])


def record_answers(way: InProcessClient) -> list[Any]:
    """Return a list into which every answer comes from now on."""
    answers: list[Any] = []
    asked = way.call

    def call(operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = asked(operation, arguments)
        answers.append(answer["data"])
        return answer

    way.call = call
    return answers
