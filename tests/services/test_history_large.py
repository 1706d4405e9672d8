"""History of large units: what is listed and asked reads few of their changes, and says the same as reading all."""

import random
from collections.abc import Callable

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from panorama.app import App
from panorama.domain.changes import Change
from panorama.errors import ConflictError, PanoramaError
from panorama.store.backend import Session
from panorama.store.log import changes, undo_units
from tests.services.queued import Call
from tests.services.test_undo_large import write_many

SIZE = 700
READ_AT_MOST = 500
Reads = list[object]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """The lines of changes that were read."""
    found: Reads = []
    load: Callable[[object], object] = vars(changes)["_to_change"]

    def load_and_note(row: object) -> object:
        found.append(row)
        return load(row)

    monkeypatch.setattr(changes, "_to_change", load_and_note)
    return found


@pytest.mark.slow
def test_history_and_the_question_of_an_undo_read_few_changes_of_a_large_unit(call: Call, reads: Reads) -> None:
    unit = write_many(call, SIZE)
    reads.clear()

    (write,) = call("history").data
    with pytest.raises(PanoramaError, match=f"Take back {SIZE:,} changes") as asked:
        call("undo")

    assert len(reads) < READ_AT_MOST
    assert (write["unit"], write["changes"], write["undone"]) == (unit, SIZE, False)
    assert unit in asked.value.message


@pytest.mark.slow
def test_history_and_a_bare_undo_read_few_changes_of_a_large_unit_that_was_undone(call: Call, reads: Reads) -> None:
    call("create_task", title="Earlier")
    unit = write_many(call, SIZE)
    call("undo", unit=unit, confirm=True)
    reads.clear()

    writes = call("history").data
    undone = call("undo")

    assert len(reads) < READ_AT_MOST
    assert [write["undone"] for write in writes] == [False, True, False]
    assert [row["label"] for row in undone.data["undone"]] == ["Earlier"]


def test_a_change_of_several_fields_counts_once_among_the_conflicts(call: Call) -> None:
    call("create_task", title="Tea")
    unit = call("update_task", task="Tea", status="done").metadata["undo"]
    call("update_task", task="Tea", status="cancelled")

    with pytest.raises(ConflictError, match=r"^1 of 1 changes of "):
        call("undo", unit=unit)


def test_a_question_names_the_changes_that_are_left_of_a_large_unit(call: Call) -> None:
    unit = write_many(call)
    call("update_task", task="Task 0", title="Mine")

    with pytest.raises(PanoramaError, match="Take back 69 changes"):
        call("undo", unit=unit, skip_conflicts=True)
    with pytest.raises(ConflictError, match="were changed again since"):
        call("undo", unit=unit)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_whether_a_unit_stands_is_the_same_as_reading_all_of_it(app: App, call: Call, seed: int) -> None:
    chance = random.Random(seed)
    call("create_task", title="0")
    for number in range(60):
        with app.context.database.reading() as session:
            units = [line.unit for line in changes.list_last_of_units(session, limit=100)]
            if number % 6 == 5:
                stands = {unit: bool(changes.list_effective(session, unit)) for unit in units}
                assert {unit: changes.has_effective_change(session, unit) for unit in units} == stands
                standing = {unit for unit in units if stands[unit]}
                assert standing <= undo_units.list_candidate_units(session, units)
                undos = {unit for unit in units if is_undo(changes.list_by_unit(session, unit), session)}
                assert undo_units.list_undo_units(session, units) == undos
        act(call, chance, number, units)


def is_undo(lines: list[Change], session: Session) -> bool:
    """Return whether lines only undid others, followed one by one."""
    if any(line.undoes is None for line in lines):
        return False
    depth, target = 0, lines[0].undoes
    while target:
        depth, target = depth + 1, changes.list_by_unit(session, str(target))[0].undoes
    return depth % 2 == 1


def test_an_undo_after_many_others_sends_few_statements(call: Call) -> None:
    for number in range(45):
        call("create_task", title=f"Task {number}")
    for _ in range(43):
        call("undo")
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        undone = call("undo")
    finally:
        event.remove(Engine, "before_cursor_execute", note)

    assert [row["label"] for row in undone.data["undone"]] == ["Task 1"]
    assert len(sent) < 250


def act(call: Call, chance: random.Random, number: int, units: list[str]) -> None:
    """Write or take back something; what is refused changes nothing."""
    tasks = [row["id"] for row in call("query", collection="tasks", select=["id"], limit=1 + number).data] or ["none"]
    steps = [
        {"tool": "update_task", "args": {"task": chance.choice(tasks), "notes": f"note {number}"}},
        {"tool": "update_task", "args": {"task": chance.choice(tasks), "urgent": chance.random() < 0.5}},
        {"tool": "create_task", "args": {"title": f"Task {number}"}},
    ]
    try:
        match chance.randrange(6):
            case 0:
                call("create_task", title=f"Other {number}")
            case 1:
                call("update_task", task=chance.choice(tasks), title=f"Title {number}", notes=f"note {number}")
            case 2:
                call("batch", operations=steps)
            case 3:
                call("undo", redo=chance.random() < 0.5, confirm=True)
            case _:
                call("undo", unit=chance.choice(units), skip_conflicts=True, confirm=True)
    except PanoramaError:
        pass
