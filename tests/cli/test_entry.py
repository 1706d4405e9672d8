"""The command as a process: what it imports, how it ends, and how it behaves in pipes and terminals."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Command

pytestmark = pytest.mark.slow  # each starts the command, as a shell does

COMMAND = [sys.executable, "-m", "panorama"]


def test_the_version_is_told_without_importing_anything_but_the_standard_library(process: Command) -> None:
    counted = "import sys; old = set(sys.modules); import panorama.cli.main; print(*(set(sys.modules) - old))"

    loaded = subprocess.run([sys.executable, "-c", counted], capture_output=True, text=True, check=True).stdout.split()

    assert {name for name in loaded if name.partition(".")[0] not in sys.stdlib_module_names} == {
        "panorama",
        "panorama.cli",
        "panorama.cli.console",
        "panorama.cli.main",
        "panorama.cli.console.pipes",
    }
    assert process("--version").out.startswith("panorama 0.")


def test_a_value_that_needs_checking_is_checked_as_ever(process: Command) -> None:
    wrong = process("tasks", "--limit", "many")

    assert wrong.code == 2
    assert "valid integer" in wrong.err


def test_a_task_that_one_command_adds_is_listed_by_the_next(process: Command) -> None:
    added = process("tasks", "add", "Water the plants", "--deadline", "today")

    listed = process("tasks")

    assert (added.code, listed.code) == (0, 0)
    assert "Water the plants" in listed.out
    assert "today" in listed.out


def test_without_arguments_it_serves_mcp_until_the_client_leaves(process: Command) -> None:
    served = process()

    assert served.code == 0
    assert served.out == ""


def test_a_person_who_starts_it_by_hand_is_told_what_it_is(home: Path) -> None:
    leader, terminal = pty.openpty()

    done = subprocess.run(COMMAND, stdin=terminal, capture_output=True, text=True, timeout=60)

    os.close(leader)
    os.close(terminal)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (0, "", 3)
    assert "panorama demo" in done.stderr


def test_a_reader_that_leaves_early_is_no_error(home: Path) -> None:
    running = subprocess.Popen([*COMMAND, "status"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None

    running.stdout.close()
    _, err = running.communicate(timeout=60)

    assert (running.returncode, err) == (0, "")


def test_an_interrupt_ends_it_with_130_and_writes_nothing(home: Path, process: Command) -> None:
    leader, terminal = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "note", "add", "Tea"], stdin=terminal, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        assert "Ctrl-D" in running.stderr.readline()

        running.send_signal(signal.SIGINT)

        assert running.wait(timeout=60) == 130
        assert running.stderr.read() == ""
    os.close(leader)
    os.close(terminal)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("panorama tas", "tasks"), ("panorama tasks --vi", "--view"), ("panorama tasks --view ov", "overdue")],
)
def test_the_shell_completes_commands_options_and_values(process: Command, typed: str, offered: str) -> None:
    at = str(len(typed.split()) - 1)

    completed = process(_PANORAMA_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=at)

    assert completed.lines == [offered]
