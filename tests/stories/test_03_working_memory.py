"""Chapter 3: a question that needs an item and names none is about the one that was read last, for ten minutes."""

from typing import Any

import pytest

from tests.conftest import Chat, StandingClock

pytestmark = pytest.mark.anyio

LAST = {"project": "@last"}


@pytest.fixture
async def alpha(chat: Chat) -> str:
    """A project with a task and a note, beside a task and a note without one."""
    made = await chat("create_project", name="Alpha")
    for title, project in (("inside", "Alpha"), ("outside", "")):
        await chat("create_task", title=title, project=project)
        await chat("create_note", title=title, project=project)
    return made.id


@pytest.mark.parametrize("tool", ["list_tasks", "list_notes"])
async def test_a_list_is_never_narrowed_by_what_was_read(chat: Chat, alpha: str, tool: str) -> None:
    await chat("get_project", project="Alpha")

    listed = await chat(tool)

    assert sorted(listed.titles) == ["inside", "outside"]
    assert "bound" not in listed.metadata


async def test_an_overdue_task_elsewhere_is_listed_after_a_project_was_read(chat: Chat, alpha: str) -> None:
    await chat("create_task", title="Pay the rent", deadline="2026-05-01")
    await chat("get_project", project="Alpha")

    assert (await chat("list_tasks", view="overdue")).titles == ["Pay the rent"]


@pytest.mark.parametrize("tool", ["list_links", "list_files"])
async def test_lists_out_of_the_default_tools_are_not_narrowed_either(chat: Chat, alpha: str, tool: str) -> None:
    steps = [
        {"tool": "create_link", "args": {"url": "https://example.org", "title": "x"}},
        {"tool": "write_file", "args": {"name": "x.txt", "text": "x"}},
        {"tool": "get_project", "args": {"project": "Alpha"}},
        {"tool": tool, "args": {}},
    ]

    done = await chat("batch", operations=steps)

    assert len(done.data["results"][-1]["data"]) == 1


@pytest.mark.parametrize("tool", ["list_tasks", "list_notes"])
async def test_at_last_asks_for_the_project_that_was_read_and_the_summary_names_it(
    chat: Chat, alpha: str, tool: str
) -> None:
    await chat("get_project", project="Alpha")

    listed = await chat(tool, **LAST)

    assert listed.titles == ["inside"]
    assert "bound" not in listed.metadata
    assert listed.summary.endswith(f"· the project read last: “Alpha” ({alpha})")


async def test_a_search_is_narrowed_only_when_asked(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    everywhere, inside = await chat("search", query="inside outside"), await chat("search", query="outside", **LAST)

    assert {row["title"] for row in everywhere.data} >= {"outside", "inside"}
    assert "outside" not in {row["title"] for row in inside.data}
    assert "“Alpha”" in inside.summary


async def test_a_dashboard_is_about_the_project_that_was_read(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    seen = await chat("project_dashboard")

    assert seen.data["project"]["id"] == alpha
    assert "the project read last" in seen.summary


async def test_a_note_that_was_read_is_read_on_without_naming_it_and_is_named(chat: Chat, alpha: str) -> None:
    read = await chat("get_note", note="inside")

    again = await chat("get_note")

    assert again.id == read.id
    assert "“inside”" in again.summary
    assert again.summary.endswith("· the note read last")


async def test_an_item_is_the_one_of_any_kind_that_was_read_last(chat: Chat, alpha: str) -> None:
    await chat("get_note", note="inside")
    await chat("get_project", project="Alpha")

    assert (await chat("get_item")).data["item"]["id"] == alpha


async def test_what_get_item_showed_is_what_was_read_last_of_its_kind(chat: Chat, alpha: str) -> None:
    await chat("get_item", item=alpha)

    assert (await chat("list_tasks", **LAST)).titles == ["inside"]


@pytest.mark.parametrize(("tool", "name"), [("get_note", "note"), ("get_project", "project"), ("get_item", "item")])
async def test_without_anything_read_the_item_is_asked_for(chat: Chat, alpha: str, tool: str, name: str) -> None:
    refusal = await chat.refused(tool)

    assert refusal.message == f"{tool} was not called: {name} is missing."
    assert refusal.hint.endswith(f"{name}, or read one first.")


async def test_at_last_without_anything_read_is_refused(chat: Chat, alpha: str) -> None:
    refusal = await chat.refused("list_tasks", **LAST)

    assert refusal.message == "list_tasks was not called: project: no project was read recently."


async def test_an_empty_project_means_none(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    assert "outside" in (await chat("list_tasks", project="")).titles


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


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_task", {"title": "new"} | LAST),
        ("update_project", {"status": "done"} | LAST),
        ("delete_item", {"item": "@last"}),
    ],
)
async def test_at_last_is_not_for_writes(chat: Chat, alpha: str, tool: str, arguments: dict[str, Any]) -> None:
    await chat("get_project", project="Alpha")

    refusal = await chat.refused(tool, **arguments)

    assert refusal.message.endswith("@last works only for reads.")


async def test_after_ten_minutes_it_is_forgotten(chat: Chat, alpha: str, clock: StandingClock) -> None:
    await chat("get_project", project="Alpha")

    clock.advance(minutes=10, seconds=1)

    assert "no project was read recently" in (await chat.refused("list_tasks", **LAST)).message


async def test_just_before_ten_minutes_it_is_remembered(chat: Chat, alpha: str, clock: StandingClock) -> None:
    await chat("get_project", project="Alpha")

    clock.advance(minutes=9, seconds=59)

    assert (await chat("list_tasks", **LAST)).titles == ["inside"]


async def test_another_client_remembers_for_itself(chat: Chat, other: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    assert "no project was read recently" in (await other.refused("list_tasks", **LAST)).message


async def test_creating_or_changing_a_project_is_not_reading_it(chat: Chat, alpha: str) -> None:
    await chat("create_project", name="Beta")
    await chat("update_project", project="Alpha", description="x")

    await chat.refused("project_dashboard")


async def test_a_batch_remembers_within_itself(chat: Chat, alpha: str) -> None:
    steps = [{"tool": "get_project", "args": {"project": "Alpha"}}, {"tool": "list_tasks", "args": LAST}]

    done = await chat("batch", operations=steps)

    assert [row["title"] for row in done.data["results"][1]["data"]] == ["inside"]


async def test_a_batch_leaves_nothing_behind_in_memory(chat: Chat, alpha: str) -> None:
    await chat("batch", operations=[{"tool": "get_project", "args": {"project": "Alpha"}}])

    await chat.refused("list_tasks", **LAST)


async def test_a_batch_knows_nothing_of_what_was_read_outside(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")

    await chat.refused("batch", operations=[{"tool": "list_tasks", "args": LAST}])


async def test_a_project_in_the_trash_is_not_the_one_read_last(chat: Chat, alpha: str) -> None:
    await chat("get_project", project="Alpha")
    await chat("delete_item", item="Alpha", items="keep")

    await chat.refused("list_tasks", **LAST)


async def test_a_page_goes_on_in_the_project_it_began_in(chat: Chat, alpha: str, clock: StandingClock) -> None:
    for number in range(5):
        await chat("create_task", title=f"more {number}", project="Alpha")
    await chat("get_project", project="Alpha")
    first = await chat("list_tasks", limit=3, **LAST)
    second = await chat("list_tasks", limit=3, **LAST, cursor=first.metadata["next_cursor"])

    assert len({*first.titles, *second.titles}) == 6
    assert "outside" not in second.titles
