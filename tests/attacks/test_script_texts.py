"""Attacks on the texts of scripts: each that stood under a name stays, and comes back."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from fastmcp import Client
from mcp.types import ElicitResult

from panorama.app import App
from panorama.calls import Conversation
from panorama.errors import ConfirmationError, ConflictError, InvalidInputError, NotFoundError
from panorama.mcp.server import build_server
from tests.conftest import ERAS, Chat, Era
from tests.kept import COUNTING, WRITING, Person, put
from tests.services.shelves import Call, person, state

__all__ = ["person"]

MINE = COUNTING.replace("Count the tasks", "My own count of the tasks")
OTHER = COUNTING.replace("Count the tasks", "Another count of the tasks")


def text(app: App, name: str = "count") -> str | None:
    """Return what the file of a script holds, None if there is none."""
    path = app.settings.home / "scripts" / f"{name}.py"
    return path.read_text() if path.exists() else None


def texts(app: App, call: Call, name: str = "count") -> list[str]:
    """Return the digests of all texts that are kept under a name."""
    return [version["digest"] for version in call("scripts.history", script=name).data["versions"]]


# A person's draft is overwritten only with their own yes.


@pytest.mark.parametrize("extra", [{"confirm": True}, {"agreed": "yes"}, {"yes": True}, {"confirm": "true"}])
def test_a_model_confirms_for_nobody(call: Call, app: App, extra: dict[str, object]) -> None:
    put(app, "count", MINE)

    with pytest.raises((ConfirmationError, InvalidInputError)):
        call("save_script", name="count", code=WRITING, replace=True, **extra)

    assert text(app) == MINE


def test_a_client_that_cannot_ask_is_told_the_command_of_the_terminal(call: Call, app: App) -> None:
    put(app, "count", MINE)

    with pytest.raises(ConfirmationError) as asked:
        call("save_script", name="count", code=WRITING, replace=True)

    assert "`panorama scripts save count FILE --replace` in a terminal" in asked.value.hint
    assert text(app) == MINE


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", [True, False])
async def test_a_client_that_can_ask_asks(app: App, era: Era, answer: bool) -> None:
    asked: list[str] = []

    async def person_answers(message: str, *_: object) -> ElicitResult:
        asked.append(message)
        return ElicitResult(action="accept", content={"value": answer})

    put(app, "count", MINE)
    async with Client(build_server(app), mode=era, elicitation_handler=person_answers) as client:
        chat = Chat(client)
        sent = {"name": "count", "code": WRITING, "replace": True}
        await (chat("save_script", **sent) if answer else chat.refused("save_script", **sent))

    assert asked == ["Overwrite your own draft count (10 lines)? Its text is kept as a version."]
    assert text(app) == (WRITING if answer else MINE)


@pytest.mark.parametrize("atomic", [True, False])
def test_no_batch_and_no_script_overwrites_it(call: Call, app: App, atomic: bool) -> None:
    put(app, "count", MINE)
    step = {"tool": "save_script", "args": {"name": "count", "code": WRITING, "replace": True, "confirm": True}}

    for operation, sent in (
        ("batch", {"operations": [step], "atomic": atomic}),
        ("run_code", {"code": f"sdk.batch([{step!r}], atomic={atomic})"}),
    ):
        try:
            call(operation, **sent)
        except (InvalidInputError, ConfirmationError):
            continue

    assert text(app) == MINE


def test_a_draft_that_the_person_changed_after_a_model_saved_it_is_theirs(call: Call, app: App) -> None:
    call("save_script", name="count", code=COUNTING)
    put(app, "count", MINE)

    with pytest.raises(ConfirmationError):
        call("save_script", name="count", code=WRITING, replace=True)

    assert text(app) == MINE


# Every text stays.


def test_a_text_is_kept_whatever_becomes_of_it(call: Call, app: App, person: Person) -> None:
    put(app, "count", MINE)
    person.decides("save_script", name="count", code=COUNTING, replace=True)
    person.decides("save_script", name="count", code=WRITING, replace=True)
    put(app, "count", OTHER)
    person.decides("scripts.rollback", script="count", version=1)

    kept = texts(app, call)

    assert len(kept) == len(set(kept)) + 1  # the one that was put back was approved by that
    for number, expected in ((1, MINE), (2, COUNTING), (3, WRITING), (4, OTHER)):
        assert call("scripts.diff", script="count", old=number, new=number).data["diff"] == ""
        person.decides("scripts.rollback", script="count", version=number)
        assert text(app) == expected


def test_what_a_person_is_about_to_edit_is_kept(call: Call, app: App) -> None:
    put(app, "count", MINE)

    call("scripts.keep", script="count")
    call("scripts.keep", script="count")
    put(app, "count", OTHER)

    assert len(texts(app, call)) == 1


# Undo brings the former text back.


def test_undo_brings_back_the_draft_that_was_overwritten(call: Call, app: App, person: Person) -> None:
    put(app, "count", MINE)
    person.decides("save_script", name="count", code=WRITING, replace=True)

    decided = person.decides("undo")

    assert text(app) == MINE
    assert decided.data["undone"][0]["kind"] == "script"


def test_undo_and_redo_go_back_and_forward(call: Call, app: App) -> None:
    call("save_script", name="count", code=COUNTING)
    call("save_script", name="count", code=OTHER, replace=True)
    call("save_script", name="count", code=WRITING, replace=True)

    seen = []
    for step in ({}, {}, {}, {"redo": True}, {"redo": True}, {"redo": True}):
        call("undo", **step)
        seen.append(text(app))

    assert seen == [OTHER, COUNTING, None, COUNTING, OTHER, WRITING]
    with pytest.raises(NotFoundError):
        call("undo", redo=True)


def test_undo_takes_items_and_scripts_in_the_order_in_which_they_were_written(call: Call, app: App) -> None:
    call("create_task", title="One")
    call("save_script", name="count", code=COUNTING)
    call("create_task", title="Two")

    undone = [call("undo").data["undone"][0]["label"] for _ in range(3)]

    assert undone == ["Two", "count", "One"]
    assert text(app) is None


def test_undo_gives_a_reviewed_text_its_state_back(call: Call, app: App, person: Person) -> None:
    put(app, "count", MINE)
    person.promotes("count")
    call("save_script", name="count", code=WRITING, replace=True)
    assert state(call, "count") == "draft"

    call("undo")

    assert state(call, "count") == "promoted"
    assert call("script_count").data["result"] == 0


def test_an_undone_write_is_undone_once(call: Call, app: App) -> None:
    call("save_script", name="count", code=COUNTING)
    call("save_script", name="count", code=OTHER, replace=True)
    unit = call("undo").data["units"][0]

    with pytest.raises(ConflictError, match="already undone"):
        call("undo", unit=unit)

    assert text(app) == COUNTING


def test_undo_never_overwrites_what_the_person_wrote_since(call: Call, app: App) -> None:
    call("save_script", name="count", code=COUNTING)
    unit = call("save_script", name="count", code=OTHER, replace=True) and _last_unit(app)
    put(app, "count", MINE)

    with pytest.raises(ConflictError, match="changed again since"):
        call("undo", unit=unit)
    with pytest.raises(NotFoundError):
        call("undo")

    assert text(app) == MINE


def test_redo_over_a_draft_of_the_person_asks_again(call: Call, app: App, person: Person) -> None:
    put(app, "count", MINE)
    person.decides("save_script", name="count", code=WRITING, replace=True)
    person.decides("undo")

    with pytest.raises(ConfirmationError, match="Overwrite your own draft count"):
        app.calls.call("undo", {"redo": True}, Conversation("cli", actor="cli", client="panorama"))

    assert text(app) == MINE


def test_of_several_writes_a_script_is_taken_back_alone(call: Call, app: App) -> None:
    call("create_task", title="One")
    call("save_script", name="count", code=COUNTING)

    with pytest.raises(InvalidInputError, match="undone alone"):
        call("undo", count=2)

    assert text(app) == COUNTING
    assert len(call("list_tasks").data) == 1


def test_a_script_undoes_no_write_of_a_script(call: Call, app: App) -> None:
    call("save_script", name="count", code=COUNTING)
    unit = _last_unit(app)

    for code in ("sdk.undo()", f"sdk.undo({unit!r})"):
        ran = call("run_code", code=code).data
        assert ran["error"]

    assert text(app) == COUNTING


def test_a_copy_of_a_shipped_script_goes_and_the_shipped_one_is_there_again(call: Call, app: App) -> None:
    before = call("scripts.get", script="plan_day").data["digest"]
    call("save_script", name="plan_day", code=COUNTING, replace=True)

    call("undo")

    assert text(app, "plan_day") is None
    assert call("scripts.get", script="plan_day").data["digest"] == before


def test_a_link_in_the_place_of_a_script_is_neither_written_nor_removed(
    call: Call, app: App, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("outside") / "secret.py"
    secret.write_text(COUNTING)
    call("save_script", name="count", code=COUNTING)
    path = app.settings.home / "scripts" / "count.py"
    path.unlink()
    os.symlink(secret, path)

    for act in (lambda: call("undo"), lambda: call("save_script", name="count", code=WRITING, replace=True)):
        _refused(act)

    assert path.is_symlink()
    assert secret.read_text() == COUNTING


def _refused(act: Callable[[], object]) -> None:
    with pytest.raises((InvalidInputError, ConflictError, NotFoundError)):
        act()


def _last_unit(app: App) -> str:
    with closing(sqlite3.connect(app.settings.home / "panorama.db")) as database:
        return str(database.execute("SELECT unit FROM script_writes ORDER BY number DESC").fetchone()[0])
