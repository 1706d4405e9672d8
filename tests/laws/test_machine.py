"""A machine that writes whatever comes, beside a dict that does the same: store, model and full text stay one."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from panorama.errors import PanoramaError

from .test_undo import ARGUMENT, CREATE, UPDATE, fields
from .world import World

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
PLAIN = ("task", "note", "link", "journal")
"""Kinds whose names may be the same, so that nothing is refused by chance."""

Model = dict[str, dict[str, Any]]
which = st.integers(0, 50)


class Machine(RuleBasedStateMachine):
    """Tasks, notes, links and journal entries; the model holds what the client said last."""

    template: Path

    @initialize()
    def begin(self) -> None:
        """Open a store of its own."""
        self._made = World.made(self.template)
        self.world = self._made.__enter__()
        self.living: Model = {}
        self.trash: Model = {}
        self.before: tuple[Model, Model] | None = None
        self.is_undone = False
        self.versions: dict[str, int] = {}

    def teardown(self) -> None:
        """Close it."""
        if hasattr(self, "_made"):
            self._made.__exit__(None, None, None)

    @rule(kind=st.sampled_from(PLAIN), data=st.data())
    def create(self, kind: str, data: st.DataObject) -> None:
        """Create an item."""
        chosen = data.draw(fields(kind, whole=True).map(_without_series))
        self._remember()
        self.living[self.world.do(CREATE[kind], **chosen)["data"]["id"]] = _plain_fields(chosen)

    @precondition(lambda self: self.living)
    @rule(at=which, data=st.data())
    def update(self, at: int, data: st.DataObject) -> None:
        """Change some fields of one."""
        id_ = sorted(self.living)[at % len(self.living)]
        kind = {"t": "task", "n": "note", "l": "link", "j": "journal"}[id_[0]]
        chosen = data.draw(fields(kind, whole=False).map(_without_series))
        old = deepcopy((self.living, self.trash))
        answer = self.world.do(UPDATE[kind], **{ARGUMENT[kind]: id_}, **chosen)
        self.living[id_] |= _plain_fields(chosen)
        if "undo" in answer["metadata"]:
            self.before, self.is_undone = old, False

    @precondition(lambda self: any(id_[0] == "n" for id_ in self.living))
    @rule(at=which, block=st.sampled_from(["tea", "東京都", "# Heading", "x" * 5000]))
    def append(self, at: int, block: str) -> None:
        """Add a block to a note."""
        notes = sorted(id_ for id_ in self.living if id_[0] == "n")
        id_ = notes[at % len(notes)]
        self._remember()
        self.world.do("append_to_note", note=id_, block=block)
        text = self.living[id_].get("content", "")
        self.living[id_]["content"] = f"{text}\n\n{block}" if text else block

    @precondition(lambda self: self.living)
    @rule(at=which)
    def delete(self, at: int) -> None:
        """Move one to the trash."""
        id_ = sorted(self.living)[at % len(self.living)]
        self._remember()
        self.world.do("delete_item", item=id_)
        self.trash[id_] = self.living.pop(id_)

    @precondition(lambda self: self.trash)
    @rule(at=which)
    def restore(self, at: int) -> None:
        """Bring one back."""
        id_ = sorted(self.trash)[at % len(self.trash)]
        self._remember()
        self.world.do("restore_item", item=id_)
        self.living[id_] = self.trash.pop(id_)

    @precondition(lambda self: self.before is not None)
    @rule()
    def undo(self) -> None:
        """Take back the last write, or the undo of it."""
        now = deepcopy((self.living, self.trash))
        self.world.do("undo", redo=self.is_undone)
        self.is_undone = not self.is_undone
        assert self.before is not None
        created = now[0].keys() - self.before[0].keys() - self.before[1].keys()
        self.living, self.trash = deepcopy(self.before)
        self.trash |= {id_: now[0][id_] for id_ in created}
        self.before = now

    @precondition(lambda self: self.living or self.trash)
    @rule(at=which)
    def refuse(self, at: int) -> None:
        """Send what cannot be done: nothing changes."""
        id_ = sorted(self.living | self.trash)[at % len(self.living | self.trash)]
        wrong = [
            {"tool": "create_task", "args": {"title": "half a batch"}},
            {"tool": "restore_item" if id_ in self.living else "delete_item", "args": {"item": id_}},
        ]
        with pytest.raises(PanoramaError):
            self.world.do("batch", operations=wrong)

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        """Compare every field that was said."""
        if not hasattr(self, "world"):
            return
        items = self.world.items()
        assert {id_ for id_, item in items.items() if item.deleted_at is None} == self.living.keys()
        for id_, said in (self.living | self.trash).items():
            held = {name: getattr(items[id_], name) for name in said}
            assert {name: list(value) if isinstance(value, tuple) else value for name, value in held.items()} == said
        for id_, item in items.items():
            assert item.version >= self.versions.get(id_, 1)
            self.versions[id_] = item.version

    @invariant()
    def the_index_is_what_it_would_be_if_built_anew(self) -> None:
        """Compare the full text with the rows."""
        if hasattr(self, "world"):
            assert self.world.indexed_words() == self.world.words_to_index()
            self.world.check_index()

    def _remember(self) -> None:
        self.before, self.is_undone = deepcopy((self.living, self.trash)), False


def _without_series(chosen: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in chosen.items() if name != "recurrence"}


def _plain_fields(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are stored just as they are said."""
    same = (
        "title",
        "text",
        "notes",
        "content",
        "description",
        "tags",
        "pinned",
        "urgent",
        "important",
        "rank",
        "status",
    )
    return {name: value for name, value in chosen.items() if name in same}


@pytest.mark.slow
def test_the_store_does_what_a_dict_does(template: Path) -> None:
    machine = type("MachineHere", (Machine,), {"template": template})

    run_state_machine_as_test(machine)
