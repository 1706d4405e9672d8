"""What a person approved is found where one looks for what a script can call."""

from collections.abc import Callable

import pytest

from panorama.app import App
from panorama.calls import Answer
from tests.kept import COUNTING, WRITING, Person, put

Call = Callable[..., Answer]


@pytest.fixture
def approved(app: App) -> None:
    """Two scripts that the user approved."""
    for name, text in (("count_tasks", COUNTING), ("write_down", WRITING)):
        put(app, name, text)
        Person(app).approves(name)


def test_a_script_that_was_approved_is_found_with_its_purpose_and_what_it_takes(approved: None, call: Call) -> None:
    answer = call("search_sdk", query="write a task down").data["python"]

    assert "sdk.scripts.write_down(*, title: str, day: date | None = …)\n    Write a task down." in answer


def test_what_is_found_is_called_as_it_is_told(approved: None, call: Call) -> None:
    call("create_task", title="Tea")
    answer = call("search_sdk", query="sdk.scripts.count_tasks", detail="full").data["python"]

    ran = call("run_code", code="return sdk.scripts.count_tasks(project='')").data

    assert answer.startswith("sdk.scripts.count_tasks(*, project: str = '')")
    assert "project: Only this project." in answer
    assert ran["result"] == 1


def test_a_draft_and_what_was_changed_since_are_not_told_of(approved: None, app: App, call: Call) -> None:
    put(app, "draft_count", COUNTING)
    put(app, "write_down", WRITING + "# and more\n")

    answer = call("search_sdk", query="write_down draft_count count_tasks", detail="brief").data["python"]

    assert "scripts.count_tasks(project): Count the tasks of a project." in answer
    assert "write_down" not in answer
    assert "draft_count" not in answer


def test_without_a_query_they_are_named_in_one_line(approved: None, call: Call) -> None:
    assert "sdk.scripts.NAME(…): count_tasks, write_down." in call("search_sdk").data["python"]


def test_where_nobody_approved_anything_nothing_is_told_of_scripts_that_came_along(call: Call) -> None:
    assert "kept scripts" not in call("search_sdk").data["python"]


def test_what_cannot_be_read_is_left_out(approved: None, app: App, call: Call) -> None:
    path = put(app, "count_tasks", COUNTING)
    path.unlink()
    path.symlink_to(app.settings.home / "scripts" / "write_down.py")

    assert "sdk.scripts.NAME(…): write_down." in call("search_sdk").data["python"]
