"""What stands of what a script wrote: after a run, a failure, an undo, and a dry run."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Conversation
from panorama.errors import ConflictError, NotFoundError
from panorama.services.jobs.progress import ignore_progress, report_progress_to
from panorama.services.jobs.queue import QUEUE
from panorama.services.jobs.worker_id import WorkerId
from panorama.store.log import runs
from tests.services.coding import Call, Run, run, titles

__all__ = ["run"]


def test_a_run_is_taken_back_as_one(run: Run, call: Call) -> None:
    call("create_task", title="Old")
    result = run('sdk.tasks.update("Old", title="New")\nfor n in range(3): sdk.notes.create(f"Note {n}")')

    call("undo", unit=result["run_id"])

    assert titles(call) == ["Old"]
    assert call("list_notes").data == []


def test_undo_without_a_unit_takes_back_the_run_before(run: Run, call: Call) -> None:
    run('sdk.tasks.create("Tea")')

    call("undo")

    assert titles(call) == []


def test_undo_without_a_unit_passes_over_the_result_that_a_run_before_kept(run: Run, call: Call) -> None:
    call("create_task", title="Tea")
    large = run('return "line\\n" * 5000')

    call("undo")

    assert titles(call) == []
    assert [file["id"] for file in call("list_files").data] == [large["result_file"]]
    call("undo", unit=large["run_id"])
    assert call("list_files").data == []


def test_the_answer_names_what_undo_takes(call: Call) -> None:
    answer = call("run_code", code='sdk.tasks.create("Tea")')

    assert answer.metadata["undo"] == answer.data["run_id"]
    assert "undo" not in call("run_code", code="1").metadata


def test_an_atomic_run_that_fails_leaves_nothing(run: Run, call: Call) -> None:
    call("create_task", title="Old")
    result = run('sdk.tasks.update("Old", title="New")\nsdk.tasks.create("Tea")\n1 / 0', atomic=True)

    assert result["note"] == "All its changes were undone (2 changes)."
    assert titles(call) == ["Old"]


FAILING = 'sdk.tasks.update("Good", title="Bad")\nsdk.tasks.create("Worse")\n1 / 0'


def test_undo_passes_over_a_run_that_was_taken_back(run: Run, call: Call) -> None:
    call("create_task", title="Good")
    run(FAILING, atomic=True)
    run(FAILING, atomic=True)

    call("undo")

    assert titles(call) == []


def test_of_a_run_that_was_taken_back_nothing_can_be_undone(run: Run, call: Call) -> None:
    call("create_task", title="Good")
    result = run(FAILING, atomic=True)

    with pytest.raises(ConflictError, match=f"Nothing remains of {result['run_id']}"):
        call("undo", unit=result["run_id"])

    assert titles(call) == ["Good"]


def test_where_nothing_can_be_undone_no_run_that_was_taken_back_is_proposed(run: Run, call: Call) -> None:
    run(FAILING, atomic=True)

    with pytest.raises(NotFoundError, match="nothing left to undo") as refused:
        call("undo")

    assert not refused.value.candidates


def test_what_a_run_took_back_can_be_brought_back_and_taken_back_by_name(run: Run, call: Call) -> None:
    id_ = call("create_task", title="Good").data["id"]
    result = run(FAILING, atomic=True)
    back = next(line for line in call("history", item=id_).data if "undoes" in line)

    call("undo", unit=str(back["change"]))
    brought = titles(call)
    call("undo", unit=result["run_id"])

    assert (brought, titles(call)) == (["Bad"], ["Good"])


def test_a_run_that_took_its_own_change_back_is_undone_without_it(run: Run, call: Call) -> None:
    code = 'tea = sdk.tasks.create("Tea")\nsdk.undo(str(sdk.history(tea)[0].change))\nsdk.tasks.create("Coffee")'
    result = run(code)

    call("undo", unit=result["run_id"])

    assert result["changes"] == {"created": 1}
    assert titles(call) == []


def test_a_run_that_took_all_of_it_back_itself_offers_no_undo(run: Run, call: Call) -> None:
    code = 'tea = sdk.tasks.create("Tea")\nsdk.undo(str(sdk.history(tea)[0].change))'

    answer = call("run_code", code=code)
    failed = call("run_code", code=code + "\n1 / 0", atomic=True)

    assert [("undo" in text.metadata, text.data["changes"]) for text in (answer, failed)] == [(False, {})] * 2
    assert failed.data["note"] == "None of its changes remain."


def test_a_run_that_was_taken_back_counts_nothing_and_offers_no_undo(run: Run, call: Call) -> None:
    call("create_task", title="Good")
    answer = call("run_code", code=FAILING, atomic=True)
    id_ = answer.data["run_id"]

    assert (answer.data["changes"], "undo" in answer.metadata) == ({}, False)
    assert "1 deleted" not in answer.summary
    assert call("runs.get", run=id_).data["changes"] == {}
    assert "takes" not in call("pages.run", run=id_).data["markdown"].replace(FAILING, "")


def changing(app: App, task: str, **fields: Any) -> Callable[[int, int, str], None]:
    """Return what changes a task as another client as soon as a script tells of progress."""
    other = Conversation(id="v_other", actor="tool", client="other")

    def change(current: int, total: int, message: str) -> None:
        if current:
            app.calls.call("update_task", {"task": task, **fields}, other)

    return change


OVERTAKEN = 'sdk.tasks.update("Old", title="New", notes="n")\nsdk.tasks.create("Tea")\nsdk.progress(1, 2)\n1 / 0'


def test_what_others_changed_since_stays_and_is_named(app: App, run: Run, call: Call) -> None:
    old = call("create_task", title="Old").data["id"]

    with report_progress_to(changing(app, old, title="Newest")):
        answer = call("run_code", code=OVERTAKEN, atomic=True)

    text = "All but 1 of its 2 changes were taken back; what others changed since stays: "
    assert answer.data["note"] == f"{text}title of “Newest” ({old})."
    assert (answer.data["changes"], "undo" in answer.metadata) == ({"updated": 1}, False)
    page = call("pages.run", run=answer.data["run_id"]).data["markdown"]
    assert f"1 updated. {answer.data['note']} Undo {answer.data['run_id']} reverts those that were not" in page
    assert titles(call) == ["Newest"]


def test_undo_of_a_run_that_was_partly_taken_back_is_about_what_stands(app: App, run: Run, call: Call) -> None:
    old = call("create_task", title="Old").data["id"]
    with report_progress_to(changing(app, old, title="Newest")):
        result = run(OVERTAKEN, atomic=True)
    app.calls.call("undo", {}, Conversation(id="v_other", actor="tool", client="other"))

    undone = call("undo", unit=result["run_id"])

    assert [(change["id"], change["was"]) for change in undone.data["undone"]] == [(old, "update")]
    assert titles(call) == ["Old"]
    assert not call("get_item", item=old).data["item"].get("notes")


def test_a_script_nobody_waits_for_is_ended(run: Run, call: Call) -> None:
    gone = time.monotonic() + 0.2
    with report_progress_to(ignore_progress, lambda: time.monotonic() > gone):
        result = run("while True: pass")

    assert result["error"]["kind"] == "cancelled"


# Undone by others meanwhile.

THREE = 'made = [sdk.tasks.create(f"Tea {n}").id for n in range(3)]\nsdk.progress(1, 2)\n'


@contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[list[BaseException | None]]:
    """Do something in another thread once a script tells how far it is; tells what was raised."""
    raised: list[BaseException | None] = []

    def told(current: int, total: int, message: str) -> None:
        if current:
            with ThreadPoolExecutor(1) as pool:
                raised.append(pool.submit(act).exception())

    with report_progress_to(told):
        yield raised


@pytest.mark.parametrize("names_it", [True, False])
def test_a_run_under_way_is_not_undone(app: App, run: Run, call: Call, names_it: bool) -> None:
    def undo() -> None:
        unit = call("query", collection="changes", limit=1, sort=["-id"]).data[0]["unit"]
        call("undo", **({"unit": unit} if names_it else {}))

    with meanwhile(undo) as refused:
        result = run(THREE, atomic=True)

    assert isinstance(refused[0], ConflictError)
    assert f"The script of the run {result['run_id']} still writes this" in str(refused[0])
    assert result["changes"] == {"created": 3}
    call("undo", unit=result["run_id"])
    assert titles(call) == []


def test_another_script_cannot_undo_a_run_under_way(app: App, run: Run, call: Call) -> None:
    undoing = 'sdk.undo(sdk.query("changes", limit=1, sort=["-id"])[0].unit)'
    others: list[dict[str, Any]] = []

    with meanwhile(lambda: others.append(run(undoing))):
        result = run(THREE, atomic=True)

    assert "still writes this" in others[0]["error"]["message"]
    assert (result["changes"], len(titles(call))) == ({"created": 3}, 3)


def test_a_script_undoes_an_earlier_call_of_its_own(run: Run, call: Call) -> None:
    result = run('made = sdk.tasks.create("Tea")\nsdk.tasks.create("Coffee")\nsdk.undo(sdk.history(made.id)[0].change)')

    assert "error" not in result
    assert titles(call) == ["Coffee"]


@pytest.mark.parametrize(("ends", "note"), [("", ""), ("1 / 0", "All its changes were undone (3 changes).")])
def test_what_others_took_back_of_a_run_is_not_counted(app: App, run: Run, call: Call, ends: str, note: str) -> None:
    def undo() -> None:
        call("undo", unit=str(call("query", collection="changes", limit=1, sort=["-id"]).data[0]["id"]))

    with meanwhile(undo) as raised:
        result = run(THREE + ends, atomic=True)

    assert raised == [None]
    assert (result["note"], result["changes"]) == (note, {} if ends else {"created": 2})


def test_a_run_whose_process_is_gone_can_be_undone_before_it_is_ended(app: App, run: Run, call: Call) -> None:
    result = run('sdk.tasks.create("Tea")')
    with app.context.database.transaction(QUEUE) as session:
        found = runs.find(session, result["run_id"])
        assert found
        runs.save(
            session, [replace(found, status="running", worker=f"{WorkerId.for_this_process().machine} {1 << 30} x")]
        )

    call("undo", unit=result["run_id"])

    assert titles(call) == []
