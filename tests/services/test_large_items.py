"""Writes whose work grows with the texts or the number of other items: short transactions that are one unit."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.errors import InvalidInputError
from panorama.services.history import undo_portions
from panorama.services.jobs import portions
from panorama.services.jobs.portions import LARGE_UNIT

Call = Callable[..., Answer]
NOTES = 3
LONG = "word " * 2_000


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short texts be long, and each batch be a transaction."""
    monkeypatch.setattr(portions, "LARGE_CHARS", (NOTES - 1) * len(LONG))
    monkeypatch.setattr(portions, "MAX_BATCH_CHARS", len(LONG))
    for module in (portions, undo_portions):
        monkeypatch.setattr(module, "PORTION_SECONDS", 0.0)


@pytest.fixture
def sizes(app: App) -> Iterator[list[int]]:
    """How many changes each transaction wrote."""
    found: list[int] = []
    stop = app.context.database.subscribe(lambda touched: found.append(len(touched)))
    yield found
    stop()


@pytest.fixture
def unit(call: Call) -> str:
    """The unit of a call that created a project with a few long notes, which link to another note."""
    call("notes.create", title="Hub", content="x")
    steps = [{"tool": "create_project", "args": {"name": "Garden"}}]
    content = f"[[Hub]] {LONG}"
    steps += [
        {
            "tool": "create_note",
            "args": {"title": f"Long {n}", "content": content, "project": "Garden", "tags": ["home"]},
        }
        for n in range(NOTES)
    ]
    return str(call("batch", operations=steps).metadata["undo"])


@pytest.mark.usefixtures("unit")
def test_a_few_long_notes_are_changed_one_at_a_time(call: Call, sizes: list[int]) -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("notes.update", {"note": "Hub", "title": "Centre"}), ("tags.rename", {"tag": "home", "name": "house"}),
        ("items.delete", {"item": "Garden", "items": "trash", "confirm": True}),
    ]  # fmt: skip
    for operation, arguments in calls:
        sizes.clear()
        write = call(operation, **arguments)
        assert (set(sizes), sum(sizes) >= NOTES) == ({1}, True), operation

        sizes.clear()
        call("history.undo", unit=write.metadata["undo"], confirm=True)
        assert (set(sizes), sum(sizes) >= NOTES) == ({1}, True), f"undo of {operation}"

    assert call("notes.get", note="Long 1", chars=20).data["content"] == "[[Hub]] word word wor"[:20]
    call("items.delete", item="Garden", items="trash", confirm=True)
    sizes.clear()
    call("items.restore", item="Garden", items=True)
    assert set(sizes) == {1}


def test_long_notes_do_not_share_a_transaction_with_other_steps(call: Call, unit: str) -> None:
    rename = {"tool": "update_note", "args": {"note": "Hub", "title": "Centre"}}
    for step in (rename, {"tool": "undo", "args": {"unit": unit, "confirm": True}}):
        with pytest.raises(InvalidInputError, match="too large for a transaction with other steps"):
            call("batch", operations=[step, {"tool": "create_task", "args": {"title": "Tea"}}])


def test_a_merge_with_many_references_is_several_transactions_and_one_unit(call: Call, sizes: list[int]) -> None:
    call("people.create", name="Ana")
    twin = call("people.create", name="Anka").data["id"]
    code = f"for n in range({LARGE_UNIT + 1}): sdk.tasks.create(f'Task {{n}}', assignee=who)"
    call("run_code", code=code, inputs={"who": twin})
    sizes.clear()

    merge = call("people.merge", person="Anka", into="Ana")

    assert len(sizes) > 2
    assert f"{LARGE_UNIT + 1} items refer to “Ana” now." in merge.text
    assert not _count_assigned(call, twin)
    call("history.undo", unit=merge.metadata["undo"], confirm=True)
    assert _count_assigned(call, twin) == LARGE_UNIT + 1


def test_a_merge_with_many_references_is_refused_before_any_is_moved(call: Call) -> None:
    ana = call("people.create", name="Ana").data["id"]
    between = call("people.create", name="Between", manager=ana).data["id"]
    twin = call("people.create", name="Anka", manager=between).data["id"]
    code = f"for n in range({LARGE_UNIT + 1}): sdk.tasks.create(f'Task {{n}}', assignee=who)"
    call("run_code", code=code, inputs={"who": twin})

    with pytest.raises(InvalidInputError, match="reports to this person"):
        call("people.merge", person="Anka", into="Ana")

    assert _count_assigned(call, twin) == LARGE_UNIT + 1


def test_a_task_under_dozens_of_others_is_above_none_of_them(call: Call) -> None:
    code = """
task = None
for n in range(60):
    task = sdk.tasks.create(f'Task {n}', parent=task)
return task.id
"""
    deepest = call("run_code", code=code).data["result"]

    with pytest.raises(InvalidInputError, match="under itself or its own subtask"):
        call("tasks.update", task="Task 0", parent=deepest)


def _count_assigned(call: Call, person: str) -> int:
    where = {"assignee": person}
    return int(call("query", collection="tasks", where=where, count=True).data[0]["count"])


def test_an_import_of_a_graph_is_several_transactions_and_one_unit(
    call: Call, sizes: list[int], tmp_path: Path
) -> None:
    entities = [
        {"type": "entity", "name": f"Part {n}", "entityType": "part", "observations": ["x"]} for n in range(100)
    ]
    (tmp_path / "memory.jsonl").write_text("\n".join(map(json.dumps, entities)), "utf-8")

    answer = call("import.memory", file=str(tmp_path / "memory.jsonl"))

    assert max(sizes) <= portions.MAX_BATCH
    assert answer.data["notes_created"] == 100
    call("history.undo", confirm=True)
    assert call("notes.list").data == []
