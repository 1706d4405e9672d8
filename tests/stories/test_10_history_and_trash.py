"""Chapter 10: what became of an item is told, and what was thrown away is found again."""

from typing import Any

import pytest

from tests.conftest import Chat, StandingClock

pytestmark = pytest.mark.anyio


async def restored(chat: Chat, id_: str) -> dict[str, Any]:
    """Restore an item through a batch, where every operation is at hand."""
    done = await chat("batch", operations=[{"tool": "restore_item", "args": {"item": id_}}])
    return dict(done.data["results"][0])


async def test_a_history_tells_every_write_the_newest_first(chat: Chat, clock: StandingClock) -> None:
    made = await chat("create_task", title="Tea")
    clock.advance(hours=1)
    await chat("update_task", task=made.id, title="Coffee")

    lines = (await chat("history", item=made.id)).data

    assert [(line["action"], line["version"], line["at"][11:16]) for line in lines] == [
        ("update", 2, "11:00"),
        ("create", 1, "10:00"),
    ]


async def test_a_history_tells_before_and_after(chat: Chat) -> None:
    made = await chat("create_task", title="Tea", urgent=True)
    await chat("update_task", task=made.id, title="Coffee")

    line = (await chat("history", item=made.id)).data[0]

    assert line["fields"] == {"title": ["Tea", "Coffee"]}


async def test_a_history_names_the_client(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")

    line = (await chat("history", item=made.id)).data[0]

    assert line["client"] not in ("", "unknown")


async def test_a_history_names_the_unit_of_each_write(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")

    line = (await chat("history", item=made.id)).data[0]

    assert line["unit"] == made.metadata["undo"]


async def test_an_undo_stands_in_the_history(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")
    changed = await chat("update_task", task=made.id, title="Coffee")
    await chat("undo")

    lines = (await chat("history", item=made.id)).data

    assert lines[0]["fields"] == {"title": ["Coffee", "Tea"]}
    assert lines[0]["undoes"] == lines[1]["change"]
    assert lines[1]["unit"] == changed.metadata["undo"]


async def test_a_history_without_an_item_lists_the_last_writes_of_all_clients(chat: Chat, other: Chat) -> None:
    made = await chat("create_task", title="Tea")
    await other("update_task", task=made.id, title="Coffee")
    steps = [{"tool": "create_note", "args": {"title": title}} for title in ("one", "two", "three")]
    batch = await chat("batch", operations=steps)

    listed = await chat("history")

    assert [(row["title"], row["action"], row["kind"]) for row in listed.data] == [
        ("one and 2 more", "create", "note"),
        ("Coffee", "update", "task"),
        ("Coffee", "create", "task"),
    ]
    assert [row["unit"] for row in listed.data][::2] == [batch.metadata["undo"], made.metadata["undo"]]
    assert all(row["client"] and row["at"] for row in listed.data)
    assert listed.summary == "3 writes, the newest first"


async def test_the_last_writes_say_what_was_taken_back(chat: Chat) -> None:
    await chat("create_task", title="Tea")
    await chat("undo")

    listed = await chat("history")

    assert [(row["operation"], row.get("undone", False)) for row in listed.data] == [
        ("history.undo", False),
        ("tasks.create", True),
    ]


async def test_the_last_writes_come_in_pages(chat: Chat) -> None:
    for title in ("one", "two", "three"):
        await chat("create_task", title=title)

    first = await chat("history", limit=2)
    rest = await chat("history", limit=2, cursor=first.metadata["next_cursor"])

    assert [row["title"] for row in (*first.data, *rest.data)] == ["three", "two", "one"]


async def test_the_history_of_what_is_in_the_trash_is_told(chat: Chat) -> None:
    made = await chat("create_task", title="Tea")
    await chat("delete_item", item=made.id)

    lines = (await chat("history", item=made.id)).data

    assert [line["action"] for line in lines] == ["delete", "create"]


async def test_a_long_text_is_cut_in_a_history(chat: Chat) -> None:
    made = await chat("create_note", title="Plan", content="word " * 50_000)

    answer = await chat("history", item=made.id)

    assert len(answer.text) < 8 * 1024


async def test_what_is_deleted_is_nowhere_to_be_read(chat: Chat) -> None:
    made = await chat("create_note", title="Secret plan", content="zebra")

    await chat("delete_item", item=made.id)

    assert (await chat("list_notes")).data == []
    assert (await chat("search", query="zebra")).data == []
    assert (await chat("query", collection="notes")).data == []


@pytest.mark.parametrize("tool", ["get_note", "update_note", "append_to_note", "delete_item", "get_item"])
async def test_what_is_in_the_trash_is_refused_with_the_way_back(chat: Chat, tool: str) -> None:
    made = await chat("create_note", title="Plan", content="zebra")
    await chat("delete_item", item=made.id)
    name = "item" if tool in ("delete_item", "get_item") else "note"

    refusal = await chat.refused(tool, **{name: made.id}, **({"block": "x"} if tool == "append_to_note" else {}))

    assert "trash" in refusal.text
    assert "undo" in refusal.hint or "restore" in refusal.hint


async def test_the_trash_is_listed(chat: Chat) -> None:
    made = await chat("create_note", title="Plan")
    await chat("delete_item", item=made.id)

    done = await chat("batch", operations=[{"tool": "list_trash", "args": {}}])

    assert made.id in str(done.data["results"][0]["data"])
    assert (await chat("status")).data["counts"]["trash"] == 1


async def test_what_is_restored_is_as_it_was(chat: Chat) -> None:
    made = await chat("create_note", title="Plan", content="zebra", tags=["a"])
    await chat("delete_item", item=made.id)

    await restored(chat, made.id)

    read = await chat("get_note", note=made.id)
    assert (read.data["content"], read.data["tags"]) == ("zebra", ["a"])
    assert [row["id"] for row in (await chat("search", query="zebra")).data] == [made.id]


async def test_a_history_names_the_projects_an_item_was_moved_between(chat: Chat) -> None:
    await chat("create_project", name="House")
    await chat("create_project", name="Garden")
    await chat("create_task", title="Paint", project="House")
    await chat("update_task", task="Paint", project="Garden")

    changes = (await chat("history", item="Paint")).data

    assert [change["fields"]["project"] for change in changes] == [["House", "Garden"], [None, "House"]]


async def test_a_restored_project_whose_name_is_taken_is_a_conflict(chat: Chat) -> None:
    made = await chat("create_project", name="House")
    await chat("delete_item", item=made.id)
    await chat("create_project", name="house")

    refusal = await chat.refused("batch", operations=[{"tool": "restore_item", "args": {"item": made.id}}])

    assert refusal.code == "conflict"


async def test_what_is_restored_into_a_project_that_is_gone_comes_back_readable(chat: Chat) -> None:
    await chat("create_project", name="House")
    task = await chat("create_task", title="Paint", project="House")
    await chat("delete_item", item=task.id)
    await chat("delete_item", item="House", items="trash")

    await chat("batch", operations=[{"tool": "restore_item", "args": {"item": task.id}}], atomic=False)

    assert all("project" not in row for row in (await chat("list_tasks")).data)


async def test_a_restored_project_offers_what_was_deleted_with_it_and_one_call_restores_all(chat: Chat) -> None:
    project = await chat("create_project", name="House")
    parent = await chat("create_task", title="Paint", project="House")
    await chat("create_task", title="Buy paint", project="House", parent=parent.id)
    await chat("create_note", title="Colours", project="House")
    await chat("delete_item", item="House", items="trash", confirm=True)

    offered = await restored(chat, project.id)
    rest = await chat("batch", operations=[{"tool": "restore_item", "args": {"item": project.id, "items": True}}])

    assert offered["hint"] == ("3 items deleted with it are in the trash; call again with items=true to restore them.")
    assert rest.data["results"][0]["hint"] == "3 items deleted with it were restored, too."
    assert [row["title"] for row in (await chat("list_tasks", project="House")).data] == ["Paint", "Buy paint"]
    assert (await chat("status")).data["counts"].get("trash") is None


async def test_a_project_restored_with_its_items_goes_back_to_the_trash_as_one(chat: Chat) -> None:
    project = await chat("create_project", name="House")
    await chat("create_task", title="Paint", project="House")
    await chat("delete_item", item="House", items="trash", confirm=True)

    await chat("batch", operations=[{"tool": "restore_item", "args": {"item": project.id, "items": True}}])
    taken = await chat("undo")

    assert taken.data["count"] == 2
    assert (await chat("status")).data["counts"]["trash"] == 2


async def test_a_task_deleted_before_its_project_is_not_restored_with_it(chat: Chat) -> None:
    project = await chat("create_project", name="House")
    await chat("delete_item", item=(await chat("create_task", title="Old", project="House")).id)
    await chat("create_task", title="Paint", project="House")
    await chat("delete_item", item="House", items="trash", confirm=True)

    await chat("batch", operations=[{"tool": "restore_item", "args": {"item": project.id, "items": True}}])

    assert (await chat("list_tasks", project="House")).titles == ["Paint"]


async def test_a_restoring_is_undone(chat: Chat) -> None:
    made = await chat("create_note", title="Plan")
    await chat("delete_item", item=made.id)
    await restored(chat, made.id)

    await chat("undo")

    assert (await chat("list_notes")).data == []


async def test_a_parent_with_subtasks_is_not_deleted_without_a_question(chat: Chat) -> None:
    parent = await chat("create_task", title="Move")
    await chat("create_task", title="Pack", parent=parent.id)

    refusal = await chat.refused("delete_item", item=parent.id)

    assert "keep" in refusal.hint
    assert (await chat("list_tasks")).metadata["total"] == 2
