"""Atomic batches that read and write: others do not wait for their first reads, and only shortly for later ones."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from sqlalchemy import event

from panorama.app import App
from panorama.calls import Answer, Conversation
from panorama.domain.changes import Origin
from panorama.errors import InvalidInputError, NotFoundError
from panorama.store.backend import Session
from panorama.store.sqlite.engine import SqliteDatabase

Call = Callable[..., Answer]
READ: dict[str, Any] = {"tool": "list_tasks", "args": {}}
WRITE: dict[str, Any] = {"tool": "create_task", "args": {"title": "Tea"}}
OTHER = Conversation(id="v_other", actor="tool", client="other")


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction has no time to read."""
    monkeypatch.setattr("panorama.calls.invocation.LOCKED_READ_SECONDS", 0.0)


@pytest.mark.usefixtures("no_time")
def test_steps_that_read_first_keep_nobody_waiting(call: Call) -> None:
    done = call("batch", operations=[READ, READ, WRITE]).data

    assert [step["tool"] for step in done["results"]] == ["list_tasks", "list_tasks", "create_task"]
    assert done["results"][0]["data"] == []


@pytest.mark.usefixtures("no_time")
def test_steps_that_read_later_have_little_time(call: Call) -> None:
    with pytest.raises(InvalidInputError, match=r"Step 1 \(list_tasks\): .* take too long") as refused:
        call("batch", operations=[WRITE, READ])

    assert "Put them first" in refused.value.hint
    assert "No step of the batch was kept." in refused.value.message
    assert call("batch", operations=[WRITE, READ], atomic=False).data["succeeded"] == 2
    assert len(call("list_tasks").data) == 1


def test_an_error_of_a_step_that_reads_first_names_the_step(call: Call) -> None:
    with pytest.raises(NotFoundError, match=r"Step 0 \(get_note\): .* No step of the batch was kept"):
        call("batch", operations=[{"tool": "get_note", "args": {"note": "Missing"}}, WRITE])


def test_steps_that_read_first_are_run_again_if_another_client_writes_meanwhile(
    app: App, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("create_note", title="Tea", content="Earl Grey")
    begin, changed = app.context.database.transaction, list[str]()

    def begin_late(origin: Origin) -> AbstractContextManager[Session]:
        if not changed:
            changed.append("Tea")
            app.calls.call("append_to_note", {"note": "Tea", "block": "Assam"}, OTHER)
        return begin(origin)

    monkeypatch.setattr(app.context.database, "transaction", begin_late)
    copy = {"tool": "create_note", "args": {"title": "Copy", "content": "$0.data.content"}}

    call("batch", operations=[{"tool": "get_note", "args": {"note": "Tea"}}, copy])

    assert call("get_note", note="Copy").data["content"] == "Earl Grey\n\nAssam"


def test_a_deletion_in_a_batch_loads_its_item_once(app: App, call: Call) -> None:
    note = call("create_note", title="Tea").data["id"]
    database, statements = app.context.database, list[str]()
    assert isinstance(database, SqliteDatabase)

    def add(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        statements.append(statement)

    event.listen(database._engine, "before_cursor_execute", add)
    call("batch", operations=[WRITE, {"tool": "delete_item", "args": {"item": note}}])

    assert len([statement for statement in statements if "notes.content" in statement]) == 1
