"""Task lines that are saved, undone and completed together."""

import pytest

from panorama.errors import ConflictError
from tests.services.task_boxes import TEXT, Call, get_task, get_text, note

__all__ = ["note"]


def _version(call: Call, note: str) -> int:
    return call("notes.get", note=note).data["version"]


def test_a_save_with_an_old_version_is_refused(call: Call, note: str) -> None:
    version = _version(call, note)
    call("tasks.update", task="Call Anna", status="done")

    with pytest.raises(ConflictError, match="it was changed since you read it"):
        call("notes.update", note=note, content=TEXT + "more", expected_version=version)

    assert "- [x] Call Anna" in get_text(call, note)


def test_a_dry_run_leaves_both(call: Call, note: str) -> None:
    code = f"""
sdk.notes.edit("{note}", "[ ] Call Anna", "[x] Call Anna")
return [task.title for task in sdk.tasks.list(status="done")]
"""

    shown = call("run_code", code=code, dry_run=True)

    assert shown.data["result"] == ["Call Anna"]
    assert get_task(call, "Call Anna")["status"] == "todo"
    assert get_text(call, note) == TEXT


def test_a_batch_completes_several_as_one_unit(call: Call, note: str) -> None:
    steps = [
        {"tool": "update_task", "args": {"task": "Call Anna", "status": "done"}},
        {"tool": "append_to_note", "args": {"note": note, "block": "- [ ] New"}},
        {"tool": "update_task", "args": {"task": "Order the tiles", "status": "done"}},
    ]
    call("batch", operations=steps)

    assert get_text(call, note).count("[x]") == 3
    call("history.undo")
    assert get_text(call, note) == TEXT
    assert get_task(call, "Call Anna")["status"] == "todo"


def test_a_later_edit_of_the_note_does_not_make_line_and_task_differ(call: Call, note: str) -> None:
    unit = call("tasks.update", task="Call Anna", status="done").metadata["undo"]
    call("notes.append", note=note, block="more")
    with pytest.raises(ConflictError):
        call("history.undo", unit=unit)

    call("history.undo", unit=unit, skip_conflicts=True)

    assert get_task(call, "Call Anna")["status"] == "todo"
    assert "- [ ] Call Anna" in get_text(call, note)
    assert get_text(call, note).endswith("more")


def test_undoing_the_edit_that_wrote_a_line_unlinks_its_task(call: Call) -> None:
    note = call("notes.create", title="List", content="words").data["id"]
    unit = call("notes.append", note=note, block="- [ ] Call Anna").metadata["undo"]
    call("notes.create_tasks", note=note)

    call("history.undo", unit=unit)

    assert get_task(call, "Call Anna").get("source_ref") is None


def test_undoing_the_making_of_tasks_frees_their_lines(call: Call, note: str) -> None:
    call("history.undo")
    assert call("query", collection="tasks", count=True).data[0]["count"] == 0

    assert call("notes.create_tasks", note=note).data["count"] == 3


def test_an_undo_that_makes_a_text_too_long_unlinks_its_tasks(call: Call) -> None:
    note = call("notes.create", title="Cut", content="- [ ] a box" + "\n" * 5_000).data["id"]
    cut = call("notes.update", note=note, content="- [ ] a box").metadata["undo"]
    call("notes.create_tasks", note=note)

    call("history.undo", unit=cut)

    assert "source_ref" not in get_task(call, "a box")


@pytest.mark.parametrize("repeat", ["", " 🔁 every week 📅 2026-05-20"])
def test_one_undo_takes_back_an_edit_that_completed_many_boxes(call: Call, repeat: str) -> None:
    content = "".join(f"- [ ] box {number}{repeat}\n" for number in range(200))
    note = call("notes.create", title="Many", content=content).data["id"]
    call("notes.create_tasks", note=note)

    edit = call("notes.update", note=note, content=content.replace("[ ]", "[x]")).metadata["undo"]
    assert len(call("query", collection="tasks", where={"status": "done"}, select=["id"], limit=500).data) == 200
    call("history.undo", unit=edit, confirm=True)

    assert call("notes.get", note=note, chars=20_000).data["content"] == content
    linked = call("query", collection="tasks", where={"status": "todo", "source_ref": note}, select=["id"], limit=500)
    assert len(linked.data) == 200
