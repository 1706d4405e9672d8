"""What is restored of backups and exports, or imported: all of it or nothing, and no job of the original."""

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from panorama.app import App
from panorama.domain.changes import Origin
from panorama.domain.jobs import Job, Requester
from panorama.errors import ConflictError, InvalidInputError
from panorama.services.archive.paths import SEAL_KEY
from panorama.services.jobs.queue import QUEUE
from panorama.store.archive.manifests import with_digest
from panorama.store.log import jobs as store_jobs
from panorama.store.log import marks
from panorama.store.sqlite import replace_database
from tests.conftest import ON_POSTGRES, StandingClock
from tests.services.keeping import Call, backup, below, export, lived
from tests.stored_rows import read_rows, write_rows
from tests.whole import data_folder, differing
from tests.working import at_work

__all__ = ["backup", "export", "lived"]


@pytest.mark.parametrize("made", ["backup", "export"])
def test_what_is_restored_is_equal(
    made: str, lived: App, call: Call, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source: Path = request.getfixturevalue(made)

    answer = call("restore", source=str(source), folder=str(tmp_path / "again"))

    again = tmp_path / "again"
    left = differing(data_folder(lived), again)
    assert left.keys() <= {"calls"}
    assert (again / "scripts" / "mine" / "tidy.py").read_text() == "def main(): pass\n"
    assert (again / "config.toml").read_text() == 'timezone = "Europe/Berlin"\n'
    assert answer.data["withheld"] == ["qdrant_key"]
    assert {path.stat().st_mode & 0o077 for path in (again, *again.rglob("*"))} == {0}


@pytest.mark.parametrize("made", ["backup", "export"])
def test_a_folder_that_holds_something_is_not_restored_into(
    made: str, call: Call, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source: Path = request.getfixturevalue(made)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")

    with pytest.raises(ConflictError, match="not empty"):
        call("restore", source=str(source), folder=str(tmp_path / "full"))

    assert below(tmp_path / "full") == {"mine.txt"}


def test_the_backup_of_a_store_that_search_by_meaning_has_numbered_is_restored(
    app: App, call: Call, tmp_path: Path
) -> None:
    origin = Origin(actor="tool", client="tests", conversation="", operation="tests", call="", unit="")
    with app.context.database.transaction(origin) as session:
        marks.set_mark(session, "store", 1 << 62)  # the largest that there may be
    assert marks.read_store_number(app.context.database) == 1 << 62
    made = call("backup").data["path"]

    call("restore", source=made, folder=str(tmp_path / "again"))

    assert (tmp_path / "again" / "panorama.db").exists()


def test_an_empty_folder_may_be_restored_into(backup: Path, call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    call("restore", source=str(backup), folder=str(tmp_path / "empty"))

    assert (tmp_path / "empty" / "panorama.db").is_file()


def test_the_present_data_directory_is_not_restored_into(backup: Path, call: Call, lived: App) -> None:
    with pytest.raises(ConflictError, match="not empty"):
        call("restore", source=str(backup))
    with pytest.raises(InvalidInputError, match="present data directory"):
        call("restore", source=str(backup), folder=str(lived.settings.home / "again"))
    with pytest.raises(InvalidInputError, match="in the backup"):
        call("restore", source=str(backup), folder=str(backup / "again"))


def middle(path: Path) -> None:
    """Change one byte in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def every_file(made: str) -> list[str]:
    common = ["manifest.json", "config.toml", "scripts/mine/tidy.py"]
    if made == "backup":
        return [*common, "panorama.db", "files/*/*"]
    return [*common, "data/notes.jsonl", "data/changes.jsonl", "files/Garden/beds.csv", "files/older/*/*", "README.md"]


@pytest.mark.parametrize(
    ("made", "pattern"), [(made, pattern) for made in ("backup", "export") for pattern in every_file(made)]
)
@pytest.mark.parametrize("fault", ["changed", "cut", "gone", "a link"])
def test_what_is_damaged_is_not_restored_and_nothing_is_left(
    made: str, pattern: str, fault: str, call: Call, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source: Path = request.getfixturevalue(made)
    path = next(entry for entry in sorted(source.glob(pattern)) if entry.is_file())
    content = path.read_bytes()
    match fault:
        case "changed":
            middle(path)
        case "cut":
            path.write_bytes(content[: len(content) // 2])
        case "gone":
            path.unlink()
        case _:
            path.unlink()
            path.symlink_to("/etc/hostname")

    with pytest.raises(InvalidInputError) as refusal:
        call("restore", source=str(source), folder=str(tmp_path / "a" / "again"))

    assert refusal.value.hint
    assert not (tmp_path / "a").exists()
    with pytest.raises(InvalidInputError):
        call("backups.check", path=str(source))


@pytest.mark.parametrize("made", ["backup", "export"])
@pytest.mark.parametrize("newer", [{"format": 99}, {"revision": "9999"}])
def test_what_a_newer_program_made_is_refused(
    made: str, newer: dict[str, Any], call: Call, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source: Path = request.getfixturevalue(made)
    manifest = json.loads((source / "manifest.json").read_text())
    (source / "manifest.json").write_text(json.dumps(manifest | newer))

    with pytest.raises(InvalidInputError, match="newer Panorama"):
        call("restore", source=str(source), folder=str(tmp_path / "again"))

    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "files/../../x", "files//x", "manifest.json", "a\\b"])
def test_a_list_that_leads_elsewhere_is_refused(backup: Path, call: Call, tmp_path: Path, path: str) -> None:
    manifest = json.loads((backup / "manifest.json").read_text())
    manifest["files"][path] = {"size": 1, "sha256": "0" * 64}
    (backup / "manifest.json").write_text(json.dumps(with_digest(manifest)))

    with pytest.raises(InvalidInputError, match="damaged"):
        call("restore", source=str(backup), folder=str(tmp_path / "again"))


def test_a_backup_that_a_restore_would_refuse_says_so(lived: App, call: Call, tmp_path: Path) -> None:
    write_rows(lived, f"UPDATE notes SET version = {2**53 + 1}")

    answer = call("backup")

    assert (answer.data["is_complete"], answer.data["problem_count"]) == (False, 1)
    why = "the table notes has an invalid value in version"
    assert answer.data["problems"] == [f"panorama.db: it cannot be restored: {why}"]
    with pytest.raises(InvalidInputError, match=why):
        call("restore", source=answer.data["path"], folder=str(tmp_path / "again"))


def test_a_path_where_nothing_is_has_an_error_that_says_so(call: Call, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="There is no file or folder"):
        call("restore", source=str(tmp_path / "nothing"), folder=str(tmp_path / "again"))


@pytest.mark.parametrize("what", ["empty", "file"])
def test_what_is_no_backup_is_refused(call: Call, tmp_path: Path, what: str) -> None:
    path = tmp_path / what
    if what == "empty":
        path.mkdir()
    elif what == "file":
        path.write_text("mine")

    with pytest.raises(InvalidInputError, match="not a Panorama backup or export"):
        call("restore", source=str(path), folder=str(tmp_path / "again"))


def test_a_restored_store_takes_no_vectors_of_the_first_on_a_server(lived: App, call: Call, tmp_path: Path) -> None:
    write_rows(lived, "INSERT INTO marks VALUES ('store', 7), ('index abc', 3), ('passages m', 3)")

    call("restore", source=call("backup").data["path"], folder=str(tmp_path / "again"))

    with closing(sqlite3.connect(tmp_path / "again" / "panorama.db")) as file:
        assert file.execute("SELECT name FROM marks").fetchall() == [("passages m",)]


LEFT = "Not continued: the data was restored from a copy."


def kept_jobs(app: App) -> dict[str, str]:
    """Keep a job that waits, one that runs and is being cancelled, one that has ended, and the one that stands."""
    now = app.context.now()
    waits, runs, ended, stands = (
        Job(id=app.context.new_id("w"), kind=kind, arguments={}, asker=Requester(), created_at=now, unit="w_unit")
        for kind in ("purge", "backup", "export", "catch_up")
    )
    runs = replace(runs.start("me", now), is_stopping=True)
    ended = ended.start("me", now).finish("succeeded", now, summary="Exported")
    with app.context.database.transaction(QUEUE) as session:
        for job in (waits, runs, ended, stands):
            store_jobs.add(session, job)
    return {"waits": waits.id, "runs": runs.id, "ended": ended.id, "stands": stands.id}


def jobs_of(home: Path) -> dict[str, tuple[Any, ...]]:
    asked = "SELECT id, state, rank, summary, worker, heartbeat, is_stopping, is_told, ended_at FROM jobs"
    with closing(sqlite3.connect(home / "panorama.db")) as file:
        return {row[0]: row[1:] for row in file.execute(asked)}


@pytest.mark.parametrize("made", ["backup", "export"])
def test_what_is_restored_carries_on_no_job_of_the_original(
    lived: App, call: Call, tmp_path: Path, made: str, clock: StandingClock
) -> None:
    ids = kept_jobs(lived)
    source = call(made, folder=str(tmp_path / "out"), confirm=True).data["path"]
    before = jobs_of(data_folder(lived))
    clock.advance(hours=1)

    call("restore", source=source, folder=str(tmp_path / "again"))

    after, left = jobs_of(tmp_path / "again"), ("cancelled", 0, LEFT, "", None, 0, 1, "2026-05-20 09:00:00.000000")
    assert after == {ids["waits"]: left, ids["runs"]: left, ids["ended"]: before[ids["ended"]]}
    assert jobs_of(data_folder(lived)) == before


def test_a_backup_that_was_a_job_is_not_made_again_by_what_is_restored(lived: App, call: Call, tmp_path: Path) -> None:
    with at_work(lived):
        made = call("get_job", job=call("backup", background=True).data["id"], wait=20).data

    call("restore", source=made["result"]["path"], folder=str(tmp_path / "again"))

    assert [row[0] for row in jobs_of(tmp_path / "again").values()] == ["cancelled"]


def test_a_bare_copy_that_is_put_in_place_carries_on_no_job_either(lived: App, tmp_path: Path) -> None:
    ids, home = kept_jobs(lived), tmp_path / "again"
    home.mkdir()
    lived.context.database.copy_to(tmp_path / "copy.db")

    replace_database.replace_database(tmp_path / "copy.db", home / "panorama.db", lived.context.now(), is_own=True)

    assert {id_: row[0] for id_, row in jobs_of(home).items()} == {
        ids["waits"]: "cancelled", ids["runs"]: "cancelled", ids["ended"]: "succeeded",
    }  # fmt: skip
    assert below(home) == {"panorama.db"}


def test_a_copy_from_before_there_were_jobs_is_put_in_place_as_it_is(lived: App, tmp_path: Path) -> None:
    lived.context.database.copy_to(tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as file:
        file.execute("DROP TABLE jobs")

    replace_database.replace_database(tmp_path / "copy.db", tmp_path / "panorama.db", lived.context.now(), is_own=True)

    assert (tmp_path / "panorama.db").is_file()


# What the tools accept is restored, also without the key of the data directory that made the copy


LONG_RULE = f"FREQ=DAILY;BYMONTHDAY={','.join(str(day % 28 + 1) for day in range(100))}"[:297].rstrip(",")
"""A rule that is almost as long as one may be."""

NESTED_LISTS: Any = json.loads("[" * 38 + "]" * 38)
"""As deep as an argument may be."""

EXTREME_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("create_task", {"title": "Last", "rank": 2**63 - 1, "scheduled_minutes": 7 * 24 * 60, "deadline": "2199-12-31"}),
    ("create_task", {"title": "First", "rank": -(2**63), "start_at": "1900-01-01", "scheduled_at": "1900-01-02T00:00"}),
    ("create_project", {"name": "Last", "rank": 2**63 - 1}),
    ("create_note", {"title": "Far", "properties": {"a": 2**63 - 1, "b": -(2**63), "c": 1.7e308, "d": 5e-324}}),
    ("create_note", {"title": "Deep", "properties": {"a": NESTED_LISTS}, "idempotency_key": "once"}),
    ("create_task", {"title": "Night", "deadline": "2027-03-27T02:30", "recurrence": LONG_RULE}),
    ("update_task", {"task": "Night", "status": "done"}),  # the next one is on a day without 02:30
    ("run_code", {
        "code": "deep = 1\nfor _ in range(99):\n    deep = [deep]\n"
        "state['deep'] = deep\nstate['far'] = [10**400, 1.7e308, float('inf')]\nreturn deep",
        "inputs": {"a": NESTED_LISTS, "b": float("nan")}, "idempotency_key": "twice",
    }),
)  # fmt: skip


@pytest.mark.parametrize("made", ["backup", "export"])
def test_every_value_that_the_tools_accept_is_restored_without_the_key_too(
    made: str, lived: App, call: Call, tmp_path: Path
) -> None:
    for tool, arguments in EXTREME_CALLS:
        call(tool, **arguments)
    assert len(read_rows(lived, "SELECT id FROM tasks WHERE length(recurrence) > 300")) == 1
    lived.recorder.flush()
    answer = call(made, folder=str(tmp_path / "out"), confirm=True).data

    for folder in ("own", "foreign"):
        call("restore", source=answer["path"], folder=str(tmp_path / folder))
        left = differing(data_folder(lived), tmp_path / folder)
        assert left.keys() <= {"calls", "idempotency"}
        (lived.settings.home / SEAL_KEY).unlink(missing_ok=True)
    assert answer["is_complete"]


NO_JSON = '{"a": [NaN, 1], "b": -Infinity}'
"""Properties that the tools accepted before."""


@pytest.mark.skipif(ON_POSTGRES, reason="a server never took such properties")
@pytest.mark.parametrize("made", ["backup", "export"])
def test_infinite_numbers_in_older_properties_are_restored(made: str, lived: App, call: Call, tmp_path: Path) -> None:
    write_rows(lived, f"UPDATE notes SET properties = '{NO_JSON}'")
    write_rows(lived, f"""UPDATE changes SET after = '{{"properties": {NO_JSON}}}' WHERE kind = 'note'""")
    answer = call(made, folder=str(tmp_path / "out"), confirm=True).data
    (lived.settings.home / SEAL_KEY).unlink()

    call("restore", source=answer["path"], folder=str(tmp_path / "again"))

    assert differing(data_folder(lived), tmp_path / "again").keys() <= {"calls"}
    assert answer["is_complete"]


def test_a_note_of_a_file_with_a_nonsensical_time_is_restored(call: Call, tmp_path: Path) -> None:
    memory = Path("/dev/shm")  # other file systems do not store such times
    with TemporaryDirectory(prefix="panorama-test-", dir=memory if memory.is_dir() else tmp_path) as folder:
        (Path(folder) / "Old.md").write_text("Tea")
        os.utime(Path(folder) / "Old.md", (-50_000_000_000, -50_000_000_000))  # in the year 385
        call("import.markdown", folder=folder)

    call("restore", source=call("backup").data["path"], folder=str(tmp_path / "again"))

    assert call("get_note", note="Old").data["created_at"] >= "1900"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_have_is_no_property(call: Call, number: float) -> None:
    call("create_note", title="Plan")

    for tool, arguments in (("create_note", {"title": "Odd"}), ("update_note", {"note": "Plan"})):
        with pytest.raises(InvalidInputError, match="properties contain a number that is infinite or NaN") as refusal:
            call(tool, **arguments, properties={"a": [{"b": number}]})
        assert refusal.value.hint


# The tree as an import reads it


def test_an_import_of_the_pages_gives_the_same_notes_tasks_and_projects(lived: App, call: Call, tmp_path: Path) -> None:
    call("create_note", title="1.10", content="---\nnot: front matter\n---\r\nyes", pinned=True)
    call("create_note", title="Plan", project="Garden", content="")
    call("create_task", title="Water", tags=["daily"], recurrence="FREQ=DAILY", deadline="2026-05-21", important=True)
    outer = call("create_task", title="Build", project="Garden", notes="two\nlines").data["id"]
    call("create_task", title="Saw", parent=outer, project="Garden", status="done")
    call("items.link_source", item="Water", source_ref="claap:rec_1/0a1b")
    path = Path(call("export", folder=str(tmp_path / "out"), confirm=True).data["path"])

    result = _imported(path / "markdown", tmp_path / "other")

    with (
        closing(sqlite3.connect(data_folder(lived) / "panorama.db")) as mine,
        closing(sqlite3.connect(result)) as theirs,
    ):
        for question in (
            "SELECT title, content, tags, pinned FROM notes ORDER BY 1, 2",
            "SELECT title, status, deadline, recurrence, important, tags, notes FROM tasks ORDER BY 1",
            "SELECT name FROM projects",
        ):
            expected = mine.execute(question).fetchall()
            found = theirs.execute(question).fetchall()
            assert [row for row in expected if row not in found] == []
        assert theirs.execute("SELECT count(*) FROM tasks").fetchone() == (4,)


def _imported(folder: Path, home: Path) -> Path:
    from panorama.app import open_app
    from panorama.calls import Conversation
    from panorama.config import Settings

    with open_app(Settings(home=home, timezone="Europe/Berlin")) as app:
        client = Conversation(id="v", actor="cli", client="tests")
        report = app.calls.call("import.markdown", {"folder": str(folder)}, client).data
        assert report["problem_count"] == 0, report
    return home / "panorama.db"
