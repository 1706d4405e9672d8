"""The calls that are made all day, with what each may cost."""

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

from panorama.app import App
from panorama.calls import Conversation

PERSON = Conversation(id="v_everyday", actor="cli", client="tests")
NOTES = TASKS = 30
WARM_CALLS = 8
"""A statement is prepared, and its columns known, after some calls."""


COUNTED_CALLS = 3
"""The least of some calls counts: on a busy machine the end of a view may pass the proxy during the next call."""


class Cost(NamedTuple):
    """The most round trips to a server, with the one that ends a view and is not waited for, and statements to SQLite.

    The statements are those of the calls as they are here; with more hits or links there are more.
    """

    round_trips: int
    statements: int


COSTS = {
    "create_task": Cost(4, 7),
    "create_task in a project": Cost(4, 8),
    "create_task with a key": Cost(4, 10),
    "create_note": Cost(4, 7),
    "update_task": Cost(4, 12),
    "update_note": Cost(4, 9),
    "get_note": Cost(2, 1),
    "list_tasks": Cost(4, 4),
    "list_notes": Cost(4, 2),
    "search": Cost(5, 8),
    "search for one word": Cost(5, 6),
    "project_dashboard": Cost(4, 10),
    "weekly_review": Cost(7, 21),
    "list_scripts": Cost(5, 2),
}


def everyday_calls(app: App) -> dict[str, Callable[[], Any]]:
    """Fill an app a little, and return the calls by the names of their costs."""

    def call(operation: str, **arguments: Any) -> Any:
        return app.calls.call(operation, arguments, PERSON)

    call("create_project", name="Garden")
    for number in range(NOTES):
        call("create_note", title=f"Note {number}", content=f"Alpha beta gamma {number} plants water. " * 20)
    for number in range(TASKS):
        call("create_task", title=f"Task {number}", project="Garden", deadline="tomorrow" if number % 2 else "")
    note = call("create_note", title="Read again", content="text " * 100).data["id"]
    task = call("create_task", title="Changed again", project="Garden").data["id"]
    numbers = count()
    return {
        "create_task": lambda: call("create_task", title=f"New {next(numbers)}"),
        "create_task in a project": lambda: call("create_task", title=f"New {next(numbers)}", project="Garden"),
        "create_task with a key": lambda: call(
            "create_task", title=f"New {next(numbers)}", idempotency_key=f"key {next(numbers)}"
        ),
        "create_note": lambda: call("create_note", title=f"New {next(numbers)}", content="some words " * 100),
        "update_task": lambda: call("update_task", task=task, title=f"Changed {next(numbers)}"),
        "update_note": lambda: call("update_note", note=note, content=f"{'words ' * 50}{next(numbers)}"),
        "get_note": lambda: call("get_note", note=note),
        "list_tasks": lambda: call("list_tasks", limit=1 + next(numbers) % 20),
        "list_notes": lambda: call("list_notes", limit=1 + next(numbers) % 20),
        "search": lambda: call("search", query="alpha plants", mode="keyword", limit=1 + next(numbers) % 10),
        "search for one word": lambda: call("search", query="gamma", mode="keyword", limit=1 + next(numbers) % 10),
        "project_dashboard": lambda: call("project_dashboard", project="Garden"),
        "weekly_review": lambda: call("weekly_review"),
        "list_scripts": lambda: call("list_scripts"),
    }


def count_calls(app: App, counted: Callable[[], int]) -> dict[str, int]:
    """Return by how much a counter grows with each everyday call, once its statements are known."""
    found: dict[str, int] = {}
    for name, step in everyday_calls(app).items():
        for _ in range(WARM_CALLS):
            step()
        found[name] = min(_count_once(step, counted) for _ in range(COUNTED_CALLS))
    return found


def _count_once(step: Callable[[], Any], counted: Callable[[], int]) -> int:
    before = counted()
    step()
    return counted() - before
