"""Importing a folder of Markdown, once and again, through the calls that every door makes."""

import os
import socket
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError, UnavailableError
from panorama.sample import written
from panorama.services import import_taking, imports
from panorama.services.progress import PROGRESS

from ..conftest import StandingClock

PLAN = """---
tags: [home, planning]
pinned: true
created: 2026-01-02
---
# The plan

See [[Budget]] #later

- [ ] Book the visit #kitchen ⏫ 📅 2026-06-01
    - [x] Ask Ortner ✅ 2026-05-18
- [/] Water plants 🔁 every week ⏳ 2026-05-22
"""


@dataclass(frozen=True)
class Vault:
    """A person's folder of Markdown."""

    root: Path

    def write(self, path: str, text: str) -> Path:
        """Write a file, with the folders it lies in."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def replace(self, path: str, old: str, new: str) -> None:
        """Change a piece of a file."""
        self.write(path, (self.root / path).read_text(encoding="utf-8").replace(old, new))


class Zeros(dict[str, Any]):
    """An answer's data, in which nothing that is zero is sent."""

    def __missing__(self, name: str) -> int:
        return 0


@dataclass(frozen=True)
class Here:
    """What there is in Panorama."""

    call: Callable[..., Answer]

    def notes(self) -> dict[str, Any]:
        """Return the living notes by title, whole."""
        return {row["title"]: self.get(row["id"]) for row in self.call("list_notes", limit=500, project="").data} | {
            row["title"]: self.get(row["id"])
            for project in self.projects().values()
            for row in self.call("list_notes", limit=500, project=project).data
        }

    def tasks(self) -> dict[str, Any]:
        """Return the living tasks by title, whole."""
        return {row["title"]: self.get(row["id"]) for row in self.call("list_tasks", status="any", limit=500).data}

    def projects(self) -> dict[str, str]:
        """Return the ids of the living projects by name."""
        return {row["name"]: row["id"] for row in self.call("list_projects").data}

    def get(self, id_: str) -> dict[str, Any]:
        """Return one item, whole."""
        return dict(self.call("get_item", item=id_).data["item"])


@pytest.fixture
def here(call: Callable[..., Answer]) -> Here:
    return Here(call)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path / "vault")
    made.root.mkdir()
    return made


@pytest.fixture
def run(call: Callable[..., Answer], vault: Vault) -> Callable[..., Zeros]:
    """Imports the vault and returns the report."""

    def ran(**arguments: Any) -> Zeros:
        return Zeros(call("import.markdown", folder=str(vault.root), **arguments).data)

    return ran


Import = Callable[..., Zeros]


def made(report: Zeros) -> tuple[int, int, int]:
    return report["notes_created"], report["tasks_created"], report["projects_created"]


def whys(report: Mapping[str, Any]) -> dict[str, str]:
    return {problem["path"]: problem["why"] for problem in report.get("problems", ())}


# The first time


def test_a_file_becomes_a_note_in_the_project_of_its_folder(vault: Vault, run: Import, here: Here):
    vault.write("Kitchen/Deep/plan.md", PLAN)

    report = run()

    note = here.notes()["The plan"]
    assert made(report) == (1, 3, 1)
    assert (note["project"], note["tags"], note["pinned"]) == (
        here.projects()["Kitchen"],
        ["home", "planning", "later", "kitchen"],
        True,
    )
    assert note["content"] == PLAN.split("---\n", 2)[2]
    assert note["created_at"] == "2026-01-02T12:00+01:00"


def test_task_lines_become_tasks(vault: Vault, run: Import, here: Here):
    vault.write("Kitchen/plan.md", PLAN)

    run()

    tasks = here.tasks()
    book, ask, water = tasks["Book the visit"], tasks["Ask Ortner"], tasks["Water plants"]
    assert (book["deadline"], book["important"], book["tags"]) == ("2026-06-01", True, ["kitchen"])
    assert (ask["status"], ask["completed_at"], ask["parent"]) == ("done", "2026-05-18T12:00+02:00", book["id"])
    assert (water["status"], water["recurrence"], water["deadline"]) == ("in_progress", "FREQ=WEEKLY", "2026-05-22")
    assert (book["provenance"], book["project"]) == ("import:Kitchen/plan.md#L10", here.projects()["Kitchen"])


def test_front_matter_names_the_project_before_the_folder_does(vault: Vault, run: Import, here: Here):
    here.call("create_project", name="House")
    vault.write("Kitchen/a.md", "---\nproject: house\n---\n")
    vault.write("b.md", "- [ ] Pay")

    report = run()

    assert (made(report), list(here.projects())) == ((2, 1, 0), ["House"])
    assert here.notes()["a"]["project"] == here.projects()["House"]
    assert "project" not in here.notes()["b"]


def test_a_done_task_without_a_date_was_done_now(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [x] Pay\n- [x] Call ✅ 2026-05-21")

    run()

    assert {task["completed_at"] for task in here.tasks().values()} == {"2026-05-20T10:00+02:00"}


def test_the_sample_workspace_is_imported_without_a_problem(vault: Vault, run: Import, here: Here):
    files = written(vault.root, date(2026, 5, 20))

    report = run()

    assert (report["notes_created"], report["problem_count"], report["skipped"]) == (len(files), 0, 0)
    assert (len(here.tasks()) > 50, "Kitchen renovation" in here.projects()) == (True, True)


def test_what_lies_hidden_or_is_no_markdown_is_left_out(vault: Vault, run: Import):
    for path in (".obsidian/a.md", "x/.trash/a.md", "node_modules/a.md", ".a.md", "a.txt", "md"):
        vault.write(path, "no")
    vault.write("b.MD", "yes")
    vault.write("c.markdown", "yes")

    report = run()

    assert (report["files"], report["notes_created"], report["skipped"]) == (2, 2, 0)


def test_links_are_not_followed_out_of_the_folder(vault: Vault, run: Import, tmp_path: Path):
    (tmp_path / "secret.md").write_text("no")
    (vault.root / "a.md").symlink_to(tmp_path / "secret.md")
    (vault.root / "up").symlink_to(tmp_path)
    vault.write("b.md", "yes")
    (vault.root / "c.md").symlink_to(vault.root / "b.md")

    report = run()

    assert (report["files"], report["notes_created"], sorted(whys(report))) == (1, 1, ["a.md", "up"])


def test_what_cannot_be_read_is_told_and_the_rest_is_imported(vault: Vault, run: Import):
    (vault.root / "latin.md").write_bytes("Größe".encode("latin-1"))
    (vault.root / "utf16.md").write_bytes("Tea".encode("utf-16"))
    (vault.root / "big.md").write_bytes(b"a" * (10 * 1024 * 1024 + 1))
    vault.write("long.md", f"---\nproject: {'x' * 300}\n---\n")
    vault.write("good.md", "\ufeff# Tea")

    report = run()

    assert (report["notes_created"], report["skipped"], report["problem_count"]) == (1, 4, 4)
    assert whys(report) == {
        "latin.md": "it is not UTF-8 (byte 2); save it as UTF-8",
        "utf16.md": "it holds NUL bytes, so it is not text in UTF-8",
        "big.md": "it is over 10 MB; split it into several files",
        "long.md": "project has 300 characters; 200 is the most.",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_listed_is_told(vault: Vault, run: Import):
    vault.write("a/b.md", "no")
    (vault.root / "a").chmod(0)

    report = run()

    (vault.root / "a").chmod(0o700)
    assert "cannot be listed" in whys(report)["a/"]


def test_a_date_that_does_not_exist_is_told(vault: Vault, run: Import):
    vault.write("a.md", "- [ ] Pay 📅 2026-02-30")

    report = run()

    assert (made(report), "2026-02-30 is not a date" in whys(report)["a.md"]) == ((1, 1, 0), True)


def test_a_file_of_very_many_tasks_gives_the_first_of_them(vault: Vault, run: Import, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(import_taking, "MOST_TASKS", 2)
    vault.write("a.md", "- [ ] a\n- [ ] a\n- [ ] a")

    report = run()

    assert (report["tasks_created"], "it has 3 tasks" in whys(report)["a.md"]) == (2, True)


def test_the_source_is_never_touched(vault: Vault, run: Import):
    file = vault.write("Kitchen/plan.md", PLAN)
    before = (file.stat().st_mtime_ns, file.stat().st_mode, file.read_bytes(), sorted(vault.root.rglob("*")))

    run()
    run()

    assert before == (file.stat().st_mtime_ns, file.stat().st_mode, file.read_bytes(), sorted(vault.root.rglob("*")))


def test_a_dry_run_tells_the_same_and_writes_nothing(vault: Vault, run: Import, rows: Callable[[], dict[str, int]]):
    vault.write("Kitchen/plan.md", PLAN)
    vault.write("Kitchen/other.md", PLAN)
    before = rows()

    dry = run(dry_run=True)

    assert rows() == before
    assert dry == run() | {"dry_run": True}


def test_one_undo_takes_an_import_back(vault: Vault, run: Import, here: Here, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(imports, "CHUNK_FILES", 2)
    for number in range(5):
        vault.write(f"Kitchen/{number}.md", PLAN)

    run()
    undone = here.call("undo", confirm=True)

    assert undone.data["count"] == 5 + 15 + 1
    assert (here.notes(), here.tasks(), here.projects()) == ({}, {}, {})


def test_after_its_undo_an_import_begins_anew(vault: Vault, run: Import, here: Here):
    vault.write("Kitchen/plan.md", PLAN)
    first = made(run())
    here.call("undo")

    again, third = run(), run()

    assert (made(again), made(third), third["unchanged"]) == (first, (0, 0, 0), 1)
    assert here.notes()["The plan"]["project"] == here.projects()["Kitchen"]


def test_progress_is_told_a_few_hundred_times_at_most(vault: Vault, run: Import):
    told: list[tuple[int, int, str]] = []
    for number in range(450):
        vault.write(f"{number}.md", "")

    token = PROGRESS.set(lambda *said: told.append(said))
    run()
    PROGRESS.reset(token)

    assert (len(told), told[-1][:2]) == (225, (450, 450))


# Again


def test_a_second_run_imports_nothing(vault: Vault, run: Import, rows: Callable[[], dict[str, int]]):
    vault.write("Kitchen/plan.md", PLAN)
    run()
    before = rows()

    report = run()

    assert (made(report), report["unchanged"], report["problem_count"]) == ((0, 0, 0), 1, 0)
    assert rows() == before


def test_only_what_changed_in_a_file_follows_it(vault: Vault, run: Import, here: Here):
    vault.write("Kitchen/plan.md", PLAN)
    vault.write("Kitchen/other.md", "Words")
    run()
    before = here.tasks()

    vault.replace("Kitchen/plan.md", "- [ ] Book the visit", "- [ ] New\n- [x] Book the visit")
    report = run()

    after = here.tasks()
    assert (made(report), report["notes_updated"], report["tasks_updated"], report["unchanged"]) == ((0, 1, 0), 1, 1, 1)
    assert (after["Book the visit"]["status"], after["Book the visit"]["version"]) == ("done", 2)
    assert after["Water plants"] == before["Water plants"]
    assert "- [ ] New" in here.notes()["The plan"]["content"]


def test_what_was_changed_only_here_stays(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [ ] Pay\n")
    run()
    here.call("update_task", task="Pay", urgent=True, deadline="2026-07-01")
    here.call("update_note", note="a", title="Bills")

    vault.replace("a.md", "Pay", "Pay 🔁 every week")
    report = run()

    task = here.tasks()["Pay"]
    assert (task["urgent"], task["deadline"], task["recurrence"]) == (True, "2026-07-01", "FREQ=WEEKLY")
    assert ("Bills" in here.notes(), report["problem_count"]) == (True, 0)


def test_what_was_changed_in_both_places_stays_and_is_told(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [ ] Pay 📅 2026-06-01")
    run()
    here.call("update_task", task="Pay", deadline="2026-07-01")
    here.call("append_to_note", note="a", block="Mine")

    vault.write("a.md", "- [ ] Pay 📅 2026-08-01")
    report = run()

    assert (here.tasks()["Pay"]["deadline"], report["tasks_updated"], report["problem_count"]) == ("2026-07-01", 0, 2)
    assert "Mine" in here.notes()["a"]["content"]
    assert {problem["why"].split(";")[0] for problem in report["problems"]} == {
        "content of “a” was changed in both places",
        "deadline of “Pay” was changed in both places",
    }


def test_the_same_change_in_both_places_is_no_conflict(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [ ] Pay")
    run()
    here.call("update_task", task="Pay", status="done")

    vault.write("a.md", "- [x] Pay")
    report = run()

    assert (report["problem_count"], report["tasks_updated"], here.tasks()["Pay"]["version"]) == (0, 0, 2)


def test_tasks_whose_lines_are_gone_stay_and_are_counted_once(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [ ] Pay\n- [ ] Call")
    run()

    vault.write("a.md", "- [ ] Call")
    first = run()
    vault.write("a.md", "- [ ] Call\n")
    second = run()

    assert (first["gone"], second["gone"], sorted(here.tasks())) == (1, 0, ["Call", "Pay"])


def test_a_line_that_comes_back_is_the_task_it_was(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [ ] Pay")
    run()
    vault.write("a.md", "")
    run()

    vault.write("a.md", "- [x] Pay")
    report = run()

    assert (made(report), here.tasks()["Pay"]["status"]) == ((0, 0, 0), "done")


def test_notes_whose_files_are_gone_stay_and_are_counted_once(vault: Vault, run: Import, here: Here):
    file = vault.write("a.md", "- [ ] Pay")
    run()

    file.unlink()
    first, second = run(), run()
    vault.write("a.md", "- [ ] Pay")
    third = run()

    assert (first["gone"], second["gone"], third["gone"]) == (2, 0, 0)
    assert (made(third), third["unchanged"], list(here.notes())) == ((0, 0, 0), 1, ["a"])


def test_a_file_that_was_moved_is_the_note_it_was(vault: Vault, run: Import, here: Here):
    file = vault.write("Kitchen/a.md", "- [ ] Pay")
    run()
    before = here.notes()["a"]

    file.rename(vault.write("House/b.md", ""))
    report = run()

    after = here.notes()["b"]
    assert (after["id"], after["project"]) == (before["id"], here.projects()["House"])
    assert (made(report), report["gone"], run()["unchanged"]) == ((0, 0, 1), 0, 1)
    assert here.tasks()["Pay"]["project"] == here.projects()["House"]


def test_what_is_in_the_trash_stays_there(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [ ] Pay\n- [ ] Call")
    vault.write("b.md", "Words")
    run()
    here.call("delete_item", item="Pay")
    here.call("delete_item", item="b")

    vault.write("a.md", "- [x] Pay\n- [x] Call")
    report = run()

    assert (made(report), report["tasks_updated"], report["skipped"]) == ((0, 0, 0), 1, 2)
    assert (list(here.tasks()), list(here.notes())) == (["Call"], ["a"])


def test_a_line_that_comes_back_after_its_task_was_trashed_is_a_new_task(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [ ] Milk")
    run()
    here.call("delete_item", item="Milk")
    vault.write("a.md", "")
    run()

    vault.write("a.md", "- [ ] Milk")
    report = run()

    assert (made(report), list(here.tasks())) == ((0, 1, 0), ["Milk"])


def test_a_project_that_was_renamed_here_is_still_the_folders(vault: Vault, run: Import, here: Here):
    vault.write("Kitchen/a.md", "")
    run()
    here.call("update_project", project="Kitchen", name="Kitchen 2026")

    vault.write("Kitchen/a.md", "# Tea")
    vault.write("Kitchen/b.md", "")
    run()

    assert list(here.projects()) == ["Kitchen 2026"]
    assert {note["project"] for note in here.notes().values()} == {here.projects()["Kitchen 2026"]}


def test_a_task_never_comes_under_itself(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [ ] One\n- [ ] Two")
    run()
    here.call("update_task", task="One", parent="Two")

    vault.write("a.md", "- [ ] One\n  - [ ] Two")
    report = run()

    assert "parent of “Two” was changed in both places" in whys(report)["a.md"]
    assert "parent" not in here.tasks()["Two"]


def test_an_undone_update_is_a_change_of_mine(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [ ] Pay")
    run()
    vault.write("a.md", "- [x] Pay")
    run()

    here.call("undo")
    report = run()

    assert (report["unchanged"], here.tasks()["Pay"]["status"]) == (1, "todo")


def test_an_import_that_was_stopped_goes_on_where_it_stopped(
    vault: Vault, run: Import, here: Here, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(imports, "CHUNK_FILES", 2)
    for number in range(6):
        vault.write(f"{number}.md", "- [ ] Pay")

    def stop(done: int, total: int, at: str) -> None:
        if done == 4:
            raise KeyboardInterrupt

    token = PROGRESS.set(stop)
    with pytest.raises(KeyboardInterrupt):
        run()
    PROGRESS.reset(token)

    assert sorted(here.notes()) == ["0", "1"]
    assert (made(run()), sorted(here.notes())) == ((4, 4, 0), ["0", "1", "2", "3", "4", "5"])


def test_an_error_half_way_tells_what_was_kept(vault: Vault, run: Import, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(imports, "CHUNK_FILES", 2)
    for number in range(4):
        vault.write(f"{number}.md", "")

    def fill(done: int, total: int, at: str) -> None:
        if done == 3:
            raise UnavailableError("The disk is full; nothing was changed.", hint="Free some space.")

    token = PROGRESS.set(fill)
    with pytest.raises(UnavailableError) as stopped:
        run()
    PROGRESS.reset(token)

    assert stopped.value.message == "The import stopped after 2 of 4 files, which stay: The disk is full."
    assert stopped.value.hint.endswith("it goes on where it stopped.")


def test_a_file_that_another_import_took_meanwhile_is_not_taken_twice(vault: Vault, run: Import, here: Here):
    vault.write("a.md", "- [ ] Pay")
    vault.write("b.md", "")
    inner: list[Zeros] = []

    def once(*said: object) -> None:
        if not inner:
            inner.append(Zeros())
            inner[0] = run()

    vault.write("0.md", "\x00")
    token = PROGRESS.set(once)
    outer = run()
    PROGRESS.reset(token)

    assert (made(inner[0]), made(outer), outer["unchanged"]) == ((2, 1, 0), (0, 0, 0), 2)
    assert len(here.notes()) == 2


# Bad folders


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("", "folder is empty."),
        ("  ", "folder is empty."),
        ("/no/such/folder", "There is no folder '/no/such/folder'."),
        ("~nobody-is-called-so/x", "cannot be the path of a folder."),
        ("/a\x00b", "holds a NUL byte."),
        ("/" + "x" * 5000, "cannot be the path of a folder."),
        (__file__, "is not a folder."),
    ],
)
def test_a_folder_that_is_none_is_refused(call: Callable[..., Answer], folder: str, message: str):
    with pytest.raises(InvalidInputError) as refused:
        call("import.markdown", folder=folder)

    assert refused.value.message.endswith(message)
    assert refused.value.hint.endswith(".")


def test_a_missing_folder_hints_at_the_nearest_that_exists(call: Callable[..., Answer], tmp_path: Path):
    with pytest.raises(InvalidInputError) as refused:
        call("import.markdown", folder=str(tmp_path / "no" / "such"))

    assert str(tmp_path) in refused.value.hint


def test_the_data_directory_is_refused_and_left_out(call: Callable[..., Answer], home: Path, tmp_path: Path):
    (home / "files").mkdir()
    (home / "a.md").write_text("no")
    (tmp_path / "b.md").write_text("yes")

    for folder in (home, home / "files"):
        with pytest.raises(InvalidInputError, match="own data directory"):
            call("import.markdown", folder=str(folder))

    assert call("import.markdown", folder=str(tmp_path)).data["files"] == 1


def test_a_folder_in_the_persons_home_may_begin_with_a_tilde(
    call: Callable[..., Answer], vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(vault.root.parent))
    vault.write("a.md", "")

    answer = call("import.markdown", folder="~/vault")

    assert (answer.data["folder"], answer.data["files"]) == (str(vault.root), 1)


# Words


def test_the_summary_tells_what_came_of_it(vault: Vault, run: Import, call: Callable[..., Answer]):
    empty = call("import.markdown", folder=str(vault.root)).summary
    vault.write("Kitchen/plan.md", PLAN)
    dry = call("import.markdown", folder=str(vault.root), dry_run=True).summary
    first = call("import.markdown", folder=str(vault.root)).summary
    second = call("import.markdown", folder=str(vault.root)).summary

    assert empty == f"There is no Markdown file in {vault.root}"
    assert dry == f"Would import 1 note, 3 tasks, 1 project from {vault.root}"
    assert first == f"Imported 1 note, 3 tasks, 1 project from {vault.root}"
    assert second == f"Imported nothing new from {vault.root}; 1 of 1 file unchanged"


def test_an_import_is_dated_by_the_clock(vault: Vault, run: Import, here: Here, clock: StandingClock):
    clock.moment = datetime(2026, 1, 1, 9, tzinfo=UTC)
    vault.write("a.md", "---\ncreated: 2030-01-01\n---\n- [ ] Pay ➕ 2025-12-24")

    run()

    assert here.notes()["a"]["created_at"] == "2026-01-01T10:00+01:00"
    assert here.tasks()["Pay"]["created_at"] == "2025-12-24T12:00+01:00"


def test_what_is_no_plain_file_is_named_and_nobody_waits_for_it(
    vault: Vault, run: Import, here: Here, monkeypatch: pytest.MonkeyPatch
):
    vault.write("Tea.md", "oolong")
    os.mkfifo(vault.root / "pipe.md")
    os.mkfifo(vault.root / "pipe.txt")
    monkeypatch.chdir(vault.root)  # the path of a socket is short
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind("socket.md")

    report = run()

    assert whys(report) == {"pipe.md": "it is no plain file", "socket.md": "it is no plain file"}
    assert list(here.notes()) == ["Tea"]
