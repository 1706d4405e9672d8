"""The names of items in other systems: found again, unique, and undone."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import ConflictError, InvalidInputError

Call = Callable[..., Answer]
REF = "claap:rec_1"
CREATED = [
    ("task", "tasks.create", {"title": "Send the offer"}),
    ("note", "notes.create", {"title": "Demo"}),
    ("session", "sessions.create", {"title": "Demo", "kind": "meeting"}),
]


@pytest.fixture
def note(call: Call) -> str:
    return str(call("notes.create", title="Demo").data["id"])


def _find(call: Call, **arguments: Any) -> Any:
    return call("items.find_source", source_ref=REF, **arguments).data


@pytest.mark.parametrize(("kind", "operation", "fields"), CREATED)
def test_an_item_is_found_by_its_name_in_another_system(
    call: Call, kind: str, operation: str, fields: dict[str, str]
) -> None:
    id_ = call(operation, **fields).data["id"]

    call("items.link_source", item=id_, source_ref=f" {REF}\n")

    found = _find(call)
    assert (found["kind"], found["item"]["id"], found["item"]["source_ref"]) == (kind, id_, REF)
    assert call("query", collection=f"{kind}s", where={"source_ref": REF}, select=["id"]).data == [{"id": id_}]
    assert call("items.get", item=id_).data["item"]["source_ref"] == REF


def test_a_name_that_no_item_has_finds_nothing(call: Call) -> None:
    answer = call("items.find_source", source_ref=REF)

    assert answer.data.get("item") is None
    assert answer.summary == "No item comes from claap:rec_1"


def test_two_items_of_a_kind_never_have_the_same_name(call: Call, note: str) -> None:
    call("items.link_source", item=note, source_ref=REF)
    other = call("notes.create", title="Copy").data["id"]

    with pytest.raises(ConflictError, match=rf"Another note now comes from claap:rec_1: “Demo” \({note}\)"):
        call("items.link_source", item=other, source_ref=REF)

    call("items.link_source", item=note, source_ref=REF)
    assert _find(call)["item"]["id"] == note


def test_items_of_two_kinds_are_told_apart_by_kind(call: Call, note: str) -> None:
    task = call("tasks.create", title="Send the offer").data["id"]
    for item in (note, task):
        call("items.link_source", item=item, source_ref=REF)

    with pytest.raises(ConflictError, match="Several items come from claap:rec_1"):
        _find(call)

    assert _find(call, kind="task")["item"]["id"] == task


@pytest.mark.parametrize("name", ["rec_1", ":rec_1", "claap:", "n_0123456789", "claap:" + "x" * 500])
def test_a_name_without_a_system_or_too_long_is_refused(call: Call, note: str, name: str) -> None:
    with pytest.raises(InvalidInputError, match="source_ref"):
        call("items.link_source", item=note, source_ref=name)


def test_only_tasks_notes_and_sessions_can_be_linked(call: Call) -> None:
    project = call("projects.create", name="House").data["id"]

    with pytest.raises(InvalidInputError, match="Only tasks, notes and sessions"):
        call("items.link_source", item=project, source_ref=REF)


def test_the_task_of_a_checkbox_keeps_its_note(call: Call) -> None:
    note = call("notes.create", title="List", content="- [ ] Buy tea").data["id"]
    task = call("notes.create_tasks", note=note).data["tasks"][0]["id"]

    for name in (REF, ""):
        with pytest.raises(ConflictError, match="is a checkbox of a note"):
            call("items.link_source", item=task, source_ref=name)


def test_an_empty_name_removes_the_link(call: Call, note: str) -> None:
    call("items.link_source", item=note, source_ref=REF)

    call("items.link_source", item=note, source_ref="")

    assert _find(call).get("item") is None


def test_undo_takes_a_link_back_and_redo_sets_it_again(call: Call, note: str) -> None:
    call("items.link_source", item=note, source_ref=REF)

    call("history.undo")
    assert _find(call).get("item") is None

    call("history.undo", redo=True)
    assert _find(call)["item"]["id"] == note


def test_an_undo_that_would_give_two_items_one_name_is_refused(call: Call, note: str) -> None:
    call("items.link_source", item=note, source_ref=REF)
    call("items.link_source", item=note, source_ref="")
    removal = call("history.list", item=note).data[0]["unit"]
    other = call("notes.create", title="Copy").data["id"]
    call("items.link_source", item=other, source_ref=REF)

    with pytest.raises(ConflictError, match="nothing was undone") as refusal:
        call("history.undo", unit=removal)

    assert "Another note now comes from claap:rec_1" in str(refusal.value.candidates)
    assert _find(call)["item"]["id"] == other


def test_a_deleted_item_is_found_only_if_asked_for(call: Call, note: str) -> None:
    call("items.link_source", item=note, source_ref=REF)
    call("items.delete", item=note)

    assert _find(call).get("item") is None
    found = _find(call, trash=True)
    assert (found["item"]["id"], found["in_trash"], bool(found["item"]["deleted_at"])) == (note, True, True)


def test_a_deleted_item_whose_name_is_taken_is_not_restored(call: Call, note: str) -> None:
    call("items.link_source", item=note, source_ref=REF)
    call("items.delete", item=note)
    other = call("notes.create", title="Copy").data["id"]
    call("items.link_source", item=other, source_ref=REF)

    with pytest.raises(ConflictError, match="Another note now comes from claap:rec_1"):
        call("items.restore", item=note)

    assert _find(call, trash=True)["item"]["id"] == other


def test_the_next_task_of_a_linked_recurring_one_is_not_linked(call: Call) -> None:
    task = call("tasks.create", title="Report", deadline="2026-06-01", recurrence="every week").data["id"]
    call("items.link_source", item=task, source_ref=REF)

    call("tasks.update", task=task, status="done")

    assert _find(call)["item"]["id"] == task
