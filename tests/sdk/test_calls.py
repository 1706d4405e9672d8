"""What the functions do: lists that are whole, errors by kind, things side by side."""

import re
from types import ModuleType
from typing import Any

import pytest

from panorama.sdk import Row, errors
from panorama.sdk.core import wire
from panorama.sdk.errors import from_dict
from panorama.sdk.reference.recipes import RECIPES

from .conftest import InProcessClient, run_plain


def test_a_list_is_whole_however_many_pages_it_takes(sdk: ModuleType, way: InProcessClient) -> None:
    way.page_rows = 7

    tasks = sdk.tasks.list(status="any")

    assert len(tasks) == sdk.query("tasks", count=True)[0].count
    assert len({task.id for task in tasks}) == len(tasks)
    assert len([name for name, _ in way.sent if name == "tasks.list"]) == -(-len(tasks) // 7)


@pytest.mark.parametrize("limit", [1, 7, 10])
def test_a_limit_caps_a_list_over_pages(sdk: ModuleType, way: InProcessClient, limit: int) -> None:
    way.page_rows = 4

    assert len(sdk.tasks.list(status="any", limit=limit)) == limit


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(sdk: ModuleType, limit: int) -> None:
    with pytest.raises(sdk.InvalidInputError, match="limit must be at least 1"):
        sdk.notes.list(limit=limit)


def test_reading_a_project_does_not_narrow_later_lists(sdk: ModuleType) -> None:
    sdk.projects.get("Kitchen renovation")

    assert len({task.project for task in sdk.tasks.list()}) > 1


def test_rows_are_whole_also_after_a_write(sdk: ModuleType) -> None:
    task = sdk.tasks.create("Tea")

    assert (task.version, task.tags, task.deadline, task.notes) == (1, [], None, "")


def test_one_item_is_refused_as_one_of_another_kind(sdk: ModuleType) -> None:
    with pytest.raises(sdk.InvalidInputError, match=r"'Kitchen overview' is a note \(n_.*not a task"):
        sdk.tasks.get("Kitchen overview")


def test_deleting_by_a_noun_takes_no_other_kind(sdk: ModuleType) -> None:
    note = sdk.notes.get("Kitchen overview")

    with pytest.raises(sdk.InvalidInputError):
        sdk.tasks.delete(note)

    assert sdk.notes.get(note.id).id == note.id


def test_a_project_with_items_is_deleted_once_it_is_said_what_becomes_of_them(sdk: ModuleType) -> None:
    with pytest.raises(sdk.InvalidInputError, match="items belong to"):
        sdk.projects.delete("Kitchen renovation")
    with pytest.raises(sdk.ConfirmationError):
        sdk.projects.delete("Kitchen renovation", items="trash")

    assert sdk.projects.delete("Kitchen renovation", items="trash", confirm=True).trashed > 1


def test_a_long_text_is_read_whole(sdk: ModuleType, way: InProcessClient) -> None:
    text = "".join(f"line {number}\n" for number in range(10_000))
    note = sdk.notes.create("Long", text)

    assert sdk.notes.text(note) == text
    assert [name for name, _ in way.sent].count("notes.get") == 3


def test_a_long_note_that_is_read_changed_and_written_back_loses_nothing(sdk: ModuleType) -> None:
    sdk.notes.create("Long", "word " * 14_000)

    note = sdk.notes.get("Long")
    sdk.notes.update(note, content=f"{note.content}\n\nADDED")

    assert (note.start, note.end, note.headings, note.chars) == (None, None, [], 70_000)
    assert sdk.notes.get("Long").content == f"{'word ' * 14_000}\n\nADDED"


def test_a_long_file_is_got_whole(sdk: ModuleType) -> None:
    file = sdk.files.write("long.txt", "line\n" * 20_000)

    read = sdk.files.get(file)

    assert (read.text, read.start, read.end) == ("line\n" * 20_000, None, None)
    assert sdk.files.get(sdk.files.write("dot.bin", b"\x00\x01\xff")).text is None


@pytest.mark.parametrize("length", [10, 35_000, 80_000])
def test_a_section_is_read_to_its_end_and_no_further(sdk: ModuleType, length: int) -> None:
    section = f"# Two\n{'b' * length}\n"
    sdk.notes.create("Long", f"# One\n{'a' * 40_000}\n{section}# Three\n{'c' * 40_000}")

    part = sdk.notes.get("Long", heading="Two")

    assert part.content.strip() == section.strip()
    assert part.end - part.start == len(part.content)
    assert part.headings == ["One", "Two", "Three"]


def test_a_part_is_the_part_that_was_asked_for(sdk: ModuleType) -> None:
    text = "".join(f"{number:09}\n" for number in range(10_000))
    note, file = sdk.notes.create("Long", text), sdk.files.write("long.txt", text)

    few, rest = sdk.notes.get(note, start=10, chars=20), sdk.files.get(file, start=10)

    assert (few.content, few.start, few.end, few.chars) == (text[10:30], 10, 30, 100_000)
    assert (rest.text, rest.start, rest.end, rest.chars) == (text[10:], 10, 100_000, 100_000)


def test_a_text_that_changes_while_it_is_read_is_read_anew(sdk: ModuleType, way: InProcessClient) -> None:
    note = sdk.notes.create("Long", "a" * 50_000)
    call, changes = way.call, iter(["b" * 50_000])

    def changing(operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if operation == "notes.get" and arguments["start"] and (text := next(changes, None)):
            call("notes.update", {"note": note.id, "content": text})
        return call(operation, arguments)

    way.call = changing

    assert sdk.notes.text(note) == "b" * 50_000


def test_what_is_no_text_is_refused_as_text(sdk: ModuleType) -> None:
    file = sdk.files.write("dot.bin", b"\x00\x01\xff")

    with pytest.raises(sdk.InvalidInputError, match="not text"):
        sdk.files.text(file)


def test_a_query_fills_in_the_fields_that_were_asked_for(sdk: ModuleType) -> None:
    rows = sdk.query("tasks", select=["title", "deadline"], where={"deadline": None}, limit=3)

    assert all(row.deadline is None for row in rows)
    assert all(set(row) == {"title", "deadline"} for row in rows)


def test_a_lone_word_is_as_good_as_a_list_of_one(sdk: ModuleType) -> None:
    assert sdk.query("tasks", group_by="status") == sdk.query("tasks", group_by=["status"])


def test_an_unknown_name_comes_with_the_nearest(sdk: ModuleType) -> None:
    with pytest.raises(sdk.NotFoundError) as caught:
        sdk.projects.get("Kitchen renovations")

    assert caught.value.code == "not_found"
    assert [row.name for row in caught.value.candidates] == ["Kitchen renovation"]
    assert caught.value.candidates[0]["id"] in str(caught.value)
    assert caught.value.hint in str(caught.value)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("invalid_input", errors.InvalidInputError),
        ("loop", errors.LoopError),
        ("not_found", errors.NotFoundError),
        ("conflict", errors.ConflictError),
        ("confirmation_needed", errors.ConfirmationError),
        ("declined", errors.DeclinedError),
        ("unavailable", errors.UnavailableError),
        ("source", errors.SourceError),
        ("outcome_unknown", errors.OutcomeUnknownError),
        ("internal", errors.SdkError),
    ],
)
def test_each_code_has_its_error(code: str, kind: type[errors.SdkError]) -> None:
    error = from_dict({"code": code, "message": "No.", "hint": "Try again."})

    assert (type(error), error.code, str(error)) == (kind, code, "No. Try again.")


def test_parallel_gives_results_in_order_and_the_first_error(sdk: ModuleType) -> None:
    late, today = sdk.parallel(lambda: sdk.tasks.list(view="overdue"), lambda: sdk.status().today)

    assert (len(late) > 0, today) == (True, "2026-05-20")
    with pytest.raises(sdk.NotFoundError, match="nowhere"):
        sdk.parallel_map(sdk.notes.get, ["Kitchen overview", "nowhere", "nobody"])


def test_parallel_says_that_it_takes_functions(sdk: ModuleType) -> None:
    with pytest.raises(TypeError, match=r"takes functions, not Row: write lambda: sdk"):
        sdk.parallel(sdk.projects.list())


def test_parallel_takes_one_list_of_functions_too(sdk: ModuleType) -> None:
    assert sdk.parallel([lambda: 1, lambda: 2]) == [1, 2]


def test_progress_goes_to_the_host(sdk: ModuleType, way: InProcessClient) -> None:
    sdk.progress(1, 3, "reading")

    assert way.told == [(1, 3, "reading")]


def test_the_state_is_the_hosts(sdk: ModuleType, way: InProcessClient) -> None:
    sdk.state["seen"] = 3

    assert way.state == {"seen": 3}


def test_without_a_host_it_is_said_how_to_connect() -> None:
    wire.use(None)

    with pytest.raises(errors.UnavailableError, match=r"panorama\.sdk\.connect\(\)"):
        wire.call("status")


@pytest.mark.parametrize(
    ("rows", "columns", "table"),
    [
        ([{"a": 1, "b": "x|y"}], None, "| a | b |\n| --- | --- |\n| 1 | x\\|y |"),
        ([{"a": "two\nlines", "b": ["x", "y"]}], ["b", "a"], "| b | a |\n| --- | --- |\n| x, y | two<br>lines |"),
        ([{"a": None}, {"b": True}], None, "| a | b |\n| --- | --- |\n|  |  |\n|  | yes |"),
        ([Row(id="t_0000000001", title="Tea", deadline=None)], {"title": "Task", "deadline": "Due"},
         "| Task | Due |\n| --- | --- |\n| Tea |  |"),
        ([("a", 1), ["b", None]], ["Task", "Due"], "| Task | Due |\n| --- | --- |\n| a | 1 |\n| b |  |"),
        ([("a", 1)], {"x": "Task", "y": "Due"}, "| Task | Due |\n| --- | --- |\n| a | 1 |"),
        ([{"a": 1, "b": 2}], "a", "| a |\n| --- |\n| 1 |"),
        ([], ["a"], "| a |\n| --- |"),
        ([], None, ""),
    ],
)  # fmt: skip
def test_rows_become_a_table_that_git_hub_shows(rows: Any, columns: Any, table: str, sdk: ModuleType) -> None:
    assert sdk.markdown_table(rows, columns) == table


@pytest.mark.parametrize(
    ("rows", "columns", "message", "hint"),
    [
        ([{"title": 1}], ["titel"], "No row has the field 'titel'.", "Did you mean title? They have title."),
        ([Row(id="t_0000000001", title="Tea")], ["tags"], "No row has the field 'tags'.", "sdk.tasks.get(row).tags"),
        ([("a", 1)], ["Task"], "A row has 2 values, and columns names 1.", "columns=[…]"),
        ([("a", 1)], None, "A row has 2 values, and columns names 0.", "columns=[…]"),
        (["a"], ["Task"], "A row is a str.", "tuples or lists"),
        ({"a": 1}, ["Task", "Count"], "rows is one row or a dict, not a list of rows.", "[*counts.items()]"),
    ],
)
def test_a_table_of_what_is_not_there_says_so(
    rows: Any, columns: Any, message: str, hint: str, sdk: ModuleType
) -> None:
    with pytest.raises(sdk.InvalidInputError) as refused:
        sdk.markdown_table(rows, columns)

    assert refused.value.message == message
    assert hint in refused.value.hint


def test_the_report_of_the_recipes_has_no_empty_column(sdk: ModuleType) -> None:
    report = next(recipe for recipe in RECIPES if recipe.title.startswith("Report:"))

    text = sdk.notes.text(run_plain(report.code, sdk))

    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert len(lines) > 5
    assert all(re.fullmatch(r"\| .*[^ |] .*\| \d{4}-\d\d-\d\dT\S+ \|", line) for line in lines)


@pytest.mark.parametrize("text", [{"status": ["todo", "in_progress"]}, {"view": ["today"]}, {"status": {"todo"}}])
def test_a_list_where_one_word_is_meant_is_told_what_takes_lists(sdk: ModuleType, text: dict[str, Any]) -> None:
    onward = r'; query takes \{"status": \{"in"' if "status" in text else ""
    with pytest.raises(sdk.InvalidInputError, match=rf"one word, not a list{onward}"):
        sdk.tasks.list(**text)


def test_progress_of_a_list_is_told_how_a_loop_tells_it(sdk: ModuleType, way: InProcessClient) -> None:
    with pytest.raises(TypeError, match=r"as numbers, not list.*sdk\.progress\(count, len\(tasks\), task\.title\)"):
        sdk.progress(sdk.tasks.list())

    assert way.told == []


@pytest.mark.parametrize("text", [{"view": "all"}, {"status": "all"}, {"status": "any"}, {"view": "any"}])
def test_all_tasks_may_be_asked_for_in_several_words(sdk: ModuleType, text: dict[str, str]) -> None:
    sdk.tasks.update(sdk.tasks.list(limit=1)[0], status="done")

    every = len(sdk.tasks.list(**text))

    assert every > len(sdk.tasks.list())
