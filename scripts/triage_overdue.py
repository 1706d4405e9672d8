"""Propose what to do with each overdue task: a new day with room for it, or the shelf of ideas.

Nothing is changed unless `apply` is set. Urgent and important tasks come first and are never parked. Tasks that repeat
are only named, since a moved deadline would move their whole series; to finish or skip them is up to the person.
"""

from collections import Counter
from datetime import date, timedelta

SHOWN = 20
TITLE_CHARS = 60


def main(project: str = "", park_after: int = 30, per_day: int = 3, weekends: bool = False, apply: bool = False) -> str:
    """Return the proposal as a table in Markdown.

    Args:
        project: Only this project, by its name or id; all projects if left out.
        park_after: Days overdue after which a task that is neither urgent nor important is parked as an idea.
        per_day: How many tasks may be due on one day before the next day is taken.
        weekends: Also give new days on Saturdays and Sundays.
        apply: Make the changes; otherwise they are only proposed.
    """
    if park_after < 1 or not 1 <= per_day <= 100:
        raise ValueError(f"park_after is {park_after} and per_day {per_day}; give at least 1, and at most 100 per day.")
    late = sdk.tasks.list(project=project or None, view="overdue")
    if not late:
        return "Nothing is overdue."
    plan = proposed(late, park_after, per_day, weekends)
    changing = [step for step in plan if step["change"]]
    if apply:
        for count, step in enumerate(changing, start=1):
            sdk.progress(count, len(changing), step["task"].title)
            sdk.tasks.update(step["task"], **step["change"])
    return told(plan, len(changing), apply)


def proposed(late: list, park_after: int, per_day: int, weekends: bool) -> list[dict]:
    """Return a step for each overdue task: what to change, in words too, and why."""
    now = sdk.status().now
    today = date.fromisoformat(now[:10])
    parents = {task.parent for task in sdk.tasks.list()}
    moved = {task.id for task in late}
    due = Counter(task.deadline[:10] for task in sdk.tasks.list(due_from=today) if task.id not in moved)
    plan = []
    for task in sorted(late, key=lambda each: (not each.urgent, not each.important, each.deadline)):
        days = (today - date.fromisoformat(task.deadline[:10])).days
        weighs = task.urgent or task.important or task.status == "in_progress" or task.id in parents
        step = {"task": task, "days": days, "change": {}}
        if task.recurrence:
            step |= {"do": "finish or skip it", "why": "it repeats"}
        elif days > park_after and not weighs:
            step |= {"do": "park it as an idea", "why": "long overdue, not important", "change": {"status": "idea"}}
        else:
            is_too_late = "" < task.deadline[10:16] <= now[10:16]
            day = free(today + timedelta(days=is_too_late), due, per_day, weekends)
            step |= {"do": f"do it on {day:%a} {day.day} {day:%b}", "why": reason(task, task.id in parents)}
            step["change"] = {"deadline": day.isoformat() + task.deadline[10:16]}
        plan.append(step)
    return plan


def free(day: date, due: Counter, per_day: int, weekends: bool) -> date:
    """Return the first day from a day on that has room, and take a place on it."""
    while due[str(day)] >= per_day or (day.weekday() >= 5 and not weekends):
        day += timedelta(days=1)
    due[str(day)] += 1
    return day


def reason(task, has_subtasks: bool) -> str:
    """Return in words what speaks for doing a task."""
    words = ["urgent"] * task.urgent + ["important"] * task.important
    words += ["begun"] * (task.status == "in_progress") + ["has open subtasks"] * has_subtasks
    return ", ".join(words) or "first day with room"


def told(plan: list[dict], changing: int, applied: bool) -> str:
    """Return the steps as a table, with a line on what was done."""
    rows = [
        {"Task": cut(step["task"].title), "Days late": step["days"], "Proposal": step["do"], "Why": step["why"]}
        for step in plan[:SHOWN]
    ]
    more = f"\n\n… and {len(plan) - SHOWN} more." if len(plan) > SHOWN else ""
    done = f"{changing} changed." if applied else "Nothing was changed; with `apply` it is done."
    if not changing:
        done = "There is nothing to change."
    late = f"{len(plan)} task" + ("" if len(plan) == 1 else "s")
    return f"Overdue: {late}. {done}\n\n{sdk.markdown_table(rows)}{more}"


def cut(text: str) -> str:
    """Return a text that fits on a line."""
    return text if len(text) <= TITLE_CHARS else text[: TITLE_CHARS - 1] + "…"
