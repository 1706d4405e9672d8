"""Chapter 3: what was read last is what the next question is about, for ten minutes."""

from typing import Any

import pytest

from tests.conftest import Chat, StandingClock

pytestmark = pytest.mark.anyio


@pytest.fixture
async def alpha(chat: Chat) -> str:
    """A project with a task and a note, beside a task and a note without one."""
    made = await chat("create_project", name="Alpha")
    for title, project in (("inside", "Alpha"), ("outside", "")):
        await chat("create_task", title=title, project=project)
        await chat("create_note", title=title, project=project)
    return made.id


@pytest.mark.parametrize("tool", ["list_tasks", "list_notes"])
async def test_a_list_right_after_a_project_is_about_it(chat: Chat, alpha: str, tool: str) -> None:
    await chat("get_project", project="Alpha")

    listed = await chat(tool)

    assert listed.titles == ["inside"]
    assert listed.metadata["bound"] == {"project": alpha}
    assert alpha in listed.text


async def test_a_dashboard_is_about_the_project_that_was_read(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    seen = await chat("project_dashboard")

    assert seen.data["project"]["id"] == alpha
    assert seen.metadata["bound"] == {"project": alpha}


async def test_a_note_that_was_read_is_read_on_without_naming_it(chat: Chat, alpha: str) -> None:
    read = await chat("get_note", note="inside")

    again = await chat("get_note")

    assert again.id == read.id
    assert again.metadata["bound"] == {"note": read.id}


async def test_nothing_is_bound_before_anything_was_read(chat: Chat, alpha: str) -> None:
    listed = await chat("list_tasks")

    assert sorted(listed.titles) == ["inside", "outside"]
    assert "bound" not in listed.metadata


async def test_an_explicit_argument_wins(chat: Chat, alpha: str) -> None:
    await chat("create_project", name="Beta")
    await chat("create_task", title="elsewhere", project="Beta")
    await chat("get_project", project="Alpha")

    listed = await chat("list_tasks", project="Beta")

    assert listed.titles == ["elsewhere"]
    assert "bound" not in listed.metadata


async def test_an_empty_project_means_none(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    listed = await chat("list_tasks", project="")

    assert "outside" in listed.titles
    assert "bound" not in listed.metadata


async def test_a_new_task_is_never_put_into_the_project_that_was_read(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    made = await chat("create_task", title="new")

    assert "project" not in made.data
    assert "bound" not in made.metadata


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("update_project", {"status": "done"}),
        ("update_note", {"content": "gone"}),
        ("append_to_note", {"block": "more"}),
        ("edit_note", {"old_text": "a", "new_text": "b"}),
        ("delete_item", {}),
    ],
)
async def test_a_write_must_name_its_item(chat: Chat, alpha: str, tool: str, arguments: dict[str, Any]) -> None:
    await chat("get_project", project="Alpha")
    await chat("get_note", note="inside")

    refusal = await chat.refused(tool, **arguments)

    assert refusal.code == "invalid_input"
    assert "is missing" in refusal.message


async def test_search_is_never_bound(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    found = await chat("search", query="outside")

    assert {row["title"] for row in found.data} == {"outside"}


async def test_after_ten_minutes_it_is_forgotten(chat: Chat, alpha: str, clock: StandingClock) -> None:
    await chat("get_project", project="Alpha")

    clock.advance(minutes=10, seconds=1)
    listed = await chat("list_tasks")

    assert sorted(listed.titles) == ["inside", "outside"]


async def test_just_before_ten_minutes_it_is_remembered(chat: Chat, alpha: str, clock: StandingClock) -> None:
    await chat("get_project", project="Alpha")

    clock.advance(minutes=9, seconds=59)

    assert (await chat("list_tasks")).titles == ["inside"]


async def test_another_client_remembers_for_itself(chat: Chat, other: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    listed = await other("list_tasks")

    assert sorted(listed.titles) == ["inside", "outside"]


async def test_creating_or_changing_a_project_is_not_reading_it(chat: Chat, alpha: str) -> None:
    await chat("create_project", name="Beta")
    await chat("update_project", project="Alpha", description="x")

    listed = await chat("list_tasks")

    assert "bound" not in listed.metadata


async def test_a_batch_remembers_within_itself(chat: Chat, alpha: str) -> None:
    steps = [{"tool": "get_project", "args": {"project": "Alpha"}}, {"tool": "list_tasks", "args": {}}]

    done = await chat("batch", operations=steps)

    assert [row["title"] for row in done.data["results"][1]["data"]] == ["inside"]


async def test_a_batch_leaves_nothing_behind_in_memory(chat: Chat, alpha: str) -> None:
    await chat("batch", operations=[{"tool": "get_project", "args": {"project": "Alpha"}}])

    listed = await chat("list_tasks")

    assert "bound" not in listed.metadata


async def test_a_batch_knows_nothing_of_what_was_read_outside(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    done = await chat("batch", operations=[{"tool": "list_tasks", "args": {}}])

    assert sorted(row["title"] for row in done.data["results"][0]["data"]) == ["inside", "outside"]


async def test_a_project_in_the_trash_is_not_bound(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")
    await chat("delete_item", item="Alpha", items="keep")

    listed = await chat("list_tasks")

    assert sorted(listed.titles) == ["inside", "outside"]


async def test_a_page_goes_on_in_the_project_it_began_in(chat: Chat, alpha: str, clock: StandingClock) -> None:
    for number in range(5):
        await chat("create_task", title=f"more {number}", project="Alpha")
    await chat("get_project", project="Alpha")
    first = await chat("list_tasks", limit=3)
    second = await chat("list_tasks", limit=3, cursor=first.metadata["next_cursor"])

    assert len({*first.titles, *second.titles}) == 6
    assert "outside" not in second.titles
