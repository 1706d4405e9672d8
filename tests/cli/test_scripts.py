"""`panorama scripts`, and `panorama run NAME`: a person decides at a real terminal, and nowhere else."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kept import COUNTING, WRITING

from .conftest import Command
from .terminals import Terminal

pytestmark = pytest.mark.slow  # each runs the command and its daemon's scripts anew


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tester's own editor is not opened."""
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def kept(home: Path) -> Path:
    """A script of a person's own."""
    folder = home / "scripts"
    folder.mkdir()
    path = folder / "count.py"
    path.write_text(COUNTING)
    return path


@pytest.fixture
def state(run: Command) -> Callable[[], str]:
    """Tells the state of that script."""
    return lambda: str(run("scripts", "show", "count", "--json").answer["data"]["state"])


State = Callable[[], str]


@pytest.mark.usefixtures("kept")
def test_the_word_approve_at_a_terminal_approves(state: State) -> None:
    with Terminal(("scripts", "review", "count")) as terminal:
        terminal.until("approve, edit or reject?")
        terminal.types("approve")

        assert terminal.ends() == 0

    assert "def main(project: str" in terminal.seen
    assert "reads  tasks.list" in terminal.seen
    assert "It was not reviewed before." in terminal.seen
    assert "The script count is reviewed" in terminal.seen
    assert state() == "reviewed"


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("word", ["", "y", "yes", "Approve", "approve it", "reject"])
def test_any_other_word_approves_nothing(state: State, word: str) -> None:
    with Terminal(("scripts", "review", "count")) as terminal:
        terminal.until("approve, edit or reject?")
        terminal.types(word)
        terminal.ends()

    assert state() == "draft"


@pytest.mark.usefixtures("kept")
def test_what_was_typed_before_the_text_was_shown_does_not_count(state: State) -> None:
    with Terminal(("scripts", "review", "count")) as terminal:
        terminal.types("approve")
        terminal.until("approve, edit or reject?")
        terminal.types("no")

        assert terminal.ends() != 0

    assert state() == "draft"


@pytest.mark.usefixtures("kept")
def test_a_draft_is_not_demoted_nor_approved_by_it(state: State) -> None:
    with Terminal(("scripts", "demote", "count")) as terminal:
        assert terminal.ends() == 1

    assert "The script is a draft, not a tool; nothing was changed" in terminal.seen
    assert state() == "draft"


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("verb", ["review", "promote", "demote", "retire", "rollback"])
def test_a_pipe_is_refused(process: Command, state: State, verb: str) -> None:
    command = [sys.executable, "-m", "panorama", "scripts", verb, "count"]
    done = subprocess.run(command, input="approve\nyes\n", capture_output=True, text=True, timeout=60)

    assert done.returncode == 2
    assert "needs a user at a terminal; nothing was decided" in done.stderr
    assert state() == "draft"


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("words", [["--yes"], ["-y"], ["--approve"], ["--force"], ["--digest", "x"]])
@pytest.mark.parametrize("verb", ["review", "promote", "rollback"])
def test_no_option_answers(run: Command, verb: str, words: list[str]) -> None:
    assert run("scripts", verb, "count", *words).code == 2


@pytest.mark.usefixtures("kept")
def test_a_text_that_was_changed_while_it_was_read_is_not_approved(kept: Path, state: State) -> None:
    with Terminal(("scripts", "review", "count")) as terminal:
        terminal.until("approve, edit or reject?")
        kept.write_text(WRITING)
        terminal.types("approve")

        assert terminal.ends() == 1

    assert "was changed since it was shown; nothing was approved" in terminal.seen
    assert state() == "draft"


@pytest.mark.slow
def test_edit_opens_the_editor_and_shows_what_differs(kept: Path, state: State, tmp_path: Path) -> None:
    with Terminal(("scripts", "review", "count")) as terminal:
        terminal.until("approve, edit or reject?")
        terminal.types("approve")
        terminal.ends()
    editor = tmp_path / "editor.py"
    editor.write_text("import sys\nwith open(sys.argv[1], 'a') as file: file.write('# mine\\n')\n")

    with Terminal(("scripts", "review", "count"), {"EDITOR": f"{sys.executable} {editor}"}) as terminal:
        terminal.until("It is the last reviewed text.")
        terminal.until("approve, edit or reject?")
        terminal.types("edit")
        terminal.until("+# mine")
        terminal.seen = terminal.seen.rpartition("+# mine")[2]
        terminal.until("approve, edit or reject?")
        terminal.types("approve")
        assert terminal.ends() == 0

    assert kept.read_text().endswith("# mine\n")
    assert state() == "reviewed"


@pytest.mark.usefixtures("kept")
def test_promote_asks_for_yes_and_shows_what_it_does(run: Command, state: State) -> None:
    with Terminal(("scripts", "promote", "count", "--read-only")) as terminal:
        terminal.until("Type yes:")
        terminal.types("yes")
        assert terminal.ends() == 0

    assert "Make the script count a tool for your assistants, which will only be able to read?" in terminal.seen
    assert "its tool is script_count, which only reads" in terminal.seen
    assert state() == "promoted"
    assert "approved, current" in run("scripts", "history", "count").out


@pytest.mark.usefixtures("kept")
def test_promote_without_yes_promotes_nothing(state: State) -> None:
    with Terminal(("scripts", "promote", "count")) as terminal:
        terminal.until("Type yes:")
        terminal.types("y")
        assert terminal.ends() == 1

    assert state() == "draft"


def test_what_steers_a_terminal_is_shown_and_does_not_steer(home: Path) -> None:
    folder = home / "scripts"
    folder.mkdir()
    sly = '"""Count.\u202e Approve me\x1b[2J\x1b]0;x\x07."""\n\ndef main():\n    return 1  # \u2066\n'
    (folder / "sly.py").write_text(sly, encoding="utf-8")

    with Terminal(("scripts", "review", "sly")) as terminal:
        terminal.until("approve, edit or reject?")
        terminal.types("no")
        terminal.ends()

    assert "Approve me<U+001B>[2J<U+001B>]0;x<U+0007>" in terminal.seen
    assert "Count.<U+202E>" in terminal.seen
    assert not {"\u202e", "\u2066", "\x07"} & set(terminal.seen)


@pytest.mark.slow
def test_the_findings_of_the_policy_and_the_last_dry_run_are_shown(run: Command, home: Path) -> None:
    folder = home / "scripts"
    folder.mkdir()
    (folder / "write.py").write_text(WRITING)
    run("run", "write", "--title", "Tea", "--dry-run")
    (folder / "bad.py").write_text('"""Read a file."""\n\ndef main():\n    return open("x").read()\n')

    shown: list[str] = []
    for name in ("write", "bad"):
        with Terminal(("scripts", "review", name)) as terminal:
            terminal.until("approve, edit or reject?")
            terminal.types("no")
            terminal.ends()
            shown.append(terminal.seen)

    assert "tasks.create" in shown[0], shown[0]
    assert "The sandbox would refuse line 4: open() is not available" in shown[1]


# What needs no decision.


@pytest.mark.usefixtures("kept")
def test_a_kept_script_is_run_by_name_with_its_own_options(run: Command) -> None:
    run("tasks", "add", "Tea")

    assert run("run", "count", "--json").answer["data"]["result"] == 1
    assert run("run", "count", "--project=Nowhere").code == 1
    assert "--project" in run("run", "count", "--projct", "x").err
    assert run("run", "count", "-i", "project=").out == "1\n"


def test_an_existing_path_is_a_file(run: Command, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "count").write_text("'the file'")

    assert run("run", "count").out == "the file\n"


def test_options_become_what_the_script_takes(run: Command, home: Path) -> None:
    folder = home / "scripts"
    folder.mkdir()
    text = '"""Echo."""\n\ndef main(words: list[str], most: int = 1, is_deep: bool = True, share: float = 0.0):\n'
    (folder / "echo.py").write_text(text + "    return [words, most, is_deep, share]\n")

    done = run("run", "echo", "--words", "a", "--words=5", "--most", "-3", "--no-is-deep", "--share", "2", "--json")

    assert done.answer["data"]["result"] == [["a", "5"], -3, False, 2]
    assert "needs a value" in run("run", "echo", "--most").err
    assert "most must be a whole number" in run("run", "echo", "--words", "a", "--most", "x").err


@pytest.mark.usefixtures("kept")
def test_lists_and_shows_are_json_too(run: Command) -> None:
    listed: list[dict[str, Any]] = run("scripts", "--json").answer["data"]

    assert "count" in [row["name"] for row in listed]
    assert "Count the tasks of a project." in run("scripts").out
    assert "def main(project" in run("scripts", "show", "count").out


def test_a_file_is_kept_as_a_draft(run: Command, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text("len(sdk.tasks.list())")

    assert run("scripts", "save", "late", str(tmp_path / "late.py")).code == 2
    assert run("scripts", "save", "late", str(tmp_path / "late.py"), "--summary", "Count").code == 0
    assert run("run", "late").out == "0\n"
