"""Commands that take much away ask first, if somebody is there to ask."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.cli.client import Client
from panorama.cli.console import console

from .conftest import Command

pytestmark = pytest.mark.slow  # each runs the command at a terminal

Count = Callable[[], int]


@pytest.fixture
def unit(home: Path) -> str:
    """A batch of 21 tasks."""
    steps = [{"tool": "create_task", "args": {"title": f"task {n}"}} for n in range(21)]
    with Client() as panorama:
        return str(panorama.call("batch", {"operations": steps}).metadata["undo"])


@pytest.fixture
def tasks(run: Command) -> Count:
    """Counts the tasks."""
    return lambda: len(run("tasks", "--limit", "100", "--json").answer["data"])


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone at the terminal."""
    monkeypatch.setattr(console, "is_interactive", lambda: True)


def test_without_a_person_the_error_names_the_option(run: Command, unit: str, tasks: Count) -> None:
    refused = run("undo", unit)

    assert (refused.code, refused.out) == (1, "")
    assert "Take back 21 changes and move 21 items to the trash: the batch" in refused.err
    assert "→ Add --yes" in refused.err
    assert tasks() == 21


def test_the_option_says_yes(run: Command, unit: str, tasks: Count) -> None:
    assert run("undo", unit, "--yes").code == 0
    assert tasks() == 0


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("said", [b"y\n", b"Yes\n", b" y"])
def test_a_yes_at_the_terminal_does_it(run: Command, unit: str, tasks: Count, said: bytes) -> None:
    done = run("undo", unit, stdin=said)

    assert done.code == 0
    assert f"({unit})? [y/N]" in done.err
    assert "Took back 21 changes" in done.out
    assert tasks() == 0


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("said", [b"\n", b"n\n", b"", b"yess\n"])
def test_all_else_is_a_no(run: Command, unit: str, tasks: Count, said: bytes) -> None:
    refused = run("undo", unit, stdin=said)

    assert (refused.code, refused.out) == (1, "")
    assert refused.err.endswith("\nNothing was changed.\n") or refused.err.endswith("[y/N] Nothing was changed.\n")
    assert tasks() == 21


@pytest.mark.usefixtures("person")
def test_a_small_undo_is_not_asked_for(run: Command, tasks: Count) -> None:
    run("tasks", "add", "Tea")

    assert run("undo").code == 0
    assert tasks() == 0


@pytest.mark.usefixtures("person")
def test_a_program_hears_a_no_as_json(run: Command, unit: str) -> None:
    refused = run("undo", unit, "--json", stdin=b"n\n")

    question: dict[str, Any] = json.loads(refused.err.partition("[y/N] ")[2])
    assert question["error"]["code"] == "declined"


def test_a_terminal_is_known_for_one(home: Path, unit: str) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "panorama", "undo", unit]
    try:
        os.write(ours, b"y\n")
        done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)

    assert "[y/N]" in done.stderr
    assert "Took back 21 changes" in done.stdout
