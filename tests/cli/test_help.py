"""Help: every command says what it does, with examples."""

import pytest

from .conftest import Command

COMMANDS = (
    ("demo",), ("status",), ("import", "markdown"), ("tasks",), ("tasks", "add"), ("tasks", "done"), ("note",),
    ("note", "add"), ("search",), ("similar",), ("undo",), ("history",), ("restore",), ("calls",), ("doctor",),
    ("files",), ("files", "get"), ("files", "add"),
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_examples(run: Command, command: tuple[str, ...]) -> None:
    told = run(*command, "--help")

    assert told.code == 0
    assert "Examples" in told.out
    assert f"panorama {' '.join(command)}" in told.out.partition("Examples")[2]


def test_the_exit_codes_stand_in_the_help(run: Command) -> None:
    told = run("--help").out.partition("Exit codes")[2]

    assert all(f" {code} " in told for code in (0, 1, 2, 3, 130))


def test_the_help_of_a_group_shows_the_options_of_its_first_command(run: Command) -> None:
    told = run("tasks", "--help").out

    assert "--view" in told
    assert "done" in told


def test_the_version_is_told_wherever_it_is_asked_for(run: Command) -> None:
    assert run("-V").out == run("--version").out == run("--version", "status").out
