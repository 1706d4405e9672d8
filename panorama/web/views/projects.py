"""Projects: the list with their health, and one project."""

from datetime import date

from panorama.domain.charts.geometry import draw_bars, draw_lines
from panorama.web.view import Context, ViewRequest
from panorama.web.views.tasks import group_by_deadline

DAYS = 28
MAX_WRITES = 8
"""How many of the latest changes the page of a project shows."""

STATUSES = (
    ("planned", "Planned"), ("active", "Active"), ("blocked", "Blocked"), ("done", "Done"), ("archived", "Archived"),
)  # fmt: skip


def show_projects(request: ViewRequest) -> Context:
    """Show all projects with their health, and those that are over."""
    overview = request.calls.get("overview.projects")
    shown = {row["id"] for row in overview["projects"]}
    rows = request.calls.get("projects.list", limit=500)
    return {
        "active": overview["projects"],
        "others": [row for row in rows if row["id"] not in shown],
        "overview": overview,
    }


def show_project(request: ViewRequest) -> Context:
    """Show a project: figures, tasks, notes, what was done and created, and the latest changes."""
    project = request.calls.get("projects.get", project=request.path["id"])
    dashboard = request.calls.get("overview.project", project=project["id"])
    statistics = request.calls.get("statistics.tasks", days=DAYS, project=project["id"])
    tasks = request.calls.get("tasks.list", project=project["id"], limit=200)
    return {
        "title": project["name"],
        "project": project,
        "figures": dashboard["project"],
        "groups": group_by_deadline(request, tasks),
        "notes": request.calls.get("notes.list", project=project["id"], limit=12),
        "bars": draw_bars(
            [(date.fromisoformat(day["day"]), (day["completed"], day["created"])) for day in statistics["days"]]
        ),
        "burn_up": draw_lines(_count_up(statistics)),
        "statistics": statistics,
        "writes": request.calls.list_project_writes(project["id"], MAX_WRITES),
    }


def edit_project(request: ViewRequest) -> Context:
    """Show the fields of a project in a form."""
    project = request.calls.get("projects.get", project=request.path["id"])
    return {"title": project["name"], "project": project, "statuses": STATUSES}


def _count_up(statistics: Context) -> list[tuple[date, tuple[int, ...]]]:
    """Return for each day how many tasks there were since the first one, and how many were completed by then."""
    scope, completed = statistics["open_before"], 0
    rows: list[tuple[date, tuple[int, ...]]] = []
    for day in statistics["days"]:
        scope, completed = scope + day["created"], completed + day["completed"]
        rows.append((date.fromisoformat(day["day"]), (scope, completed)))
    return rows
