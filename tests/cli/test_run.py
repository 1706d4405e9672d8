"""`panorama run` and `panorama sdk`: a person's own scripts, and the reference of what they can call."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Command

pytestmark = pytest.mark.slow  # each starts processes for scripts

Given = Callable[..., Any]

FAILING = """\
def share(whole, parts):
    return whole / parts

print("begun")
share(1, 0)
"""
ENDLESS = 'sdk.tasks.create("Begun")\nwhile True:\n    pass\n'
PATIENCE = 40.0


def test_a_script_is_read_from_standard_input(run: Command) -> None:
    ran = run("run", "-", stdin="sdk.tasks.create('Crème')\nreturn [task.title for task in sdk.tasks.list()]".encode())

    assert (ran.code, ran.answer) == (0, ["Crème"])
    assert re.search(r"^Run x_\w{10}: [\d.]+ ms, 2 calls, 1 created$", ran.err, re.MULTILINE)
    assert re.search(r"^`panorama undo x_\w{10}` undoes it$", ran.err, re.MULTILINE)


def test_a_script_is_read_from_a_file(run: Command, tmp_path: Path) -> None:
    script = tmp_path / "count.py"
    script.write_text("print('counting')\nreturn 6 * 7")

    ran = run("run", str(script))

    assert (ran.code, ran.out) == (0, "counting\n42\n")


def test_a_script_stands_on_the_command_line(run: Command) -> None:
    ran = run("run", "-c", "'plain ' + 'words'")

    assert (ran.code, ran.out) == (0, "plain words\n")


def test_inputs_are_json_or_else_text(run: Command) -> None:
    words = ("--input", "count=3", "-i", "title=Green tea", "-i", 'tags=["a=b"]', "-i", "nothing=null")

    ran = run("run", "-c", "[count, title, tags, nothing]", *words)

    assert ran.answer == [3, "Green tea", ["a=b"], None]


def test_a_dry_run_shows_each_change_and_changes_nothing(run: Command, given: Given) -> None:
    for title in ("Tea", "Jam"):
        given("create_task", title=title)
    code = 'sdk.tasks.update("Tea", urgent=True, title="Chai"); sdk.tasks.delete("Jam"); sdk.notes.create("List")'

    ran = run("run", "--dry-run", "-c", f"{code}; 'done'")

    assert (ran.code, ran.lines[0]) == (0, "done")
    assert "It would change:" in ran.err
    assert re.search(r"~ task “Chai” \(t_\w{10}\)\n    title: Tea → Chai\n    urgent: no → yes\n", ran.out)
    assert re.search(r"^- task “Jam” \(t_\w{10}\)$", ran.out, re.MULTILINE)
    assert re.search(r"^\+ note “List” \(n_\w{10}\)\n    title: List$", ran.out, re.MULTILINE)
    assert "panorama undo" not in ran.err
    assert sorted(row["title"] for row in run("tasks", "--json").answer["data"]) == ["Jam", "Tea"]


def test_a_mistake_is_shown_in_the_scripts_own_lines(run: Command, tmp_path: Path) -> None:
    script = tmp_path / "share.py"
    script.write_text(FAILING)

    ran = run("run", str(script))

    assert (ran.code, ran.out) == (1, "begun\n")
    assert ran.err.splitlines()[:7] == [
        "     1 │ def share(whole, parts):",
        "❱    2 │     return whole / parts",
        "     3 │ ",
        '     4 │ print("begun")',
        "called from line 5",
        "ZeroDivisionError: division by zero",
        "Nothing was changed.",
    ]
    assert "Traceback" not in ran.err
    assert "panorama/" not in ran.err


def test_what_a_script_may_not_say_is_shown_with_what_to_say_instead(run: Command) -> None:
    ran = run("run", "-c", "x = 1\nimport os")

    assert (ran.code, ran.out) == (1, "")
    assert "❱    2 │ import os" in ran.err


def test_a_program_gets_a_failed_run_as_json_with_the_same_exit_code(run: Command) -> None:
    ran = run("run", "-c", "1 / 0", "--json")

    assert ran.code == 1
    assert (ran.answer["data"]["error"]["kind"], ran.answer["data"]["error"]["line"]) == ("raised", 1)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "Give a script: a file, - or -c CODE."),
        (("late.py", "-c", "1"), "Give a script: one of them, not both."),
        (("-c", "1", "--input", "title"), "--input 'title' is not K=V."),
        (("-c", "1", "--input", "sdk=1"), "inputs has 'sdk'"),
        (("-c", " "), "code is empty."),
        (("-c", "1", "--timeout", "0"), "--timeout"),
        (("/no/such/file.py",), "/no/such/file.py cannot be read: No such file or directory."),
    ],
)
def test_what_cannot_be_run_ends_with_2_and_no_run(run: Command, words: tuple[str, ...], expected: str) -> None:
    refused = run("run", *words)

    assert (refused.code, refused.out) == (2, "")
    assert expected in refused.err
    assert run("runs", "--json").answer["data"] == []


def test_an_interrupt_ends_with_130_and_says_what_is_left(run: Command) -> None:
    command = [sys.executable, "-m", "panorama", "run", "-c", ENDLESS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        deadline = time.monotonic() + PATIENCE
        while not run("tasks", "--json").answer["data"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE)

    assert (running.returncode, out) == (130, "")
    assert re.search(r"Stopped\. `panorama runs show (x_\w{10})` shows its output .*, `panorama undo \1` undoes", err)
    assert run("runs", "--json").answer["data"][0]["status"] == "cancelled"


def test_the_reference_is_printed_by_what_is_looked_for(run: Command) -> None:
    found = run("sdk", "tasks.update")

    assert found.code == 0
    assert found.out.startswith("sdk.tasks.update(task: str | Task, ")
    assert "Example:" not in found.out


def test_several_words_are_one_question(run: Command) -> None:
    assert "# Recipe: Group by: open tasks per project, in a script" in run("sdk", "group", "by", "project").out


def test_without_a_question_every_function_is_printed_in_a_line(run: Command) -> None:
    lines = run("sdk").lines

    assert "tasks:" in lines
    assert any(line.startswith("update(task, ") for line in lines)


def test_the_whole_of_a_function_is_printed_on_demand(run: Command) -> None:
    assert all(part in run("sdk", "tasks.update", "--full").out for part in ("Args:", "Raises:", "Example:"))


def test_a_program_gets_the_reference_as_json(run: Command) -> None:
    data = run("sdk", "tasks.update", "--json").answer["data"]

    assert 1 <= data["shown"] <= data["total"]
    assert data["python"].startswith("sdk.tasks.update(")


def test_the_help_of_a_saved_script_shows_its_own_options(run: Command) -> None:
    result = run("run", "triage_overdue", "--help")

    assert (result.code, result.err) == (0, "")
    assert "Propose what to do with each overdue task" in result.out
    row = next(line for line in result.lines if "--park-after" in line)
    assert row.split()[:3] == ["--park-after", "number", "30"]
    assert "--weekends" in result.out
    assert "panorama run --help" in result.out


def test_the_help_of_a_script_that_is_not_there_is_refused(run: Command) -> None:
    assert run("run", "no_such_script", "--help").code == 1
