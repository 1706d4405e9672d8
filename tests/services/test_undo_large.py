"""Large undos, deletions and changes of tags: short transactions that are one unit and can be stopped."""

import threading
from collections.abc import Callable, Iterator, Mapping

import pytest

from panorama.app import App
from panorama.calls import Conversation
from panorama.errors import ConflictError, InvalidInputError
from panorama.services.history import history, undo_portions
from panorama.services.items import any_item
from panorama.services.jobs import pace, portions
from panorama.services.jobs.portions import LARGE_UNIT
from panorama.services.jobs.progress import ignore_progress, report_progress_to
from tests import working
from tests.services.queued import Call, ended, job
from tests.working import at_work, until

SIZE = 70
ASSISTANT = Conversation(id="v_assistant", actor="tool", client="assistant")
Sizes = list[int]


@pytest.fixture
def sizes(app: App) -> Iterator[Sizes]:
    """How many changes each transaction wrote."""
    found: Sizes = []
    stop = app.context.database.subscribe(lambda touched: found.append(len(touched)))
    yield found
    stop()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few changes be enough for a job, and each be a step that takes a while and is told."""
    for module in (history, any_item):
        monkeypatch.setattr(module, "LONG_UNIT", SIZE // 2)
    for module in (portions, undo_portions):
        monkeypatch.setattr(module, "PORTION_SECONDS", 0.0)
    monkeypatch.setattr(working, "PATIENCE", 120.0)  # each step waits for the disk
    for name, seconds in (("REPORT_INTERVAL", 0.0), ("YIELD_AFTER", 0.0), ("YIELD", 0.02)):
        monkeypatch.setattr(pace, f"{name}_SECONDS", seconds)


def write_many(call: Call, size: int = SIZE) -> str:
    """Create a project with tasks in one unit, and return the unit."""
    tasks = f"for number in range({size - 1}): sdk.tasks.create(f'Task {{number}}', project=project)"
    return str(call("run_code", code=f"project = sdk.projects.create('Garden')\n{tasks}").metadata["undo"])


def count(call: Call) -> int:
    return int(call("query", collection="tasks", count=True).data[0]["count"])


def undo(app: App, unit: str) -> str:
    """Undo as an assistant does that was told to; return the job that it became."""
    return str(app.calls.call("undo", {"unit": unit, "confirm": True}, ASSISTANT).data["id"])


def test_a_large_undo_is_several_transactions_and_one_unit(call: Call, sizes: Sizes) -> None:
    unit = write_many(call)
    sizes.clear()

    undone = call("undo", unit=unit, confirm=True)

    assert (undone.data["count"], count(call)) == (SIZE, 0)
    assert (len(sizes) > 1, sum(sizes), max(sizes) <= LARGE_UNIT) == (True, SIZE, True)
    assert [write["unit"] for write in call("history").data] == [undone.metadata["undo"], unit]
    assert "Brought back 70 changes" in call("undo", redo=True, confirm=True).summary
    assert count(call) == SIZE - 1


def test_a_large_unit_that_is_undone_is_refused_at_once_and_starts_no_job(app: App, call: Call, short: None) -> None:
    unit = write_many(call)
    with at_work(app):
        ended(app, undo(app, unit))

        for arguments in ({}, {"confirm": True}):
            with pytest.raises(ConflictError, match=f"{unit} is already undone"):
                app.calls.call("undo", {"unit": unit, **arguments}, ASSISTANT)

    assert len(call("list_jobs").data) == 1


def test_a_large_undo_that_something_stands_in_the_way_of_changes_nothing(call: Call, sizes: Sizes) -> None:
    unit = write_many(call)
    call("create_task", title="Later", project="Garden")
    sizes.clear()

    with pytest.raises(ConflictError, match="nothing was undone") as refused:
        call("undo", unit=unit, confirm=True)

    assert refused.value.candidates[0]["why"] == "1 item belongs to it now"
    assert sizes == []


@pytest.fixture
def meanwhile(app: App) -> Iterator[Callable[[Callable[[], object]], None]]:
    """Let another client act once the next transaction is written."""
    acts: list[Callable[[], object]] = []

    def act(_: object) -> None:
        if acts:
            other = threading.Thread(target=acts.pop())
            other.start()
            other.join()

    stop = app.context.database.subscribe(act)
    yield acts.append
    stop()


def test_a_write_in_the_middle_of_a_large_undo_is_never_overwritten(
    call: Call, app: App, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    unit = write_many(call)
    first = call("query", collection="tasks", where={"title": "Task 0"}).data[0]["id"]
    meanwhile(lambda: app.calls.call("update_task", {"task": first, "title": "Mine"}, ASSISTANT))

    with pytest.raises(ConflictError, match=r"\d of 70 changes of .* were changed again since; nothing was undone"):
        call("undo", unit=unit, confirm=True)

    assert count(call) == SIZE - 1
    assert call("query", collection="tasks", where={"id": first}, select=["title"]).data == [{"title": "Mine"}]


def test_a_long_undo_of_an_assistant_is_a_job_of_one_unit(app: App, call: Call, short: None) -> None:
    unit = write_many(call)

    with at_work(app):
        id_ = undo(app, unit)
        found = ended(app, id_)

    assert (found.state, found.kind, found.result["count"], count(call)) == ("succeeded", "undo", SIZE, 0)
    call("undo", unit=id_, confirm=True)
    assert count(call) == SIZE - 1


def test_a_cancelled_undo_says_what_it_took_back_and_how_to_go_on(app: App, call: Call, short: None) -> None:
    unit = write_many(call)

    with at_work(app):
        id_ = undo(app, unit)
        until(lambda: job(app, id_).current)
        call("cancel_job", job=id_)
        found = ended(app, id_)
        left = count(call)
        rest = ended(app, undo(app, unit)).result["count"]

    assert (found.state, rest + SIZE - 1 - left, count(call)) == ("cancelled", SIZE, 0)
    assert f"{SIZE - 1 - left} of 70 changes were undone" in found.summary
    assert f"undo with the unit {unit} undoes the rest, undo with the unit {id_} redoes them" in found.summary
    assert 0 < left < SIZE - 1


def test_an_undo_whose_process_leaves_goes_on_with_the_next(app: App, call: Call, short: None) -> None:
    unit = write_many(call)
    with at_work(app):
        id_ = undo(app, unit)
        until(lambda: job(app, id_).current)
    between = (job(app, id_).state, 0 < count(call) < SIZE - 1)
    app.jobs.is_leaving = False

    with at_work(app):
        found = ended(app, id_)

    assert between == ("queued", True)
    assert (found.state, found.result["count"], found.attempts, count(call)) == ("succeeded", SIZE, 2, 0)


class DoneBefore:
    """The checkpoint of a job whose process died after it had undone everything."""

    def load_checkpoint(self) -> Mapping[str, int]:
        return {"done": SIZE}

    def save_checkpoint(self, checkpoint: Mapping[str, int]) -> None:
        del checkpoint


def test_an_undo_that_resumes_with_nothing_left_reports_all_it_undid(call: Call) -> None:
    unit = write_many(call)
    call("undo", unit=unit, confirm=True)

    with report_progress_to(ignore_progress, checkpoints=DoneBefore()):
        answer = call("undo", unit=unit, confirm=True)

    assert answer.data["count"] == SIZE


def test_a_large_undo_is_no_step_of_an_atomic_batch(call: Call) -> None:
    unit = write_many(call)

    with pytest.raises(InvalidInputError, match="too large for a transaction with other steps"):
        call("batch", operations=[{"tool": "undo", "args": {"unit": unit, "confirm": True}}])

    assert count(call) == SIZE - 1


def test_a_key_that_is_sent_again_undoes_once(call: Call) -> None:
    call("create_task", title="Earlier")
    write_many(call)

    first, again = (call("undo", confirm=True, idempotency_key="once") for _ in range(2))

    assert (first.data["count"], again.metadata["repeated"]) == (SIZE, True)
    assert count(call) == 1


def test_a_large_deletion_is_several_transactions_and_one_unit(call: Call, sizes: Sizes) -> None:
    write_many(call)
    sizes.clear()

    gone = call("delete_item", item="Garden", items="trash", confirm=True)

    assert (gone.data["trashed"], count(call), len(sizes) > 1) == (SIZE, 0, True)
    assert call("undo", confirm=True).data["count"] == SIZE
    assert count(call) == SIZE - 1


def test_a_large_change_of_a_tag_is_several_transactions_and_one_unit(
    call: Call, sizes: Sizes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "PORTION_SECONDS", 0.0)  # 70 items are written within one portion
    call("run_code", code=f"for number in range({SIZE}): sdk.tasks.create(f'Task {{number}}', tags=['home'])")
    sizes.clear()

    changed = call("tags.rename", tag="home", name="house")

    assert (changed.data["items"], sum(sizes), len(sizes) > 1) == (SIZE, SIZE, True)
    assert call("undo", confirm=True).data["count"] == SIZE
    assert call("tags.list").data == [{"tag": "home", "items": SIZE}]
