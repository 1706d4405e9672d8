"""The library of scripts: drafts, decisions that are bound to a text, versions, and suggestions."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from panorama.app import App
from panorama.errors import ConfirmationError, ConflictError, InvalidInputError, NotFoundError, UnavailableError
from panorama.services.scripts.library import script_files
from tests.kept import COUNTING, WRITING, Person, put
from tests.services.shelves import Call, person, shipped, state, tools

__all__ = ["person", "shipped"]


# Keeping.


def test_what_is_saved_is_a_file_of_a_draft(call: Call, app: App) -> None:
    saved = call("save_script", name="count", code=COUNTING)

    path = app.settings.home / "scripts" / "count.py"
    assert path.read_text() == COUNTING
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert (saved.data["state"], saved.data["parameters"]) == ("draft", "project=''")
    assert saved.data["reads"] == ["tasks.list"]


def test_the_code_of_a_run_is_kept_with_its_inputs_as_parameters(call: Call) -> None:
    run = call("run_code", code='made = sdk.tasks.create(title)\nmade.title + "!"', inputs={"title": "Tea"})

    call("save_script", name="make", run=run.data["run_id"], summary="Make a task")

    assert call("run_script", script="make", args={"title": "Milk"}).data["result"] == "Milk!"
    assert call("run_script", script="make").data["result"] == "Tea!"


def test_another_text_is_not_overwritten_unless_it_is_said(call: Call) -> None:
    call("save_script", name="count", code=COUNTING)
    again = call("save_script", name="count", code=COUNTING)

    with pytest.raises(ConflictError, match="another text"):
        call("save_script", name="count", code=WRITING)
    call("save_script", name="count", code=WRITING, replace=True)

    assert "already" in again.metadata["hint"]
    assert call("scripts.get", script="count").data["summary"] == "Write a task down."


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"code": COUNTING, "run": "x_0000000001"},
        {"code": "5"},
        {"code": "def main(", "summary": "x"},
        {"run": "x_zzzzzzzzzz"},
    ],
)
def test_what_cannot_be_kept_is_refused_and_leaves_nothing(call: Call, app: App, sent: dict[str, Any]) -> None:
    with pytest.raises((InvalidInputError, NotFoundError)):
        call("save_script", name="count", **sent)

    assert not (app.settings.home / "scripts").exists()


def test_a_list_tells_states_and_arguments(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)
    put(app, "write", WRITING)
    person.approves("write")

    rows = {row["name"]: row for row in call("list_scripts", detail="full").data}

    assert {name: row["state"] for name, row in rows.items()} == {
        "count": "draft", "ours": "reviewed", "weekly_review": "reviewed", "write": "reviewed",
    }  # fmt: skip
    assert (rows["write"]["by"], rows["ours"]["by"], rows["count"].get("by", "")) == ("you", "Panorama", "")
    assert rows["write"]["parameters"] == "title, day=…"
    assert [row["name"] for row in call("list_scripts", state="draft").data] == ["count"]


def test_a_list_has_pages(call: Call, app: App) -> None:
    for number in range(7):
        put(app, f"s{number}", COUNTING)

    first = call("list_scripts", limit=4)
    second = call("list_scripts", limit=20, cursor=first.metadata["next_cursor"])

    names = [row["name"] for row in [*first.data, *second.data]]
    assert names == sorted(names)
    assert len(names) == first.metadata["total"] == 9


def test_a_broken_file_is_listed_with_what_is_wrong(call: Call, app: App) -> None:
    put(app, "broken", "def main(")

    row = next(row for row in call("list_scripts").data if row["name"] == "broken")

    assert (row["state"], row["problem"]) == ("draft", "The script is not valid Python: '(' was never closed (line 1).")


def test_an_edit_outside_is_noticed_however_the_clock_of_files_stands(call: Call, app: App) -> None:
    path = put(app, "count", COUNTING)
    call("list_scripts")
    old = path.stat()

    path.write_text(COUNTING.replace("Count the", "Total the"), encoding="utf-8")
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))

    row = next(row for row in call("list_scripts").data if row["name"] == "count")
    assert row["summary"] == "Total the tasks of a project."


# Deciding.


def test_an_approved_text_is_reviewed_and_any_other_is_a_draft(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    person.approves("count")
    before = state(call, "count")

    path.write_text(COUNTING + "\n")
    changed = state(call, "count")
    path.write_text(COUNTING)

    assert (before, changed, state(call, "count")) == ("reviewed", "draft", "reviewed")


def test_a_draft_cannot_be_demoted_and_stays_a_draft(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)

    with pytest.raises(ConflictError, match="The script is a draft, not a tool; nothing was changed"):
        person.promotes("count", to="demoted")

    assert state(call, "count") == "draft"


def test_a_demoted_tool_whose_text_was_changed_is_a_draft_and_its_old_text_reviewed(
    call: Call, app: App, person: Person
) -> None:
    path = put(app, "count", COUNTING)
    person.promotes("count")
    path.write_text(COUNTING + "\n")

    person.promotes("count", to="demoted")
    changed = state(call, "count")
    path.write_text(COUNTING)

    assert (changed, state(call, "count"), tools(app)) == ("draft", "reviewed", [])


def test_without_the_persons_answer_nothing_is_approved(call: Call, app: App) -> None:
    put(app, "count", COUNTING)

    with pytest.raises(ConfirmationError) as asked:
        call("promote_script", script="count", to="reviewed")

    assert "panorama scripts review count" in asked.value.hint
    assert "confirm" not in asked.value.hint
    assert "It only reads" not in asked.value.question.partition("It says")[0]
    assert state(call, "count") == "draft"


def test_the_question_tells_what_it_does_and_not_only_what_it_says(call: Call, app: App) -> None:
    put(app, "count", COUNTING.replace("return len", "sdk.tasks.delete('x')\n    return len"))
    call("run_script", script="count", dry_run=True)

    with pytest.raises(ConfirmationError) as asked:
        call("promote_script", script="count")

    texts = "Its text reads: tasks.list", "Its text writes: tasks.delete"
    for part in ("“Count the tasks of a project.”", *texts, "sha256"):
        assert part in asked.value.question


def test_a_yes_to_one_text_is_none_to_another(call: Call, app: App, conversation: Any) -> None:
    path = put(app, "count", COUNTING)
    with pytest.raises(ConfirmationError) as asked:
        call("promote_script", script="count")
    path.write_text(COUNTING.replace("return len", "sdk.tasks.create('x')\n    return len"))

    with pytest.raises(ConfirmationError):
        app.calls.call("promote_script", {"script": "count"}, conversation, agreed=asked.value.agreement)

    assert (state(call, "count"), tools(app)) == ("draft", [])


def test_a_terminal_approves_what_it_showed_and_nothing_else(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    shown = call("scripts.get", script="count").data["digest"]
    path.write_text(WRITING)

    with pytest.raises(ConflictError, match="changed since it was shown"):
        person.decides("scripts.approve", script="count", digest=shown)

    assert state(call, "count") == "draft"


def test_a_rejected_text_cannot_be_proposed_again(call: Call, app: App, person: Person) -> None:
    path = put(app, "count", COUNTING)
    digest = call("scripts.get", script="count").data["digest"]
    person.decides("scripts.reject", script="count", digest=digest)

    with pytest.raises(ConflictError, match="rejected this text"):
        call("promote_script", script="count")
    path.write_text(COUNTING + "# better\n")
    with pytest.raises(ConfirmationError):
        call("promote_script", script="count")


def test_a_docstring_inside_main_says_what_a_script_does(call: Call) -> None:
    kept = call("save_script", name="seven", code='def main() -> int:\n    """Return seven."""\n    return 7\n')

    assert kept.data["summary"] == "Return seven."


def test_a_script_without_a_docstring_is_not_approved(app: App, person: Person) -> None:
    put(app, "count", "def main() -> int:\n    return 5\n")

    with pytest.raises(InvalidInputError, match="no description"):
        person.approves("count")
    with pytest.raises(InvalidInputError, match="no description"):
        person.promotes("count")


def test_a_retired_script_does_not_run_until_it_is_approved_again(call: Call, app: App, person: Person) -> None:
    put(app, "count", COUNTING)
    person.promotes("count")
    person.promotes("count", to="retired")

    with pytest.raises(ConflictError, match="retired"):
        call("run_script", script="count")
    person.approves("count")

    assert call("run_script", script="count").data["script_state"] == "reviewed"
    assert tools(app) == []


# Suggestions.


def test_code_that_ran_three_times_is_suggested(call: Call, app: App) -> None:
    for title in ("a", "b", "c"):
        call("run_code", code=f"sdk.tasks.create({title!r})\nsdk.tasks.list()")
    call("run_code", code="sdk.status()")
    app.recorder.flush()

    rows = call("list_scripts", suggest=True, detail="full").data

    assert [row["state"] for row in rows] == ["suggested"]
    assert "code with tasks.create, tasks.list ran 3 times" in rows[0]["summary"]
    assert rows[0]["tokens"] > 0
    call("save_script", name="kept", run=rows[0]["run"], summary="Keep it")


def test_a_chain_of_tools_is_suggested_whole(call: Call, app: App) -> None:
    for number in range(3):
        call("create_project", name=f"p{number}")
        call("create_task", title=f"t{number}", project=f"p{number}")
        call("create_note", title=f"n{number}", project=f"p{number}")
        call("status")
    app.recorder.flush()

    rows = call("list_scripts", suggest=True).data

    assert [row["summary"].partition(" was")[0] for row in rows] == ["create_project → create_task → create_note"]
    assert "Worth a script: create_project" in call("weekly_review").metadata["hint"]


def test_what_is_in_the_library_is_not_suggested(call: Call, app: App) -> None:
    put(app, "count", COUNTING)
    for _ in range(4):
        call("run_script", script="count")
    app.recorder.flush()

    assert call("list_scripts", suggest=True).data == []
    assert "hint" not in call("weekly_review").metadata


@pytest.fixture
def unwritable(app: App) -> Iterator[Path]:
    """A folder that cannot be written."""
    folder = app.settings.home / "scripts"
    folder.write_text("in the way")
    yield folder
    folder.unlink()


def test_a_folder_that_cannot_be_written_is_told(call: Call, unwritable: Path) -> None:
    with pytest.raises(UnavailableError, match="cannot be written"):
        call("save_script", name="count", code=COUNTING)


def test_a_file_that_has_rested_is_read_once(call: Call, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(app, "count", COUNTING)
    long_ago = time.time() - 60
    os.utime(path, (long_ago, long_ago))
    monkeypatch.setattr(script_files, "MIN_CACHE_AGE_SECONDS", -1)
    call("list_scripts")
    read: list[Path] = []
    real = script_files._read_file
    monkeypatch.setattr(script_files, "_read_file", lambda path: (read.append(path), real(path))[1])

    call("list_scripts")

    assert path not in read
