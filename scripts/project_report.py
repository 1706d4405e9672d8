"""Write a table of a project's tasks, or of all tasks, as a CSV file for a spreadsheet.

The file keeps its name: the next run makes its next version, and nothing happens if no task has changed.
"""

import csv
import io
import re
from datetime import date
from typing import Literal

COLUMNS = (
    "project", "task", "status", "deadline", "days_late", "urgent", "important", "tags", "created", "closed", "id"
)  # fmt: skip
MOST_BYTES = 1_000_000
"""A script can send no more in one call."""


def main(project: str = "", closed_since: date | None = None, style: Literal["plain", "excel"] = "plain") -> dict:
    """Return the file's name and id, and what is in it.

    Args:
        project: Only this project, by its name or id; all tasks if left out.
        closed_since: Leave out what was done or cancelled before this day; nothing is left out otherwise.
        style: excel begins the file with a mark for UTF-8 and puts semicolons between the fields.
    """
    place = sdk.projects.get(project) if project else None
    today = sdk.status().today
    names = {each.id: each.name for each in sdk.projects.list()}
    since = str(closed_since or "")
    tasks = [task for task in sdk.tasks.list(project=place, status="any") if is_open(task) or closed(task) >= since]
    if not tasks:
        return {"file": "", "rows": 0, "note": "There is no task to report, so no file was written."}
    rows = [row(task, names.get(task.project, ""), today) for task in tasks]
    rows.sort(key=lambda each: (each["project"].casefold(), each["deadline"] or "9999"))
    text = table(rows, style)
    if len(text.encode()) > MOST_BYTES:
        raise ValueError(f"{len(rows):,} tasks are too many for one file; name a project, or give closed_since.")
    name = f"{stem(place.name) if place else 'all'}-tasks.csv"
    file = sdk.files.write(name, text, project=place, tags=["report"])
    return {
        "file": file.name,
        "id": file.id,
        "rows": len(rows),
        "open": sum(map(is_open, tasks)),
        "late": sum(bool(each["days_late"]) for each in rows),
    }


def row(task, project: str, today: str) -> dict:
    """Return a task as a row of the table."""
    deadline = task.deadline or ""
    late = (date.fromisoformat(today) - date.fromisoformat(deadline[:10])).days if deadline and is_open(task) else 0
    return {
        "project": safe(project),
        "task": safe(task.title),
        "status": task.status,
        "deadline": deadline[:16].replace("T", " "),
        "days_late": late if late > 0 else "",
        "urgent": "yes" if task.urgent else "",
        "important": "yes" if task.important else "",
        "tags": safe(" ".join(task.tags)),
        "created": task.created_at[:10],
        "closed": closed(task),
        "id": task.id,
    }


def table(rows: list[dict], style: str) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, delimiter=";" if style == "excel" else ",", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return ("\ufeff" if style == "excel" else "") + text.getvalue()


def is_open(task) -> bool:
    """Tell whether a task is still to be done, now or some day."""
    return task.status not in ("done", "cancelled")


def closed(task) -> str:
    """Return the day on which a task was done or cancelled, "" if it is open."""
    return "" if is_open(task) else (task.completed_at or task.status_changed_at or task.updated_at)[:10]


def safe(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


def stem(name: str) -> str:
    """Return a project's name as the name of a file."""
    return re.sub(r"[^\w]+", "-", name).strip("-")[:80].lower() or "project"
