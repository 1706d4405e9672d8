"""Review a week as Markdown: what was done, what slipped, which notes were written and what is due next.

It only reads, unless the text is to be kept as a file; another run for the same days replaces that file.
"""

from datetime import date, timedelta

SHOWN = 8
TITLE_CHARS = 70


def main(project: str = "", end: date | None = None, days: int = 7, keep: bool = False) -> str:
    """Return the review.

    Args:
        project: Only this project, by its name or id; all projects if left out.
        end: The last day of the period; today if left out.
        days: How many days the period has, 1 to 366.
        keep: Also keep the review as a file, in the project if one is named.
    """
    if not 1 <= days <= 366:
        raise ValueError(f"days is {days}; give 1 to 366.")
    today = date.fromisoformat(sdk.status().today)
    last = end or today
    if abs((last - today).days) > 3660:
        raise ValueError(f"end is {last}; give a day within ten years of today.")
    first = last - timedelta(days=days - 1)
    place = sdk.projects.get(project) if project else None
    heading = f"# {worded(first)} to {worded(last)} {last.year}" + (f": {place.name}" if place else "")
    text = f"{heading}\n\n{reviewed(place, first, last)}\n"
    if not keep:
        return text
    file = sdk.files.write(f"review-{first}-to-{last}.md", text, project=place, tags=["review"])
    return f"{text}\nKept as the file {file.name} ({file.id})."


def reviewed(place, first: date, last: date) -> str:
    """Return a line of numbers and the lists behind them."""
    here = {"project": place.id} if place else {}
    names = {each.id: each.name for each in sdk.projects.list()} if not place else {}
    period = {"gte": str(first), "lt": str(last + timedelta(days=1))}
    done = sdk.query("tasks", where={**here, "status": "done", "completed_at": period}, sort="-completed_at")
    new = sdk.query("tasks", where={**here, "created_at": period}, count=True)[0].count
    notes = sdk.query("notes", where={**here, "updated_at": period}, sort="-updated_at")
    late = sdk.tasks.list(project=place, view="overdue")
    slipped = [task for task in late if str(first) <= task.deadline[:10] <= str(last)]
    older = sum(task.deadline[:10] < str(first) for task in late)
    coming = sdk.tasks.list(project=place, due_from=last + timedelta(days=1), due_until=last + timedelta(days=7))
    entries = [] if place else sdk.events.list(since=last + timedelta(days=1), until=last + timedelta(days=7))
    if not (done or new or notes or late or coming or entries):
        return "Nothing was done, made or written in this period, and nothing is due in the week after it."

    def told(task) -> str:
        return cut(task.title) + (f" ({cut(names[task.project], 30)})" if task.project in names else "")

    parts = [
        f"**{len(done)} done, {len(slipped)} slipped, {counted(new, 'new task')}, {counted(len(notes), 'note')} "
        "written or changed.**" + (f" {counted(older, 'task')} overdue from before." if older else ""),
        section("Done", [f"{told(task)}, {short(task.completed_at)}" for task in done]),
        section("Slipped", [f"{told(task)}, was due {short(task.deadline)}" for task in slipped]),
        section("Due in the week after", [f"{short(task.deadline)}: {told(task)}" for task in coming]),
        section("Events in the week after", [f"{short(each.starts_at)}: {cut(each.title)}" for each in entries]),
        section("Notes", [linked(note.title) for note in notes]),
        section("Projects that went up or down", [] if place else moved(first, last)),
    ]
    return "\n\n".join(part for part in parts if part)


def moved(first: date, last: date) -> list[str]:
    """Return the projects whose health changed, the worst first."""
    projects = sdk.overview.week(first, last).projects
    return [f"{cut(each.name)}: health {each.health} ({each.change:+})" for each in projects if each.change]


def section(title: str, lines: list[str]) -> str:
    """Return a heading with a short list under it, "" if there is nothing to list."""
    if not lines:
        return ""
    more = [f"… and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines[:SHOWN] + more)


def short(moment: str) -> str:
    """Return the day of a moment in words: Wed 20 May."""
    return worded(date.fromisoformat(moment[:10]))


def worded(day: date) -> str:
    """Return a day in words: Wed 20 May."""
    return f"{day:%a} {day.day} {day:%b}"


def linked(title: str) -> str:
    """Return a title as a link; one that is too long for a line is only named."""
    return f"[[{title}]]" if len(title) <= TITLE_CHARS else cut(title)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def cut(text: str, most: int = TITLE_CHARS) -> str:
    """Return a text that fits on a line."""
    return text if len(text) <= most else text[: most - 1] + "…"
