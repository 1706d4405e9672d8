"""Nouns at the terminal: the same verbs for all of them."""

import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from panorama.cli.nouns.table import NOUNS, Noun

from .conftest import Command

Given = Callable[..., Any]

LABELS = {
    "project": "Garden", "task": "Seeds", "note": "Plan", "link": "Shop", "file": "plan.csv", "reminder": "Call",
    "person": "Ana", "team": "Tiling", "session": "Weekly", "event": "Tiler",
}  # fmt: skip


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A data directory with the items, and what names them, after the first test that has them."""
    return tmp_path_factory.mktemp("saved"), {}


@pytest.fixture
def items(home: Path, given: Given, saved: tuple[Path, dict[str, str]]) -> dict[str, str]:
    """One item of each kind, by kind: what names it; written once, which takes a third of a second."""
    folder, names = saved
    if names:
        copytree(folder, home, dirs_exist_ok=True)
    else:
        names |= write_items(given)
        copytree(home, folder, dirs_exist_ok=True)
    return dict(names)


def write_items(given: Given) -> dict[str, str]:
    """Write one item of each kind; return what names it, by kind."""
    given("create_project", name="Garden")
    given("create_task", title="Seeds", project="Garden", tags=["spring"], notes="two bags")
    given("create_note", title="Plan", content="beans\n", tags=["spring"])
    given("create_link", url="example.com", title="Shop", project="Garden", description="cheap")
    given("write_file", name="plan.csv", text="1")
    given("create_reminder", title="Call", at="2031-01-01T09:00")
    given("create_person", name="Ana", last_name="Kovač", notes="Left-handed")
    given("create_team", name="Tiling")
    given("create_event", title="Tiler", starts_at="today")
    given("create_session", title="Weekly", started_at="2025-01-02T09:00", summary="All well", attendees=["Ana"])
    return {**LABELS, "journal": given("add_journal_entry", text="Rain")["id"]}


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sets an editor that runs some Python, with the file's path in `path`."""

    def put(code: str) -> None:
        script = tmp_path / "editor.py"
        script.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\n{code}\n")
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")

    return put


def knowing(verb: str) -> list[Noun]:
    return [noun for noun in NOUNS if verb in noun.verbs]


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.group)
def test_every_noun_is_listed_and_shown(run: Command, items: dict[str, str], noun: Noun) -> None:
    rows = run(noun.group, "list", "--json").answer["data"]
    shown = run(noun.group, "show", items[noun.kind])

    assert len(rows) == 1
    assert (shown.code, shown.err) == (0, "")
    assert noun.kind == "note" or rows[0][noun.label] in shown.lines[0]


@pytest.mark.parametrize("noun", knowing("delete"), ids=lambda noun: noun.group)
def test_every_noun_is_deleted_and_lies_in_the_trash(run: Command, items: dict[str, str], noun: Noun) -> None:
    options = ("--items", "keep") if noun.kind == "project" else ()

    gone = run(noun.group, "delete", items[noun.kind], *options)
    row = run("trash", "--json").answer["data"][0]

    assert gone.code == 0
    assert row["kind"] == noun.kind
    assert run("trash", "show", row["id"]).code == 0
    assert run(noun.group, "list", "--json").answer["data"] == []


@pytest.mark.parametrize("noun", knowing("rename"), ids=lambda noun: noun.group)
def test_every_noun_with_a_name_is_renamed(run: Command, items: dict[str, str], noun: Noun) -> None:
    run(noun.group, "rename", items[noun.kind], "Other")

    assert run(noun.group, "list", "--json").answer["data"][0][noun.label] == "Other"


@pytest.mark.parametrize("noun", knowing("move"), ids=lambda noun: noun.group)
def test_what_belongs_to_a_project_is_moved_to_another_and_out_of_it(
    run: Command, items: dict[str, str], given: Given, noun: Noun
) -> None:
    home = given("create_project", name="Home")["id"]

    run(noun.group, "move", items[noun.kind], "Home")
    moved = run(noun.group, "list", "--json").answer["data"][0]["project"]
    run(noun.group, "move", items[noun.kind], "")

    assert moved == home
    assert "project" not in run(noun.group, "list", "--json").answer["data"][0]


@pytest.mark.parametrize("noun", knowing("done"), ids=lambda noun: noun.group)
def test_what_is_done_is_not_done_twice_and_can_be_reopened(run: Command, items: dict[str, str], noun: Noun) -> None:
    name = items[noun.kind]

    first, second = run(noun.group, "done", name), run(noun.group, "done", name)
    opened, again = run(noun.group, "reopen", name), run(noun.group, "reopen", name)

    assert "panorama undo" in first.err
    assert (second.code, second.out, second.err) == (0, f"{noun.word.capitalize()} “{name}” is already done\n", "")
    assert "panorama undo" in opened.err
    assert "is already open" in again.out


@pytest.mark.parametrize("noun", [noun for noun in knowing("edit") if noun.body], ids=lambda noun: noun.group)
def test_edit_without_options_opens_the_text_in_the_editor(
    run: Command, items: dict[str, str], editor: Callable[[str], None], noun: Noun
) -> None:
    editor("path.write_text(path.read_text() + 'more')")

    edited = run(noun.group, "edit", items[noun.kind])

    assert edited.code == 0
    assert "more" in run(noun.group, "show", items[noun.kind]).out


def test_what_was_changed_while_it_was_edited_is_not_overwritten(
    run: Command, items: dict[str, str], given: Given, editor: Callable[[str], None], tmp_path: Path
) -> None:
    meanwhile = "from panorama.cli.main import main; main(['notes', 'rename', 'Plan', 'New'])"
    editor(f"{meanwhile}; path.write_text('mine')")

    refused = run("notes", "edit", items["note"])

    assert refused.code == 1
    assert "was changed while you edited it" in refused.err
    draft = refused.err.partition("Your text is in ")[2].partition(";")[0]
    assert Path(draft).read_text() == "mine"
    Path(draft).unlink()


def test_without_an_editor_and_a_terminal_the_options_are_named(
    run: Command, items: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)

    refused = run("notes", "edit", items["note"])

    assert (refused.code, "Set EDITOR" in refused.err) == (2, True)


def test_edit_changes_the_fields_that_are_given(run: Command, items: dict[str, str]) -> None:
    run("tasks", "edit", "Seeds", "--deadline", "2031-05-31", "--urgent", "--tag", "shop", "--project", "")
    run("tasks", "edit", "Seeds", "--no-urgent")

    row = run("tasks", "--json").answer["data"][0]

    assert (row["deadline"], row["tags"]) == ("2031-05-31", ["shop"])
    assert not {"urgent", "project"} & set(row)


def test_a_name_without_a_verb_shows_what_has_it(run: Command, items: dict[str, str]) -> None:
    assert run("tasks", "seeds").out == run("tasks", "show", "Seeds").out
    assert run("note", "Plan").out == run("notes", "Plan").out == "beans\n"


def test_a_name_is_looked_for_among_the_nouns_own(run: Command, items: dict[str, str], given: Given) -> None:
    given("create_task", title="Plan")

    assert run("notes", "delete", "Plan").out.startswith("Moved the note “Plan”")
    assert run("projects", "delete", "Plan").code == 1


def test_a_project_that_is_shown_names_what_belongs_to_it_and_others_name_their_project(
    run: Command, items: dict[str, str]
) -> None:
    assert "Seeds" in run("projects", "Garden").out
    assert "project  Garden" in run("tasks", "Seeds").out


def test_deleting_what_others_belong_to_names_the_option(run: Command, items: dict[str, str]) -> None:
    refused = run("projects", "delete", "Garden")

    assert refused.code == 2
    assert "2 items belong to the project" in refused.err
    assert "--items keep" in refused.err


def test_tags_are_counted_renamed_and_removed_as_one_write_each(run: Command, items: dict[str, str]) -> None:
    counted = run("tags", "--json").answer["data"]
    run("tags", "rename", "Spring", "summer")
    tagged = {row["title"] for row in run("tags", "show", "summer", "--json").answer["data"]}
    run("tags", "delete", "summer")

    assert counted == [{"tag": "spring", "items": 2}]
    assert tagged == {"Seeds", "Plan"}
    assert run("tags", "--json").answer["data"] == []
    assert run("undo").code == 0
    assert run("tags", "--json").answer["data"] == [{"tag": "summer", "items": 2}]


def test_a_tag_that_nothing_has_is_not_found(run: Command, items: dict[str, str]) -> None:
    refused = run("tags", "rename", "sprin", "summer")

    assert refused.code == 1
    assert "spring" in refused.err
