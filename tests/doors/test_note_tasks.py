"""One box is one task, through the real door: two clients of one daemon, one works on the note, one on its tasks."""

from typing import Any

import pytest

from panorama.transport.address import Address

from .peer import Peer

pytestmark = pytest.mark.slow


def _row(answer: dict[str, Any]) -> dict[str, Any]:
    assert "data" in answer, answer
    return dict(answer["data"])


def test_a_box_and_its_task_are_done_together_by_different_clients(address: Address, era: str) -> None:
    with Peer(era, toolsets="more") as writer, Peer(toolsets="more") as doer:
        note = _row(writer.call("create_note", title="Meeting", content="- [ ] Call Anna\n- [ ] Order tiles"))["id"]
        made = _row(writer.call("create_tasks_from_note", note=note))

        doer.call("update_task", task="Call Anna", status="done")
        read = _row(writer.call("get_note", note=note))["content"]
        ticked = writer.call("edit_note", note=note, old_text="[ ] Order tiles", new_text="[x] Order tiles")
        left = doer.call("list_tasks")["data"]
        writer.call("undo")

        assert made["count"] == 2
        assert read == "- [x] Call Anna\n- [ ] Order tiles"
        assert "Tasks of its lines: 1 completed." in ticked["metadata"]["hint"]
        assert left == []
        assert [task["title"] for task in doer.call("list_tasks")["data"]] == ["Order tiles"]
        assert _row(doer.call("get_note", note=note))["content"] == "- [x] Call Anna\n- [ ] Order tiles"
