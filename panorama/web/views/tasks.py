"""Today, the list of tasks, and one task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from panorama.web.view import Context, ViewRequest
from panorama.web.views.saved_views import list_saved_views, pick_filters

GROUPS = (
    ("overdue", "Overdue"), ("today", "Today"), ("soon", "Next 7 days"), ("later", "Later"), ("none", "No date"),
)  # fmt: skip
"""The groups of tasks by deadline, and their headings."""

SAVED_VIEWS = (
    ("", "Open"), ("overdue", "Overdue"), ("this_week", "This week"), ("in_progress", "In progress"),
    ("urgent", "Urgent"), ("no_deadline", "No date"), ("parked_ideas", "Ideas"), ("recently_done", "Done lately"),
)  # fmt: skip
STATUSES = (
    ("todo", "To do"), ("in_progress", "In progress"), ("done", "Done"), ("cancelled", "Cancelled"), ("idea", "Idea"),
)  # fmt: skip
MAX_ROWS = 300
MAX_FOUND = 100
FOLDS = {
    "later": ("Later", "", 0), "none": ("No date", "", 0), "ideas": ("Ideas", "parked_ideas", 50),
    "done": ("Done lately", "recently_done", 5),
}  # fmt: skip
"""The groups that are folded on today's page: heading, saved view and most rows; without a view, those by deadline."""


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """The tasks below one heading."""

    key: str
    heading: str
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Fold:
    """A group that is shown once it is opened, which `address` does; an opened one is closed by it."""

    key: str
    heading: str
    count: int
    address: str
    rows: Sequence[Mapping[str, Any]]


def show_today(request: ViewRequest) -> Context:
    """Show open tasks by deadline, with quick add above and ideas and finished tasks folded below."""
    answer = request.calls.call("tasks.list", limit=MAX_ROWS)
    rows, total = answer.data, answer.metadata.get("total")
    today = request.calls.today
    groups = group_by_deadline(request, rows)
    opened = set(request.query.get("open", "").split(",")) & set(FOLDS)
    folds = _list_folds(request, groups, opened)
    return {
        "today": today,
        "groups": [group for group in groups if group.key not in FOLDS],
        "folds": folds,
        "count": total or len(rows),
        "hidden": max(0, (total or 0) - len(rows)),
        "late": sum(len(group.rows) for group in groups if group.key == "overdue"),
        "is_new": not rows and not any(request.calls.get("status")["counts"].values()),
    }


def _list_folds(request: ViewRequest, groups: Sequence[TaskGroup], opened: set[str]) -> list[Fold]:
    """Return the folded groups that have tasks; only opened ones have rows, which are most of the page's bytes."""
    folds: list[Fold] = []
    for key, (heading, view, limit) in FOLDS.items():
        rows: Sequence[Mapping[str, Any]] = next((group.rows for group in groups if group.key == key), ())
        count = len(rows)
        if view:
            answer = request.calls.call("tasks.list", view=view, limit=limit if key in opened else 1)
            rows = add_due(request, answer.data)
            count = min(answer.metadata.get("total") or len(rows), limit)
        if rows:
            others = sorted(opened ^ {key})
            address = f"/today?open={','.join(others)}" if others else "/today"
            folds.append(Fold(key, heading, count, address, rows if key in opened else ()))
    return folds


def show_tasks(request: ViewRequest) -> Context:
    """Show tasks by a saved view and filters, to choose several of them and to order them."""
    query = request.query
    chosen = {name: query[name] for name in ("view", "project", "tag") if query.get(name)}
    if chosen.get("view") not in dict(SAVED_VIEWS):
        chosen.pop("view", None)
    if text := query.get("q", "").strip():
        rows = _search_tasks(request, text, chosen)
        total, cursor = len(rows), ""
    else:
        more = {"cursor": query["cursor"]} if query.get("cursor") else {}
        answer = request.calls.call("tasks.list", limit=MAX_ROWS, **chosen, **more)
        rows, total = answer.data, answer.metadata.get("total")
        cursor = answer.metadata.get("next_cursor", "")
    filters, own_views = pick_filters(query), list_saved_views(request.calls)
    is_by_deadline = chosen.get("view", "") in ("", "overdue", "this_week", "in_progress", "urgent")
    flat = [TaskGroup("all", "", add_due(request, rows))] if rows else []
    return {
        "groups": group_by_deadline(request, rows) if is_by_deadline else flat,
        "views": SAVED_VIEWS,
        "own_views": own_views,
        "current": next((view for view in own_views if view.filters == filters), None),
        "filters": filters,
        "chosen": chosen,
        "text": text,
        "count": total if total is not None else len(rows),
        "cursor": cursor,
        "max_found": MAX_FOUND,
        "tags": request.calls.get("tags.list"),
    }


def _search_tasks(request: ViewRequest, text: str, chosen: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Return the tasks that have some words, by date; those of a saved view among its first 2,000."""
    ids = [hit["id"] for hit in request.calls.get("search", query=text, kinds=["task"], limit=MAX_FOUND)]
    if "view" in chosen:
        return [row for row in request.calls.get("tasks.list", limit=2000, **chosen) if row["id"] in set(ids)]
    where: dict[str, Any] = {"id": {"in": ids}, "status": "open"}
    where |= {"project": chosen["project"]} if "project" in chosen else {}
    where |= {"tags": {"contains": chosen["tag"]}} if "tag" in chosen else {}
    found = request.calls.get("query", collection="tasks", where=where, sort=["deadline"], limit=MAX_FOUND)
    return sorted(found, key=lambda row: not row.get("deadline"))


def show_task(request: ViewRequest) -> Context:
    """Show all fields of a task in a form."""
    answer = request.calls.get("items.get", item=request.path["id"])
    task = answer["item"]
    steps = request.calls.get("tasks.list", parent=task["id"], status="any", limit=100)
    return {
        "title": task["title"],
        "task": task,
        "due": request.texts.due(task.get("deadline", ""), request.calls.today),
        "steps": add_due(request, steps),
        "statuses": STATUSES,
    }


def group_by_deadline(request: ViewRequest, rows: Sequence[Mapping[str, Any]]) -> list[TaskGroup]:
    """Return tasks in groups by deadline, without empty groups."""
    today = request.calls.today
    groups: dict[str, list[Mapping[str, Any]]] = {key: [] for key, _ in GROUPS}
    for row in add_due(request, rows):
        groups[_choose_group(row.get("deadline", ""), today)].append(row)
    return [TaskGroup(key, heading, groups[key]) for key, heading in GROUPS if groups[key]]


def _choose_group(deadline: str, today: date) -> str:
    if not deadline:
        return "none"
    day = date.fromisoformat(deadline[:10])
    if day < today:
        return "overdue"
    return "today" if day == today else "soon" if day <= today + timedelta(days=7) else "later"


def add_due(request: ViewRequest, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return tasks with their deadlines in words, as `due`."""
    today = request.calls.today
    return [{**row, "due": request.texts.due(row.get("deadline", ""), today)} for row in rows]
