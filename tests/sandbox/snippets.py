"""Forty scripts as a model writes them against the SDK; each with the result it must give.

They are in `snippets.txt`; the SDK is a fake with rows.
"""

from pathlib import Path
from typing import Any, NamedTuple

from panorama.sandbox.rules.facades import Facade
from panorama.sdk import Row

PROJECTS = [
    {"id": "p_1", "name": "Kitchen", "status": "active", "favorite": True},
    {"id": "p_2", "name": "Garden", "status": "planned", "favorite": False},
]
TASKS = [
    {
        "id": f"t_{n}",
        "title": f"Task {n}",
        "status": ("todo", "in_progress", "done")[n % 3],
        "project": PROJECTS[n % 2]["name"] if n % 4 else None,
        "deadline": f"2026-11-{n:02d}" if n % 5 else None,
        "minutes": n * 10,
        "urgent": n % 6 == 0,
        "tags": ["home"] if n % 2 else ["work", "deep"],
    }
    for n in range(1, 13)
]
NOTES = [
    {
        "id": "n_1",
        "title": "Tiles",
        "content": "# Tiles\nBuy 20 m2. See [[Task 3]].\n- white\n- blue",
        "tags": ["home"],
    },
    {
        "id": "n_2",
        "title": "Soil",
        "content": "pH 6.5, see https://example.org/soil and https://example.org/ph",
        "tags": [],
    },
    {
        "id": "n_3",
        "title": "Call with Ada",
        "content": "Ada: 0.256 share\nBo: 0.5 share\nCleo: 0.244 share",
        "tags": ["work"],
    },
]


class Fake:
    """What an SDK does that keeps its rows in lists."""

    def __init__(self) -> None:
        self.tasks = [Row(task) for task in TASKS]
        self.notes = [Row(note) for note in NOTES]

    def list_tasks(self, status: str = "", project: str = "", tag: str = "") -> list[Row]:
        found = (task for task in self.tasks if not status or task.status == status)
        found = (task for task in found if not project or task.project == project)
        return [task for task in found if not tag or tag in task.tags]

    def update_task(self, task: str, **changes: Any) -> Row:
        row = self.get_task(task)
        row.update(changes)
        return row

    def get_task(self, task: str) -> Row:
        for row in self.tasks:
            if row.id == task:
                return row
        raise LookupError(f"no task {task!r}")

    def create_task(self, title: str, **fields: Any) -> Row:
        row = Row({"id": f"t_{len(self.tasks) + 1}", "title": title, "status": "todo", "tags": [], **fields})
        self.tasks.append(row)
        return row

    def sdk(self) -> Facade:
        tasks = {"list": self.list_tasks, "update": self.update_task, "get": self.get_task, "create": self.create_task}
        notes = {"list": lambda: self.notes, "get": lambda note: next(row for row in self.notes if row.id == note)}
        nouns = {"tasks": tasks, "notes": notes, "projects": {"list": lambda: [Row(project) for project in PROJECTS]}}
        made = {name: Facade(f"sdk.{name}", functions) for name, functions in nouns.items()}
        many = {"parallel": lambda *functions: [function() for function in functions]}
        return Facade("sdk", {**made, **many, "state": {}, "progress": lambda *_: None})


class Snippet(NamedTuple):
    name: str
    code: str
    result: object


def _read_snippets() -> list[Snippet]:
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    parts = (part.strip("\n") for part in f"\n{text}".split("\n=== ")[1:])
    snippets: list[Snippet] = []
    for part in parts:
        name, _, rest = part.partition("\n")
        code, _, result = rest.rpartition("\n>>> ")
        snippets.append(Snippet(name, code, eval(result)))
    return snippets


SNIPPETS = _read_snippets()
