"""Backups and exports: what they hold, where they may go, and what is never half there."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.errors import ConfirmationError, ConflictError, InvalidInputError, PanoramaError, UnavailableError
from panorama.services.jobs.progress import report_progress_to
from panorama.store.archive.atomic_folder import PART_PREFIX
from panorama.store.archive.manifests import with_digest
from tests.conftest import ON_POSTGRES, StandingClock
from tests.services.keeping import Call, backup, below, export, lived
from tests.store.content_stores import remove_content
from tests.stored_rows import read_rows
from tests.whole import contents, data_folder, differing
from tests.working import at_work

__all__ = ["backup", "export", "lived"]


# Backups


def test_a_backup_holds_database_contents_scripts_and_configuration(backup: Path, lived: App) -> None:
    held = below(backup)

    names = {f"files/{name}" for name in contents(data_folder(lived))}
    assert held == {"panorama.db", "manifest.json", "config.toml", "scripts/mine/tidy.py", *names}
    assert len(names) == 2


def test_a_backup_is_for_its_owner_alone(backup: Path) -> None:
    modes = {path.stat().st_mode & 0o077 for path in (backup, *backup.rglob("*"))}

    assert modes == {0}


def test_a_backup_goes_into_the_data_directory_without_a_question(backup: Path, lived: App) -> None:
    assert backup == lived.settings.home / "backups" / "panorama-20260520T080000Z"


def test_where_a_backup_leaves_the_data_directory_a_person_is_asked(lived: App, call: Call, tmp_path: Path) -> None:
    with pytest.raises(ConfirmationError, match="Write a backup of all your data into"):
        call("backup", folder=str(tmp_path / "out"))

    assert not (tmp_path / "out").exists()


def test_keys_are_left_out_and_named(backup: Path, call: Call, clock: StandingClock) -> None:
    assert "geheim" not in (backup / "config.toml").read_text()
    assert call("backup").data["withheld"] == ["qdrant_key"]


def test_keys_are_kept_if_a_person_says_so(lived: App, call: Call) -> None:
    with pytest.raises(ConfirmationError, match="keys"):
        call("backup", with_secrets=True)

    path = Path(call("backup", with_secrets=True, confirm=True).data["path"])

    assert "geheim" in (path / "config.toml").read_text()


def test_the_keys_of_the_daemon_are_in_no_backup(lived: App, call: Call) -> None:
    for name in ("state.key", "http.token"):
        (lived.settings.home / name).write_text("geheim")

    assert not {"state.key", "http.token"} & below(Path(call("backup").data["path"]))


def test_two_backups_of_one_second_are_two(backup: Path, call: Call) -> None:
    second = Path(call("backup").data["path"])

    assert second.name == f"{backup.name}-2"
    assert backup.is_dir()


def test_a_content_that_the_backup_before_has_takes_no_room_again(backup: Path, call: Call) -> None:
    second = Path(call("backup").data["path"])

    name = next(path for path in below(second) if path.startswith("files/"))
    assert (second / name).stat().st_ino == (backup / name).stat().st_ino


def test_a_content_that_is_damaged_in_the_backup_before_is_copied_again(backup: Path, call: Call) -> None:
    name = next(path for path in sorted(below(backup)) if path.startswith("files/"))
    (backup / name).write_text("damage")

    second = Path(call("backup").data["path"])

    assert call("backups.check", path=str(second)).summary.startswith("The backup of")


def test_old_backups_go_with_the_next_one(lived: App, call: Call, clock: StandingClock) -> None:
    made = [call("backup").data["path"]]
    for _ in range(lived.settings.backups_kept):
        clock.advance(hours=1)
        made.append(call("backup").data["path"])

    left = [path for path in made if Path(path).exists()]
    assert left == made[1:]
    assert "; 1 older one removed" in call("backup").summary


def test_a_new_backup_stays_when_the_clock_was_ahead_before(lived: App, call: Call, clock: StandingClock) -> None:
    clock.advance(days=400)
    ahead = [Path(call("backup").data["path"]) for _ in range(9)]
    clock.advance(days=-400)

    new = [Path(call("backup").data["path"]) for _ in range(2)]

    assert [path.is_dir() for path in (*new, *ahead)] == [True, True, False, *[True] * 8]


def test_backups_of_another_store_in_the_same_folder_stay(
    lived: App, call: Call, tmp_path: Path, clock: StandingClock
) -> None:
    folder = tmp_path / "stick"
    first = Path(call("backup", folder=str(folder), confirm=True).data["path"])
    manifest = json.loads((first / "manifest.json").read_text())
    (first / "manifest.json").write_text(json.dumps(with_digest(manifest | {"origin": "elsewhere:/home"})))
    clock.advance(days=1000)

    call("backup", folder=str(folder), confirm=True)

    assert first.is_dir()


def test_a_content_that_is_missing_is_told_and_all_else_is_kept(lived: App, call: Call) -> None:
    lose_a_content(lived)

    answer = call("backup")

    assert (answer.data["is_complete"], answer.data["problem_count"]) == (False, 1)
    assert "missing" in answer.data["problems"][0]
    assert "missing" in answer.summary
    assert call("backups.check", path=answer.data["path"]).data["problems"] == answer.data["problems"]


@pytest.mark.parametrize("what", ["backup", "export"])
def test_as_a_job_it_has_not_succeeded_if_something_was_missing(lived: App, call: Call, what: str) -> None:
    lose_a_content(lived)

    with at_work(lived):
        job = call(what, background=True).data["id"]
        ended = call("get_job", job=job, wait=20).data

    assert (ended["state"], ended["result"]["is_complete"]) == ("failed", False)
    assert "without 1 thing" in ended["error"]["message"]
    assert "missing" in ended["error"]["message"]
    assert Path(ended["result"]["path"]).is_dir()


def test_restoring_may_be_a_job(backup: Path, lived: App, call: Call, tmp_path: Path) -> None:
    with at_work(lived):
        asked = {"source": str(backup), "folder": str(tmp_path / "again"), "background": True}
        ended = call("get_job", job=call("restore", **asked).data["id"], wait=20).data

    assert (ended["state"], ended["kind"]) == ("succeeded", "restore")
    assert set(differing(data_folder(lived), tmp_path / "again")) <= {"calls", "jobs"}


def test_backups_are_listed_with_what_they_hold(backup: Path, call: Call) -> None:
    (backup.parent / "before-0005-20260101T000000Z.db").write_bytes(b"x")

    answer = call("backups.list").data

    assert [item["kind"] for item in answer["backups"]] == ["backup", "copy"]
    assert answer["backups"][0]["files"] == 2


# Where a backup or an export may go


@pytest.mark.parametrize("operation", ["backup", "export"])
@pytest.mark.parametrize("inside", ["", "files", "files/ab", "index", "new"])
def test_nothing_is_put_among_the_files_of_the_data_directory(
    lived: App, call: Call, operation: str, inside: str
) -> None:
    before = below(lived.settings.home)

    with pytest.raises(InvalidInputError, match="lies in the data directory"):
        call(operation, folder=str(lived.settings.home / inside), confirm=True)

    lived.recorder.flush()
    assert below(lived.settings.home) == before


@pytest.mark.parametrize("operation", ["backup", "export"])
def test_a_link_into_the_data_directory_is_seen_through(lived: App, call: Call, tmp_path: Path, operation: str) -> None:
    (tmp_path / "link").symlink_to(lived.settings.home)

    with pytest.raises(InvalidInputError, match="lies in the data directory"):
        call(operation, folder=str(tmp_path / "link"), confirm=True)


@pytest.mark.parametrize("operation", ["backup", "export"])
def test_a_file_is_no_folder(lived: App, call: Call, tmp_path: Path, operation: str) -> None:
    (tmp_path / "file").write_text("mine")

    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(PanoramaError) as refusal:
            call(operation, folder=str(path), confirm=True)
        assert refusal.value.hint
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("operation", ["backup", "export"])
def test_a_path_that_is_none_is_refused(lived: App, call: Call, operation: str) -> None:
    for path in ("~nobody-of-that-name/x", "/proc/none/x", "/dev/null"):
        with pytest.raises(PanoramaError) as refusal:
            call(operation, folder=path, confirm=True)
        assert refusal.value.hint
        assert refusal.value.code in ("invalid_input", "unavailable")


ASKED: dict[str, Callable[[str], dict[str, Any]]] = {
    "backup": lambda path: {"folder": path, "confirm": True},
    "export": lambda path: {"folder": path, "confirm": True},
    "backups.list": lambda path: {"folder": path},
    "backups.check": lambda path: {"path": path},
    "restore": lambda path: {"source": path},
}
NO_PATHS = {
    "x" * 256: "File name too long",
    "/tmp/" + "x" * 256 + "/below": "File name too long",
    "/tmp/" + "x/" * 3000: "File name too long",
    "/tmp/\0": "NUL",
    "/tmp/\ud800": "was not called|not a valid folder path",
    "~nobody-of-that-name/x": "not a valid folder path",
}


@pytest.mark.parametrize("operation", ASKED)
def test_what_can_be_the_path_of_nothing_is_refused(lived: App, call: Call, operation: str) -> None:
    for path, why in NO_PATHS.items():
        absolute = path if path[0] in "/~" else f"/tmp/{path}"
        with pytest.raises(InvalidInputError, match=why) as refusal:
            call(operation, **ASKED[operation](absolute))
        assert refusal.value.hint


@pytest.mark.parametrize("operation", ASKED)
def test_a_path_from_where_the_daemon_stands_is_refused(
    lived: App, call: Call, operation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    for path in ("relative/x", ".", "../x", "x"):
        with pytest.raises(InvalidInputError, match="is a relative path") as refusal:
            call(operation, **ASKED[operation](path))
        assert "absolute path" in refusal.value.hint

    assert list((tmp_path / "here").iterdir()) == []


def test_a_restore_needs_to_be_told_of_what_and_to_where(backup: Path, call: Call, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="source is empty"):
        call("restore", source=" ", folder=str(tmp_path / "again"))
    with pytest.raises(InvalidInputError, match="is a relative path"):
        call("restore", source=str(backup), folder="again")


def test_what_cannot_be_is_refused_before_a_job_begins(lived: App, call: Call, tmp_path: Path, backup: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    home = str(lived.settings.home / "files")
    never: tuple[tuple[str, dict[str, Any]], ...] = (
        ("backup", {"folder": home}), ("backup", {"folder": "x"}), ("backup", {"folder": "/tmp/" + "x" * 256}),
        ("export", {"folder": home}), ("export", {"folder": "x"}), ("export", {"folder": "/tmp/" + "x" * 256}),
        ("purge", {"days": -1}), ("purge", {"days": 40_000}),
        ("restore", {"source": str(tmp_path)}), ("restore", {"source": str(backup), "folder": str(tmp_path / "full")}),
        ("import.markdown", {"folder": str(tmp_path / "none")}),
    )  # fmt: skip

    with at_work(lived):
        for operation, arguments in never:
            with pytest.raises((InvalidInputError, ConflictError)):
                call(operation, **arguments, background=True, **({} if operation in UNASKED else {"confirm": True}))

    assert {row[0] for row in read_rows(lived, "SELECT kind FROM jobs")} <= {"catch_up"}


@pytest.mark.parametrize("operation", ["backup", "export"])
def test_whoever_stops_it_leaves_nothing_behind(lived: App, call: Call, tmp_path: Path, operation: str) -> None:
    class LeftError(Exception):
        pass

    def leave(done: int, total: int, at: str) -> None:
        raise LeftError

    with pytest.raises(LeftError), report_progress_to(leave):
        call(operation, folder=str(tmp_path / "new" / "folder"), confirm=True)

    assert not (tmp_path / "new").exists()


def test_what_a_killed_process_left_is_swept_away_and_what_another_writes_is_not(lived: App, call: Call) -> None:
    import fcntl

    folder = lived.settings.home / "backups"
    for name in ("dead", "alive"):
        (folder / f"{PART_PREFIX}{name}").mkdir(parents=True)
        (folder / f"{PART_PREFIX}{name}" / "panorama.db").write_text("half")
    held = os.open(folder / f"{PART_PREFIX}alive", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)

    call("backup")

    os.close(held)
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(PART_PREFIX)) == [
        f"{PART_PREFIX}alive"
    ]


@pytest.mark.skipif(ON_POSTGRES, reason="damages the file; the pages of a server are its own to check")
def test_a_database_that_is_damaged_is_not_backed_up(lived: App, call: Call) -> None:
    with closing(sqlite3.connect(lived.settings.home / "panorama.db")) as file:
        file.execute("PRAGMA writable_schema=ON")
        file.execute("UPDATE sqlite_master SET rootpage = 3 WHERE name = 'ix_notes_updated'")
        file.commit()

    with pytest.raises(UnavailableError, match=r"no backup was created|damaged"):
        call("backup")

    assert list((lived.settings.home / "backups").glob("*")) == []


# Exports


def test_an_export_has_a_line_for_each_row(export: Path, lived: App) -> None:
    manifest = json.loads((export / "manifest.json").read_text())

    for name, count in manifest["rows"].items():
        assert len((export / "data" / f"{name}.jsonl").read_text().splitlines()) == count
    task = json.loads((export / "data" / "tasks.jsonl").read_text())
    assert (task["title"], task["deadline"], task["urgent"], task["tags"]) == ("Dig", "2026-06-01", False, [])
    assert task["created_at"] == "2026-05-20T08:00:00.000000Z"


def test_a_person_finds_pages_and_files_under_their_names(export: Path) -> None:
    pages = below(export / "markdown")

    assert pages == {"Garden/Garden.md", "Garden/Plan.md", "Tiler.md", "Without a project.md"}
    assert (export / "files" / "Garden" / "beds.csv").read_text() == "a,b\n3,4\n"
    page = (export / "markdown" / "Garden" / "Garden.md").read_text()
    assert "- [ ] Dig 📅 2026-06-01" in page
    assert "[beds.csv](<../../files/Garden/beds.csv>)" in page
    assert (export / "markdown" / "Garden" / "Plan.md").read_text().endswith("---\n# Beds\n\n- one\n")


def test_what_a_file_held_before_is_in_the_export_too(export: Path) -> None:
    older = [path for path in (export / "files" / "older").rglob("*") if path.is_file()]

    assert [path.read_text() for path in older] == ["a,b\n1,2\n"]


def test_no_key_is_in_an_export(export: Path) -> None:
    assert not any(b"geheim" in path.read_bytes() for path in export.rglob("*") if path.is_file())


def test_titles_cannot_lead_out_of_the_export(call: Call, tmp_path: Path) -> None:
    call("create_project", name="../../outside")
    call("create_note", title="../../../evil", project="../../outside", content="x")
    call("create_note", title="..", content="y")

    path = Path(call("export", folder=str(tmp_path / "out"), confirm=True).data["path"])

    assert {entry.name for entry in tmp_path.iterdir()} == {"out"}
    assert len(below(path / "markdown")) == 3


UNASKED = ("restore", "import.markdown")


def lose_a_content(app: App) -> None:
    """Remove the content of a file, as a fault of a disk would."""
    (name,) = min(read_rows(app, "SELECT sha256 FROM files"))
    remove_content(app.context.database, app.settings.home / "files", name)
