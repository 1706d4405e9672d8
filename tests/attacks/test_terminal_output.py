"""Texts that would steer a terminal: no command, error, progress or log line prints what does."""

import json
import logging
import os
import pty
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from panorama.cli.console import console
from panorama.cli.console.errors import report_error
from panorama.domain.text.visible_text import escape_json
from panorama.errors import InvalidInputError
from panorama.mcp.log_format import LogFormatter
from tests.cli.conftest import Command, given, run

__all__ = ["given", "run"]

STEERING = "a\u009b31mb\x1b[2Jc\u202ed\u2066e\x07f\x85g\u009d0;title\u009c\u2028h"
_STYLES = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[2?K|\x1b\[1?A")
"""What a terminal gets from us: styles, the cursor of a progress bar, and lines that it draws anew."""

_DANGEROUS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]")


def check_output(text: str) -> None:
    """Look that nothing in a text can steer a terminal."""
    bare = _STYLES.sub("", text)
    assert not _DANGEROUS.search(bare), ascii(bare)


def run_in_terminal(*words: str) -> str:
    """Run a command at a real terminal and return all that it wrote there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "panorama", *words]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        parts: list[bytes] = []
        deadline = time.monotonic() + 60
        with suppress(OSError):  # nobody holds the other side any more
            while time.monotonic() < deadline and (part := os.read(ours, 1 << 16)):
                parts.append(part)
        process.kill()
    os.close(ours)
    return b"".join(parts).decode("utf-8", "replace")


@pytest.fixture
def hostile(home: Path, given: Callable[..., Any]) -> str:
    """A project, a task, a note, a file and a journal entry that would steer a terminal; the note's id."""
    project = given("create_project", name="House")["id"]
    given("create_task", title="Tea", notes=STEERING, project=project)
    content = f"# {STEERING}\n\n{STEERING} &#8238; &#155;x"
    note = given("create_note", title="Tea", content=content, project=project)["id"]
    given("add_journal_entry", text=STEERING)
    given("write_file", name="tea.txt", text=STEERING)
    with closing(sqlite3.connect(home / "panorama.db")) as database:
        database.execute("UPDATE tasks SET title = title || ?", (STEERING,))
        database.execute("UPDATE notes SET title = title || ?", (STEERING,))
        database.execute("UPDATE projects SET name = name || ?", (STEERING,))
        database.commit()
    return str(note)


COMMANDS = {
    "tasks": ("tasks",),
    "tasks as JSON": ("tasks", "--json"),
    "note": ("notes", "show", "{note}"),
    "note as it is": ("notes", "show", "{note}", "--raw"),
    "note as JSON": ("notes", "show", "{note}", "--json"),
    "journal": ("journal",),
    "file": ("files", "get", "tea.txt"),
    "history": ("history", "{note}"),
    "history as JSON": ("history", "--json"),
    "search": ("search", "tea"),
    "script": ("run", "-c", "print(sdk.notes.list()[0].title)\nreturn sdk.notes.get(sdk.notes.list()[0].id)"),
    "script that fails": ("run", "-c", "raise ValueError(sdk.notes.get(sdk.notes.list()[0].id).content)"),
    "script as JSON": ("run", "--json", "-c", "return sdk.notes.get(sdk.notes.list()[0].id).content"),
    "unknown name": ("notes", "show", f"no{STEERING}"),
    "unknown name as JSON": ("notes", "show", f"no{STEERING}", "--json"),
    "wrong option": ("tasks", "--view", STEERING),
}


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_no_command_steers_a_terminal(hostile: str, words: tuple[str, ...]) -> None:
    written = run_in_terminal(*(word.replace("{note}", hostile) for word in words))

    assert written
    check_output(written)


def test_json_means_the_same_as_before(run: Command, hostile: str) -> None:
    shown = run("notes", "show", hostile, "--json")

    check_output(shown.out)
    assert shown.answer["data"]["content"].startswith(f"# {STEERING}")


HIDDEN = (
    "\u009b",
    "\x7f",
    "\u202e",
    "\U000e0061",
    "\ufeff",
    "\u200b",
    "\u2028",
    "é 日本\u3000",
    "\ud800",
    "👨\u200d👩",
)


@pytest.mark.parametrize("text", HIDDEN, ids=ascii)
def test_a_sign_that_is_hidden_is_escaped_in_json_and_comes_back(text: str) -> None:
    escaped = escape_json(json.dumps({text: [text]}, ensure_ascii=False))

    check_output(escaped)
    assert json.loads(escaped) == {text: [text]}


@pytest.mark.parametrize("as_json", [True, False])
def test_an_error_steers_no_terminal(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    error = InvalidInputError(STEERING, hint=STEERING, candidates=[{"id": "n_1", "title": STEERING}])

    report_error(error, ["notes", *(["--json"] if as_json else [])])

    written = capsys.readouterr().err
    assert "n_1" in written
    check_output(written)


def test_a_crash_steers_no_terminal(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PANORAMA_DEBUG", "1")

    report_error(ValueError(STEERING), ["notes"])

    check_output(capsys.readouterr().err)
    check_output((home / "crash.log").read_text())


def test_what_a_renderer_makes_of_a_text_steers_no_terminal() -> None:
    file = StringIO()
    shown = Console(file=file, force_terminal=True, width=100)
    shown.push_render_hook(console._SafeRendering())  # pyright: ignore[reportPrivateUsage] (what each console has)

    shown.print(Text(STEERING, "bold red"), Text(STEERING))

    assert "\x1b[1;31m" in file.getvalue()
    check_output(file.getvalue())


def test_a_log_line_steers_no_terminal_and_stays_one_line() -> None:
    record = logging.LogRecord("panorama", logging.ERROR, "", 1, "the call %s failed", (f"{STEERING}\nforged",), None)

    line = LogFormatter().format(record)

    check_output(line)
    assert line.splitlines() == [line]


def test_the_traceback_in_a_log_steers_no_terminal() -> None:
    try:
        raise ValueError(STEERING)
    except ValueError:
        record = logging.LogRecord("panorama", logging.ERROR, "", 1, "failed", (), sys.exc_info())

    text = LogFormatter().format(record)

    assert "Traceback" in text
    check_output(text)
