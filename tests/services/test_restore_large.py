"""Large restores, and large undos at a terminal: short transactions that are one unit, shown as a job, stoppable."""

import threading

import pytest

from panorama.app import App
from panorama.calls import Answer, Conversation
from panorama.domain.changes import CLI_ACTOR
from panorama.domain.paging import PageRequest
from panorama.errors import InvalidInputError
from tests.services.queued import Call, ended, job
from tests.services.test_undo_large import ASSISTANT, SIZE, Sizes, count, write_many
from tests.services.test_undo_large import short as short
from tests.services.test_undo_large import sizes as sizes
from tests.working import at_work, until

PERSON = Conversation(id="v_person", actor=CLI_ACTOR, client="panorama")


def delete_many(call: Call) -> str:
    """Create a project with many tasks and delete it; return its id."""
    write_many(call)
    return str(call("delete_item", item="Garden", items="trash", confirm=True).data["id"])


def restore(app: App, project: str) -> str:
    """Restore a project with its tasks as an assistant; return the job that it became."""
    return str(app.calls.call("restore_item", {"item": project, "items": True}, ASSISTANT).data["id"])


def test_a_large_restore_is_several_transactions_and_one_unit(call: Call, sizes: Sizes) -> None:
    project = delete_many(call)
    sizes.clear()

    restored = call("restore_item", item=project, items=True)

    assert (count(call), sum(sizes), len(sizes) > 1) == (SIZE - 1, SIZE, True)
    assert restored.metadata["hint"] == f"{SIZE - 1} items deleted with it were restored, too."
    assert call("undo", confirm=True).data["count"] == SIZE
    assert count(call) == 0


def test_a_large_restore_leaves_in_the_trash_what_was_deleted_before(call: Call) -> None:
    write_many(call)
    first = call("query", collection="tasks", where={"title": "Task 0"}).data[0]["id"]
    call("delete_item", item=first)
    project = call("delete_item", item="Garden", items="trash", confirm=True).data["id"]

    call("restore_item", item=project, items=True)

    assert count(call) == SIZE - 2


def test_subtasks_come_back_after_the_tasks_they_belong_to(call: Call) -> None:
    code = """
project = sdk.projects.create("Garden")
parents = [sdk.tasks.create(f"Task {n}", project=project) for n in range(60)]
for n in range(60):
    sdk.tasks.create(f"Part {n}", project=project, parent=parents[n])
"""
    call("run_code", code=code)
    project = call("delete_item", item="Garden", items="trash", confirm=True).data["id"]

    restored = call("restore_item", item=project, items=True)

    assert restored.metadata["hint"] == "120 items deleted with it were restored, too."
    assert count(call) == 120


def test_a_long_restore_of_an_assistant_is_a_job_of_one_unit(app: App, call: Call, short: None) -> None:
    project = delete_many(call)

    with at_work(app):
        id_ = restore(app, project)
        found = ended(app, id_)

    assert (found.state, found.kind, count(call)) == ("succeeded", "restore_item", SIZE - 1)
    call("undo", unit=id_, confirm=True)
    assert count(call) == 0


def test_a_cancelled_restore_keeps_what_came_back_and_goes_on_when_called_again(
    app: App, call: Call, short: None
) -> None:
    project = delete_many(call)

    with at_work(app):
        id_ = restore(app, project)
        until(lambda: job(app, id_).current)
        call("cancel_job", job=id_)
        found, between = ended(app, id_), count(call)
    call("restore_item", item=project, items=True)

    assert (found.state, 0 < between < SIZE - 1, count(call)) == ("cancelled", True, SIZE - 1)


def test_a_large_restore_is_no_step_of_an_atomic_batch(call: Call) -> None:
    project = delete_many(call)

    with pytest.raises(InvalidInputError, match="too large for a transaction with other steps"):
        call("batch", operations=[{"tool": "restore_item", "args": {"item": project, "items": True}}])

    assert count(call) == 0


def test_a_restore_cannot_be_scheduled(app: App) -> None:
    with at_work(app), pytest.raises(InvalidInputError, match="A schedule cannot call items"):
        app.jobs.check("restore_item", {"item": "Garden"})


def test_a_long_undo_at_a_terminal_is_a_job_that_another_client_can_cancel(app: App, call: Call, short: None) -> None:
    unit = write_many(call)
    answers: list[Answer] = []

    def undo() -> None:
        answers.append(app.calls.call("undo", {"unit": unit, "confirm": True}, PERSON))

    with at_work(app):
        terminal = threading.Thread(target=undo)
        terminal.start()
        until(lambda: any(active.current for active in app.jobs.list(PageRequest(5), "active").items))
        (shown,) = app.jobs.list(PageRequest(5), "active").items
        call("cancel_job", job=shown.id)
        terminal.join()

    assert (shown.kind, job(app, shown.id).state) == ("undo", "cancelled")
    assert "changes were undone" in answers[0].data["note"]
    assert 0 < count(call) < SIZE - 1
