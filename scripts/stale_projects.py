"""Find active projects that have come to a standstill: untouched for weeks, or without a next step.

It only reads, and names for each what would set it going again or close it.
"""

from datetime import date

SHOWN = 15
NAME_CHARS = 50


def main(days: int = 21, planned: bool = False) -> str:
    """Return the projects as a table in Markdown, the longest untouched first.

    Args:
        days: After how many days without any change a project counts as untouched, 1 to 3650.
        planned: Also look at projects that are planned or blocked.
    """
    if not 1 <= days <= 3650:
        raise ValueError(f"days is {days}; give 1 to 3650.")
    wanted = ("active", "planned", "blocked") if planned else ("active",)
    projects = [each for each in sdk.projects.list() if each.status in wanted and not each.area]
    if not projects:
        return f"There is no project that is {' or '.join(wanted)}."
    today = date.fromisoformat(sdk.status().today)
    touched = last_touched()
    tasks = sdk.tasks.list()
    rows = []
    for project in projects:
        own = [task for task in tasks if task.project == project.id]
        last = max(project.updated_at[:10], touched.get(project.id, ""))
        still = (today - date.fromisoformat(last)).days
        if still >= days or not own:
            rows.append({"project": project, "still": max(still, 0), "tasks": own, "today": str(today)})
    if not rows:
        return f"None of {len(projects)} projects stands still: each was touched within {days} days and has open tasks."
    rows.sort(key=lambda row: (-row["still"], row["project"].name))
    head = f"{len(rows)} of {len(projects)} projects stand still or have no next step. Nothing was changed."
    more = f"\n\n… and {len(rows) - SHOWN} more." if len(rows) > SHOWN else ""
    return f"{head}\n\n{sdk.markdown_table(told(row) for row in rows[:SHOWN])}{more}"


def last_touched() -> dict[str, str]:
    """Return the last day on which something of each project was changed."""
    found: dict[str, str] = {}
    for kind in ("tasks", "notes", "links", "files"):
        for row in sdk.query(kind, where={"project": {"ne": None}}, select=["project", "updated_at"]):
            found[row.project] = max(found.get(row.project, ""), row.updated_at[:10])
    return found


def told(row: dict) -> dict:
    """Return a project as a row of the table."""
    name, late = row["project"].name, [task for task in row["tasks"] if (task.deadline or "9999") < row["today"]]
    return {
        "Project": name if len(name) <= NAME_CHARS else name[: NAME_CHARS - 1] + "…",
        "Days untouched": row["still"],
        "Open tasks": len(row["tasks"]),
        "Overdue": len(late),
        "What now": advice(row["tasks"], late),
    }


def advice(tasks: list, late: list) -> str:
    """Return what would set a project going, or close it."""
    if not tasks:
        return "mark it done, or add a next step"
    if late:
        return "do or move what is overdue"
    if any(task.deadline for task in tasks):
        return "look whether its deadlines still hold"
    return "give one task a day, or archive it"
