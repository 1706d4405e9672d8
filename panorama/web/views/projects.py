"""Projects: the list with their health, and one project."""

from datetime import date

from panorama.web.charts import draw_bars, draw_line
from panorama.web.view import Context, ViewRequest
from panorama.web.views.tasks import group_by_deadline

DAYS = 28
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
    """Show a project: figures, tasks, notes, and what was done and created."""
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
            [(date.fromisoformat(day["day"]), day["completed"], day["created"]) for day in statistics["days"]]
        ),
        "line": draw_line(_count_open(statistics)),
        "statistics": statistics,
    }


def edit_project(request: ViewRequest) -> Context:
    """Show the fields of a project in a form."""
    project = request.calls.get("projects.get", project=request.path["id"])
    return {"title": project["name"], "project": project, "statuses": STATUSES}


def _count_open(statistics: Context) -> list[int]:
    """Return how many tasks were open at the beginning, and after each day."""
    numbers = [statistics["open_before"]]
    for day in statistics["days"]:
        numbers.append(max(0, numbers[-1] + day["created"] - day["completed"]))
    return numbers
