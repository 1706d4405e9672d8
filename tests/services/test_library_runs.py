"""Scripts of the library run: by name, by a schedule, inside others."""

from typing import Any

import pytest

from panorama.app import App
from panorama.calls.conversation import Conversation
from panorama.calls.rendering import SCRIPT
from panorama.domain.jobs import Job, Requester
from panorama.domain.scripts.scripts import Limits
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.services.jobs.progress import ignore_progress, report_progress_to
from panorama.services.scripts import code, script_run
from tests.conftest import StandingClock
from tests.kept import COUNTING, WRITING, Person, changed_text_ends_it, put
from tests.services.shelves import Call, person, shipped

__all__ = ["person", "shipped"]


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

    assert [change["label"] for change in ran.data["would"]] == ["Tea"]
    assert call("list_tasks").data == []
    dry = call("scripts.get", script="write").data["dry_run"]
    assert [(item["name"], item["arguments"]["title"]) for item in dry] == [("tasks.create", "Tea")]


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

    answer = call("run_script", script="fail").data

    assert answer["stdout"] == "so far\n"
    assert (answer["error"]["line"], answer["error"]["source"]) == (6, "1 / 0")


def test_moments_arrive_as_such(call: Call, app: App) -> None:
    text = (
        '"""X."""\nfrom datetime import *\ndef main(at: datetime, days: list[date]):\n    return at.hour, days[0].day'
    )
    put(app, "when", text.replace("*", "date, datetime"))

    answer = call("run_script", script="when", args={"at": "2026-05-31T15:00", "days": ["today"]}).data

    assert answer["result"] == [15, 20]


def test_a_script_keeps_a_state_of_its_own(call: Call, app: App) -> None:
    text = '"""Count."""\ndef main():\n    sdk.state["n"] = sdk.state.get("n", 0) + 1\n    return sdk.state["n"]\n'
    put(app, "one", text)
    put(app, "two", text)

    received = [call("run_script", script=name).data["result"] for name in ("one", "one", "two")]

    assert received == [1, 2, 1]


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
            id="w_1", kind="run_script", arguments={}, asker=Requester(actor="schedule", client="x"), unit="w_1",
            created_at=StandingClock()(),
        )  # fmt: skip

        def kept(self) -> dict[str, Any]:
            return {}

        def keep(self, _: Any) -> None:
            pass

    return Running()


@changed_text_ends_it
def test_a_schedule_runs_reviewed_text_only(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    with report_progress_to(ignore_progress, checkpoints=a_schedules_job()):
        with pytest.raises(ConflictError, match="reviewed scripts only"):
            call("run_script", script="count")
        person.approves("count")
        assert call("run_script", script="count").data["result"] == 0
        path.write_text(COUNTING + "# other\n")
        with pytest.raises(ConflictError, match="reviewed scripts only"):
            call("run_script", script="count")


def test_a_schedule_of_code_or_of_a_draft_is_refused_when_it_is_added(app: App, person: Person) -> None:
    put(app, "count", COUNTING)

    with pytest.raises(InvalidInputError, match="cannot call run_code"):
        app.jobs.check("run_code", {"code": "5"})
    with pytest.raises(ConflictError, match="reviewed scripts only"):
        app.jobs.check("run_script", {"script": "count"})
    person.approves("count")
    app.jobs.check("run_script", {"script": "count", "args": {"project": "x"}})


@changed_text_ends_it
def test_a_schedule_whose_script_was_changed_is_refused_by_the_queue(app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.approves("count")
    with app.jobs.attach_worker(lambda: None):
        app.jobs.submit("run_script", {"script": "count"}, asked_by="schedule Count")
        path.write_text(COUNTING + "# other\n")

        with pytest.raises(ConflictError, match="reviewed scripts only"):
            app.jobs.submit("run_script", {"script": "count"}, asked_by="schedule Count")
        app.jobs.submit("run_script", {"script": "count"})


# Inside other scripts.


def test_a_script_runs_another_and_one_undo_takes_back_both(call: Call, app: App) -> None:
    put(app, "write", WRITING)
    code = 'sdk.tasks.create("outer")\nreturn sdk.scripts.write(title="inner", day="today")'

    ran = call("run_code", code=code)
    call("undo", unit=ran.data["run_id"])

    assert ran.data["result"].startswith("t_")
    assert ran.data["changes"] == {"created": 2}
    assert [call_["name"] for call_ in ran.data["calls"]] == ["tasks.create", "scripts.call", "tasks.create"]
    assert call("list_tasks").data == []


def test_who_runs_a_script_from_their_own_python_gets_a_large_result_whole(
    call: Call, app: App, conversation: Conversation
) -> None:
    put(app, "long", '"""Give much."""\n\ndef main():\n    return "word " * 4000\n')

    answer = app.calls.call("scripts.call", {"script": "long"}, conversation, reader=SCRIPT)

    assert answer.data == "word " * 4000
    assert call("list_files").data == []


def test_a_dry_run_holds_for_what_it_runs(call: Call, app: App) -> None:
    put(app, "write", WRITING)

    ran = call("run_code", code='sdk.scripts.write(title="inner")\nreturn len(sdk.tasks.list())', dry_run=True)

    assert ran.data["result"] == 1
    assert call("list_tasks").data == []


def test_the_calls_of_scripts_inside_are_the_runs_in_its_count_and_its_log(call: Call, app: App) -> None:
    put(app, "many", '"""Ask."""\n\ndef main():\n    for _ in range(5): sdk.status()\n')

    ran = call("run_code", code="sdk.scripts.many()\nsdk.scripts.many()").data

    assert call("runs.list").data[0]["calls"] == call("runs.get", run=ran["run_id"]).data["called"] == 12


def test_scripts_inside_have_the_calls_that_are_left(call: Call, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "Limits", lambda **more: Limits(calls=20, **more))
    put(app, "many", '"""Ask."""\n\ndef main():\n    for _ in range(8): sdk.status()\n')

    ran = call("run_code", code="for _ in range(9): sdk.scripts.many()").data

    assert "more than 2 calls" in ran["error"]["message"]
    assert len(call("runs.calls", run=ran["run_id"]).data) == 21


def test_what_a_script_returns_to_another_is_read_within_the_limits_of_that_one(call: Call, app: App) -> None:
    put(app, "much", '"""Give much."""\n\ndef main():\n    return [[]] * 3_000_000\n')

    few = call("run_code", code="sdk.scripts.much()\nreturn 1", timeout=10).data
    many = call("run_code", code="kept = [sdk.scripts.much() for _ in range(9)]").data

    assert few["result"] == 1
    assert "its memory limit of 512 MB" in many["error"]["message"]


def test_a_script_returns_to_another_all_that_json_holds(call: Call, app: App) -> None:
    put(app, "some", '"""Give some."""\n\ndef main():\n    return {"large": 10**30, "none": None, "text": "é"}\n')
    put(app, "none", '"""Give nothing."""\n\ndef main():\n    pass\n')
    code = "some = sdk.scripts.some()\nreturn [some.large == 10**30, some['none'], some.text, sdk.scripts.none()]"

    assert call("run_code", code=code).data["result"] == [True, None, "é", None]


def test_scripts_inside_send_together_what_one_may_send(call: Call, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_run, "Limits", lambda: Limits(sent_bytes=10_000))
    put(app, "send", '"""Send."""\n\ndef main():\n    for _ in range(4): sdk.search("x" * 1_000)\n')

    ran = call("run_code", code="sdk.scripts.send()\nsdk.scripts.send()\nsdk.scripts.send()").data

    assert "send, line 4: The script sent more than 1.56 KB in its calls" in ran["error"]["message"]


def test_scripts_nest_three_deep_and_never_in_themselves(call: Call, app: App) -> None:
    for name, inner in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "")):
        body = f"sdk.scripts.{inner}()" if inner else "5"
        put(app, name, f'"""Go on."""\n\ndef main():\n    return {body}\n')
    put(app, "loop", '"""Loop."""\n\ndef main():\n    return sdk.scripts.turn()\n')
    put(app, "turn", '"""Turn."""\n\ndef main():\n    return sdk.scripts.loop()\n')

    deep, round_ = call("run_script", script="a").data, call("run_script", script="loop").data

    assert call("run_script", script="b").data["result"] == 5
    assert "nest 3 deep: a → b → c" in deep["error"]["message"]
    assert "loop is already running: loop → turn → loop" in round_["error"]["message"]


def test_what_runs_side_by_side_inside_others_does_not_wait_for_ever(call: Call, app: App) -> None:
    put(app, "many", '"""Ask."""\n\ndef main():\n    return len(sdk.parallel(*[lambda: sdk.status()] * 8))\n')
    code = "return sum(sdk.parallel(*[lambda: sdk.scripts.many()] * 8))"

    assert call("run_code", code=code, timeout=30).data["result"] == 64


def test_what_was_reviewed_runs_nothing_that_was_not(call: Call, app: App, person: Person) -> None:
    put(app, "write", WRITING)
    put(app, "outer", '"""Go on."""\n\ndef main():\n    return sdk.scripts.write(title="x")\n')
    person.promotes("outer")

    tool, by_hand = call("script_outer").data, call("run_script", script="outer").data

    for ran in (tool, by_hand):
        assert "was reviewed and runs reviewed scripts only" in ran["error"]["message"]
    assert call("list_tasks").data == []
