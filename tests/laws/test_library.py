"""Whatever happens to a script, its state is that of a plain model, and what is no tool by that model never runs."""

from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from panorama.app import App, open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.domain.changes import Origin
from panorama.errors import ConfirmationError, ConflictError, NotFoundError, PanoramaError
from panorama.services.base import ServiceContext
from panorama.store.sqlite.engine import SqliteDatabase
from tests.conftest import BERLIN, CountedIds, StandingClock
from tests.kept import Person

NAMES = ("one", "two")
TEXTS = tuple(f'"""Say {number}."""\n\n\ndef main() -> int:\n    return {number}\n' for number in range(3))
names, texts = st.sampled_from(NAMES), st.sampled_from(range(len(TEXTS)))


class _Decision:
    """What a person decided on one script: a state, and the text it is bound to."""

    def __init__(self) -> None:
        self.state, self.text = "draft", -1
        self.rejected: set[int] = set()

    def of(self, text: int | None) -> str:
        return self.state if text is not None and text == self.text else "draft"


class Scripts(RuleBasedStateMachine):
    """Edits, decisions and runs of two scripts, beside a model of what they should be."""

    home: Path
    app: App
    opening: Any

    @initialize()
    def open(self) -> None:
        """Begin with an empty library."""
        self.number = 0
        self.files: dict[str, int | None] = dict.fromkeys(NAMES)
        self.decided = {name: _Decision() for name in NAMES}
        folder = self.app.settings.home / "scripts"
        for path in folder.glob("*") if folder.is_dir() else ():
            path.unlink()
        with self.app.context.database.transaction(_NOBODY) as session:
            session.connection.exec_driver_sql("DELETE FROM scripts")
            session.connection.exec_driver_sql("DELETE FROM reviews")
        self.person = Person(self.app)

    def _call(self, operation: str, agreed: str = "", **arguments: Any) -> Any:
        self.number += 1
        conversation = Conversation(f"v_{self.number:010}", actor="tool")
        return self.app.calls.call(operation, arguments, conversation, agreed).data

    @rule(name=names, text=texts)
    def edit(self, name: str, text: int) -> None:
        """A person writes the file."""
        folder = self.app.settings.home / "scripts"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(TEXTS[text], encoding="utf-8")
        self.files[name] = text

    @rule(name=names, text=texts)
    def save(self, name: str, text: int) -> None:
        """A model writes it; the user agrees if it overwrites what they wrote."""
        try:
            self._call("save_script", name=name, code=TEXTS[text], replace=True)
        except ConfirmationError as asked:
            self._call("save_script", asked.agreement, name=name, code=TEXTS[text], replace=True)
        self.files[name] = text

    @rule(name=names)
    def remove(self, name: str) -> None:
        """A person deletes the file."""
        (self.app.settings.home / "scripts" / f"{name}.py").unlink(missing_ok=True)
        self.files[name] = None

    @precondition(lambda self: any(text is not None for text in self.files.values()))
    @rule(name=names)
    def approve(self, name: str) -> None:
        """A person approves what is there."""
        if (text := self.files[name]) is None:
            return
        decided = self.decided[name]
        self.person.approves(name)
        decided.rejected.discard(text)
        decided.state, decided.text = "promoted" if decided.state == "promoted" else "reviewed", text

    @rule(name=names, to=st.sampled_from(["reviewed", "promoted", "demoted", "retired"]))
    def move(self, name: str, to: str) -> None:
        """A person agrees to a move."""
        text, decided = self.files[name], self.decided[name]
        if text is None:
            return
        state = decided.of(text)
        if to == "demoted":
            is_refused = decided.state != "promoted"
        else:
            is_rejected = to != "retired" and state == "draft" and text in decided.rejected
            is_refused = state == to or is_rejected or (to == "reviewed" and state == "promoted")
        try:
            self.person.promotes(name, to=to)
        except ConflictError:
            assert is_refused, (name, state, to)
            return
        assert not is_refused, (name, state, to)
        if to == "reviewed" and decided.state == "promoted":
            to = "promoted"  # a tool that is approved again is one again
        if to == "demoted":
            decided.state = "reviewed"
            return
        decided.state, decided.text = to, text

    @rule(name=names)
    def reject(self, name: str) -> None:
        """A person does not want what is there."""
        text, decided = self.files[name], self.decided[name]
        if text is None:
            return
        digest = self._call("scripts.get", script=name)["digest"]
        self._call("scripts.reject", script=name, digest=digest)
        if decided.of(text) != "draft":
            decided.state, decided.text = "draft", -1
        decided.rejected.add(text)

    @rule(name=names, to=st.sampled_from(["reviewed", "promoted", "demoted", "retired"]))
    def ask(self, name: str, to: str) -> None:
        """A model asks, and nobody answers."""
        with pytest.raises((ConfirmationError, ConflictError, NotFoundError)):
            self._call("promote_script", script=name, to=to)

    @invariant()
    def states_are_those_of_the_model(self) -> None:
        """Compare, by list and by look."""
        listed = {row["name"]: row["state"] for row in self._call("list_scripts") if row["name"] in NAMES}
        expected = {name: self.decided[name].of(text) for name, text in self.files.items() if text is not None}
        assert listed == expected

    @invariant()
    def tools_are_those_of_the_model_and_no_other_runs(self) -> None:
        """Compare the tools, and call each."""
        expected = [f"script_{name}" for name in NAMES if self.decided[name].of(self.files[name]) == "promoted"]
        assert [tool.operation.tool for tool in self.app.calls.promoted_tools.list_tools()] == expected
        for name in NAMES:
            try:
                found = self.app.calls.promoted_tools.find(f"script_{name}")
                text = self.app.calls.call("scripts.get", {"script": name}, Conversation("cli", "cli")).data["text"]
            except PanoramaError:
                continue
            assert (found is not None) == (f"script_{name}" in expected)
            assert text == TEXTS[self.files[name] or 0]


_NOBODY = Origin(actor="tests", client="", conversation="", operation="", call="", unit="")


@pytest.mark.slow
def test_states_are_those_of_the_model(home: Path, database: SqliteDatabase) -> None:
    context = ServiceContext(database, BERLIN, home, StandingClock(), CountedIds())
    with open_app(read_settings(home=home), context) as app:
        machine = type("Machine", (Scripts,), {"app": app})
        run_state_machine_as_test(machine, settings=settings(max_examples=25, stateful_step_count=20, deadline=None))
