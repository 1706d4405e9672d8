"""Pages walk every row exactly once, for any size and any order."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.items.item import Item

from .things import anything, files, journal, links, notes, projects, reminders, tasks
from .world import World


def walked(world: World, operation: str, **asked: Any) -> tuple[list[Mapping[str, Any]], set[int | None]]:
    """Return the rows of all pages, and the totals that were told."""
    rows, totals, cursor = [], set(), ""
    for _ in range(100):
        answer = world.do(operation, **asked, cursor=cursor)
        rows += answer["data"]
        totals.add(answer["metadata"].get("total"))
        cursor = answer["metadata"].get("next_cursor", "")
        if not cursor:
            return rows, totals
    raise AssertionError("the pages have no end")


def some(of: st.SearchStrategy[Item], most: int = 12) -> st.SearchStrategy[list[Item]]:
    """Return lists of items whose ids and names differ."""
    return st.lists(of, max_size=most, unique_by=(lambda item: item.id, lambda item: item.label.casefold()))


LISTS = {
    "list_projects": projects, "list_tasks": tasks, "list_notes": notes, "list_links": links,
    "list_reminders": reminders, "list_journal_entries": journal, "list_files": files,
}  # fmt: skip
ALL = {"list_tasks": {"status": "any"}}


@given(data=st.data(), operation=st.sampled_from(list(LISTS)), limit=st.integers(1, 7))
def test_a_list_shows_every_living_item_once(template: Path, data: st.DataObject, operation: str, limit: int) -> None:
    items = data.draw(some(LISTS[operation]))
    with World.made(template) as world:
        world.add(*items)

        rows, totals = walked(world, operation, limit=limit, **ALL.get(operation, {}))
        whole = world.do(operation, limit=500, **ALL.get(operation, {}))["data"]

    assert sorted(row["id"] for row in rows) == sorted(item.id for item in items)
    assert [row["id"] for row in rows] == [row["id"] for row in whole]
    assert totals == {len(items)}


FIELDS = {
    "tasks": ["title", "status", "deadline", "urgent", "rank", "scheduled_at", "scheduled_minutes", "completed_at"],
    "notes": ["title", "pinned", "created_at", "updated_at", "version"],
    "projects": ["name", "status", "target_date", "favorite", "rank", "color"],
}
OF = {"tasks": tasks, "notes": notes, "projects": projects}
small_ranks = st.integers(-2, 2)


@given(data=st.data(), collection=st.sampled_from(list(FIELDS)), limit=st.integers(1, 5))
def test_a_query_shows_every_row_once_in_any_order(
    template: Path, data: st.DataObject, collection: str, limit: int
) -> None:
    items = data.draw(some(OF[collection]))
    names = data.draw(st.lists(st.sampled_from(FIELDS[collection]), max_size=3, unique=True))
    sort = [data.draw(st.sampled_from(["", "-"])) + name for name in names]
    with World.made(template) as world:
        world.add(*items)

        rows, totals = walked(world, "query", collection=collection, sort=sort, select=["id"], limit=limit)
        whole = world.do("query", collection=collection, sort=sort, select=["id"], limit=500)["data"]

    assert rows == whole
    assert sorted(row["id"] for row in rows) == sorted(item.id for item in items)
    assert totals == {len(items)}


@given(data=st.data(), limit=st.integers(1, 4))
def test_groups_are_paged_too_and_count_every_row(template: Path, data: st.DataObject, limit: int) -> None:
    items = data.draw(some(tasks, 15))
    by = data.draw(
        st.lists(st.sampled_from(["status", "urgent", "deadline", "rank"]), min_size=1, max_size=2, unique=True)
    )
    with World.made(template) as world:
        world.add(*items)

        groups, _ = walked(world, "query", collection="tasks", group_by=by, limit=limit)

    assert sum(group["count"] for group in groups) == len(items)
    keys = [tuple(str(group.get(name)) for name in by) for group in groups]
    assert len(keys) == len(set(keys))


@given(items=some(anything, 15), limit=st.integers(1, 4))
def test_search_shows_every_hit_once(template: Path, items: list[Item], limit: int) -> None:
    with World.made(template) as world:
        world.add(*items)
        for number in range(7):
            world.do("create_note", title=f"Tea {number}", content="tea")

        rows, _ = walked(world, "search", query="tea", kinds=["note"], limit=limit)

    titles = [row["title"] for row in rows if row["title"].startswith("Tea ")]
    assert sorted(titles) == [f"Tea {number}" for number in range(7)]
