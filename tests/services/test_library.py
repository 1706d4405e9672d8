"""The library of scripts: drafts, decisions that are bound to a text, versions, figures, and running by name."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import panorama.app as composition
from panorama.app import App
from panorama.calls import Answer
from panorama.domain.jobs import Asker, Job
from panorama.errors import ConfirmationError, ConflictError, InvalidInputError, NotFoundError, UnavailableError
from panorama.services import shelf
from panorama.services.progress import progressing, silent
from tests.conftest import StandingClock
from tests.kept import COUNTING, WRITING, Person, put

Call = Callable[..., Answer]


@pytest.fixture(autouse=True)
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two scripts came with the program."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    (folder / "ours.py").write_text('"""Say five. Ours."""\n\ndef main() -> int:\n    return 5\n')
    (folder / "weekly_review.py").write_text('"""Named like a tool."""\n\ndef main() -> int:\n    return 6\n')
    monkeypatch.setattr(composition, "shipped", lambda _: folder)
    return folder


@pytest.fixture
def person(app: App) -> Person:
    """Someone who decides."""
    return Person(app)


def state(call: Call, name: str) -> str:
    """Return a script's state."""
    return str(call("scripts.get", script=name).data["state"])


def tools(app: App) -> list[str]:
    """Return the tools that are scripts."""
    return [each.operation.tool for each in app.calls.promoted.all()]


# Keeping.


def test_what_is_saved_is_a_file_of_a_draft(call: Call, app: App) -> None:
    saved = call("save_script", name="count", code=COUNTING)

    path = app.settings.home / "scripts" / "count.py"
    assert path.read_text() == COUNTING
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert (saved.data["state"], saved.data["parameters"]) == ("draft", "project=''")
    assert saved.data["reads"] == ["tasks.list"]


def test_the_code_of_a_run_is_kept_with_its_inputs_as_parameters(call: Call) -> None:
    run = call("run_code", code='made = sdk.tasks.create(title)\nmade.title + "!"', inputs={"title": "Tea"})

    call("save_script", name="make", run=run.data["run_id"], summary="Make a task")

    assert call("run_script", script="make", args={"title": "Milk"}).data["result"] == "Milk!"
    assert call("run_script", script="make").data["result"] == "Tea!"


def test_another_text_is_not_overwritten_unless_it_is_said(call: Call) -> None:
    call("save_script", name="count", code=COUNTING)
    again = call("save_script", name="count", code=COUNTING)

    with pytest.raises(ConflictError, match="another text"):
        call("save_script", name="count", code=WRITING)
    call("save_script", name="count", code=WRITING, replace=True)

    assert "already" in again.metadata["hint"]
    assert call("scripts.get", script="count").data["summary"] == "Write a task down."


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"code": COUNTING, "run": "x_0000000001"},
        {"code": "5"},
        {"code": "def main(", "summary": "x"},
        {"run": "x_zzzzzzzzzz"},
    ],
)
def test_what_cannot_be_kept_is_refused_and_leaves_nothing(call: Call, app: App, sent: dict[str, Any]) -> None:
    with pytest.raises((InvalidInputError, NotFoundError)):
        call("save_script", name="count", **sent)

    assert not (app.settings.home / "scripts").exists()


def test_a_list_tells_states_and_arguments(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)
    put(app, "write", WRITING)
    person.approves("write")

    rows = {row["name"]: row for row in call("list_scripts", detail="full").data}

    assert {name: row["state"] for name, row in rows.items()} == {
        "count": "draft", "ours": "reviewed", "weekly_review": "reviewed", "write": "reviewed",
    }  # fmt: skip
    assert (rows["write"]["by"], rows["ours"]["by"], rows["count"].get("by", "")) == ("you", "Panorama", "")
    assert rows["write"]["parameters"] == "title, day=…"
    assert [row["name"] for row in call("list_scripts", state="draft").data] == ["count"]


def test_a_list_has_pages(call: Call, app: App) -> None:
    for number in range(7):
        put(app, f"s{number}", COUNTING)

    first = call("list_scripts", limit=4)
    second = call("list_scripts", limit=20, cursor=first.metadata["next_cursor"])

    names = [row["name"] for row in [*first.data, *second.data]]
    assert names == sorted(names)
    assert len(names) == first.metadata["total"] == 9


def test_a_broken_file_is_listed_with_what_is_wrong(call: Call, app: App) -> None:
    put(app, "broken", "def main(")

    row = next(row for row in call("list_scripts").data if row["name"] == "broken")

    assert (row["state"], row["problem"]) == ("draft", "The script is no Python: '(' was never closed (line 1).")


def test_an_edit_outside_is_noticed_however_the_clock_of_files_stands(call: Call, app: App) -> None:
    path = put(app, "count", COUNTING)
    call("list_scripts")
    old = path.stat()

    path.write_text(COUNTING.replace("Count the", "Total the"), encoding="utf-8")
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))

    row = next(row for row in call("list_scripts").data if row["name"] == "count")
    assert row["summary"] == "Total the tasks of a project."


# Deciding.


def test_an_approved_text_is_reviewed_and_any_other_is_a_draft(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.approves("count")
    before = state(call, "count")

    path.write_text(COUNTING + "\n")
    changed = state(call, "count")
    path.write_text(COUNTING)

    assert (before, changed, state(call, "count")) == ("reviewed", "draft", "reviewed")


def test_without_the_persons_answer_nothing_is_approved(call: Call, app: App) -> None:
    put(app, "count", COUNTING)

    with pytest.raises(ConfirmationError) as asked:
        call("promote_script", script="count", to="reviewed")

    assert "panorama scripts review count" in asked.value.hint
    assert "confirm" not in asked.value.hint
    assert "It only reads" not in asked.value.question.partition("It says")[0]
    assert state(call, "count") == "draft"


def test_the_question_tells_what_it_does_and_not_only_what_it_says(call: Call, app: App) -> None:
    put(app, "count", COUNTING.replace("return len", "sdk.tasks.delete('x')\n    return len"))
    call("run_script", script="count", dry_run=True)

    with pytest.raises(ConfirmationError) as asked:
        call("promote_script", script="count")

    for told in ("“Count the tasks of a project.”", "it reads: tasks.list", "it writes: tasks.delete", "sha256"):
        assert told in asked.value.question


def test_a_yes_to_one_text_is_none_to_another(call: Call, app: App, conversation: Any) -> None:
    path = put(app, "count", COUNTING)
    with pytest.raises(ConfirmationError) as asked:
        call("promote_script", script="count")
    path.write_text(COUNTING.replace("return len", "sdk.tasks.create('x')\n    return len"))

    with pytest.raises(ConfirmationError):
        app.calls.call("promote_script", {"script": "count"}, conversation, agreed=asked.value.agreement)

    assert (state(call, "count"), tools(app)) == ("draft", [])


def test_a_terminal_approves_what_it_showed_and_nothing_else(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    shown = call("scripts.get", script="count").data["digest"]
    path.write_text(WRITING)

    with pytest.raises(ConflictError, match="changed since it was shown"):
        person.decides("scripts.approve", script="count", digest=shown)

    assert state(call, "count") == "draft"


def test_a_rejected_text_cannot_be_proposed_again(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    digest = call("scripts.get", script="count").data["digest"]
    person.decides("scripts.reject", script="count", digest=digest)

    with pytest.raises(ConflictError, match="rejected this text"):
        call("promote_script", script="count")
    path.write_text(COUNTING + "# better\n")
    with pytest.raises(ConfirmationError):
        call("promote_script", script="count")


def test_a_rejected_tool_is_none_any_more(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)
    person.promotes("count")

    digest = call("scripts.get", script="count").data["digest"]
    person.decides("scripts.reject", script="count", digest=digest)

    assert (state(call, "count"), tools(app)) == ("draft", [])


def test_a_script_without_a_docstring_is_not_approved(app: App, person: Person) -> None:
    put(app, "count", "def main() -> int:\n    return 5\n")

    with pytest.raises(InvalidInputError, match="does not say what it does"):
        person.approves("count")
    with pytest.raises(InvalidInputError, match="does not say what it does"):
        person.promotes("count")


def test_a_retired_script_does_not_run_until_it_is_approved_again(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)
    person.promotes("count")
    person.promotes("count", to="retired")

    with pytest.raises(ConflictError, match="retired"):
        call("run_script", script="count")
    person.approves("count")

    assert call("run_script", script="count").data["script_state"] == "reviewed"
    assert tools(app) == []


def test_there_are_at_most_twelve_tools(app: App, person: Person) -> None:
    for number in range(12):
        put(app, f"s{number}", COUNTING)
        person.promotes(f"s{number}")
    put(app, "more", COUNTING)

    with pytest.raises(ConflictError, match="12 tools") as refused:
        person.promotes("more")
    person.promotes("s3", to="reviewed")
    person.promotes("more")

    assert "used least" in refused.value.hint
    assert len(tools(app)) == 12


def test_a_tool_whose_text_was_changed_keeps_its_place_among_the_twelve(app: App, person: Person) -> None:
    for number in range(12):
        put(app, f"s{number}", COUNTING)
        person.promotes(f"s{number}")
        put(app, f"s{number}", COUNTING.replace("Count", "Sum"))
    assert tools(app) == []
    put(app, "more", COUNTING)

    with pytest.raises(ConflictError, match="12 tools"):
        person.promotes("more")
    person.promotes("s3", to="retired")
    person.promotes("more")

    for number in range(12):
        put(app, f"s{number}", COUNTING)
    assert len(tools(app)) == 12


# Versions.


def test_every_text_that_was_approved_can_be_put_back(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)
    person.approves("count")
    path = put(app, "count", WRITING)
    person.promotes("count")

    person.decides("scripts.rollback", script="count")

    versions = call("scripts.history", script="count").data["versions"]
    assert path.read_text() == COUNTING
    assert state(call, "count") == "reviewed"
    assert [(each["version"], each["current"]) for each in versions] == [(3, True), (2, False), (1, True)]
    assert "-def main(title" in call("scripts.diff", script="count", old=2).data["diff"]


def test_a_text_that_was_approved_long_ago_is_a_draft_when_somebody_else_puts_it_back(
    call: Call, app: App, person: Person
) -> None:
    put(app, "count", COUNTING)
    person.approves("count")
    put(app, "count", WRITING)
    person.approves("count")

    call("save_script", name="count", code=COUNTING, replace=True)

    assert state(call, "count") == "draft"


# Running.


def test_a_draft_runs_and_is_marked(call: Call, app: App) -> None:
    put(app, "write", WRITING)

    ran = call("run_script", script="write", args={"title": "Tea", "day": "tomorrow"})

    assert ran.summary.startswith("Draft write: run x_")
    assert ran.data["script_state"] == "draft"
    assert call("get_item", item="Tea").data["item"]["deadline"] == "2026-05-21"


def test_one_undo_takes_a_run_back(call: Call, app: App) -> None:
    put(app, "write", WRITING)
    ran = call("run_script", script="write", args={"title": "Tea"})

    call("undo", unit=ran.data["run_id"])

    assert call("list_tasks").data == []


def test_a_dry_run_changes_nothing_and_is_remembered_for_the_review(call: Call, app: App) -> None:
    put(app, "write", WRITING)

    ran = call("run_script", script="write", args={"title": "Tea"}, dry_run=True)

    assert [each["label"] for each in ran.data["would"]] == ["Tea"]
    assert call("list_tasks").data == []
    dry = call("scripts.get", script="write").data["dry_run"]
    assert [(each["name"], each["arguments"]["title"]) for each in dry] == [("tasks.create", "Tea")]


def test_wrong_arguments_are_refused_before_anything_starts(call: Call, app: App) -> None:
    put(app, "write", WRITING)

    with pytest.raises(InvalidInputError, match="title is missing") as refused:
        call("run_script", script="write", args={"titel": "Tea", "day": "someday"})

    assert "title* (text), day (day)" in refused.value.hint
    assert call("runs.list").data == []


def test_a_script_that_is_not_there_names_the_nearest(call: Call) -> None:
    with pytest.raises(NotFoundError) as refused:
        call("run_script", script="our")

    assert "ours" in refused.value.hint


def test_what_is_printed_and_where_it_failed_is_told_in_the_scripts_own_lines(call: Call, app: App) -> None:
    put(app, "fail", '"""Fail."""\n\n\ndef main() -> None:\n    print("so far")\n    1 / 0\n')

    told = call("run_script", script="fail").data

    assert told["stdout"] == "so far\n"
    assert (told["error"]["line"], told["error"]["source"]) == (6, "1 / 0")


def test_moments_arrive_as_such(call: Call, app: App) -> None:
    text = (
        '"""X."""\nfrom datetime import *\ndef main(at: datetime, days: list[date]):\n    return at.hour, days[0].day'
    )
    put(app, "when", text.replace("*", "date, datetime"))

    told = call("run_script", script="when", args={"at": "2026-05-31T15:00", "days": ["today"]}).data

    assert told["result"] == [15, 20]


def test_a_script_keeps_a_state_of_its_own(call: Call, app: App) -> None:
    text = '"""Count."""\ndef main():\n    sdk.state["n"] = sdk.state.get("n", 0) + 1\n    return sdk.state["n"]\n'
    put(app, "one", text)
    put(app, "two", text)

    told = [call("run_script", script=name).data["result"] for name in ("one", "one", "two")]

    assert told == [1, 2, 1]


def test_figures_come_from_the_log(call: Call, app: App) -> None:
    put(app, "write", WRITING)
    for title in ("Tea", "Milk", ""):
        call("run_script", script="write", args={"title": title})
    app.recorder.flush()

    figures = call("scripts.get", script="write").data["statistics"]

    assert (figures["runs"], figures["success_percent"], figures["median_calls"]) == (3, 67, 1)
    assert "title" in figures["last_error"]
    assert figures["tokens"] > 50
    assert call("scripts.get", script="write").data["did"] == {"tasks.create": 2}


# Schedules.


def a_schedules_job() -> Any:
    """Return what a job that a schedule asked for keeps its checkpoints in."""

    class Running:
        job = Job(
            id="w_1", kind="run_script", arguments={}, asker=Asker(actor="schedule", client="x"), unit="w_1",
            created_at=StandingClock()(),
        )  # fmt: skip

        def kept(self) -> dict[str, Any]:
            return {}

        def keep(self, _: Any) -> None:
            pass

    return Running()


def test_a_schedule_runs_reviewed_text_only(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    with progressing(silent, checkpoints=a_schedules_job()):
        with pytest.raises(ConflictError, match="reviewed scripts only"):
            call("run_script", script="count")
        person.approves("count")
        assert call("run_script", script="count").data["result"] == 0
        path.write_text(COUNTING + "# other\n")
        with pytest.raises(ConflictError, match="reviewed scripts only"):
            call("run_script", script="count")


def test_a_schedule_of_code_or_of_a_draft_is_refused_when_it_is_added(app: App, person: Person) -> None:
    put(app, "count", COUNTING)

    with pytest.raises(InvalidInputError, match="not code"):
        app.jobs.check("run_code", {"code": "5"})
    with pytest.raises(ConflictError, match="reviewed scripts only"):
        app.jobs.check("run_script", {"script": "count"})
    person.approves("count")
    app.jobs.check("run_script", {"script": "count", "args": {"project": "x"}})


def test_a_schedule_whose_script_was_changed_is_refused_by_the_queue(app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.approves("count")
    with app.jobs.attended(lambda: None):
        app.jobs.submit("run_script", {"script": "count"}, asked_by="schedule Count")
        path.write_text(COUNTING + "# other\n")

        with pytest.raises(ConflictError, match="reviewed scripts only"):
            app.jobs.submit("run_script", {"script": "count"}, asked_by="schedule Count")
        app.jobs.submit("run_script", {"script": "count"})


# Tools.


def test_a_tool_that_only_reads_is_refused_what_writes(call: Call, app: App, person: Person) -> None:
    put(app, "write", WRITING.replace("return", "return getattr(sdk, 'tasks').create(title).id if 1 else"))
    person.promotes("write", read_only=True)

    told = call("script_write", title="Tea").data

    assert "promoted as one that only reads" in told["error"]["message"]
    assert call("list_tasks").data == []


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
    with pytest.raises(InvalidInputError, match="title is text, not 5"):
        call("script_write", title=5)
    assert call("script_write", title="Tea", dry_run=True).data["dry_run"] is True
    assert call("script_write", title="Tea").metadata["undo"].startswith("x_")


def test_a_changed_text_never_runs_as_its_tool(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.promotes("count")
    call("script_count")
    path.write_text(COUNTING.replace("return len", "sdk.tasks.create('x')\n    return len"))

    with pytest.raises(NotFoundError, match="its script was changed"):
        call("script_count")

    assert call("list_tasks").data == []


def test_listeners_hear_that_a_tool_came_and_went(app: App, person: Person) -> None:
    heard: list[list[str]] = []
    stop = app.calls.promoted.tell(lambda: heard.append(tools(app)))
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

    told = call("batch", operations=[step, step], atomic=False).data

    assert [each["data"]["result"] for each in told["results"]] == [0, 0]
    with pytest.raises(InvalidInputError, match="atomic"):
        call("batch", operations=[step])


# Inside other scripts.


def test_a_script_runs_another_and_one_undo_takes_back_both(call: Call, app: App) -> None:
    put(app, "write", WRITING)
    code = 'sdk.tasks.create("outer")\nreturn sdk.scripts.write(title="inner", day="today")'

    ran = call("run_code", code=code)
    call("undo", unit=ran.data["run_id"])

    assert ran.data["result"].startswith("t_")
    assert ran.data["changes"] == {"created": 2}
    assert [each["name"] for each in ran.data["calls"]] == ["tasks.create", "scripts.call", "tasks.create"]
    assert call("list_tasks").data == []


def test_a_dry_run_holds_for_what_it_runs(call: Call, app: App) -> None:
    put(app, "write", WRITING)

    ran = call("run_code", code='sdk.scripts.write(title="inner")\nreturn len(sdk.tasks.list())', dry_run=True)

    assert ran.data["result"] == 1
    assert call("list_tasks").data == []


def test_scripts_nest_three_deep_and_never_in_themselves(call: Call, app: App) -> None:
    for name, inner in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "")):
        body = f"sdk.scripts.{inner}()" if inner else "5"
        put(app, name, f'"""Go on."""\n\ndef main():\n    return {body}\n')
    put(app, "loop", '"""Loop."""\n\ndef main():\n    return sdk.scripts.turn()\n')
    put(app, "turn", '"""Turn."""\n\ndef main():\n    return sdk.scripts.loop()\n')

    deep, round_ = call("run_script", script="a").data, call("run_script", script="loop").data

    assert call("run_script", script="b").data["result"] == 5
    assert "nest 3 deep: a → b → c" in deep["error"]["message"]
    assert "loop runs already: loop → turn → loop" in round_["error"]["message"]


def test_what_runs_side_by_side_inside_others_does_not_wait_for_ever(call: Call, app: App) -> None:
    put(app, "many", '"""Ask."""\n\ndef main():\n    return len(sdk.parallel(*[lambda: sdk.status()] * 8))\n')
    code = "return sum(sdk.parallel(*[lambda: sdk.scripts.many()] * 8))"

    assert call("run_code", code=code, timeout=30).data["result"] == 64


def test_what_was_reviewed_runs_nothing_that_was_not(call: Call, app: App, person: Person) -> None:
    put(app, "write", WRITING)
    put(app, "outer", '"""Go on."""\n\ndef main():\n    return sdk.scripts.write(title="x")\n')
    person.promotes("outer")

    tool, by_hand = call("script_outer").data, call("run_script", script="outer").data

    assert "was reviewed and runs reviewed scripts only" in tool["error"]["message"]
    assert by_hand["result"].startswith("t_")


# What came with the program.


def test_a_shipped_script_is_reviewed_until_it_is_edited_and_the_edit_wins(
    call: Call, app: App, shipped: Path, person: Person
) -> None:
    before = call("run_script", script="ours").data
    put(app, "ours", '"""Say seven."""\n\ndef main() -> int:\n    return 7\n')
    edited = call("run_script", script="ours").data
    (shipped / "ours.py").write_text('"""Say eight."""\n\ndef main() -> int:\n    return 8\n')

    after = call("run_script", script="ours").data

    assert [(each["result"], each["script_state"]) for each in (before, edited, after)] == [
        (5, "reviewed"), (7, "draft"), (7, "draft"),
    ]  # fmt: skip


def test_an_update_of_a_promoted_shipped_script_needs_another_look(
    call: Call, app: App, shipped: Path, person: Person
) -> None:
    person.promotes("ours")
    before = tools(app)
    (shipped / "ours.py").write_text('"""Say eight."""\n\ndef main() -> int:\n    return 8\n')

    assert (before, tools(app), state(call, "ours")) == (["script_ours"], [], "reviewed")


def test_a_shipped_script_may_be_called_like_a_tool_and_edited(call: Call, app: App) -> None:
    put(app, "weekly_review", '"""Mine."""\n\ndef main() -> int:\n    return 7\n')

    assert call("run_script", script="weekly_review").data["result"] == 7
    with pytest.raises(InvalidInputError, match="something else"):
        call("save_script", name="create_task", code=COUNTING)


# Suggestions.


def test_code_that_ran_three_times_is_suggested(call: Call, app: App) -> None:
    for title in ("a", "b", "c"):
        call("run_code", code=f"sdk.tasks.create({title!r})\nsdk.tasks.list()")
    call("run_code", code="sdk.status()")
    app.recorder.flush()

    rows = call("list_scripts", suggest=True, detail="full").data

    assert [row["state"] for row in rows] == ["suggested"]
    assert "code with tasks.create, tasks.list ran 3 times" in rows[0]["summary"]
    assert rows[0]["tokens"] > 0
    call("save_script", name="kept", run=rows[0]["run"], summary="Keep it")


def test_a_chain_of_tools_is_suggested_whole(call: Call, app: App) -> None:
    for number in range(3):
        call("create_project", name=f"p{number}")
        call("create_task", title=f"t{number}", project=f"p{number}")
        call("create_note", title=f"n{number}", project=f"p{number}")
        call("status")
    app.recorder.flush()

    rows = call("list_scripts", suggest=True).data

    assert [row["summary"].partition(" was")[0] for row in rows] == ["create_project → create_task → create_note"]
    assert "Worth a script: create_project" in call("weekly_review").metadata["hint"]


def test_what_is_in_the_library_is_not_suggested(call: Call, app: App) -> None:
    put(app, "count", COUNTING)
    for _ in range(4):
        call("run_script", script="count")
    app.recorder.flush()

    assert call("list_scripts", suggest=True).data == []
    assert "hint" not in call("weekly_review").metadata


@pytest.fixture
def unwritable(app: App) -> Iterator[Path]:
    """A folder that cannot be written."""
    folder = app.settings.home / "scripts"
    folder.write_text("in the way")
    yield folder
    folder.unlink()


def test_a_folder_that_cannot_be_written_is_told(call: Call, unwritable: Path) -> None:
    with pytest.raises(UnavailableError, match="cannot be written"):
        call("save_script", name="count", code=COUNTING)


def test_a_file_that_has_rested_is_read_once(call: Call, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(app, "count", COUNTING)
    long_ago = time.time() - 60
    os.utime(path, (long_ago, long_ago))
    monkeypatch.setattr(shelf, "FRESH_SECONDS", -1)
    call("list_scripts")
    read: list[Path] = []
    real = shelf._read
    monkeypatch.setattr(shelf, "_read", lambda path: (read.append(path), real(path))[1])

    call("list_scripts")

    assert path not in read


def test_a_tool_whose_text_was_changed_is_one_again_once_that_is_approved(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.promotes("count", read_only=True)
    path.write_text(COUNTING + "# other\n")
    told = call("scripts.get", script="count").data

    person.approves("count")

    assert (told["state"], told["again"]) == ("draft", "script_count")
    assert call("script_count").data["result"] == 0
    assert call("scripts.get", script="count").data["read_only"] is True
