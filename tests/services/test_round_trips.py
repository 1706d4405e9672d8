"""How many statements an operation sends: over a network each would be a round trip."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import Settings

TITLES = 6
BUDGETS = {
    "create_task": 10, "create_note": 10, "update_task": 6, "update_note": 14, "get_note": 1, "list_tasks": 3,
    "list_notes": 1, "search": 6, "project_dashboard": 8, "related": 7, "get_item": 8,
    "history": 7,
}  # fmt: skip
"""The most statements of each, with the beginning and the end of the transaction for a write."""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """A store with a project, tasks and notes that link to each other."""
    with open_app(Settings(home=tmp_path / "home", timezone="Europe/Berlin")) as app:
        call(app, "create_project", name="Kitchen")
        for number in range(TITLES):
            call(app, "create_task", title=f"Step {number}", project="Kitchen", deadline="tomorrow")
            call(app, "create_note", title=f"Log {number}", content="Green [[Log 0]]")
        yield app


def call(app: App, tool: str, /, **arguments: Any) -> Any:
    return app.calls.call(tool, arguments, Conversation(id="v_tests", actor="cli", client="tests")).data


def find(app: App, title: str) -> str:
    return call(app, "get_item", item=title)["item"]["id"]


def arguments_of(app: App, tool: str) -> dict[str, Any]:
    """Return the arguments of the measured call of a tool, with ids in place of names."""
    task, note, project = (find(app, title) for title in ("Step 1", "Log 0", "Kitchen"))
    return {
        "create_task": {"title": "Oven", "project": project}, "create_note": {"title": "Oven", "content": "[[Log 1]]"},
        "update_task": {"task": task, "status": "in_progress"}, "update_note": {"note": note, "content": "Black"},
        "get_note": {"note": note}, "list_tasks": {}, "list_notes": {}, "search": {"query": "green"},
        "project_dashboard": {"project": project}, "related": {"item": note}, "get_item": {"item": note},
        "history": {}, "person_dashboard": {"person": "Ana Blum"},
    }[tool]  # fmt: skip


@pytest.fixture
def count_statements(app: App) -> Callable[[str], list[str]]:
    """Returns a function that calls a tool and returns the statements that it sent."""
    statements: list[str] = []

    thread = threading.get_ident()  # other threads write the call log meanwhile

    def record(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if threading.get_ident() == thread:
            statements.append(statement)

    def record_end(_connection: Any) -> None:
        if threading.get_ident() == thread:
            statements.append("COMMIT")

    def count(tool: str) -> list[str]:
        arguments = arguments_of(app, tool)
        app.recorder.flush()
        statements.clear()
        event.listen(Engine, "before_cursor_execute", record)
        event.listen(Engine, "commit", record_end)
        try:
            call(app, tool, **arguments)
            return list(statements)
        finally:
            event.remove(Engine, "before_cursor_execute", record)
            event.remove(Engine, "commit", record_end)

    return count


@pytest.mark.parametrize("tool", BUDGETS)
def test_an_operation_stays_in_its_budget(tool: str, count_statements: Callable[[str], list[str]]) -> None:
    statements = count_statements(tool)

    assert len(statements) <= BUDGETS[tool], statements


@pytest.mark.parametrize("tool", ["related", "history"])
def test_a_listing_takes_as_many_statements_for_more_rows(
    tool: str, app: App, count_statements: Callable[[str], list[str]]
) -> None:
    few = count_statements(tool)
    for number in range(TITLES, 3 * TITLES):
        call(app, "create_note", title=f"Log {number}", content="Green [[Log 0]]")

    assert len(count_statements(tool)) == len(few)


def test_the_notes_that_mention_a_person_are_read_together(
    app: App, count_statements: Callable[[str], list[str]]
) -> None:
    call(app, "create_person", name="Ana Blum")
    call(app, "create_note", title="First", content="Ana Blum called.")
    few = count_statements("person_dashboard")
    for number in range(6):
        call(app, "create_note", title=f"Call {number}", content="Ana Blum called.")

    assert len(count_statements("person_dashboard")) == len(few)


def test_each_step_of_a_batch_sees_the_item_as_the_step_before_left_it(app: App) -> None:
    note = find(app, "Log 1")
    steps = [
        {"tool": "append_to_note", "args": {"note": note, "block": "First"}},
        {"tool": "create_task", "args": {"title": "Between", "project": find(app, "Kitchen")}},
        {"tool": "append_to_note", "args": {"note": note, "block": "Second"}},
        {"tool": "update_note", "args": {"note": note, "pinned": True, "expected_version": 3}},
    ]

    call(app, "batch", operations=steps)

    text = call(app, "get_note", note=note)
    assert text["content"].endswith("First\n\nSecond")
    assert text["version"] == 4
