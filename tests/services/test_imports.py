"""Importing a folder of Markdown for the first time, through the calls that every door makes."""

import os
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from panorama.calls import Answer
from panorama.domain.markdown.import_fields import note_fields
from panorama.domain.markdown.parser import parse_markdown
from panorama.sample import write_files
from panorama.services.importing import folder as folders
from panorama.services.importing import markdown
from panorama.services.importing.import_run import NOT_EMBEDDED
from panorama.services.jobs.progress import PROGRESS
from tests.services.vaults import PLAN, Import, PanoramaContents, Vault, count_imported, here, run, vault, whys

from ..conftest import StandingClock

__all__ = ["here", "run", "vault"]


def test_a_file_becomes_a_note_in_the_project_of_its_folder(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("Kitchen/Deep/plan.md", PLAN)

    report = run()

    note = here.notes()["The plan"]
    assert count_imported(report) == (1, 3, 1)
    assert (note["project"], note["tags"], note["pinned"]) == (
        here.projects()["Kitchen"],
        ["home", "planning", "later", "kitchen"],
        True,
    )
    assert note["content"] == PLAN.split("---\n", 2)[2]
    assert note["created_at"] == "2026-01-02T12:00+01:00"


def test_task_lines_become_tasks(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("Kitchen/plan.md", PLAN)

    run()

    tasks = here.tasks()
    book, ask, water = tasks["Book the visit"], tasks["Ask Ortner"], tasks["Water plants"]
    assert (book["deadline"], book["important"], book["tags"]) == ("2026-06-01", True, ["kitchen"])
    assert (ask["status"], ask["completed_at"], ask["parent"]) == ("done", "2026-05-18T12:00+02:00", book["id"])
    assert (water["status"], water["recurrence"]) == ("in_progress", "FREQ=WEEKLY")
    assert ("deadline" in water, water["scheduled_at"]) == (False, "2026-05-22T12:00+02:00")
    assert (book["provenance"], book["project"]) == ("import:Kitchen/plan.md#L10", here.projects()["Kitchen"])


def test_front_matter_names_the_project_before_the_folder_does(vault: Vault, run: Import, here: PanoramaContents):
    here.call("create_project", name="House")
    vault.write("Kitchen/a.md", "---\nproject: house\n---\n")
    vault.write("b.md", "- [ ] Pay")

    report = run()

    assert (count_imported(report), list(here.projects())) == ((2, 1, 0), ["House"])
    assert here.notes()["a"]["project"] == here.projects()["House"]
    assert "project" not in here.notes()["b"]


def test_a_done_task_without_a_date_was_done_now(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [x] Pay\n- [x] Call ✅ 2026-05-21")

    run()

    assert {task["completed_at"] for task in here.tasks().values()} == {"2026-05-20T10:00+02:00"}


def test_the_sample_workspace_is_imported_without_a_problem(vault: Vault, run: Import, here: PanoramaContents):
    files = write_files(vault.root, date(2026, 5, 20))

    report = run()

    assert (report["notes_created"], whys(report), report["skipped"]) == (len(files), {}, 0)
    assert (len(here.tasks()) > 50, "Kitchen renovation" in here.projects()) == (True, True)


def test_what_lies_hidden_or_is_no_markdown_is_left_out(vault: Vault, run: Import):
    for path in (".obsidian/a.md", "x/.trash/a.md", "node_modules/a.md", ".a.md", "a.txt", "md"):
        vault.write(path, "no")
    vault.write("b.MD", "yes")
    vault.write("c.markdown", "yes")

    report = run()

    assert (report["files"], report["notes_created"], report["skipped"], report["unread"]) == (2, 2, 6, 0)
    assert whys(report) == {
        **dict.fromkeys([".a.md", ".obsidian", "node_modules", "x/.trash"], folders.HIDDEN),
        **dict.fromkeys(["a.txt", "md"], NOT_EMBEDDED),
    }


def test_files_that_a_note_embeds_become_files_linked_from_it(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("img/Pläne 1.png", "png")
    vault.write("Kitchen/plan.pdf", "pdf")
    vault.write("Kitchen/old.zip", "zip")
    vault.write("Kitchen/a.md", "![[Pläne 1.png|200]] [plan](./plan.pdf#page=2) ![x](../img/Pl%C3%A4ne%201.png)")

    report = run()

    files = {row["name"]: row for row in here.call("list_files", project="Kitchen").data}
    assert (set(files), report["files_created"]) == ({"Pläne 1.png", "plan.pdf"}, 2)
    assert here.notes()["a"]["properties"]["panorama_files"] == {name: row["id"] for name, row in files.items()}
    assert whys(report) == {"Kitchen/old.zip": NOT_EMBEDDED}
    assert whys(again := run()) == {"Kitchen/old.zip": NOT_EMBEDDED}
    assert (again["files_created"], again["notes_updated"]) == (0, 0)


def test_an_attachment_follows_its_note_and_an_undo_takes_it_back(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.png", "one")
    vault.write("a.md", "![[a.png]]")
    run()
    before = here.call("list_files", project="").data

    vault.write("a.png", "two two")
    vault.write("a.md", "![[a.png]] more")
    run()

    after = here.call("list_files", project="").data
    assert [(row["id"], row["size"]) for row in (*before, *after)] == [(before[0]["id"], 3), (before[0]["id"], 7)]
    here.call("undo")
    assert here.call("list_files", project="").data[0]["size"] == 3


def test_more_than_fifty_names_stand_in_a_file(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "words")
    for number in range(60):
        vault.write(f"{number:02}.bin", "x")

    report = run()
    run()

    (file,) = here.call("list_files", project="").data
    assert (len(report["problems"]), report["problem_count"]) == (50, 60)
    assert report["problems"][0]["why"] == f"all 60 lines are in the file “Import of vault.csv” ({file['id']})"
    assert here.call("get_file", file=file["id"]).data["text"].count("\n") == 61


def test_links_are_not_followed_out_of_the_folder(vault: Vault, run: Import, tmp_path: Path):
    (tmp_path / "secret.md").write_text("no")
    (vault.root / "a.md").symlink_to(tmp_path / "secret.md")
    (vault.root / "up").symlink_to(tmp_path)
    vault.write("b.md", "yes")
    (vault.root / "c.md").symlink_to(vault.root / "b.md")

    report = run()

    assert (report["files"], report["notes_created"], sorted(whys(report))) == (1, 1, ["a.md", "up"])


def test_a_link_to_a_folder_within_the_folder_is_named_and_its_files_are_read_once(vault: Vault, run: Import):
    vault.write("House/b.md", "yes")
    (vault.root / "Current").symlink_to(vault.root / "House")
    (vault.root / "House" / "self").symlink_to(vault.root)

    report = run()

    assert (report["notes_created"], report["unread"], sorted(whys(report))) == (1, 0, ["Current", "House/self"])
    assert "is not followed" in whys(report)["Current"]


def test_a_link_whose_target_cannot_be_read_is_named(vault: Vault, run: Import):
    vault.write("b.md", "yes")
    (vault.root / "Archive").symlink_to("x" * 300)
    report = run()
    assert (report["notes_created"], whys(report)) == (1, {"Archive": "the target of this link cannot be read"})


PERSON = """---
title: Anna
email: anna@example.org   # private
birthday: 1980-02-30
aliases:
  - Annie
  - "A: B"
due: 2026-06-01
tags: [friend]
---
# Anna

Met in Graz."""


def test_front_matter_that_has_no_field_is_kept_as_properties_and_exported_as_front_matter(
    vault: Vault, run: Import, here: PanoramaContents, tmp_path: Path
):
    vault.write("anna.md", PERSON)

    run()
    note = here.notes()["Anna"]
    exported = Path(here.call("export", folder=str(tmp_path / "out"), confirm=True).data["path"])

    properties = {"email": "anna@example.org", "birthday": "1980-02-30", "due": "2026-06-01"}
    assert (note["content"], note["properties"], note["aliases"]) == (
        "# Anna\n\nMet in Graz.", properties, ["Annie", "A: B"],
    )  # fmt: skip
    assert here.call("search", query="anna@example.org").data[0]["title"] == "Anna"
    page = next(exported.rglob("Anna.md")).read_text()
    assert "email: anna@example.org\nbirthday: 1980-02-30\ndue: 2026-06-01\n---\n# Anna\n\nMet in Graz." in page
    again = note_fields(parse_markdown(page, name="x"), "Anna")
    assert (again["properties"], again["aliases"], again["tags"]) == (properties, ("Annie", "A: B"), ("friend",))


ODD_VALUES = {
    "list": ('names: [A, "B: c", 3]\n', {"names": ["A", "B: c", 3]}),
    "lines": ("names:\n- A\n-   B # comment\n", {"names": ["A", "B"]}),
    "date": (
        "due: 2026-02-30\nat: 2026-01-02T03:04:05Z\n", {"due": "2026-02-30", "at": "2026-01-02T03:04:05Z"},
    ),
    "nested": ("a:\n  b:\n    - c: 1\n      d: {e: f}\n", {"a": {"b": [{"c": 1, "d": {"e": "f"}}]}}),
    "colon": (
        'quote: "a: b # c"\nurl: http://example.org:80/y\n', {"quote": "a: b # c", "url": "http://example.org:80/y"},
    ),
    "unicode": ('имя: Ünï 🌱\n"k e y": ß\n', {"имя": "Ünï 🌱", "k e y": "ß"}),
    "rule": ("text: |\n  one\n\n  ---\n  two\n", {"text": "one\n\n---\ntwo\n"}),
    "kept": ("text: |+\n  one\n\n\n", {"text": "one\n\n\n"}),
    "empty": ('a:\nb: ~\nc: ""\nyes: no\n', {"a": None, "b": None, "c": "", "yes": "no"}),
    "number": ("a: 1.10\nb: 1.5\nc: 007\nd: 0x10\ne: -3\n", {"a": "1.10", "b": 1.5, "c": "007", "d": "0x10", "e": -3}),
    "flag": ("a: true\nb: yes\n", {"a": True, "b": "yes"}),
    "anchor": ("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
    "heading": ('a: "## Properties"\n', {"a": "## Properties"}),
    "tag": ("a: !!str 5\n", {"a": "5"}),
}  # fmt: skip
"""Front matter that has no field here and what it becomes, by the name of its file."""


def test_odd_front_matter_goes_through_import_export_and_import_and_is_never_doubled(
    vault: Vault, run: Import, here: PanoramaContents, tmp_path: Path
):
    for name, (source, _) in ODD_VALUES.items():
        vault.write(f"{name}.md", f"---\ntitle: {name}\n{source}---\nBody.\n")
    run()

    exported = Path(here.call("export", folder=str(tmp_path / "out"), confirm=True).data["path"])
    pages = {path.stem: path.read_text() for path in exported.rglob("*.md")}
    for name in ODD_VALUES:
        vault.replace(f"{name}.md", "Body.", "Body and more.")
    run()

    changed = here.notes()
    for name, (_, properties) in ODD_VALUES.items():
        assert note_fields(parse_markdown(pages[name], name="x"), name)["properties"] == properties
        assert (changed[name]["content"], changed[name]["properties"]) == (
            "Body and more.\n", {name: value for name, value in properties.items() if value is not None},
        )  # fmt: skip


def test_dates_come_from_the_front_matter_or_the_file(vault: Vault, run: Import, here: PanoramaContents):
    old = datetime(2024, 3, 1, 12, tzinfo=UTC).timestamp()
    os.utime(vault.write("file.md", "- [ ] Pay"), (old, old))
    os.utime(vault.write("said.md", "---\ncreated: 2020-01-02\nmodified: 2021-02-03T10:00:00Z\n---\n"), (old, old))

    run()

    notes = here.notes()
    assert (notes["file"]["created_at"], notes["file"]["updated_at"]) == ("2024-03-01T13:00+01:00",) * 2
    assert here.tasks()["Pay"]["created_at"] == "2024-03-01T13:00+01:00"
    assert (notes["said"]["created_at"], notes["said"]["updated_at"]) == (
        "2020-01-02T12:00+01:00",
        "2021-02-03T11:00+01:00",
    )


def test_an_import_is_no_writing_of_this_week(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "words\n\n- [ ] Theirs\n")
    here.call("create_note", title="Mine")
    here.call("create_task", title="My task")

    run()

    review = here.call("weekly_review").data
    written, created = review["notes_written"], review["created"]
    assert (written["count"], [row["title"] for row in written["items"]]) == (1, ["Mine"])
    assert (created["count"], [row["title"] for row in created["items"]]) == (1, ["My task"])
    assert here.call("history", item=here.notes()["a"]["id"]).data[0]["at"] == "2026-05-20T10:00+02:00"


def test_fields_that_a_task_does_not_have_are_kept_and_named(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] Pay 🏁 delete ⏬ 🆔 a1\n    why\n- [ ] Call 🏁 keep\n")

    report = run()

    assert here.tasks()["Pay"]["notes"] == "why\n\nPriority: lowest\nId: a1\nOn completion: delete"
    assert whys(report) == {
        "": "tasks have no field for these values; they were added to the tasks' notes: Id (1), On completion (2), "
        "Priority (1)"
    }


def test_start_priority_and_repetition_from_completion_are_fields(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] Pay 🛫 2026-06-01 🔼 🔁 every 3 days when done\n")

    report = run()

    paid = here.tasks()["Pay"]
    assert (paid["start_at"], paid["priority"], paid["repeat_from"]) == ("2026-06-01", 2, "done")
    assert (paid.get("notes", ""), whys(report)) == ("", {})


def test_the_global_filter_of_the_tasks_plug_in_says_which_boxes_are_tasks(
    vault: Vault, run: Import, here: PanoramaContents
):
    vault.write(".obsidian/plugins/obsidian-tasks-plugin/data.json", '{"globalFilter": "#todo"}')
    vault.write("a.md", "- [ ] #todo Pay\n- [ ] milk\n")

    report = run()

    assert (list(here.tasks()), here.tasks()["Pay"]["tags"]) == (["Pay"], [])
    assert whys(report)[""] == "checkboxes without #todo are not tasks in this folder: 1"


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


def test_one_undo_takes_an_import_back(
    vault: Vault, run: Import, here: PanoramaContents, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(markdown, "CHUNK_FILES", 2)
    for number in range(5):
        vault.write(f"Kitchen/{number}.md", PLAN)

    run()
    undone = here.call("undo", confirm=True)

    assert undone.data["count"] == 5 + 15 + 1
    assert (here.notes(), here.tasks(), here.projects()) == ({}, {}, {})


def test_after_its_undo_an_import_begins_anew(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("Kitchen/plan.md", PLAN)
    first = count_imported(run())
    here.call("undo")

    again, third = run(), run()

    assert (count_imported(again), count_imported(third), third["unchanged"]) == (first, (0, 0, 0), 1)
    assert here.notes()["The plan"]["project"] == here.projects()["Kitchen"]


def test_progress_is_told_a_few_hundred_times_at_most(vault: Vault, run: Import):
    received: list[tuple[int, int, str]] = []
    for number in range(450):
        vault.write(f"{number}.md", "")

    token = PROGRESS.set(lambda *text: received.append(text))
    run()
    PROGRESS.reset(token)

    assert (len(received), received[-1][:2]) == (225, (450, 450))


# Words


def test_the_summary_tells_what_came_of_it(vault: Vault, run: Import, call: Callable[..., Answer]):
    empty = call("import.markdown", folder=str(vault.root)).summary
    vault.write("Kitchen/plan.md", PLAN)
    dry = call("import.markdown", folder=str(vault.root), dry_run=True).summary
    first = call("import.markdown", folder=str(vault.root)).summary
    second = call("import.markdown", folder=str(vault.root)).summary

    assert empty == f"No Markdown file in {vault.root}"
    assert dry == f"Would import 1 note, 3 tasks, 1 project from {vault.root}"
    assert first == f"Imported 1 note, 3 tasks, 1 project from {vault.root}"
    assert second == f"Imported nothing new from {vault.root}; 1 of 1 file unchanged"


def test_an_import_is_dated_by_the_clock(vault: Vault, run: Import, here: PanoramaContents, clock: StandingClock):
    clock.moment = datetime(2026, 1, 1, 9, tzinfo=UTC)
    vault.write("a.md", "---\ncreated: 2030-01-01\n---\n- [ ] Pay ➕ 2025-12-24")

    run()

    assert here.notes()["a"]["created_at"] == "2026-01-01T10:00+01:00"
    assert here.tasks()["Pay"]["created_at"] == "2025-12-24T12:00+01:00"
