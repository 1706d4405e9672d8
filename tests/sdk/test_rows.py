"""Rows: read as attributes and as a dict, plain for json, and plain-spoken about what they do not hold."""

import copy
import inspect
import json
from typing import Any

import pytest

from panorama.sdk import Row
from panorama.sdk.core import types
from panorama.sdk.core.rows import FIELDS, NoFieldError


@pytest.fixture
def task() -> Row:
    """A task as it comes back, empty fields too; `rank` is left out."""
    held = dict.fromkeys((name for name in FIELDS["t"] if name != "rank"), None)
    return Row({**held, "id": "t_0000000001", "title": "Tea", "status": "todo", "tags": ["drinks"], "urgent": False})


def test_a_field_is_an_attribute_and_an_entry(task: Row) -> None:
    assert (task.title, task["title"], task.get("title")) == ("Tea", "Tea", "Tea")


def test_fields_can_be_set_and_removed_both_ways(task: Row) -> None:
    task.late = True
    task["days"] = 3
    del task.status

    assert (task["late"], task.days, "status" in task) == (True, 3, False)


def test_a_field_that_an_item_has_not_is_none(task: Row) -> None:
    assert task.deadline is None
    assert task["project"] is None
    assert task.urgent is False


@pytest.mark.parametrize("name", ["tags", "deadline", "urgent", "project", "notes"])
def test_a_row_that_came_without_a_field_invents_none(name: str) -> None:
    row = Row(id="t_0000000001", title="Tea")

    with pytest.raises(NoFieldError) as error:
        getattr(row, name)

    text = f"This row of a task is without '{name}': sdk.tasks.get(row).{name} reads it. It has id, title."
    assert str(error.value) == text
    assert (row.get(name), name in row, hasattr(row, name)) == (None, False, False)


def test_a_search_hit_is_told_as_one() -> None:
    hit = Row(id="n_0000000001", kind="note", title="Tea", snippet="")

    with pytest.raises(NoFieldError, match=r"This search hit is without 'tags': sdk\.notes\.get\(row\)\.tags reads"):
        hit.tags  # noqa: B018 (looking it up is what raises)


def test_what_is_in_the_trash_is_not_said_to_be_readable() -> None:
    gone = Row(id="t_0000000001", kind="task", label="Tea")

    with pytest.raises(NoFieldError) as error:
        gone.tags  # noqa: B018 (looking it up is what raises)

    assert "sdk.tasks.get" not in str(error.value)


def test_the_fields_of_each_kind_are_those_of_a_documented_type() -> None:
    row_types = [kind for kind in vars(types).values() if inspect.isclass(kind) and issubclass(kind, Row)]
    documented = [
        {name for base in kind.__mro__ if base is not Row for name in inspect.get_annotations(base)}
        for kind in row_types
    ]

    assert [letter for letter, fields in FIELDS.items() if {*fields} not in documented] == []


def test_a_row_is_plain_data_for_json(task: Row) -> None:
    assert json.loads(json.dumps([task])) == [dict(task)]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("titel", "title"), ("state", "status"), ("due", "deadline"), ("xyz", "")],
)
def test_a_wrong_field_names_the_nearest_and_all_there_are(task: Row, name: str, meant: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(task, name)

    text = str(error.value)
    assert f"This task has no field '{name}'" in text
    assert (f"Did you mean {meant}" in text) == bool(meant)
    assert text.endswith(f"It has {', '.join(task)}.")


def test_a_wrong_entry_is_a_key_error(task: Row) -> None:
    with pytest.raises(KeyError, match="no field 'colour'"):
        task["colour"]


def test_what_is_often_said_leads_to_the_right_field() -> None:
    row = Row(id="t_0000000001", deadline="2026-05-31")

    with pytest.raises(AttributeError, match="Did you mean deadline"):
        row.due_date  # noqa: B018 (looking it up is what raises)


def test_a_row_of_a_list_tells_where_its_text_is_read() -> None:
    row = Row(id="n_0000000001", title="Tea", chars=12)

    with pytest.raises(AttributeError, match=r"without 'content': sdk\.notes\.text\(row\) reads it"):
        row.content  # noqa: B018 (looking it up is what raises)


def test_asking_whether_there_is_a_field_is_answered_plainly(task: Row) -> None:
    assert not hasattr(task, "colour")
    assert getattr(task, "colour", "none") == "none"


def test_an_unknown_kind_of_row_has_no_fields_but_its_own() -> None:
    with pytest.raises(NoFieldError, match="This row has no field 'deadline'"):
        Row(count=3).deadline  # noqa: B018 (looking it up is what raises)


def test_a_row_prints_what_it_holds_on_one_line(task: Row) -> None:
    task["notes"] = "x" * 500
    task["urgent"] = None

    assert repr(task).startswith("Task(id='t_0000000001', title='Tea', notes='xxx")
    assert len(repr(task)) < 200
    assert str(Row(count=3)) == "Row(count=3)"


@pytest.mark.parametrize("name", ["title", "status", "deadline", "urgent"])
def test_a_field_that_came_back_is_not_set_as_if_that_changed_anything(task: Row, name: str) -> None:
    with pytest.raises(TypeError, match=rf"Write sdk.tasks.update\(row, {name}=…\)"):
        setattr(task, name, "x")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, Row.copy])
def test_a_copy_is_a_row_of_its_own(task: Row, copied: Any) -> None:
    other = copied(task)

    other["title"] = "Coffee"

    assert (type(other), task.title) == (Row, "Tea")


def test_a_row_in_a_row_shows_what_it_is(task: Row) -> None:
    long = Row({**task, "notes": "x" * 200})
    week = Row(end="2026-05-20", completed=Row(count=5, items=[long] * 5))

    assert str(Row(kind="task", item=long)) == "Row(kind='task', item=Task(id='t_0000000001', title='Tea', …))"
    one = "Task(id='t_0000000001', title='Tea', …)"
    assert str(week) == f"Row(end='2026-05-20', completed=Row(count=5, items=[{one}, {one}, {one}, … 2 more]))"
    assert str(Row(change=Row(count=1))) == "Row(change=Row(count=1))"


def test_a_row_of_many_rows_is_shown_within_limits() -> None:
    wide = Row(found=Row({f"key{number}": Row(count=number) for number in range(1000)}))

    assert len(str(wide)) < 1000
