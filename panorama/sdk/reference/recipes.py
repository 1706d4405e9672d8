"""Recipes: short scripts for common requests, shown by search_sdk; a test runs each.

Each is an ordinary script: `sdk` is defined, and `return` ends it.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Recipe(NamedTuple):
    """A short script; `words` are further words to search for."""

    title: str
    words: str
    code: str


RECIPES: Sequence[Recipe] = (
    Recipe(
        "Join two lists on a key: tasks with the names of their projects",
        "merge combine match lookup index relation foreign id name dict",
        """\
projects = {project.id: project.name for project in sdk.projects.list(status="any")}
return [
    {"task": task.title, "project": projects.get(task.project, "none")}
    for task in sdk.tasks.list(status="open")
]
""",
    ),
    Recipe(
        "Group by: open tasks per project, in a script",
        "group aggregate bucket tally defaultdict per each counter sum minutes total",
        """\
from collections import defaultdict

names = {project.id: project.name for project in sdk.projects.list()}
groups = defaultdict(list)
for task in sdk.tasks.list(status="open"):
    groups[names.get(task.project, "none")].append(task.title)
return {name: len(titles) for name, titles in sorted(groups.items(), key=lambda each: -len(each[1]))}
""",
    ),
    Recipe(
        "Count by a field without reading the rows",
        "group count how many statistics number query aggregate status histogram",
        """\
return sdk.query("tasks", group_by=["status"])
""",
    ),
    Recipe(
        "CSV out: write rows to a file",
        "csv export spreadsheet excel table download save report file columns",
        """\
import csv, io

columns = ["title", "deadline", "status", "tags"]
text = io.StringIO()
writer = csv.DictWriter(text, columns, extrasaction="ignore")
writer.writeheader()
for task in sdk.tasks.list(status="any"):
    writer.writerow({**task, "tags": " ".join(task.tags)})
file = sdk.files.write("tasks.csv", text.getvalue())
return {"file": file.id, "bytes": file.size}
""",
    ),
    Recipe(
        "CSV in: make tasks from the rows of a file",
        "csv import read parse upload spreadsheet create many load",
        """\
import csv, io

sdk.files.write("wishes.csv", "title,deadline\\nPaint the door,2026-06-01\\nOil the bench,\\n")
made = []
for row in csv.DictReader(io.StringIO(sdk.files.text("wishes.csv"))):
    task = sdk.tasks.create(row["title"], deadline=row["deadline"], tags=["imported"])
    made.append(task.id)
return made
""",
    ),
    Recipe(
        "Bulk relabel: add a tag to many tasks",
        "tags label retag rename update mass change every all edit several",
        """\
changed = 0
for task in sdk.tasks.list(project="Kitchen renovation"):
    if "kitchen-2026" not in task.tags:
        sdk.tasks.update(task, tags=[*task.tags, "kitchen-2026"])
        changed += 1
return {"changed": changed}
""",
    ),
    Recipe(
        "Parallel reads: several lists and texts, in turns",
        "concurrent async await asyncio gather wait_for timeout threads speed fast simultaneously parallel_map",
        """\
# async and await are accepted too, and run in order: wait_for and timeout end nothing
tasks, notes = sdk.parallel(
    lambda: sdk.tasks.list(project="Kitchen renovation"),
    lambda: sdk.notes.list(project="Kitchen renovation"),
)
texts = sdk.parallel_map(sdk.notes.text, notes)
return {"tasks": len(tasks), "words": sum(len(text.split()) for text in texts)}
""",
    ),
    Recipe(
        "Dates: what is overdue, and by how many days",
        "late past due deadline today date datetime timedelta days compare",
        """\
from datetime import date

today = date.fromisoformat(sdk.status().today)
late = [
    {"title": task.title, "days": (today - date.fromisoformat(task.deadline[:10])).days}
    for task in sdk.tasks.list(view="overdue")
]
return sorted(late, key=lambda each: -each["days"])
""",
    ),
    Recipe(
        "Dates: what is due this week, day by day",
        "week calendar agenda plan schedule upcoming deadline weekday next days",
        """\
from datetime import date

days = {}
for task in sdk.tasks.list(due_from="today", due_until="+7d"):
    day = date.fromisoformat(task.deadline[:10])
    days.setdefault(f"{day:%a %d %b}", []).append(task.title)
return days
""",
    ),
    Recipe(
        "Move deadlines: postpone all that is late",
        "postpone reschedule shift delay push due tomorrow next week bulk",
        """\
late = sdk.tasks.list(view="overdue")
for task in late:
    sdk.tasks.update(task, deadline="+2d")
return [task.title for task in late]
""",
    ),
    Recipe(
        "State between runs: what is new since the last time",
        "remember persist store memory keep last checkpoint cursor resume incremental",
        """\
seen = set(sdk.state.get("seen", []))
tasks = sdk.tasks.list(status="any")
new = [task.title for task in tasks if task.id not in seen]
sdk.state["seen"] = [task.id for task in tasks]
return {"new": len(new), "first": new[:5]}
""",
    ),
    Recipe(
        "Dry run: look first at what would change",
        "preview simulate test safe try diff dry_run rollback nothing written",
        """\
# Run it with dry_run=true: all of it happens on a copy, and the answer lists the changes.
for task in sdk.tasks.list(view="no_deadline"):
    if not task.important:
        sdk.tasks.update(task, status="idea")
return len(sdk.tasks.list(view="parked_ideas"))
""",
    ),
    Recipe(
        "Errors: go on when one item fails",
        "exception try except catch missing not found handle candidates skip failure",
        """\
from sdk import NotFoundError

found, missing = [], []
for name in ["Kitchen overview", "Nowhere to be found"]:
    try:
        found.append(sdk.notes.get(name).id)
    except NotFoundError as error:
        missing.append({"name": name, "nearest": [each["id"] for each in error.candidates]})
return {"found": len(found), "missing": missing}
""",
    ),
    Recipe(
        "All or nothing: several writes as one, each using an earlier result",
        "batch transaction atomic together create project with tasks template reference",
        """\
steps = [{"tool": "projects.create", "args": {"name": "Move to Lindau"}}]
for title in ["Cancel the lease", "Book the van", "Pack"]:
    steps.append({"tool": "tasks.create", "args": {"title": title, "project": "$0.data.id"}})
return sdk.batch(steps).succeeded
""",
    ),
    Recipe(
        "Report: a table of rows in a note",
        "markdown summary write note document weekly review overview",
        """\
review = sdk.overview.week()
table = sdk.markdown_table(review.completed["items"], {"title": "Done", "completed_at": "When"})
text = f"{review.completed.count} done, {review.slipped.count} slipped.\\n\\n{table}"
return sdk.notes.create(f"Week to {review.end}", text, tags=["review"]).id
""",
    ),
    Recipe(
        "Open checkboxes in meeting notes become tasks",
        "meeting minutes action items todo extract regex parse note text follow up",
        """\
import re

made = []
for note in sdk.notes.list(tag="meeting"):
    for line in re.findall(r"^[-*] TODO:? (.+)$", sdk.notes.text(note), re.MULTILINE):
        task = sdk.tasks.create(line.strip(), project=note.project, notes=f"From [[{note.title}]]")
        made.append(task.title)
return made
""",
    ),
    Recipe(
        "Search, then act on the hits",
        "find semantic look up topic mention hit results filter kind tag",
        """\
hits = sdk.search("grout", kinds=["task"], limit=10)
for hit in hits:
    task = sdk.tasks.get(hit)
    sdk.tasks.update(task, tags=[*task.tags, "grout"])
return [hit.title for hit in hits]
""",
    ),
    Recipe(
        "Find duplicates: titles that are almost the same",
        "duplicate similar same near compare difflib clean merge double",
        """\
import difflib

titles = {task.title: task.id for task in sdk.tasks.list(status="open")}
pairs = []
for title in titles:
    near = difflib.get_close_matches(title, [other for other in titles if other > title], n=2, cutoff=0.8)
    pairs += [(title, other) for other in near]
return pairs
""",
    ),
    Recipe(
        "Join three kinds: notes with the open tasks and links of their project",
        "notes tasks links merge combine csv project relation together",
        """\
tasks, links = {}, {}
for task in sdk.tasks.list(status="open"):
    tasks.setdefault(task.project, []).append(task.title)
for link in sdk.links.list():
    links.setdefault(link.project, []).append(link.url)
return [
    {"note": note.title, "tasks": len(tasks.get(note.project, [])), "links": links.get(note.project, [])}
    for note in sdk.notes.list()
    if note.project
]
""",
    ),
    Recipe(
        "Modules: what a script can import, and nothing else",
        "import modules module library libraries standard packages available allowed supported can use",
        """\
import abc, asyncio, base64, bisect, calendar, cmath, collections, collections.abc, contextlib, copy, csv
import dataclasses, datetime, decimal, difflib, enum, fractions, functools, hashlib, heapq, html, io, itertools
import json, math, numbers, operator, pprint, random, re, statistics, string, textwrap, time, types, typing
import unicodedata, urllib.parse, uuid, zoneinfo

return statistics.median(len(note.title) for note in sdk.notes.list() or sdk.tasks.list(limit=1))
""",
    ),
    Recipe(
        "Undo one change",
        "undo revert rollback mistake history restore recover",
        """\
task = sdk.tasks.create("A mistake")
last = sdk.history(task)[0]
return sdk.undo(last).count
""",
    ),
)
