"""Scripts of the library as tools: what one may do, and that no other text runs in its place."""

from typing import Any

import pytest

from panorama.app import App
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from tests.kept import COUNTING, WRITING, Person, changed_text_ends_it, put
from tests.services.shelves import Call, person, shipped, state, tools

__all__ = ["person", "shipped"]


def test_a_rejected_tool_is_none_any_more(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)
    person.promotes("count")

    digest = call("scripts.get", script="count").data["digest"]
    person.decides("scripts.reject", script="count", digest=digest)

    assert (state(call, "count"), tools(app)) == ("draft", [])


def test_there_are_at_most_twelve_tools(app: App, person: Person) -> None:
    for number in range(12):
        put(app, f"s{number}", COUNTING)
        person.promotes(f"s{number}")
    put(app, "more", COUNTING)

    with pytest.raises(ConflictError, match="12 script tools") as refused:
        person.promotes("more")
    person.promotes("s3", to="demoted")
    person.promotes("more")

    assert "least used" in refused.value.hint
    assert len(tools(app)) == 12


@changed_text_ends_it
def test_a_tool_whose_text_was_changed_keeps_its_place_among_the_twelve(app: App, person: Person) -> None:
    for number in range(12):
        put(app, f"s{number}", COUNTING)
        person.promotes(f"s{number}")
        put(app, f"s{number}", COUNTING.replace("Count", "Sum"))
    assert tools(app) == []
    put(app, "more", COUNTING)

    with pytest.raises(ConflictError, match="12 script tools"):
        person.promotes("more")
    person.promotes("s3", to="retired")
    person.promotes("more")

    for number in range(12):
        put(app, f"s{number}", COUNTING)
    assert len(tools(app)) == 12


def test_a_tool_that_only_reads_is_refused_what_writes(call: Call, app: App, person: Person) -> None:
    put(app, "write", WRITING.replace("return", "return getattr(sdk, 'tasks').create(title).id if 1 else"))
    person.promotes("write", read_only=True)

    answer = call("script_write", title="Tea").data

    assert "promoted as read-only" in answer["error"]["message"]
    assert call("list_tasks").data == []


def test_what_it_was_refused_stands_in_the_log(call: Call, app: App, person: Person) -> None:
    put(app, "write", WRITING)
    person.promotes("write", read_only=True)

    run = call("script_write", title="Tea").data["run_id"]

    assert [(item["name"], item["success"]) for item in call("runs.calls", run=run).data] == [("tasks.create", False)]
    assert call("runs.list").data[0]["calls"] == 1


@pytest.mark.parametrize(
    "act",
    [
        'sdk.batch([{"tool": "create_task", "args": {"title": "x"}}])',
        'sdk.files.write("a.txt", "x")',
        "sdk.undo()",
        'sdk.parallel(lambda: sdk.tasks.create("x"), lambda: sdk.notes.create("x"))',
        "sdk.scripts.write(title='x')",
        'sdk.scripts.call("write", {"title": "x"})',
        "'x' * 20_000",
    ],
)
def test_no_way_leads_around_that(call: Call, app: App, person: Person, rows: Any, act: str) -> None:
    put(app, "write", WRITING)
    person.promotes("write")
    put(app, "sly", f'"""Only read, it says."""\n\ndef main():\n    sdk.state["x"] = 1\n    return {act}\n')
    person.promotes("sly", read_only=True)
    before = rows()

    call("script_sly")

    assert rows() == before
    assert call("run_code", code="return dict(sdk.state)", state="").data["result"] == {}


def test_a_tool_has_the_parameters_of_its_script(call: Call, app: App, person: Person) -> None:
    put(app, "write", WRITING)
    person.promotes("write")

    with pytest.raises(InvalidInputError, match=r"title is missing; titel .* \(did you mean title\?\)"):
        call("script_write", titel="Tea")
    with pytest.raises(InvalidInputError, match="title must be text, not 5"):
        call("script_write", title=5)
    assert call("script_write", title="Tea", dry_run=True).data["dry_run"] is True
    assert call("script_write", title="Tea").metadata["undo"].startswith("x_")


@changed_text_ends_it
def test_a_changed_text_never_runs_as_its_tool(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.promotes("count")
    call("script_count")
    path.write_text(COUNTING.replace("return len", "sdk.tasks.create('x')\n    return len"))

    with pytest.raises(NotFoundError, match="its script was changed"):
        call("script_count")

    assert call("list_tasks").data == []


@changed_text_ends_it
def test_listeners_hear_that_a_tool_came_and_went(app: App, person: Person) -> None:
    heard: list[list[str]] = []
    stop = app.calls.promoted_tools.subscribe(lambda: heard.append(tools(app)))
    path = put(app, "count", COUNTING)

    person.promotes("count")
    path.write_text(COUNTING + "# other\n")
    tools(app)
    stop()

    assert heard[0] == ["script_count"]
    assert heard[-1] == []


def test_a_tool_is_a_step_of_a_batch_that_is_not_atomic(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)
    person.promotes("count")
    step = {"tool": "script_count", "args": {}}

    answer = call("batch", operations=[step, step], atomic=False).data

    assert [result["data"]["result"] for result in answer["results"]] == [0, 0]
    with pytest.raises(InvalidInputError, match="atomic"):
        call("batch", operations=[step])


def test_a_tool_whose_text_was_changed_is_one_again_once_that_is_approved(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.promotes("count", read_only=True)
    path.write_text(COUNTING + "# other\n")
    answer = call("scripts.get", script="count").data

    person.approves("count")

    assert (answer["state"], answer["again"]) == ("draft", "script_count")
    assert call("script_count").data["result"] == 0
    assert call("scripts.get", script="count").data["read_only"] is True
