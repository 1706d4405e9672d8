"""Whatever is written, and wherever the model or the index fails: both converge to what a fresh build gives."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from panorama.calls import Conversation
from panorama.errors import NotFoundError, PanoramaError, UnavailableError
from panorama.services.search import embedding_pipeline, index_sync
from panorama.services.search.semantic_index import SemanticIndex

from .world import LONG, FailingIndex, World

Step = tuple[str, Any]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("note"), st.integers(0, 3)),
        st.tuples(st.just("shorten"), st.integers(0, 9)),
        st.tuples(st.just("grow"), st.integers(0, 9)),
        st.tuples(st.just("delete"), st.integers(0, 9)),
        st.tuples(st.just("undo"), st.just(0)),
        st.tuples(st.just("fail the index"), st.integers(1, 6)),
        st.tuples(st.just("fail the model"), st.integers(1, 3)),
        st.tuples(st.just("lose the index"), st.just(0)),
        st.tuples(st.just("cut the power"), st.just(0)),
        st.tuples(st.just("move"), st.integers(0, 9)),
        st.tuples(st.just("drop a project"), st.sampled_from(("keep", "trash"))),
        st.tuples(st.just("purge"), st.just(0)),
        st.tuples(st.just("change the model"), st.integers(0, 2)),
        st.tuples(st.just("catch up"), st.integers(0, 4)),
    ),
    max_size=14,
)


GOES_AND_COMES = [
    ("note", 3),
    ("catch up", 0),
    ("shorten", 0),
    *[("note", 0)] * 4,
    ("catch up", 2),
    ("move", 1),
    ("grow", 0),
]


NEVER_MEANWHILE = ("catch up", "cut the power", "lose the index", "change the model")


CHANGES = [
    *[("note", 3)] * 3,
    ("catch up", 0),
    ("change the model", 1),
    ("fail the model", 2),
    ("catch up", 0),
    ("fail the index", 4),
    ("catch up", 0),
    ("note", 0),
    ("catch up", 4),
    ("shorten", 0),
    ("lose the index", 0),
    ("delete", 1),
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    STEPS, st.sampled_from((2, index_sync.REBUILD_THRESHOLD)), st.sampled_from((0.0, index_sync.SYNC_INTERVAL_SECONDS))
)
@example(GOES_AND_COMES, 2, index_sync.SYNC_INTERVAL_SECONDS)
@example(CHANGES, 2, 0.0)
def test_it_converges_from_every_failure(world: World, steps: list[Step], many: int, tell_seconds: float) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index_sync, "REBUILD_THRESHOLD", many)  # with two, the index is built of what is read meanwhile
        patched.setattr(index_sync, "SYNC_INTERVAL_SECONDS", tell_seconds)  # with none, it is told after each step
        patched.setattr(index_sync, "CHANGES_PER_STEP", 3)
        patched.setattr(embedding_pipeline, "CHANGES_PER_STEP", 3)
        Walk(world, steps).taken()


class Walk:
    """Steps that are taken one after another; some of them while others catch up."""

    def __init__(self, world: World, steps: Sequence[Step]) -> None:
        self.world = world
        self.steps = list(reversed(steps))
        self.notes: list[str] = []
        self.project = world.project()
        self.house: SemanticIndex | None = None

    def taken(self) -> None:
        """Take the steps, and see that the index holds what the store holds."""
        while self.steps:
            step, number = self.steps.pop()
            if step == "catch up":
                self.catch_up(number)
                continue
            self.house = None if step in NEVER_MEANWHILE else self.house
            if step == "cut the power":
                self.world.index = self.world.index.after_a_power_cut()
            elif step == "lose the index":
                self.world.index = FailingIndex(self.world.index.model)
            elif step == "change the model":
                self.world.choose(number)
            else:
                self.take(step, number)
        self.world.check()

    def catch_up(self, number: int) -> None:
        """Catch up, and let so many of the next steps happen meanwhile; after an odd number it is as after a crash."""
        meanwhile = [number]
        house = self.house = self.house or self.world.house
        was_changing = house.is_changing

        def moved() -> None:
            assert house.is_changing == was_changing  # what is not whole is not searched
            meanwhile[0] -= 1
            if meanwhile[0] >= 0 and self.steps and self.steps[-1][0] not in NEVER_MEANWHILE:
                self.take(*self.steps.pop())

        with suppress(UnavailableError):
            house.catch_up(moved=moved)
        if number % 2:
            self.house = None

    def take(self, step: str, number: Any) -> None:
        """Take a step that may happen at any time."""
        world = self.world
        if step == "note":
            self.notes.append(world.do("create_note", title=f"Jam {len(self.notes)}", content=LONG * number)["id"])
        elif step == "drop a project":
            with suppress(NotFoundError):  # it was undone
                world.do("delete_item", item=self.project, items=number, confirm=True)
            self.project = world.project()
        elif step == "undo" and self.notes:
            world.do("undo")
        elif step == "purge":
            world.talk = Conversation("v_laws", "tool", "laws")  # or the guard takes it for a loop
            world.do("purge", days=0, confirm=True)
        elif step == "fail the index":
            world.index.fails_in = number
        elif step == "fail the model":
            world.embedder.fails_in = number
        elif self.notes:
            with suppress(PanoramaError):  # it is in the trash already
                self.change(step, self.notes[number % len(self.notes)], number)

    def change(self, step: str, note: str, number: int) -> None:
        """Change a note."""
        if step == "delete":
            self.world.do("delete_item", item=note)
        elif step == "move":
            self.world.do("update_note", note=note, project=self.project if number % 2 else "none")
        elif step in ("shorten", "grow"):
            self.world.do("update_note", note=note, content="Short." if step == "shorten" else LONG * 3)
