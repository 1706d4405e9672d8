"""After a purge: undo, import, indexes and reminders, and a purge that was stopped."""

from collections.abc import Callable
from pathlib import Path

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.errors import ConflictError
from panorama.services.jobs.progress import report_progress_to
from tests.conftest import StandingClock
from tests.services.forgetting import LONG, SECRET, Call, purge
from tests.stored_rows import read_rows, read_texts, write_rows

__all__ = ["purge"]


def test_an_undo_that_needs_what_was_forgotten_is_refused_with_the_reason(
    call: Call, purge: Callable[..., Answer]
) -> None:
    project = call("create_project", name="Garden").data["id"]
    call("create_task", title="Dig", project=project)
    gone = call("delete_item", item=project, items="keep")

    purge()

    with pytest.raises(ConflictError) as refusal:
        call("undo", unit=gone.metadata["undo"])
    assert "permanently deleted" in str(refusal.value.candidates)


def test_an_import_does_not_bring_back_what_was_forgotten(
    call: Call, purge: Callable[..., Answer], tmp_path: Path, app: App
) -> None:
    (tmp_path / "Notes" / "Garden").mkdir(parents=True)
    (tmp_path / "Notes" / "Garden" / "Tea.md").write_text(f"{SECRET}\n\n- [ ] Buy {SECRET}\n")
    (tmp_path / "Notes" / "Garden" / "Soup.md").write_text("hot\n")
    call("import.markdown", folder=str(tmp_path / "Notes"))
    for kind, title in (("notes", "Tea"), ("tasks", f"Buy {SECRET}")):
        call("delete_item", item=read_rows(app, f"SELECT id FROM {kind} WHERE title = :title", title=title)[0][0])
    purge()
    (tmp_path / "Notes" / "Garden" / "Tea.md").write_text(f"{SECRET} again\n\n- [ ] Buy {SECRET}\n")

    answer = call("import.markdown", folder=str(tmp_path / "Notes")).data

    assert (answer["notes_created"], answer["tasks_created"], answer["projects_created"]) == (0, 0, 0)
    assert read_rows(app, "SELECT title FROM notes") == [("Soup",)]


def test_a_purge_that_was_stopped_is_finished_by_the_next(call: Call, app: App, clock: StandingClock) -> None:
    for number in range(100):
        call("delete_item", item=call("create_note", title=f"{SECRET} {number}", content=LONG).data["id"])
    app.recorder.flush()
    clock.advance(days=31)

    class LeftError(Exception):
        pass

    def leave(done: int, total: int, at: str) -> None:
        if at == "deleting old log entries":
            raise LeftError

    with pytest.raises(LeftError), report_progress_to(leave):
        call("purge", confirm=True)
    call("purge", confirm=True)

    assert SECRET.lower() not in read_texts(app).lower()


def test_indexes_that_have_not_heard_of_the_end_are_built_anew(
    call: Call, purge: Callable[..., Answer], app: App
) -> None:
    note = call("create_note", title="Tea").data["id"]
    call("delete_item", item=note)
    last = read_rows(app, "SELECT max(id) FROM changes")[0][0]
    marks = "INSERT INTO marks (name, value) VALUES ('index behind', :before), ('index there', :last)"
    write_rows(app, marks, before=last - 1, last=last)

    purge()

    assert read_rows(app, "SELECT name FROM marks WHERE name LIKE 'index %'") == [("index there",)]


def test_a_reminder_about_what_is_forgotten_stays_and_is_about_nothing(
    call: Call, purge: Callable[..., Answer], clock: StandingClock
) -> None:
    note = call("create_note", title="Tea").data["id"]
    reminder = call("create_reminder", title="Read it", at="2027-05-20T11:00", item=note).data["id"]
    call("delete_item", item=note)

    purge()

    assert "item" not in call("get_item", item=reminder).data["item"]
    assert call("update_reminder", reminder=reminder, title="Read").data["title"] == "Read"


def test_what_rang_of_a_reminder_is_forgotten_with_it(
    call: Call, purge: Callable[..., Answer], app: App, clock: StandingClock
) -> None:
    reminder = call("create_reminder", title="Tea", at="2026-05-20T11:00").data["id"]
    clock.advance(hours=2)
    app.timing.run_due(lambda _: None)
    call("delete_item", item=reminder)

    rang = read_rows(app, "SELECT count(*) FROM alerts WHERE reminder = :reminder", reminder=reminder)
    purge()

    assert rang == [(1,)]
    assert read_rows(app, "SELECT count(*) FROM alerts WHERE reminder = :reminder", reminder=reminder) == [(0,)]
