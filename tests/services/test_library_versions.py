"""Versions of saved scripts: what is overwritten can be put back, and what came with the program."""

from pathlib import Path

import pytest

from panorama.app import App
from panorama.errors import ConfirmationError, InvalidInputError
from tests.kept import COUNTING, WRITING, Person, changed_text_ends_it, put
from tests.services.shelves import Call, person, shipped, state, tools

__all__ = ["person", "shipped"]


def test_every_text_that_was_approved_can_be_put_back(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)
    person.approves("count")
    path = put(app, "count", WRITING)
    person.promotes("count")

    person.decides("scripts.rollback", script="count")

    versions = call("scripts.history", script="count").data["versions"]
    assert path.read_text() == COUNTING
    assert state(call, "count") == "reviewed"
    assert [(version["version"], version["current"]) for version in versions] == [(3, True), (2, False), (1, True)]
    assert "-def main(title" in call("scripts.diff", script="count", old=2).data["diff"]


def test_a_draft_of_the_person_is_overwritten_only_after_a_question_and_stays_a_version(
    call: Call, app: App, person: Person
) -> None:
    path = put(app, "count", COUNTING)

    with pytest.raises(ConfirmationError, match="Overwrite your own draft count"):
        call("save_script", name="count", code=WRITING, replace=True)
    assert path.read_text() == COUNTING
    person.decides("save_script", name="count", code=WRITING, replace=True)

    versions = call("scripts.history", script="count").data["versions"]
    assert [(version["version"], version["verdict"], version["by"]) for version in versions] == [
        (2, "saved", "cli"),
        (1, "written", "file"),
    ]
    assert "-def main(project" in call("scripts.diff", script="count", old=1).data["diff"]


def test_the_overwritten_draft_of_the_person_can_be_put_back(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.decides("save_script", name="count", code=WRITING, replace=True)

    person.decides("scripts.rollback", script="count", version=1)

    assert path.read_text() == COUNTING


def test_a_text_that_a_rollback_overwrites_is_a_version_too(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)
    person.approves("count")
    path = put(app, "count", WRITING)

    person.decides("scripts.rollback", script="count")
    person.decides("scripts.rollback", script="count", version=2)

    assert path.read_text() == WRITING


def test_an_assistant_overwrites_its_own_draft_without_a_question_and_nothing_is_lost(call: Call) -> None:
    call("save_script", name="count", code=COUNTING)

    call("save_script", name="count", code=WRITING, replace=True)

    versions = call("scripts.history", script="count").data["versions"]
    assert [version["verdict"] for version in versions] == ["saved", "saved"]


@changed_text_ends_it
def test_a_text_that_was_approved_long_ago_is_a_draft_when_somebody_else_puts_it_back(
    call: Call, app: App, person: Person
) -> None:
    put(app, "count", COUNTING)
    person.approves("count")
    put(app, "count", WRITING)
    person.approves("count")

    call("save_script", name="count", code=COUNTING, replace=True)

    assert state(call, "count") == "draft"


def test_a_shipped_script_is_reviewed_until_it_is_edited_and_the_edit_wins(
    call: Call, app: App, shipped: Path, person: Person
) -> None:
    before = call("run_script", script="ours").data
    put(app, "ours", '"""Say seven."""\n\ndef main() -> int:\n    return 7\n')
    edited = call("run_script", script="ours").data
    (shipped / "ours.py").write_text('"""Say eight."""\n\ndef main() -> int:\n    return 8\n')

    after = call("run_script", script="ours").data

    assert [(item["result"], item["script_state"]) for item in (before, edited, after)] == [
        (5, "reviewed"), (7, "draft"), (7, "draft"),
    ]  # fmt: skip


@changed_text_ends_it
def test_an_update_of_a_promoted_shipped_script_needs_another_look(
    call: Call, app: App, shipped: Path, person: Person
) -> None:
    person.promotes("ours")
    before = tools(app)
    (shipped / "ours.py").write_text('"""Say eight."""\n\ndef main() -> int:\n    return 8\n')

    assert (before, tools(app), state(call, "ours")) == (["script_ours"], [], "reviewed")


def test_a_shipped_script_may_be_called_like_a_tool_and_edited(call: Call, app: App) -> None:
    put(app, "weekly_review", '"""Mine."""\n\ndef main() -> int:\n    return 7\n')

    assert call("run_script", script="weekly_review").data["result"] == 7
    with pytest.raises(InvalidInputError, match="already in use"):
        call("save_script", name="create_task", code=COUNTING)
