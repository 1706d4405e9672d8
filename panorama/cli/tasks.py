"""`panorama tasks`: list, add, complete."""

from typing import Annotated, Literal, get_args

from panorama.cli import show, tables
from panorama.cli.client import Client
from panorama.cli.options import AsJson, Limit, Project, Tag, Tags, argument, examples, group, option
from panorama.domain.tasks import TaskStatus, TaskView

app = group("tasks", "List tasks; add one, complete one.", default=True)
Status = Literal[TaskStatus, "open", "any"]
VIEWS = f"A view: {', '.join(get_args(TaskView))}."
STATES = f"Only in this state ({', '.join(get_args(Status))}); else open ones."
WHEN = "2026-05-31, 2026-05-31T15:00, today, tomorrow, +3d or +2w."


@app.command(
    "list",
    epilog=examples(
        "panorama tasks                          # open ones, the next deadline first",
        "panorama tasks --view overdue",
        "panorama tasks --project Garden --status any",
        "panorama tasks --json | jq -r '.data[].title'",
    ),
)
def list_(
    project: Project = None,
    view: Annotated[TaskView | None, option(VIEWS, "--view", "-v", metavar="VIEW")] = None,
    status: Annotated[Status | None, option(STATES, "--status", "-s", metavar="STATUS")] = None,
    tag: Tag = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List tasks: open ones unless a view or a status says otherwise."""
    with Client() as panorama:
        wanted = {"project": project, "view": view, "status": status, "tag": tag}
        answer = panorama.rows("tasks.list", wanted, limit)
        now = panorama.now
    names = answer.metadata.get("names", {})
    show.rows(answer, as_json, lambda: show.sheet(tables.tasks(answer.data, names, now)))


@app.command(
    epilog=examples(
        'panorama tasks add "Order seeds" --project Garden --deadline +3d --tag spring',
        'panorama tasks add "Water plants" -d today --recurrence "FREQ=WEEKLY;BYDAY=MO"',
    )
)
def add(
    title: Annotated[str, argument("What there is to do.")],
    project: Project = None,
    deadline: Annotated[str | None, option(WHEN, "--deadline", "-d")] = None,
    tag: Tags = None,
    urgent: Annotated[bool, option("It cannot wait.", "--urgent")] = False,
    important: Annotated[bool, option("It matters.", "--important")] = False,
    notes: Annotated[str | None, option("More words, in Markdown.", "--notes")] = None,
    recurrence: Annotated[str | None, option("RFC 5545 rule.", "--recurrence")] = None,
    as_json: AsJson = False,
) -> None:
    """Add a task."""
    wanted = {
        "title": title, "project": project, "deadline": deadline, "tags": tag, "notes": notes,
        "urgent": urgent or None, "important": important or None, "recurrence": recurrence,
    }  # fmt: skip
    with Client() as panorama:
        answer = panorama.call("tasks.create", wanted)
    show.written(answer, as_json)


@app.command(epilog=examples('panorama tasks done "Order seeds"', "panorama tasks done t_7k3q9xv2mh"))
def done(task: Annotated[str, argument("The task, by title or id.")], as_json: AsJson = False) -> None:
    """Complete a task; a recurring one makes its next occurrence."""
    with Client() as panorama:
        answer = panorama.call("tasks.update", {"task": task, "status": "done"})
    show.written(answer, as_json)
