"""What stands of what a script wrote: after a run, a failure, an undo, and a dry run."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Conversation
from panorama.errors import ConflictError, NotFoundError, ScriptError
from panorama.services.jobs.progress import ignore_progress, report_progress_to
from panorama.services.jobs.queue import QUEUE
from panorama.services.jobs.worker_id import WorkerId
from panorama.store.log import runs
from panorama.store.sqlite import engine
from tests.services.coding import Call, Run, run, titles

pytestmark = pytest.mark.usefixtures("one_template")

__all__ = ["run"]


def test_a_run_is_taken_back_as_one(run: Run, call: Call) -> None:
    call("create_task", title="Old")
    told = run('sdk.tasks.update("Old", title="New")\nfor n in range(3): sdk.notes.create(f"Note {n}")')

    call("undo", unit=told["run_id"])

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
    assert [each["id"] for each in call("list_files").data] == [large["result_file"]]
    call("undo", unit=large["run_id"])
    assert call("list_files").data == []


def test_the_answer_names_what_undo_takes(call: Call) -> None:
    answer = call("run_code", code='sdk.tasks.create("Tea")')

    assert answer.metadata["undo"] == answer.data["run_id"]
    assert "undo" not in call("run_code", code="1").metadata


def test_an_atomic_run_that_fails_leaves_nothing(run: Run, call: Call) -> None:
    call("create_task", title="Old")
    told = run('sdk.tasks.update("Old", title="New")\nsdk.tasks.create("Tea")\n1 / 0', atomic=True)

    assert told["note"] == "All its changes were undone (2 changes)."
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
    told = run(FAILING, atomic=True)

    with pytest.raises(ConflictError, match=f"Nothing remains of {told['run_id']}"):
        call("undo", unit=told["run_id"])

    assert titles(call) == ["Good"]


def test_where_nothing_can_be_undone_no_run_that_was_taken_back_is_proposed(run: Run, call: Call) -> None:
    run(FAILING, atomic=True)

    with pytest.raises(NotFoundError, match="nothing left to undo") as refused:
        call("undo")

    assert not refused.value.candidates


def test_what_a_run_took_back_can_be_brought_back_and_taken_back_by_name(run: Run, call: Call) -> None:
    id_ = call("create_task", title="Good").data["id"]
    told = run(FAILING, atomic=True)
    back = next(line for line in call("history", item=id_).data if "undoes" in line)

    call("undo", unit=str(back["change"]))
    brought = titles(call)
    call("undo", unit=told["run_id"])

    assert (brought, titles(call)) == (["Bad"], ["Good"])


def test_a_run_that_took_its_own_change_back_is_undone_without_it(run: Run, call: Call) -> None:
    code = 'tea = sdk.tasks.create("Tea")\nsdk.undo(str(sdk.history(tea)[0].change))\nsdk.tasks.create("Coffee")'
    told = run(code)

    call("undo", unit=told["run_id"])

    assert told["changes"] == {"created": 1}
    assert titles(call) == []


def test_a_run_that_took_all_of_it_back_itself_offers_no_undo(run: Run, call: Call) -> None:
    code = 'tea = sdk.tasks.create("Tea")\nsdk.undo(str(sdk.history(tea)[0].change))'

    answer = call("run_code", code=code)
    failed = call("run_code", code=code + "\n1 / 0", atomic=True)

    assert [("undo" in each.metadata, each.data["changes"]) for each in (answer, failed)] == [(False, {})] * 2
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

    told = "All but 1 of its 2 changes were taken back; what others changed since stays: "
    assert answer.data["note"] == f"{told}title of “Newest” ({old})."
    assert (answer.data["changes"], "undo" in answer.metadata) == ({"updated": 1}, False)
    page = call("pages.run", run=answer.data["run_id"]).data["markdown"]
    assert f"1 updated. {answer.data['note']} Undo {answer.data['run_id']} reverts those that were not" in page
    assert titles(call) == ["Newest"]


def test_undo_of_a_run_that_was_partly_taken_back_is_about_what_stands(app: App, run: Run, call: Call) -> None:
    old = call("create_task", title="Old").data["id"]
    with report_progress_to(changing(app, old, title="Newest")):
        told = run(OVERTAKEN, atomic=True)
    app.calls.call("undo", {}, Conversation(id="v_other", actor="tool", client="other"))

    undone = call("undo", unit=told["run_id"])

    assert [(each["id"], each["was"]) for each in undone.data["undone"]] == [(old, "update")]
    assert titles(call) == ["Old"]
    assert not call("get_item", item=old).data["item"].get("notes")


def test_a_script_nobody_waits_for_is_ended(run: Run, call: Call) -> None:
    gone = time.monotonic() + 0.2
    with report_progress_to(ignore_progress, lambda: time.monotonic() > gone):
        told = run("while True: pass")

    assert told["error"]["kind"] == "cancelled"


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
        told = run(THREE, atomic=True)

    assert isinstance(refused[0], ConflictError)
    assert f"The script of the run {told['run_id']} still writes this" in str(refused[0])
    assert told["changes"] == {"created": 3}
    call("undo", unit=told["run_id"])
    assert titles(call) == []


def test_another_script_cannot_undo_a_run_under_way(app: App, run: Run, call: Call) -> None:
    undoing = 'sdk.undo(sdk.query("changes", limit=1, sort=["-id"])[0].unit)'
    others: list[dict[str, Any]] = []

    with meanwhile(lambda: others.append(run(undoing))):
        told = run(THREE, atomic=True)

    assert "still writes this" in others[0]["error"]["message"]
    assert (told["changes"], len(titles(call))) == ({"created": 3}, 3)


def test_a_script_undoes_an_earlier_call_of_its_own(run: Run, call: Call) -> None:
    told = run('made = sdk.tasks.create("Tea")\nsdk.tasks.create("Coffee")\nsdk.undo(sdk.history(made.id)[0].change)')

    assert "error" not in told
    assert titles(call) == ["Coffee"]


@pytest.mark.parametrize(("ends", "note"), [("", ""), ("1 / 0", "All its changes were undone (3 changes).")])
def test_what_others_took_back_of_a_run_is_not_counted(app: App, run: Run, call: Call, ends: str, note: str) -> None:
    def undo() -> None:
        call("undo", unit=str(call("query", collection="changes", limit=1, sort=["-id"]).data[0]["id"]))

    with meanwhile(undo) as raised:
        told = run(THREE + ends, atomic=True)

    assert raised == [None]
    assert (told["note"], told["changes"]) == (note, {} if ends else {"created": 2})


def test_a_run_whose_process_is_gone_can_be_undone_before_it_is_ended(app: App, run: Run, call: Call) -> None:
    told = run('sdk.tasks.create("Tea")')
    with app.context.database.transaction(QUEUE) as session:
        found = runs.find(session, told["run_id"])
        assert found
        runs.save(
            session, [replace(found, status="running", worker=f"{WorkerId.for_this_process().machine} {1 << 30} x")]
        )

    call("undo", unit=told["run_id"])

    assert titles(call) == []


# Dry runs.


def test_a_dry_run_changes_nothing_and_shows_what_it_would(run: Run, call: Call) -> None:
    old = call("create_task", title="Old").data["id"]
    changed = 'sdk.tasks.update("Old", title="New")\nsdk.tasks.create("Tea", tags=["a"])\n'

    told = run(changed + "return sorted(task.title for task in sdk.tasks.list())", dry_run=True)

    assert told["result"] == ["New", "Tea"]
    assert told["changes"] == {"created": 1, "updated": 1}
    assert told["would"][0] == {
        "action": "update",
        "kind": "task",
        "item": old,
        "label": "New",
        "fields": {"title": ["Old", "New"]},
    }
    assert titles(call) == ["Old"]


class Copying:
    """Stands in for copying a very large store: it takes half a minute, unless it is told to end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_begun, self.is_left = threading.Event(), False
        monkeypatch.setattr(engine, "copy_database", self.copied)

    def copied(self, _connection: object, _target: Path, told: Callable[[int, int], None], *, portion: int) -> None:
        """Copy nothing, and tell how far that is."""
        self.has_begun.set()
        for _ in range(30 * portion):
            time.sleep(1 / portion)
            try:
                told(1, 2)
            except ScriptError:
                self.is_left = True
                raise


@pytest.fixture
def copying(monkeypatch: pytest.MonkeyPatch) -> Copying:
    """What copies the store for a dry run."""
    return Copying(monkeypatch)


CREATING = 'sdk.tasks.create("Tea")'


@pytest.mark.parametrize("script", [CREATING, f"sdk.parallel_map(lambda _: {CREATING}, range(2))"])
def test_a_dry_run_ends_in_time_however_long_its_copy_takes(copying: Copying, run: Run, script: str) -> None:
    begun = time.monotonic()
    told = run(script, dry_run=True, timeout=1)

    assert (told["error"]["kind"], copying.is_left) == ("time", True)
    assert time.monotonic() - begun < 15


def test_a_dry_run_that_nobody_waits_for_ends_before_its_copy_is_made(copying: Copying, run: Run) -> None:
    with report_progress_to(ignore_progress, copying.has_begun.is_set):
        told = run(CREATING, dry_run=True)

    assert (told["error"]["kind"], copying.is_left) == ("cancelled", True)


def test_closing_ends_a_dry_run_before_its_copy_is_made(app: App, copying: Copying, run: Run) -> None:
    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(run, CREATING, dry_run=True)
        copying.has_begun.wait(20)
        app.runner.close()

        assert (told.result(20)["error"]["kind"], copying.is_left) == ("cancelled", True)


def test_of_a_dry_run_as_many_changes_are_shown_as_fit_an_answer(app: App, run: Run) -> None:
    few = run("for n in range(60): sdk.tasks.create(f'Task {n}')", dry_run=True)
    long = run("for n in range(60): sdk.tasks.create(f'Task {n} ' + 'long ' * 50, notes='note ' * 99)", dry_run=True)

    assert (len(few["would"]), few["note"]) == (50, "The first 50 of 60 changes are shown.")
    assert 5 < len(long["would"]) < 50
    assert long["note"] == f"The first {len(long['would'])} of 60 changes are shown."
    assert len(json.dumps(long)) < 20_000
    assert few["changes"] == long["changes"] == {"created": 60}


def test_a_dry_run_leaves_no_file_and_no_key_and_no_state(app: App, run: Run, call: Call) -> None:
    code = 'sdk.files.write("a.txt", "x")\nsdk.tasks.create("Tea", idempotency_key="k")\nsdk.state["n"] = 1'

    run(code, dry_run=True)

    home = app.settings.home
    assert [each for each in (home / "files").rglob("*") if each.is_file()] == []
    assert list((home / "dry-runs").iterdir()) == []
    assert call("create_task", title="Other", idempotency_key="k").data["title"] == "Other"
    assert run("return dict(sdk.state)")["result"] == {}


@pytest.mark.parametrize(
    ("code", "dry_run", "said"),
    [
        ("sdk.tasks.list()", False, "ran, but changed nothing"),
        ('sdk.tasks.create("Tea")', True, "was a dry run and changed nothing"),
    ],
)
def test_undo_of_a_run_that_changed_nothing_says_so(run: Run, call: Call, code: str, dry_run: bool, said: str) -> None:
    made = run(code, dry_run=dry_run)["run_id"]

    with pytest.raises(NotFoundError, match=f"The script {made} {said}"):
        call("undo", unit=made)


LONG = "Alpha beta gamma. " * 60 + "The price is 10 EUR at the end."


def test_of_a_long_text_a_dry_run_shows_what_would_differ(run: Run, call: Call) -> None:
    call("create_note", title="Longish", content=LONG)

    told = run('sdk.notes.edit("Longish", "price is 10", "price is 99")', dry_run=True)

    shared = "Alpha beta gamma. The price is "
    assert told["would"][0]["fields"]["content"] == [
        f"…{shared[1:]}10 EUR at the end.", f"…{shared[1:]}99 EUR at the end."
    ]  # fmt: skip


def test_a_dry_run_can_be_followed_by_the_real_one(run: Run, call: Call) -> None:
    code = 'sdk.tasks.create("Tea")'

    run(code, dry_run=True)
    run(code)

    assert titles(call) == ["Tea"]


def test_the_calls_of_a_dry_run_stand_in_the_real_log(run: Run, call: Call) -> None:
    told = run('sdk.tasks.create("Tea")', dry_run=True)

    shown = call("runs.get", run=told["run_id"]).data
    assert shown["options"]["dry_run"] is True
    assert [each["name"] for each in shown["calls"]] == ["tasks.create"]
