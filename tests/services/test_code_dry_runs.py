"""Dry runs of scripts: what they show, and that they change nothing."""

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from panorama.app import App
from panorama.errors import NotFoundError, ScriptError
from panorama.services.jobs.progress import ignore_progress, report_progress_to
from panorama.store.sqlite import engine
from tests.conftest import ON_POSTGRES
from tests.services.coding import Call, Run, run, titles

__all__ = ["run"]


def test_a_dry_run_changes_nothing_and_shows_what_it_would(run: Run, call: Call) -> None:
    old = call("create_task", title="Old").data["id"]
    changed = 'sdk.tasks.update("Old", title="New")\nsdk.tasks.create("Tea", tags=["a"])\n'

    result = run(changed + "return sorted(task.title for task in sdk.tasks.list())", dry_run=True)

    assert result["result"] == ["New", "Tea"]
    assert result["changes"] == {"created": 1, "updated": 1}
    assert result["would"][0] == {
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

    def copied(self, _connection: object, _target: Path, message: Callable[[int, int], None], *, portion: int) -> None:
        """Copy nothing, and tell how far that is."""
        self.has_begun.set()
        for _ in range(30 * portion):
            time.sleep(1 / portion)
            try:
                message(1, 2)
            except ScriptError:
                self.is_left = True
                raise


@pytest.fixture
def copying(monkeypatch: pytest.MonkeyPatch) -> Copying:
    """What copies the store for a dry run."""
    if ON_POSTGRES:
        pytest.skip("it stands in for the copy of a file; tests/postgres/test_scratch_tables.py cancels one of tables")
    return Copying(monkeypatch)


CREATING = 'sdk.tasks.create("Tea")'


@pytest.mark.parametrize("script", [CREATING, f"sdk.parallel_map(lambda _: {CREATING}, range(2))"])
def test_a_dry_run_ends_in_time_however_long_its_copy_takes(copying: Copying, run: Run, script: str) -> None:
    begun = time.monotonic()
    result = run(script, dry_run=True, timeout=1)

    assert (result["error"]["kind"], copying.is_left) == ("time", True)
    assert time.monotonic() - begun < 15


def test_a_dry_run_that_nobody_waits_for_ends_before_its_copy_is_made(copying: Copying, run: Run) -> None:
    with report_progress_to(ignore_progress, copying.has_begun.is_set):
        result = run(CREATING, dry_run=True)

    assert (result["error"]["kind"], copying.is_left) == ("cancelled", True)


def test_closing_ends_a_dry_run_before_its_copy_is_made(app: App, copying: Copying, run: Run) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(run, CREATING, dry_run=True)
        copying.has_begun.wait(20)
        app.runner.close()

        assert (answer.result(20)["error"]["kind"], copying.is_left) == ("cancelled", True)


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
    assert [path for path in (home / "files").rglob("*") if path.is_file()] == []
    assert list((home / "dry-runs").iterdir()) == []
    assert call("create_task", title="Other", idempotency_key="k").data["title"] == "Other"
    assert run("return dict(sdk.state)")["result"] == {}


@pytest.mark.parametrize(
    ("code", "dry_run", "text"),
    [
        ("sdk.tasks.list()", False, "ran, but changed nothing"),
        ('sdk.tasks.create("Tea")', True, "was a dry run and changed nothing"),
    ],
)
def test_undo_of_a_run_that_changed_nothing_says_so(run: Run, call: Call, code: str, dry_run: bool, text: str) -> None:
    made = run(code, dry_run=dry_run)["run_id"]

    with pytest.raises(NotFoundError, match=f"The script {made} {text}"):
        call("undo", unit=made)


LONG = "Alpha beta gamma. " * 60 + "The price is 10 EUR at the end."


def test_of_a_long_text_a_dry_run_shows_what_would_differ(run: Run, call: Call) -> None:
    call("create_note", title="Longish", content=LONG)

    result = run('sdk.notes.edit("Longish", "price is 10", "price is 99")', dry_run=True)

    shared = "Alpha beta gamma. The price is "
    assert result["would"][0]["fields"]["content"] == [
        f"…{shared[1:]}10 EUR at the end.", f"…{shared[1:]}99 EUR at the end."
    ]  # fmt: skip


def test_a_dry_run_can_be_followed_by_the_real_one(run: Run, call: Call) -> None:
    code = 'sdk.tasks.create("Tea")'

    run(code, dry_run=True)
    run(code)

    assert titles(call) == ["Tea"]


def test_the_calls_of_a_dry_run_stand_in_the_real_log(run: Run, call: Call) -> None:
    result = run('sdk.tasks.create("Tea")', dry_run=True)

    shown = call("runs.get", run=result["run_id"]).data
    assert shown["options"]["dry_run"] is True
    assert [call_["name"] for call_ in shown["calls"]] == ["tasks.create"]
