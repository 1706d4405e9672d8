"""Scripts that run for real: what they answer, what they keep, and what the log knows of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.errors import InvalidInputError, NotFoundError, PanoramaError, UnavailableError
from tests.services.coding import Call, Run, run, titles

__all__ = ["run"]


# What is answered.


def test_a_script_answers_its_result_its_output_its_calls_and_its_changes(run: Run) -> None:
    result = run('tea = sdk.tasks.create("Tea")\nsdk.tasks.update(tea, urgent=True)\nprint("made")\nreturn tea.title')

    assert (result["result"], result["stdout"]) == ("Tea", "made\n")
    assert [(call_["name"], call_["ok"], call_["wrote"]) for call_ in result["calls"]] == [
        ("tasks.create", True, 1),
        ("tasks.update", True, 1),
    ]
    assert result["changes"] == {"created": 1, "updated": 1}
    assert "error" not in result


def test_status_tells_what_stood_around_the_last_script(home: Path) -> None:
    with open_app(read_settings(home=home)) as app:
        talk = Conversation(id="v_test", actor="tool", client="test")
        before = app.calls.call("status", {}, talk).data["scripts"]
        result = app.calls.call("run_code", {"code": "return 1"}, talk).data
    with open_app(read_settings(home=home)) as app:  # nobody has tried it out yet
        after = app.calls.call("status", {}, talk).data["scripts"]

    assert before == {"isolation": "not checked yet (runs with the first script)"}
    assert after == {"isolation": result["isolation"]}


def test_inputs_are_names_in_the_script(run: Run) -> None:
    assert run("return [word.upper() for word in words]", inputs={"words": ["a", "b"]})["result"] == ["A", "B"]


def test_the_value_of_the_last_expression_is_the_result_with_its_nulls(run: Run) -> None:
    assert run('{"deadline": None, "tags": []}')["result"] == {"deadline": None, "tags": []}


def test_rows_have_every_field_and_whole_texts(call: Call, run: Run) -> None:
    call("create_note", title="Long", content="x" * 20_000)
    call("create_task", title="Tea")

    result = run('task = sdk.tasks.list()[0]\nreturn [task.deadline, task.tags, len(sdk.notes.text("Long"))]')

    assert result["result"] == [None, [], 20_000]


def test_a_list_in_a_script_has_all_its_pages(call: Call, run: Run) -> None:
    made = [{"tool": "create_task", "args": {"title": f"Task {number}"}} for number in range(100)]
    for _ in range(6):
        call("batch", operations=made)

    result = run("return len(sdk.tasks.list()), len(sdk.tasks.list(limit=150))")

    assert result["result"] == [600, 150]


def test_what_was_read_in_the_conversation_does_not_narrow_a_script(call: Call, run: Run) -> None:
    call("create_project", name="House")
    call("create_task", title="Tea")
    call("get_project", project="House")

    assert run("return len(sdk.tasks.list())")["result"] == 1


def test_a_script_may_ask_the_same_again_and_again(run: Run) -> None:
    assert run("for _ in range(20): sdk.projects.list()\nreturn 'done'")["result"] == "done"


def test_many_calls_are_told_together_by_name(run: Run) -> None:
    result = run("for _ in range(30): sdk.projects.list()\nsdk.status()")

    assert [(call_["name"], call_["times"]) for call_ in result["calls"]] == [("projects.list", 30), ("status", 1)]


def test_an_error_is_told_with_its_line_and_what_stands(run: Run, call: Call) -> None:
    result = run('sdk.tasks.create("Tea")\n\n1 / 0\n')

    error = result["error"]
    assert (error["kind"], error["message"], error["line"], error["source"]) == (
        "raised",
        "ZeroDivisionError: division by zero",
        3,
        "1 / 0",
    )
    assert result["note"] == f"1 change made before it stands; undo {result['run_id']} takes it back."
    assert titles(call) == ["Tea"]


def test_a_call_that_is_refused_can_be_caught(run: Run) -> None:
    result = run("""
from sdk import NotFoundError
try:
    sdk.tasks.update("Nowhere", urgent=True)
except NotFoundError as error:
    return error.hint
""")

    assert "search" in result["result"]


def test_a_wrong_argument_is_refused_in_the_words_of_the_sdk(run: Run) -> None:
    result = run('sdk.tasks.create("Tea", status="sleeping")')

    assert result["error"]["message"].startswith(
        "InvalidInputError: sdk.tasks.create was not called: status must be one of"
    )


def test_an_argument_of_a_wrong_type_is_told_with_the_signature_at_its_line(run: Run) -> None:
    error = run("first = 1\nreturn sdk.tasks.list(limit='5')")["error"]

    assert (error["line"], error["source"]) == (2, "return sdk.tasks.list(limit='5')")
    assert error["message"] == "InvalidInputError: sdk.tasks.list: limit takes int | None, not '5'."
    assert error["hint"].startswith("It is called as sdk.tasks.list(project: str | Project | None = None, view: ")


# Bad wishes.


@pytest.mark.parametrize("name", ["a b", "class", "_x", "sdk", "1a", ""])
def test_an_input_that_is_no_name_is_refused(run: Run, name: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be a name"):
        run("1", inputs={name: 1})


@pytest.mark.parametrize("seconds", [0, -1, 61])
def test_a_time_limit_is_1_to_60_seconds(run: Run, seconds: int) -> None:
    with pytest.raises(InvalidInputError, match="1 to 60 seconds"):
        run("1", timeout=seconds)


def test_a_run_in_the_background_is_refused_where_nobody_runs_jobs(run: Run) -> None:
    with pytest.raises(UnavailableError, match="No background worker is running here; nothing was started"):
        run("1", background=True)


def test_a_script_of_a_megabyte_is_refused(run: Run) -> None:
    with pytest.raises(InvalidInputError, match="limit is 200,000"):
        run("x = 1\n" * 200_000)


@pytest.mark.parametrize(
    "name", ["run_code", "sdk.search", "reindex", "import.markdown", "backup", "purge", "models.remove", "runs.get"]
)
def test_a_script_cannot_call_what_is_not_for_scripts(app: App, name: str) -> None:
    assert name not in app.calls.scriptable


# Large results.


def test_a_large_result_becomes_a_file_and_its_shape_is_told(run: Run) -> None:
    result = run('return [{"n": n, "text": "x" * 20} for n in range(1000)]')

    read = run("import json\nreturn len(json.loads(sdk.files.text(file)))", inputs={"file": result["result_file"]})
    assert read["result"] == 1000
    assert "result" not in result
    assert "list of 1,000" in result["shape"].replace("1000", "1,000")
    assert result["note"].startswith("The result has ")


def test_a_large_text_becomes_a_text_file(run: Run, call: Call) -> None:
    result = run('return "line\\n" * 5000')

    file = call("items.get", item=result["result_file"]).data["item"]
    assert (file["name"], file["size"]) == (f"{result['run_id']}.txt", 25_000)


def test_a_result_that_is_kept_is_found_by_its_name_and_not_by_what_it_holds(run: Run, call: Call) -> None:
    file = run('return "gooseberry\\n" * 2000')["result_file"]

    assert call("search", query="gooseberry").data == []
    assert [row["id"] for row in call("files.list").data] == [file]


def test_a_result_that_gets_a_name_is_a_file_like_others(run: Run, call: Call) -> None:
    file = run('return "gooseberry\\n" * 2000')["result_file"]

    call("update_file", file=file, name="berries.txt")

    assert [row["id"] for row in call("search", query="gooseberry").data] == [file]


# The log.


def test_every_call_of_a_script_is_logged_with_its_run_and_its_place(run: Run, call: Call) -> None:
    failing = '\ntry: sdk.tasks.update("Nowhere", urgent=True)\nexcept Exception: pass'

    result = run('sdk.tasks.create("Tea", notes="password: hunter2")' + failing)

    made = call("runs.get", run=result["run_id"]).data["calls"]
    assert [(call_["position"], call_["name"], call_["success"]) for call_ in made] == [
        (1, "tasks.create", True),
        (2, "tasks.update", False),
    ]
    assert "hunter2" not in json.dumps(made)
    assert made[0]["chars"] > 100


def test_calls_that_run_at_once_have_each_their_place(run: Run, call: Call) -> None:
    result = run("sdk.parallel(*[lambda: sdk.projects.list() for _ in range(5)])")

    made = call("runs.get", run=result["run_id"]).data["calls"]
    assert [call_["position"] for call_ in made] == [1, 2, 3, 4, 5]


def test_a_run_that_failed_is_listed_with_its_first_line(run: Run, call: Call) -> None:
    run("return 1")
    run("# what it is\n1 / 0")

    listed = call("runs.list", failed=True).data
    assert [(row["status"], row["script"]) for row in listed] == [("failed", "# what it is")]


def test_a_run_is_a_page_whose_text_cannot_break_out_of_it(run: Run, call: Call) -> None:
    result = run('print("```")\nreturn "````"')

    page = call("pages.run", run=result["run_id"]).data["markdown"]
    assert "````\n```" in page
    assert "`````\n" in page


def test_an_unknown_run_is_not_found(call: Call) -> None:
    with pytest.raises(NotFoundError, match="no run"):
        call("runs.get", run="x_0000000000")


# Doors.


def test_a_key_that_is_repeated_writes_once(run: Run, call: Call) -> None:
    for _ in range(2):
        run('sdk.tasks.create("Tea")', idempotency_key="k")

    assert titles(call) == ["Tea"]


def test_a_script_can_be_a_step_of_a_batch_that_is_not_atomic(call: Call) -> None:
    step = {"tool": "run_code", "args": {"code": 'sdk.tasks.create("Tea")'}}

    answer = call("batch", operations=[step], atomic=False).data

    assert answer["results"][0]["ok"]
    assert titles(call) == ["Tea"]


def test_a_script_cannot_be_a_step_of_an_atomic_batch(call: Call) -> None:
    with pytest.raises(PanoramaError, match="atomic batch"):
        call("batch", operations=[{"tool": "run_code", "args": {"code": "1"}}])


def test_a_batch_in_a_script_is_all_or_nothing(run: Run, call: Call) -> None:
    steps = [
        {"tool": "create_task", "args": {"title": "Tea"}},
        {"tool": "update_task", "args": {"task": "Nowhere"}},
    ]

    result = run("sdk.batch(steps)", inputs={"steps": steps})

    assert result["error"]["message"].startswith("NotFoundError: Step 1")
    assert titles(call) == []


def test_a_step_of_a_batch_may_be_named_as_scripts_name_it(run: Run, call: Call) -> None:
    run('sdk.batch([{"tool": "sdk.tasks.create", "args": {"title": "Tea"}}])')

    assert titles(call) == ["Tea"]


def test_a_note_tells_its_length_wherever_it_comes_from(run: Run) -> None:
    run('sdk.notes.create("Tea", "hello")')

    result = run('note = sdk.notes.update("Tea", pinned=True)\nreturn [note.chars, sdk.notes.list()[0].chars]')

    assert result["result"] == [5, 5]


def test_tasks_of_one_name_are_told_apart(run: Run) -> None:
    run('sdk.tasks.create("Rent")\nsdk.tasks.create("Rent", deadline="2026-12-01")')

    result = run('sdk.tasks.update("Rent", urgent=True)')

    assert "2026-12-01" in str(result["error"])


@pytest.mark.timeout(20)
def test_a_name_of_a_million_letters_is_not_compared_to_its_end(run: Run, call: Call) -> None:
    for number in range(30):
        call("create_task", title=f"aaaa {number}")

    result = run('sdk.tasks.update("a" * 900_000, urgent=True)')

    assert "NotFoundError" in result["error"]["message"]


@pytest.mark.parametrize("kind", ["tasks", "journal", "changes"])
def test_a_row_is_found_by_its_own_moment_and_is_not_newer_than_it(run: Run, kind: str) -> None:
    run('sdk.tasks.create("Tea")\nsdk.journal.create("Tea")')
    name = "updated_at" if kind == "tasks" else "at"

    result = run(f"""
row = sdk.query("{kind}", sort=["-{name}"], limit=1)[0]
ask = lambda asked: len(sdk.query("{kind}", where={{"{name}": asked}}))
return [ask(row["{name}"]) >= 1, ask({{"gt": row["{name}"]}}), ask({{"gte": row["{name}"]}}) >= 1]
""")

    assert result["result"] == [True, 0, True]


def test_what_a_script_undoes_must_be_there(run: Run) -> None:
    result = run('sdk.undo("c_zzzzzzzzzz")')

    assert "NotFoundError" in result["error"]["message"]


def test_an_atomic_run_that_was_taken_back_names_nothing_to_undo(call: Call) -> None:
    answer = call("run_code", code='sdk.tasks.create("Tea")\n1 / 0', atomic=True)

    assert "undo" not in answer.metadata


def test_a_call_that_needs_agreement_does_not_say_that_the_script_changed_nothing(run: Run, call: Call) -> None:
    call("create_project", name="House")
    call("create_task", title="Roof", project="House")

    result = run('sdk.tasks.create("Tea")\nsdk.projects.delete("House", items="trash")')

    assert "This call changed nothing." in result["error"]["message"]
    assert "Nothing was changed" not in result["error"]["message"]
    assert result["note"].startswith("1 change made before it stand")


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [({}, "there were none"), ({"words": 1, "limit": 2}, "these are words, limit")],
)
def test_an_input_that_was_not_passed_is_told_with_those_that_were(
    run: Run, inputs: dict[str, Any], expected: str
) -> None:
    error = run("return deadline_until", inputs=inputs)["error"]

    assert error["hint"] == f"If it is an input: inputs of the run become names, and {expected}."


def test_the_advice_for_a_large_result_reads_all_of_it(run: Run) -> None:
    note = run("return ['x' * 100] * 1000")["note"]

    read = note.rpartition("read it with ")[2].rstrip(".")
    assert run(f"import json\nreturn len(json.loads({read}))")["result"] == 1000


def test_what_is_no_number_becomes_null(run: Run) -> None:
    assert run('return [float("nan"), float("inf"), 1.5]')["result"] == [None, None, 1.5]


def test_open_names_what_reads_a_whole_file(run: Run) -> None:
    assert "sdk.files.text(file) reads one" in run('open("a.txt").read()')["error"]["hint"]
