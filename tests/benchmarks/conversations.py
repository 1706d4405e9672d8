"""Three pieces of work, done with tools and done with a script, and the tokens that a model reads and writes."""

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from panorama.app import App
from panorama.calls import Conversation
from panorama.calls.rendering import Answer
from panorama.domain.paging import PageRequest
from panorama.store.log import calls as call_log

from .stores import Town

Row = dict[str, Any]
CHARS_PER_TOKEN = 4
BATCH = 100
PROJECTS, TASKS, NOTES, LINKS, RELABELLED = 8, 300, 80, 60, 50


@dataclass
class Model:
    """One who calls tools as a model does, and counts what it says and reads."""

    app: App
    conversation: Conversation = field(default_factory=lambda: Conversation("v_model", "tool", "benchmark"))
    said: int = 0
    calls: int = 0

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool and return its data."""
        return self.answer(tool, **arguments).data

    def answer(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool and return its answer."""
        self.calls += 1
        self.said += len(tool) + len(json.dumps(arguments, ensure_ascii=False, separators=(",", ":")))
        return self.app.calls.call(tool, arguments, self.conversation)

    def pages(self, tool: str, **arguments: Any) -> list[Row]:
        """Call a tool that lists, page after page."""
        found, cursor = list[Row](), ""
        while True:
            answer = self.answer(tool, **arguments, **({"cursor": cursor} if cursor else {}))
            found += answer.data
            cursor = answer.metadata.get("next_cursor", "")
            if not cursor:
                return found

    def change(self, changes: list[Row], *, at_a_time: int) -> None:
        """Update tasks, so many in a batch, or one by one."""
        if at_a_time == 1:
            for item in changes:
                self.call("update_task", **item)
            return
        for at in range(0, len(changes), at_a_time):
            steps = [{"tool": "update_task", "args": entry} for entry in changes[at : at + at_a_time]]
            self.call("batch", operations=steps)

    def script(self, asked: str, source: str) -> Any:
        """Look up the functions that are needed, and run a script with them."""
        self.call("search_sdk", query=asked)
        result = self.call("run_code", code=source)
        assert not result.get("error"), result
        return result["result"]

    @property
    def tokens(self) -> int:
        """What was read, as the call log has it, and what was said, in tokens; the list of tools is left out."""
        self.app.recorder.flush()
        with self.app.context.database.reading() as session:
            entries = call_log.list_calls(session, PageRequest(10_000)).items
        mine = [entry for entry in entries if entry.conversation == self.conversation.id and entry.id == entry.unit]
        assert all(item.success for item in mine)
        return sum(item.tokens for item in mine) + self.said // CHARS_PER_TOKEN


def fill_store(app: App) -> None:
    """Put projects, tasks, notes and links into a store; the same in every store."""
    town, owner = Town(), Conversation("v_owner", "cli", "benchmark")
    town.now = town.now.replace(hour=12, minute=0, second=0)
    names = [f"Project {number} {town.language.title()}" for number in range(PROJECTS)]

    def made(tool: str, rows: list[Row]) -> None:
        for at in range(0, len(rows), BATCH):
            steps = [{"tool": tool, "args": row} for row in rows[at : at + BATCH]]
            app.calls.call("batch", {"operations": steps}, owner)

    made("create_project", [{"name": name} for name in names])
    made("create_task", [_task(town, names, number) for number in range(TASKS)])
    made("create_note", [_note(town, names, number) for number in range(NOTES)])
    links = [f"https://example.org/{number}" for number in range(LINKS)]
    made(
        "create_link",
        [{"title": town.language.title(), "url": url, "project": town.chance.choice(names)} for url in links],
    )


def _task(town: Town, names: list[str], number: int) -> Row:
    day = (town.now + timedelta(days=town.chance.uniform(-40, 80))).date()
    tags = ["backlog" if number < RELABELLED else f"tag{number % 9}", "home"][: 1 + number % 2]
    return {
        "title": f"{number} {town.language.title()}", "project": town.chance.choice(names), "tags": tags,
        "important": town.chance.random() < 0.2, "deadline": day.isoformat() if town.chance.random() < 0.6 else "",
        "notes": town.language.text(12),
    }  # fmt: skip


def _note(town: Town, names: list[str], number: int) -> Row:
    title = f"{number} {town.language.title()}"
    return {"title": title, "content": town.language.text(100), "project": town.chance.choice(names)}


def triaged(model: Model, *, at_a_time: int = BATCH) -> object:
    """Go through all open tasks: park what is long overdue, give the rest of it a new day, and write a summary."""
    rows = model.pages("list_tasks")
    today = datetime.now(model.app.context.zone).date()
    changes, counts = list[Row](), Counter[str]()
    for row in rows:
        change = _triaged(row, today)
        counts[row.get("project", "")] += 1
        if change:
            changes.append({"task": row["id"], **change})
    model.change(changes, at_a_time=at_a_time)
    projects = {row["id"]: row["name"] for row in model.pages("list_projects")}
    lines = [
        f"| {projects[id_]} | {count} |" for id_, count in sorted(counts.items(), key=lambda pair: projects[pair[0]])
    ]
    text = "\n".join(["| project | open |", "| --- | --- |", *lines])
    model.call("create_note", title="Weekly triage", content=text)
    return len(changes)


def _triaged(row: Row, today: date) -> Row:
    deadline = row.get("deadline")
    late = (today - date.fromisoformat(deadline[:10])).days if deadline else 0
    if late > 21 and not row.get("important"):
        return {"status": "idea"}
    if late > 0 or (not deadline and row.get("important")):
        return {"deadline": "+7d"}
    return {}


TRIAGE = """
from collections import Counter
from datetime import date
today = date.fromisoformat(sdk.status().today)
names = {p.id: p.name for p in sdk.projects.list()}
counts, changed = Counter(), 0
for task in sdk.tasks.list():
    counts[names[task.project]] += 1
    late = (today - date.fromisoformat(task.deadline[:10])).days if task.deadline else 0
    if late > 21 and not task.important:
        sdk.tasks.update(task, status="idea")
    elif late > 0 or (not task.deadline and task.important):
        sdk.tasks.update(task, deadline="+7d")
    else:
        continue
    changed += 1
rows = [{"project": name, "open": count} for name, count in sorted(counts.items())]
sdk.notes.create("Weekly triage", content=sdk.markdown_table(rows))
return changed
"""


def joined(model: Model, *, at_a_time: int = BATCH) -> object:
    """Write a CSV of all notes, with the open tasks and the links of their projects."""
    projects = {row["id"]: row["name"] for row in model.pages("list_projects")}
    tasks = Counter(row.get("project", "") for row in model.pages("list_tasks"))
    links = defaultdict[str, list[str]](list)
    for row in model.pages("list_links"):
        links[row.get("project", "")].append(row["url"])
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["note", "project", "open tasks", "links"])
    notes = sorted(model.pages("list_notes"), key=lambda row: row["title"])
    for row in notes:
        id_ = row["project"]
        writer.writerow([row["title"], projects[id_], tasks[id_], " ".join(sorted(links[id_]))])
    model.call("write_file", name="notes.csv", text=out.getvalue())
    return len(notes)


JOIN = """
import csv, io
from collections import Counter, defaultdict
projects = {p.id: p.name for p in sdk.projects.list()}
tasks = Counter(t.project for t in sdk.tasks.list())
links = defaultdict(list)
for link in sdk.links.list():
    links[link.project].append(link.url)
out = io.StringIO()
w = csv.writer(out)
w.writerow(["note", "project", "open tasks", "links"])
notes = sorted(sdk.notes.list(), key=lambda n: n.title)
for n in notes:
    w.writerow([n.title, projects[n.project], tasks[n.project], " ".join(sorted(links[n.project]))])
sdk.files.write("notes.csv", out.getvalue())
return len(notes)
"""


def relabelled(model: Model, *, at_a_time: int = BATCH) -> object:
    """Give fifty tasks another label, and leave them their other labels."""
    rows = model.pages("list_tasks", tag="backlog")
    changes = [
        {"task": row["id"], "tags": ["later" if tag == "backlog" else tag for tag in row["tags"]]} for row in rows
    ]
    model.change(changes, at_a_time=at_a_time)
    return len(changes)


RELABEL = """
tasks = sdk.tasks.list(tag="backlog")
for task in tasks:
    sdk.tasks.update(task, tags=["later" if tag == "backlog" else tag for tag in task.tags])
return len(tasks)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A piece of work: by tools, by a script, and what is looked up before that script is written."""

    by_tools: Callable[..., object]
    script: str
    asked: str


WORKS: Mapping[str, Work] = {
    "weekly triage of 300 tasks": Work(
        by_tools=triaged, script=TRIAGE, asked="list tasks, update a task, create a note with a markdown table"
    ),
    "80 notes joined with tasks and links into a CSV": Work(
        by_tools=joined, script=JOIN, asked="list notes, tasks, links and projects, write a csv file"
    ),
    "50 tasks relabelled": Work(by_tools=relabelled, script=RELABEL, asked="list tasks with a tag, update their tags"),
}


def read_contents(app: App) -> dict[str, list[Any]]:
    """Return what a piece of work leaves in the store, without ids and moments."""
    owner = Model(app, Conversation("v_judge", "cli", "benchmark"))
    tasks = owner.pages("list_tasks", status="any", limit=500)
    notes = owner.pages("list_notes", limit=500)
    files = [owner.answer("get_file", file=row["id"]).data["text"] for row in owner.pages("list_files")]
    triage = [
        owner.answer("get_note", note=row["id"]).data["content"] for row in notes if row["title"] == "Weekly triage"
    ]
    return {
        "tasks": sorted([row["title"], row["status"], row.get("deadline"), row.get("tags")] for row in tasks),
        "notes": triage,
        "files": files,
    }
