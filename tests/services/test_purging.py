"""Purging: what has been in the trash for long is forgotten everywhere, and nothing else is."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.databases import open_contents
from panorama.domain.changes import Origin
from panorama.errors import ConfirmationError, ConflictError, InvalidInputError, NotFoundError
from panorama.store.items import long_texts
from panorama.store.sqlite.engine import SqliteDatabase
from tests.conftest import ON_POSTGRES, StandingClock
from tests.services.forgetting import LONG, SECRET, Call, purge
from tests.stored_rows import count_rows, read_rows, read_texts, write_rows

__all__ = ["purge"]


WRITER = Origin(actor="tool", client="tests", conversation="", operation="", call="", unit="")


def aged(app: App, days: float = 2) -> None:
    """Let contents be as old as that."""
    if isinstance(app.context.database, SqliteDatabase):
        for path in (app.settings.home / "files").rglob("*"):
            at = path.stat().st_mtime - days * 86_400
            os.utime(path, (at, at))
        return
    with app.context.database.transaction(WRITER) as session:
        session.connection.exec_driver_sql(f"UPDATE contents SET written_at = written_at - interval '{days} days'")


def test_what_is_younger_in_the_trash_stays(call: Call, clock: StandingClock) -> None:
    note = call("create_note", title="Tea").data["id"]
    call("delete_item", item=note)
    clock.advance(days=29)

    assert call("purge").data["items"] == {}
    assert call("restore_item", item=note).data["title"] == "Tea"


def test_what_lives_stays_however_old_it_is(call: Call, purge: Callable[..., Answer], app: App) -> None:
    note = call("create_note", title="Tea", content=LONG).data["id"]
    call("update_note", note=note, content="short")
    before = [read_rows(app, f"SELECT * FROM {table}") for table in ("notes", "changes", "texts")]

    purge()

    assert [read_rows(app, f"SELECT * FROM {table}") for table in ("notes", "changes", "texts")] == before
    call("undo", unit=read_rows(app, "SELECT call FROM changes ORDER BY id DESC")[0][0])
    assert call("get_note", note=note).data["chars"] == len(LONG)


def test_nothing_in_any_table_tells_of_what_was_forgotten(call: Call, purge: Callable[..., Answer], app: App) -> None:
    note = call("create_note", title=f"About {SECRET}", content=LONG).data["id"]
    call("update_note", note=note, content=f"{SECRET} again")
    call("get_note", note=f"about {SECRET}")
    call("write_file", name=f"{SECRET}.txt", text=LONG)
    call("delete_item", item=note)
    call("delete_item", item=read_rows(app, "SELECT id FROM files")[0][0])
    aged(app)

    result = purge().data

    assert result["items"] == {"note": 1, "file": 1}
    assert (result["contents"], result["texts"], result["changes"]) == (1, 1, 5)
    texts = read_texts(app)
    assert SECRET.lower() not in texts.lower()
    assert note not in texts
    assert list(open_contents(app.settings, app.context.database).iter_sizes()) == []


def test_a_purged_note_leaves_its_tasks_without_a_source(call: Call, purge: Callable[..., Answer], app: App) -> None:
    note = call("create_note", title="List", content="- [ ] Call Anna").data["id"]
    task = call("create_tasks_from_note", note=note).data["tasks"][0]["id"]
    call("delete_item", item=note)

    purge()

    assert "source_ref" not in call("get_item", item=task).data["item"]
    assert read_rows(app, "SELECT count(*) FROM task_lines") == [(0,)]


@pytest.mark.skipif(ON_POSTGRES, reason="a server overwrites what is deleted when it needs the room")
def test_not_even_the_bytes_of_the_file_hold_it(call: Call, purge: Callable[..., Answer], app: App) -> None:
    for number in range(20):
        note = call("create_note", title=f"About {SECRET} {number}", content=f"{SECRET} {number} " * 200).data["id"]
        call("delete_item", item=note)

    purge()

    app.recorder.flush()
    app.context.database.close()
    content = (app.settings.home / "panorama.db").read_bytes()
    assert SECRET.encode() not in content
    assert b"xanthipp" not in content


CREATED_WITH_THE_SECRET = {
    "create_project": {"name": SECRET, "description": LONG},
    "create_task": {"title": f"{SECRET} task", "notes": LONG, "tags": [SECRET]},
    "create_note": {"title": f"{SECRET} note", "content": LONG, "tags": [SECRET]},
    "create_link": {"title": f"{SECRET} link", "url": f"https://{SECRET}.example", "description": SECRET},
    "create_reminder": {"title": f"{SECRET} reminder", "at": "2026-05-20T11:00"},
    "add_journal_entry": {"text": f"{SECRET} entry"},
    "write_file": {"name": f"{SECRET}.txt", "text": LONG},
}


def test_no_file_of_the_data_directory_holds_what_was_forgotten(
    call: Call, app: App, clock: StandingClock, tmp_path: Path
) -> None:
    ids = [
        call(name, **arguments, idempotency_key=f"{name} {SECRET}").data["id"]
        for name, arguments in CREATED_WITH_THE_SECRET.items()
    ]
    call("update_note", note=ids[2], content=f"{SECRET} again", idempotency_key="second")
    call("run_code", code=f"sdk.journal.create({SECRET!r})")
    call("batch", operations=[{"tool": "create_note", "args": {"title": SECRET}}], idempotency_key="third")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text(f"# {SECRET}\n\n- [ ] {SECRET} box\n")
    call("import.markdown", folder=str(tmp_path / "vault"), idempotency_key="fourth")
    (tmp_path / "vault" / "a.md").unlink()
    call("import.markdown", folder=str(tmp_path / "vault"))
    for table in ("notes", "tasks", "links", "reminders", "journal", "files", "projects"):
        for (id_,) in read_rows(app, f"SELECT id FROM {table} WHERE deleted_at IS NULL"):
            call("delete_item", item=id_, confirm=True, idempotency_key=f"delete {id_}")
    app.recorder.flush()
    aged(app)
    clock.advance(minutes=1)

    call("purge", days=0, confirm=True)

    app.recorder.flush()
    app.context.database.close()
    every = [path for path in app.settings.home.rglob("*") if path.is_file()]
    assert [str(path) for path in every if SECRET.lower().encode() in path.read_bytes().lower()] == []


def test_what_was_called_otherwise_before_is_forgotten_under_each_name(
    call: Call, app: App, clock: StandingClock
) -> None:
    note = call("create_note", title=f"{SECRET} of old", content="plain").data["id"]
    call("get_note", note=f"{SECRET} of old")
    call("run_code", code=f"return sdk.notes.get('{SECRET} of old').chars")
    call("search", query=SECRET)
    call("query", collection="notes", where={"title": f"{SECRET} of old"})
    call("batch", operations=[{"tool": "get_note", "args": {"note": f"{SECRET} of old"}}], idempotency_key="first")
    call("update_note", note=note, title="Plain", idempotency_key=f"{SECRET} of old becomes plain")
    call("get_note", note="Plain")
    call("delete_item", item=note)
    app.recorder.flush()
    clock.advance(minutes=1)

    call("purge", days=0, confirm=True)

    app.recorder.flush()
    app.context.database.close()
    every = [path for path in app.settings.home.rglob("*") if path.is_file()]
    assert [str(path) for path in every if SECRET.lower().encode() in path.read_bytes().lower()] == []


def test_the_log_of_other_searches_and_names_stays(call: Call, app: App, clock: StandingClock) -> None:
    call("create_note", title="Tea")
    call("delete_item", item=call("create_note", title=f"Tea of {SECRET}").data["id"])
    call("search", query="tea")
    call("get_note", note="Tea")
    app.recorder.flush()
    clock.advance(minutes=1)

    call("purge", days=0, confirm=True)

    logged = {row[0] for row in read_rows(app, "SELECT CAST(arguments AS TEXT) FROM calls")}
    assert {'{"query":"tea"}', '{"note":"Tea"}', '{"title":"Tea"}'} <= logged


def test_the_index_of_words_matches_afterwards(call: Call, purge: Callable[..., Answer], app: App) -> None:
    for number in range(5):
        note = call("create_note", title=f"Tea {number}", content="green").data["id"]
        if number % 2:
            call("delete_item", item=note)

    purge()

    with app.context.database.reading() as session:
        assert long_texts.is_indexed(session)
    assert len(call("search", query="green").data) == 3


def test_a_project_goes_with_what_was_deleted_with_it(call: Call, purge: Callable[..., Answer], app: App) -> None:
    project = call("create_project", name="Garden").data["id"]
    outer = call("create_task", title="Dig", project=project).data["id"]
    for depth in range(3):
        outer = call("create_task", title=f"Deeper {depth}", parent=outer, project=project).data["id"]
    call("create_note", title="Plan", project=project)
    call("delete_item", item=project, items="trash", confirm=True)

    result = purge().data

    assert result["items"] == {"note": 1, "task": 4, "project": 1}
    assert set(count_rows(app, "projects", "tasks", "notes", "changes").values()) == {0}


def test_what_others_in_the_trash_still_belong_to_waits(call: Call, app: App, clock: StandingClock) -> None:
    project = call("create_project", name="Garden").data["id"]
    task = call("create_task", title="Dig", project=project).data["id"]
    for table, day in (("projects", "2026-04-01"), ("tasks", "2026-05-19")):  # as in a trash of an earlier version
        write_rows(app, f"UPDATE {table} SET deleted_at = '{day} 08:00:00.000000'")

    first = call("purge", confirm=True).data
    clock.advance(days=31)
    second = call("purge", confirm=True).data

    assert (first["items"], first["waiting"]) == ({}, 1)
    assert second["items"] == {"task": 1, "project": 1}
    assert {project, task} & {row[0] for row in read_rows(app, "SELECT item FROM changes")} == set()


def test_a_content_that_another_file_or_a_history_names_stays(
    call: Call, purge: Callable[..., Answer], app: App
) -> None:
    call("write_file", name="a.txt", text="shared")
    call("write_file", name="b.txt", text="shared")
    call("write_file", name="c.txt", text="before")
    call("write_file", name="c.txt", text="after")
    call("delete_item", item=read_rows(app, "SELECT id FROM files WHERE name = 'a.txt'")[0][0])
    aged(app)

    result = purge().data

    assert (result["items"], result["contents"]) == ({"file": 1}, 0)
    assert call("get_file", file="b.txt").data["text"] == "shared"
    unit = read_rows(app, "SELECT call FROM changes ORDER BY id DESC LIMIT 1 OFFSET 1")[0][0]
    call("undo", unit=unit, skip_conflicts=True)


def test_a_content_that_was_put_just_now_stays(call: Call, purge: Callable[..., Answer], app: App) -> None:
    call("write_file", name="a.txt", text="again")
    aged(app)
    call("delete_item", item=read_rows(app, "SELECT id FROM files")[0][0])
    open_contents(app.settings, app.context.database).put(b"again")  # the row that will name it is still to come

    assert purge().data["contents"] == 0


def test_while_contents_are_copied_they_stay_and_the_answer_says_so(
    call: Call, purge: Callable[..., Answer], app: App
) -> None:
    call("write_file", name="a.txt", text="again")
    aged(app)
    call("delete_item", item=read_rows(app, "SELECT id FROM files")[0][0])

    with open_contents(app.settings, app.context.database).retain():
        result = purge().data

    assert (result["items"], result["contents"], len(result["problems"])) == ({"file": 1}, 0, 1)
    assert call("purge", confirm=True).data["contents"] == 1


def test_a_question_names_what_would_be_forgotten(call: Call, clock: StandingClock) -> None:
    for title in ("Tea", "Soup"):
        call("delete_item", item=call("create_note", title=title).data["id"])
    clock.advance(days=31)

    with pytest.raises(ConfirmationError, match=r"Permanently delete 2 notes .*\? This cannot be undone"):
        call("purge")

    assert len(call("list_trash").data) == 2


def test_without_anything_to_forget_nobody_is_asked(call: Call) -> None:
    assert call("purge").summary == "Deleted nothing from the trash"


def test_a_dry_run_tells_and_changes_nothing(call: Call, clock: StandingClock, app: App) -> None:
    call("delete_item", item=call("create_note", title="Tea").data["id"])
    app.recorder.flush()
    clock.advance(days=31)
    before = read_rows(app, "SELECT * FROM notes"), read_rows(app, "SELECT * FROM changes")

    answer = call("purge", dry_run=True)

    assert answer.summary == "Would delete 1 note from the trash; 2 entries of the log"
    assert (read_rows(app, "SELECT * FROM notes"), read_rows(app, "SELECT * FROM changes")) == before


def test_no_days_empty_the_trash_now(call: Call, clock: StandingClock) -> None:
    call("delete_item", item=call("create_note", title="Tea").data["id"])
    clock.advance(seconds=1)

    assert call("purge", days=0, confirm=True).data["items"] == {"note": 1}


@pytest.mark.parametrize("days", [-1, 40_000])
def test_days_that_make_no_sense_are_refused(call: Call, days: int) -> None:
    with pytest.raises(InvalidInputError, match="days"):
        call("purge", days=days)


def test_a_purge_is_no_write_that_could_be_undone(call: Call, purge: Callable[..., Answer]) -> None:
    call("delete_item", item=call("create_note", title="Tea").data["id"])

    answer = purge()

    assert "undo" not in answer.metadata
    with pytest.raises((ConflictError, NotFoundError)):
        call("undo")
