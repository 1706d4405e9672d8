"""Scripts and batches that send little and store much: what is stored counts, not what is sent."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.domain import changes
from panorama.domain.changes import WriteBudget
from panorama.domain.scripts.scripts import Limits
from panorama.errors import InvalidInputError
from panorama.services.items import batch
from panorama.services.scripts import code, script_run

Call = Callable[..., Answer]
LIMIT = 300_000
TEXT = " ".join(map(str, range(16_000)))
"""Some 80,000 characters, no two parts of them alike."""


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs and batches that may store 300,000 bytes."""
    for module in (code, script_run):
        monkeypatch.setattr(module, "Limits", lambda **more: Limits(sent_bytes=LIMIT, **more))
    monkeypatch.setattr("panorama.calls.invocation.WriteBudget", lambda: WriteBudget(LIMIT))


def count_stored(app: App) -> int:
    """Return the bytes of all texts that the database and the folder of files hold."""
    tables = {"notes": "content", "tasks": "notes", "texts": "text", "changes": "before", "idempotency": "answer"}
    with app.context.database.reading() as session:
        rows = [
            session.connection.exec_driver_sql(f"SELECT coalesce(sum(length({column})), 0) FROM {table}").scalar_one()
            for table, column in tables.items()
        ]
    contents = [path.stat().st_size for path in (app.settings.home / "files").rglob("*") if path.is_file()]
    return sum(rows) + sum(contents)


SCRIPTS = {
    "references": """
for n in range(30):
    steps = [{"tool": "get_note", "args": {"note": "Big"}}]
    steps += [{"tool": "create_note", "args": {"title": f"{n} {m}", "content": "$0.data.content"}} for m in range(9)]
    sdk.batch(steps, atomic=False)
""",
    "files by references": """
for n in range(60):
    steps = []
    for m in range(9):
        steps.append({"tool": "get_note", "args": {"note": "Big", "start": n * 900 + m * 100, "chars": 4000}})
        steps.append({"tool": "write_file", "args": {"name": f"{n} {m}.txt", "text": f"${2 * m}.data.content"}})
    sdk.batch(steps, atomic=False)
""",
    "undo": """
big = sdk.notes.get("Big")
for n in range(60):
    sdk.notes.update(big.id, content=f"{n}")
    sdk.undo(str(sdk.history(big.id)[0].change))
    sdk.notes.append(big.id, f"{n}")
""",
    "tasks that repeat": """
task = sdk.tasks.create("Tea", notes="tea " * 20_000, deadline="2026-05-20", recurrence="FREQ=DAILY")
for n in range(60):
    sdk.tasks.update(sdk.tasks.list(status="todo")[0].id, status="done")
""",
}


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_stores_no_more_than_it_may(app: App, call: Call, script: str) -> None:
    call("create_note", title="Big", content=TEXT)
    call("create_note", title="Small")
    before = count_stored(app)

    call("run_code", code=script)

    assert count_stored(app) - before <= 2 * LIMIT


ROWS = {
    "links": """
for n in range(40):
    sdk.notes.create(f"L{n}", content=" ".join(f"[[{n} {m}]]" for m in range(800)))
""",
    "small tasks": """
for n in range(16):
    steps = [{"tool": "create_task", "args": {"title": f"{n} {m}"}} for m in range(50)]
    sdk.batch(steps, atomic=False)
""",
}


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("script", ROWS.values(), ids=ROWS)
def test_a_script_stores_no_more_rows_than_fit_into_its_limit(app: App, call: Call, script: str) -> None:
    call("run_code", code=script)

    with app.context.database.reading() as session:
        links, items = (
            session.connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()
            for table in ("edges", "changes")
        )
    assert 0 < 150 * links + 1_000 * items <= LIMIT


@pytest.mark.usefixtures("small_limit")
def test_a_script_over_its_limit_is_refused_in_our_voice_and_the_call_changes_nothing(app: App, call: Call) -> None:
    call("create_note", title="Big", content=TEXT)

    ran = call("run_code", code=SCRIPTS["references"].replace("atomic=False", "atomic=True")).data

    assert "exceed the storage limit" in ran["error"]["message"]
    assert len(call("list_notes", limit=100).data) % 9 == 1  # whole batches of nine, and the note that was there


@pytest.mark.parametrize("atomic", [True, False])
def test_a_batch_of_a_client_stores_no_more_than_it_may(
    app: App, call: Call, atomic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("panorama.calls.invocation.WriteBudget", lambda: WriteBudget(10_000))
    call("create_note", title="Big", content=TEXT)
    before = count_stored(app)
    steps: list[dict[str, Any]] = [{"tool": "get_note", "args": {"note": "Big"}}]
    steps += [{"tool": "create_note", "args": {"title": str(n), "content": "$0.data.content"}} for n in range(30)]

    if atomic:
        with pytest.raises(InvalidInputError, match="exceed the storage limit"):
            call("batch", operations=steps)
    else:
        assert call("batch", operations=steps, atomic=False).data["failed"] > 20

    assert count_stored(app) - before <= 20_000


def test_an_atomic_batch_writes_no_more_text_than_others_can_wait_for(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_ATOMIC_BYTES", 5 * len(TEXT))
    call("create_note", title="Big", content=TEXT)
    steps = [{"tool": "append_to_note", "args": {"note": "Big", "block": str(n)}} for n in range(9)]

    with pytest.raises(InvalidInputError, match="MB of text in one transaction") as refused:
        call("batch", operations=steps)

    assert "No step of the batch was kept." in refused.value.message
    assert "atomic=false" in refused.value.hint
    assert call("get_note", note="Big").data["version"] == 1
    assert call("batch", operations=steps, atomic=False).data["succeeded"] == len(steps)


def test_references_of_one_step_are_bounded(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "MAX_REFERENCED_CHARS", 1_000_000)
    call("create_note", title="Big", content=TEXT)
    steps = [
        {"tool": "get_note", "args": {"note": "Big"}},
        {"tool": "create_note", "args": {"title": "Many", "tags": ["$0.data.content"] * 15_000}},
    ]

    with pytest.raises(InvalidInputError, match="the references of this step stand for more than"):
        call("batch", operations=steps)


def test_what_a_script_replaces_does_not_count(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MAX_UNIT_BYTES", LIMIT)
    call("create_note", title="Big", content=TEXT)

    ran = call("run_code", code="for n in range(40):\n    sdk.notes.append('Big', f'line {n}')\nreturn n").data

    assert ran["result"] == 39


@pytest.mark.usefixtures("small_limit")
def test_a_dry_run_stores_no_more_than_a_run(call: Call) -> None:
    call("create_note", title="Big", content=TEXT)

    ran = call("run_code", code=SCRIPTS["references"].replace("atomic=False", "atomic=True"), dry_run=True).data

    assert "exceed the storage limit" in ran["error"]["message"]


def test_an_atomic_batch_loads_no_more_text_than_others_can_wait_for(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("panorama.calls.invocation.changes.MAX_ATOMIC_BYTES", 5 * len(TEXT))
    call("create_note", title="Big", content=TEXT)
    steps = [{"tool": "update_note", "args": {"note": "Big", "pinned": n % 2 == 0}} for n in range(9)]

    with pytest.raises(InvalidInputError, match="MB of text in one transaction"):
        call("batch", operations=steps)

    assert call("batch", operations=steps, atomic=False).data["succeeded"] == len(steps)


MANY_STEPS = {
    "links": [
        {"tool": "create_note", "args": {"title": f"{n}", "content": " ".join(f"[[{n} {m}]]" for m in range(5_000))}}
        for n in range(3)
    ],
    "names": [
        {"tool": "create_person", "args": {"name": f"Anna {n}", "aliases": [f"anna {n} {m}" for m in range(50)]}}
        for n in range(99)
    ],
    "task lines": [{"tool": "update_note", "args": {"note": note, "content": "none"}} for note in ("Home", "Work")],
}


@pytest.mark.parametrize("steps", MANY_STEPS.values(), ids=MANY_STEPS)
def test_an_atomic_batch_writes_no_more_links_names_and_task_lines_than_others_can_wait_for(
    call: Call, steps: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("panorama.calls.invocation.changes.MAX_ATOMIC_BYTES", 10 << 20)
    for note in ("Home", "Work"):
        call("create_note", title=note, content="".join(f"- [ ] {note} {n}\n" for n in range(120)))
        call("create_tasks_from_note", note=note)

    with pytest.raises(InvalidInputError, match="for one transaction") as refused:
        call("batch", operations=steps)

    assert "atomic=false" in refused.value.hint
    assert call("batch", operations=steps, atomic=False).data["succeeded"] == len(steps)
