"""Arguments: what is sent for the values of Python, and what a wrong call is told."""

import inspect
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from types import ModuleType
from typing import Any

import pytest

from panorama.sdk import SURFACE, InvalidInputError, Row
from panorama.sdk.core.encode import encode_arguments
from panorama.sdk.core.signatures import explain_misuse, format_signature

from .conftest import InProcessClient, run_plain
from .test_examples import EVERY


class Color(Enum):
    """A choice."""

    RED = "red"


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (date(2026, 5, 31), "2026-05-31"),
        (datetime(2026, 5, 31, 15, 0, tzinfo=UTC), "2026-05-31T15:00:00+00:00"),
        (timedelta(days=3), "+3d"),
        (timedelta(days=-1), "-1d"),
        (Color.RED, "red"),
        ({"b", "a"}, ["a", "b"]),
        (("a", 1), ["a", 1]),
        ((letter for letter in "ab"), ["a", "b"]),
        (Decimal("2.50"), 2.5),
        (Decimal("3.0"), 3),
        (Row(id="t_0000000001", title="Tea"), "t_0000000001"),
        ({"project": Row(id="p_0000000001"), "deadline": {"lt": date(2026, 6, 1)}},
         {"project": "p_0000000001", "deadline": {"lt": "2026-06-01"}}),
        (Row(count=3), {"count": 3}),
        (True, True),
    ],
)  # fmt: skip
def test_a_value_is_sent_in_its_plain_form(value: Any, sent: Any) -> None:
    assert encode_arguments({"x": value}) == {"x": sent}


def test_what_is_none_is_not_sent() -> None:
    assert encode_arguments({"x": None, "y": ""}) == {"y": ""}


@pytest.mark.parametrize("value", [object(), b"bytes", timedelta(minutes=5), {"deep": [object()]}])
def test_what_has_no_plain_form_is_refused_by_the_name_of_its_argument(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="x"):
        encode_arguments({"x": value})


def test_a_row_stands_for_its_item(sdk: ModuleType, way: InProcessClient) -> None:
    hit = sdk.search("grout colour", kinds="task")[0]

    sdk.tasks.update(hit, urgent=True)

    assert way.sent[-1] == ("tasks.update", {"task": hit.id, "urgent": True})


def test_a_length_of_work_may_be_a_timedelta(sdk: ModuleType) -> None:
    task = sdk.tasks.create("Paint", scheduled_minutes=timedelta(hours=1, minutes=30))

    assert task.scheduled_minutes == 90


def test_bytes_become_a_file(sdk: ModuleType) -> None:
    file = sdk.files.write("dot.bin", b"\x00\x01\xff")

    assert file.size == 3


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda sdk: sdk.tasks.create(name="Tea"), "did you mean 'title'?"),
        (lambda sdk: sdk.tasks.create("Tea", due="today"), "did you mean 'deadline'?"),
        (lambda sdk: sdk.tasks.list(staus="open"), "did you mean 'status'?"),
        (lambda sdk: sdk.query("tasks", filter={}), "did you mean 'where'?"),
        (lambda sdk: sdk.tasks.update(), "missing a required argument: 'task'"),
        (lambda sdk: sdk.tasks.update(**sdk.tasks.list()[0]), "name the fields that change, as tags=row.tags"),
        (lambda sdk: sdk.status(1), "too many positional arguments"),
    ],
)
def test_a_wrong_argument_is_told_the_nearest_and_the_signature(
    sdk: ModuleType, call: Callable[[ModuleType], Any], expected: str
) -> None:
    with pytest.raises(TypeError) as error:
        call(sdk)

    assert expected in str(error.value)
    assert "It is called as sdk." in str(error.value)


@pytest.mark.parametrize("name", EVERY)
def test_every_function_tells_its_signature_for_a_wrong_argument(name: str, sdk: ModuleType) -> None:
    with pytest.raises(TypeError) as error:
        EVERY[name](no_such_argument=1)

    assert f"It is called as sdk.{name}(" in str(error.value)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("sdk.tasks.list(limit='5')", "sdk.tasks.list: limit takes int | None, not '5'."),
        ("sdk.projects.list(limit=[5])", "sdk.projects.list: limit takes int | None, not [5]."),
        ("sdk.history('Kitchen renovation', limit='5')", "sdk.history: limit takes int | None, not '5'."),
        ("sdk.items.trash({})", "sdk.items.trash: limit takes int | None, not {}."),
        ("sdk.tasks.list(limit=sdk.tasks.list()[0])", "sdk.tasks.list: limit takes int | None, not Task(id='t_"),
        ("sdk.search('grout', limit='5')", "sdk.search: limit takes int | None, not '5'."),
        ("sdk.search('grout', kinds=5)", "sdk.search: kinds takes str | Sequence[str], not 5."),
        ("sdk.similar('Kitchen renovation', kinds=5)", "sdk.similar: kinds takes str | Sequence[str], not 5."),
        ("sdk.query('tasks', sum=True)", "sdk.query: sum takes str | Sequence[str], not True."),
        ("sdk.query('tasks', select=5, sort=6)", "select takes str | Sequence[str], not 5; sort takes"),
        ("sdk.batch(None)", "sdk.batch: operations takes Sequence[Mapping[str, Any]], not None."),
        ("sdk.markdown_table(None)", "rows takes Iterable[Mapping[str, Any] | Sequence[Any]], not None."),
        ("sdk.markdown_table(sdk.tasks.list(), 5)", "columns takes Sequence[str] | Mapping[str, str] | None, not 5."),
        ("sdk.markdown_table([{'a': 1}], [['a']])", "None, not [['a']]."),
        ("sdk.parallel(lambda: 1, at_most='2')", "sdk.parallel: at_most takes int, not '2'."),
        ("sdk.parallel_map(None, [1])", "sdk.parallel_map: function takes Callable[[T], R], not None."),
        ("sdk.parallel_map(len, None)", "sdk.parallel_map: items takes Iterable[T], not None."),
    ],
)
def test_an_argument_of_a_wrong_type_is_told_with_the_signature(sdk: ModuleType, code: str, expected: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        run_plain(code, sdk)

    assert expected in str(error.value)
    assert "It is called as sdk." in error.value.hint


def test_what_says_itself_what_it_takes_and_errors_of_a_script_stay_as_they_are(sdk: ModuleType) -> None:
    with pytest.raises(TypeError, match="how much is done, as numbers, not str: in a loop"):
        sdk.progress("half")
    with pytest.raises(TypeError, match="can only concatenate"):
        sdk.parallel_map(lambda item: item + 1, ["a"], at_most=1.5)


def test_words_that_are_none_are_those_that_are_left_out(sdk: ModuleType) -> None:
    assert sdk.search("grout colour", kinds=None) == sdk.search("grout colour")
    assert sdk.query("tasks", select=None, sort=None, group_by=None, sum=None) == sdk.query("tasks")


def test_what_holds_itself_is_refused_in_the_words_of_the_sdk() -> None:
    ring: dict[str, Any] = {}
    ring["and"] = [ring]

    with pytest.raises(InvalidInputError, match="contains itself"):
        encode_arguments({"where": ring})


def test_a_limit_may_be_any_number_that_can_be_sent(sdk: ModuleType) -> None:
    assert len(sdk.tasks.list(limit=Decimal(2))) == 2


def test_an_error_inside_passes_unchanged() -> None:
    @explain_misuse
    def failing(value: object) -> int:
        return len(value)

    with pytest.raises(TypeError, match="has no len"):
        failing(3)


def test_the_choices_of_an_argument_are_written_out(sdk: ModuleType) -> None:
    with pytest.raises(TypeError) as error:
        sdk.tasks.list(vew="today")

    assert 'view: Literal["overdue", "today", "this_week"' in str(error.value)
    assert "builtins" not in str(error.value)


def test_a_value_that_an_operation_refuses_is_an_error_that_tells_why(sdk: ModuleType) -> None:
    with pytest.raises(InvalidInputError, match="view must be one of 'overdue'"):
        sdk.tasks.list(view="late")


def test_the_surface_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        SURFACE["search"] = None


FILLED = {
    "tasks": ('create("A", project="Kitchen renovation", deadline="today", tags=["a"], notes="n", '
              'recurrence="FREQ=DAILY", parent="Decide the grout colour", scheduled_at="2026-05-31T15:00", '
              'scheduled_minutes=30, assignee=sdk.people.create("Ana"), waiting_for=sdk.people.create("Ben"), '
              'start_at="today", priority=2)'),
    "notes": 'create("A", "text", project="Kitchen renovation", tags=["a"], aliases=["B"], properties={"c": 1})',
    "projects": 'create("A", description="d", target_date="today", color="teal", tags=["a"])',
    "links": 'create("example.org", project="Kitchen renovation", tags=["a"], description="d")',
    "reminders": 'create("A", at="2026-05-31T15:00", recurrence="FREQ=DAILY", item="Decide the grout colour")',
    "journal": 'create("A")',
    "files": 'write("a.txt", "A", project="Kitchen renovation", tags=["a"])',
}  # fmt: skip
"""One of each kind with all that may be empty, but for what only the clock fills."""

CLEARED = {
    "tasks": {
        "project", "deadline", "tags", "notes", "recurrence", "parent", "scheduled_at", "scheduled_minutes", "assignee",
        "waiting_for", "start_at", "priority",
    },
    "notes": {"project", "tags", "aliases", "properties"},
    "projects": {"description", "target_date", "color", "tags"},
    "links": {"project", "tags", "description"},
    "reminders": {"recurrence", "snoozed_until", "item"},
    "journal": set[str](),
    "files": {"project", "tags"},
}  # fmt: skip


@pytest.mark.parametrize("noun", CLEARED)
def test_none_in_an_update_clears_what_may_be_empty(noun: str, sdk: ModuleType) -> None:
    row = run_plain(f"return sdk.{noun}.{FILLED[noun]}", sdk)
    if noun == "reminders":
        row = sdk.reminders.update(row, snoozed_until="2027-05-31T15:00")
    assert all(row[name] for name in CLEARED[noun])

    update = EVERY[f"{noun}.update"]
    for name in CLEARED[noun]:
        assert not update(row, **{name: None})[name], name

    kept = {name: value for name, value in getattr(sdk, noun).get(row).items() if name not in CLEARED[noun]}
    assert {name: kept[name] for name in kept if name in row and name not in ("version", "updated_at")} == {
        name: row[name] for name in kept if name in row and name not in ("version", "updated_at")
    }


@pytest.mark.parametrize("noun", CLEARED)
def test_none_in_an_update_is_refused_for_what_cannot_be_empty(
    noun: str, sdk: ModuleType, way: InProcessClient
) -> None:
    row = run_plain(f"return sdk.{noun}.{FILLED[noun]}", sdk)
    update = EVERY[f"{noun}.update"]
    _, *fields = inspect.signature(update).parameters.values()
    sent = len(way.sent)

    for field in fields:
        assert (field.name in CLEARED[noun]) == ("None" in str(field.annotation)) or field.name == "expected_version"
        if "None" not in str(field.annotation):
            with pytest.raises(InvalidInputError, match=rf"sdk\.{noun}\.update: {field.name} is None.* it out to keep"):
                update(row, **{field.name: None})

    assert len(way.sent) == sent


def test_what_is_left_out_of_an_update_stays_and_signatures_say_it_as_stubs_do(
    sdk: ModuleType, way: InProcessClient
) -> None:
    task = sdk.tasks.create("A", tags=["a"], deadline="today")

    same = sdk.tasks.update(task, rank=3, tags=...)

    assert way.sent[-1] == ("tasks.update", {"task": task.id, "rank": 3})
    assert (same.tags, same.deadline) == (["a"], task.deadline)
    assert "tags: Sequence[str] | None = ..., notes: str | None = ..." in format_signature(sdk.tasks.update)


@pytest.mark.parametrize("content", [{"a": 1}, [1, 2], ("a",)])
def test_a_file_of_a_dict_or_a_list_is_refused_with_how_to_write_it(sdk: ModuleType, content: object) -> None:
    with pytest.raises(InvalidInputError, match="not a list or a dict") as refused:
        sdk.files.write("report.json", content)

    assert "json.dumps" in refused.value.hint


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('sdk.tasks.list(status="completed")', "'open', 'any', not 'completed' (did you mean 'done'?)"),
        ('sdk.tasks.create("A", status="open")', "(did you mean 'todo'?)"),
        ('sdk.projects.update("Studio", status="completed")', "(did you mean 'done'?)"),
        ('sdk.projects.list(status="open")', "(did you mean 'active'?)"),
        ('sdk.tasks.list(view="late")', "(did you mean 'overdue'?)"),
        ('sdk.search("x", kinds="tasks")', "(did you mean 'task'?)"),
        ('sdk.query("task")', "(did you mean 'tasks'?)"),
        ('sdk.query("tasks", where={"title": {"like": "x"}})', "Did you mean contains?"),
        ('sdk.query("tasks", where={"and": [{"title": {"$ILIKE": "x"}}]})', "Did you mean contains?"),
        ('sdk.query("tasks", where={"project": {"not_in": []}})', "Did you mean nin?"),
        ('sdk.query("tasks", where={"deadline": {"<": "today"}})', "Did you mean lt?"),
        ('sdk.query("tasks", where={"title": {"containz": "x"}})', "Did you mean contains?"),
        (
            "sdk.tasks.get(None)",
            "sdk.tasks.get takes a task by its id, its name or its row, not None. Empty fields are",
        ),
        ("sdk.tasks.get(['a'])", "not list. Call it for each of them, as in sdk.parallel_map(sdk.tasks.get, …)."),
        ("sdk.reminders.get(3)", "sdk.reminders.get takes a reminder"),
        ("sdk.links.delete(None)", "sdk.links.delete takes a link"),
        ("sdk.journal.delete({})", "sdk.journal.delete takes a journal"),
        ("sdk.notes.text(None)", "sdk.notes.text takes a note"),
        ("sdk.files.text(None)", "sdk.files.text takes a file"),
        ("sdk.notes.get(None)", "sdk.notes.get was not called: note is missing. Give the id or name of a note."),
        ("sdk.tasks.update(None, urgent=True)", "sdk.tasks.update was not called: task is missing"),
    ],
)
def test_a_wrong_choice_or_item_is_told_once_and_what_may_be_meant(sdk: ModuleType, code: str, expected: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        run_plain(code, sdk)

    assert expected in str(error.value)
    assert str(error.value).count(" must be one of ") <= 1
