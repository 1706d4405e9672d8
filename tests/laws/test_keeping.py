"""What is backed up or exported comes back equal, row by row, whatever was in the store."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from panorama.app import open_app
from panorama.config import Settings
from panorama.domain.items.item import Item
from panorama.store.items import rows
from panorama.store.log import runs
from panorama.store.log.calls import CallLogEntry
from panorama.store.log.runs import Run
from tests.whole import contents, differing

from .things import anything, lines, moments, texts
from .world import BEGIN, ORIGIN, ZONE, World

EXAMPLES = {"full": 40, "more": 16}.get(os.environ.get("HYPOTHESIS_PROFILE", ""), 5)
"""Each takes half a second; they are not made smaller when one fails, which would take minutes."""

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, values, max_size=4)
things = st.lists(anything, max_size=8, unique_by=lambda item: item.id)


def fill_by_operations(world: World, said: str, kept: dict[str, Any]) -> None:
    """Fill a store with what only the product's own operations leave: ties, versions, a trash, undos, a log."""
    world.do("create_project", name="Garden of laws")
    outer = world.do("create_task", title="Dig", project="Garden of laws", deadline="2026-06-01T15:00")["data"]["id"]
    world.do("create_task", title="Dig deeper", parent=outer, idempotency_key="once")
    note = world.do("create_note", title="Plan", project="Garden of laws", content=said * 40)["data"]["id"]
    world.do("append_to_note", note=note, block="x" * 6000)
    world.do("update_note", note=note, content="short")
    world.do("create_reminder", title="Look", at="2026-06-01T09:00", item=outer)
    world.do("write_file", name="plan.csv", text="a,b\n1,2\n", project="Garden of laws")
    world.do("write_file", name="plan.csv", text="a,b\n3,4\n", project="Garden of laws")
    world.do("delete_item", item=world.do("create_note", title="Gone")["data"]["id"])
    world.do("undo")
    call = CallLogEntry(
        id="c_0000000000", unit="c_0000000000", at=BEGIN, actor="tool", client="laws", conversation="v", name="laws",
        arguments=kept, ms=0.1, success=True,
    )  # fmt: skip
    run = Run(
        id="x_0000000000", at=BEGIN, client="laws", conversation="v", status="succeeded", source=said, inputs=kept,
        options={}, changes={"created": 1},
    )  # fmt: skip
    world.app.recorder.record(call, run)
    world.app.recorder.flush()
    with world.database.transaction(ORIGIN) as session:
        runs.save_state(session, "laws", {"kept": kept}, [], BEGIN)


def fill_with_items(world: World, items: list[Item], deleted: Any, said: str, kept: dict[str, Any]) -> None:
    for number, item in enumerate(items):
        label = {"name": f"{number} {item.label}"} if item.KIND == "project" else {}
        living = replace(item, **label)
        world.add(living)
        if number % 3 == 2:
            with world.database.transaction(ORIGIN) as session:
                rows.save(session, living, living.with_changes(deleted, deleted_at=deleted))
    fill_by_operations(world, said, kept)


def brought_back(world: World, path: str, folder: str) -> Path:
    target = Path(folder) / "again"
    world.do("restore", source=path, folder=str(target))
    return target


def assert_equal(world: World, again: Path) -> None:
    world.app.recorder.flush()
    with open_app(Settings(home=again, timezone=ZONE.key)) as app:
        other = World(app)
        assert other.items() == world.items()
        assert other.indexed_words() == other.words_to_index()
        other.check_index()


def a_law(made: Callable[[World, Path], str]) -> Any:
    @settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.reuse, Phase.generate))
    @given(items=things, deleted=moments, said=lines, kept=objects)
    def holds(template: Path, items: list[Item], deleted: Any, said: str, kept: dict[str, Any]) -> None:
        with World.made(template) as world, tempfile.TemporaryDirectory(prefix="kept-") as folder:
            fill_with_items(world, items, deleted, said, kept)
            path = made(world, Path(folder))
            home = world.app.settings.home

            again = brought_back(world, path, folder)

            left = differing_but_for_the_log(home, again)
            assert left == {}, left
            assert contents(home)
            assert_equal(world, again)

    return holds


def differing_but_for_the_log(home: Path, again: Path) -> dict[str, Any]:
    """Compare two stores; the log of the original has gone on since, and answers to its clients stay with it."""
    left = differing(home, again)
    assert left.pop("idempotency", ([], []))[1] == []
    mine, theirs = left.pop("calls", ([], []))
    assert theirs == mine[: len(theirs)]
    assert {row[7] for row in mine[len(theirs) :]} <= {"backup", "export", "restore", "write_file", "undo"}
    return left


def _backed_up(world: World, folder: Path) -> str:
    world.app.recorder.flush()
    return str(world.do("backup", folder=str(folder / "b"), confirm=True)["data"]["path"])


def _exported(world: World, folder: Path) -> str:
    world.app.recorder.flush()
    return str(world.do("export", folder=str(folder / "e"), confirm=True)["data"]["path"])


test_a_backup_comes_back_equal_row_by_row = a_law(_backed_up)
test_an_export_comes_back_equal_row_by_row = a_law(_exported)
