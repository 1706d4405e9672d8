"""Importing a folder of Markdown again: what changed in it follows, what changed here stays."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import UnavailableError
from panorama.services.importing import markdown
from panorama.services.jobs.progress import PROGRESS
from tests.services.vaults import PLAN, Import, PanoramaContents, Vault, Zeros, count_imported, here, run, vault, whys

__all__ = ["here", "run", "vault"]


def test_a_second_run_imports_nothing(vault: Vault, run: Import, rows: Callable[[], dict[str, int]]):
    vault.write("Kitchen/plan.md", PLAN)
    run()
    before = rows()

    report = run()

    assert (count_imported(report), report["unchanged"], report["problem_count"]) == ((0, 0, 0), 1, 0)
    assert rows() == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [ ] Call Anna", "- [ ] Call Anna about the tiles"),
        ("- [ ] Call Anna", "- [x] Call Anna at noon ✅ 2026-05-20"),
        ("- [ ] Pay\n- [ ] Call Anna", "- [ ] Call Anna!\n- [ ] Pay"),
        ("- [ ] Pay 🆔 a1\n- [ ] Call Anna 🆔 b2", "- [ ] Write to the whole family 🆔 b2\n- [ ] Pay 🆔 a1"),
        ("- [ ] Pay\n- [ ] Call Anna ^b2", "- [ ] Something else ^b2\n- [ ] Pay"),
    ],
)
def test_a_reworded_checkbox_stays_the_same_task(
    vault: Vault, run: Import, here: PanoramaContents, before: str, after: str
):
    vault.write("a.md", before)
    run()
    known = {task["id"] for task in here.tasks().values()}
    called = here.tasks()["Call Anna"]["id"]

    vault.write("a.md", after)
    report = run()

    assert (report["tasks_created"], report["gone"]) == (0, 0)
    assert {task["id"] for task in here.tasks().values()} == known
    assert here.get(called)["title"] in ("Call Anna about the tiles", "Call Anna at noon", "Call Anna!",
                                         "Write to the whole family", "Something else")  # fmt: skip


def test_of_equal_checkboxes_each_keeps_its_own_task(
    vault: Vault, run: Import, here: PanoramaContents, call: Callable[..., Answer]
):
    vault.write("a.md", "- [ ] Pay ➕ 2026-01-01\n- [ ] Call\n- [ ] Pay ➕ 2026-01-02\n")
    run()
    second = next(task for task in all_tasks(call) if task["provenance"].endswith("#L3"))

    vault.write("a.md", "- [ ] Call\n- [x] Pay ➕ 2026-01-02\n")
    report = run()

    assert here.get(second["id"])["status"] == "done"
    assert (report["gone"], whys(report)) == (
        1,
        {"a.md": "the task “Pay” is no longer in the file; it is kept in Panorama"},
    )


def all_tasks(call: Callable[..., Answer]) -> list[dict[str, Any]]:
    """Return all tasks, whole."""
    ids = [row["id"] for row in call("list_tasks", status="any", limit=500).data]
    return [dict(call("get_item", item=id_).data["item"]) for id_ in ids]


def test_another_checkbox_in_place_of_one_is_another_task(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] Call Anna")
    run()

    vault.write("a.md", "- [ ] Buy twelve bags of soil")
    report = run()

    assert (count_imported(report), report["gone"]) == ((0, 1, 0), 1)
    assert set(here.tasks()) == {"Call Anna", "Buy twelve bags of soil"}


def test_a_file_that_left_the_folder_is_named(vault: Vault, run: Import):
    vault.write("a.md", "- [ ] Pay").parent.joinpath("b.md").write_text("stays")
    run()

    (vault.root / "a.md").unlink()

    assert whys(run()) == {"a.md": "the file is no longer in the folder; its 2 items are kept here"}
    assert whys(run()) == {}


def test_only_what_changed_in_a_file_follows_it(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("Kitchen/plan.md", PLAN)
    vault.write("Kitchen/other.md", "Words")
    run()
    before = here.tasks()

    vault.replace("Kitchen/plan.md", "- [ ] Book the visit", "- [ ] New\n- [x] Book the visit")
    report = run()

    after = here.tasks()
    assert (count_imported(report), report["notes_updated"], report["tasks_updated"], report["unchanged"]) == (
        (0, 1, 0),
        1,
        1,
        1,
    )
    assert (after["Book the visit"]["status"], after["Book the visit"]["version"]) == ("done", 2)
    assert after["Water plants"] == before["Water plants"]
    assert "- [ ] New" in here.notes()["The plan"]["content"]


def test_what_was_changed_only_here_stays(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] Pay\n")
    run()
    here.call("update_task", task="Pay", urgent=True, deadline="2026-07-01")
    here.call("update_note", note="a", title="Bills")

    vault.replace("a.md", "Pay", "Pay 🔁 every week")
    report = run()

    task = here.tasks()["Pay"]
    assert (task["urgent"], task["deadline"], task["recurrence"]) == (True, "2026-07-01", "FREQ=WEEKLY")
    assert ("Bills" in here.notes(), report["problem_count"]) == (True, 0)


def test_imported_tasks_are_linked_to_their_boxes_and_never_doubled(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] Pay\n- [x] Call\n- [ ] Pay")
    run()
    known = {task["id"] for task in here.call("query", collection="tasks").data}

    linked = here.call("create_tasks_from_note", note="a")
    here.call("edit_note", note="a", old_text="- [x] Call\n- [ ] Pay", new_text="- [x] Call\n- [x] Pay")

    assert (linked.data["count"], linked.data["linked"]) == (0, 2)
    assert linked.summary.endswith("2 imported tasks are linked")
    done = here.call("query", collection="tasks", where={"status": "done"}).data
    assert {task["title"] for task in done} == {"Call", "Pay"}
    assert {task["id"] for task in here.call("query", collection="tasks").data} == known


def test_what_was_changed_in_both_places_stays_and_is_told(vault: Vault, run: Import, here: PanoramaContents):
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


def test_the_same_change_in_both_places_is_no_conflict(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] Pay")
    run()
    here.call("update_task", task="Pay", status="done")

    vault.write("a.md", "- [x] Pay")
    report = run()

    assert (report["problem_count"], report["tasks_updated"], here.tasks()["Pay"]["version"]) == (0, 0, 2)


def test_tasks_whose_lines_are_gone_stay_and_are_counted_once(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] Pay\n- [ ] Call")
    run()

    vault.write("a.md", "- [ ] Call")
    first = run()
    vault.write("a.md", "- [ ] Call\n")
    second = run()

    assert (first["gone"], second["gone"], sorted(here.tasks())) == (1, 0, ["Call", "Pay"])


def test_a_line_that_comes_back_is_the_task_it_was(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] Pay")
    run()
    vault.write("a.md", "")
    run()

    vault.write("a.md", "- [x] Pay")
    report = run()

    assert (count_imported(report), here.tasks()["Pay"]["status"]) == ((0, 0, 0), "done")


def test_notes_whose_files_are_gone_stay_and_are_counted_once(vault: Vault, run: Import, here: PanoramaContents):
    file = vault.write("a.md", "- [ ] Pay")
    run()

    file.unlink()
    first, second = run(), run()
    vault.write("a.md", "- [ ] Pay")
    third = run()

    assert (first["gone"], second["gone"], third["gone"]) == (2, 0, 0)
    assert (count_imported(third), third["unchanged"], list(here.notes())) == ((0, 0, 0), 1, ["a"])


def test_a_file_that_was_moved_is_the_note_it_was(vault: Vault, run: Import, here: PanoramaContents):
    file = vault.write("Kitchen/a.md", "- [ ] Pay")
    run()
    before = here.notes()["a"]

    file.rename(vault.write("House/b.md", ""))
    report = run()

    after = here.notes()["b"]
    assert (after["id"], after["project"]) == (before["id"], here.projects()["House"])
    assert (count_imported(report), report["gone"], run()["unchanged"]) == ((0, 0, 1), 0, 1)
    assert here.tasks()["Pay"]["project"] == here.projects()["House"]


def test_what_is_in_the_trash_stays_there(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] Pay\n- [ ] Call")
    vault.write("b.md", "Words")
    run()
    here.call("delete_item", item="Pay")
    here.call("delete_item", item="b")

    vault.write("a.md", "- [x] Pay\n- [x] Call")
    report = run()

    assert (count_imported(report), report["tasks_updated"], report["skipped"]) == ((0, 0, 0), 1, 2)
    assert (list(here.tasks()), list(here.notes())) == (["Call"], ["a"])


def test_a_line_that_comes_back_after_its_task_was_trashed_is_a_new_task(
    vault: Vault, run: Import, here: PanoramaContents
):
    vault.write("a.md", "- [ ] Milk")
    run()
    here.call("delete_item", item="Milk")
    vault.write("a.md", "")
    run()

    vault.write("a.md", "- [ ] Milk")
    report = run()

    assert (count_imported(report), list(here.tasks())) == ((0, 1, 0), ["Milk"])


def test_a_project_that_was_renamed_here_is_still_the_folders(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("Kitchen/a.md", "")
    run()
    here.call("update_project", project="Kitchen", name="Kitchen 2026")

    vault.write("Kitchen/a.md", "# Tea")
    vault.write("Kitchen/b.md", "")
    run()

    assert list(here.projects()) == ["Kitchen 2026"]
    assert {note["project"] for note in here.notes().values()} == {here.projects()["Kitchen 2026"]}


def test_a_task_never_comes_under_itself(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] One\n- [ ] Two")
    run()
    here.call("update_task", task="One", parent="Two")

    vault.write("a.md", "- [ ] One\n  - [ ] Two")
    report = run()

    assert "parent of “Two” was changed in both places" in whys(report)["a.md"]
    assert "parent" not in here.tasks()["Two"]


def test_an_undone_update_is_a_change_of_mine(vault: Vault, run: Import, here: PanoramaContents):
    vault.write("a.md", "- [ ] Pay")
    run()
    vault.write("a.md", "- [x] Pay")
    run()

    here.call("undo")
    report = run()

    assert (report["unchanged"], here.tasks()["Pay"]["status"]) == (1, "todo")


def test_an_import_that_was_stopped_goes_on_where_it_stopped(
    vault: Vault, run: Import, here: PanoramaContents, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(markdown, "CHUNK_FILES", 2)
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
    assert (count_imported(run()), sorted(here.notes())) == ((4, 4, 0), ["0", "1", "2", "3", "4", "5"])


def test_an_error_half_way_tells_what_was_kept(vault: Vault, run: Import, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(markdown, "CHUNK_FILES", 2)
    for number in range(4):
        vault.write(f"{number}.md", "")

    def fill(done: int, total: int, at: str) -> None:
        if done == 3:
            raise UnavailableError("The disk is full; nothing was changed.", hint="Free some space.")

    token = PROGRESS.set(fill)
    with pytest.raises(UnavailableError) as stopped:
        run()
    PROGRESS.reset(token)

    assert stopped.value.message == "The import stopped after 2 of 4 files, which are kept: The disk is full."
    assert stopped.value.hint.endswith("to resume.")


def test_a_file_that_another_import_took_meanwhile_is_not_taken_twice(
    vault: Vault, run: Import, here: PanoramaContents
):
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

    assert (count_imported(inner[0]), count_imported(outer), outer["unchanged"]) == ((2, 1, 0), (0, 0, 0), 2)
    assert len(here.notes()) == 2
