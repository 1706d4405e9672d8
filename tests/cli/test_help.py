"""Help: every command says what it does, with examples."""

import re

import pytest

from panorama.cli.nouns.table import NOUNS

from .conftest import Command

COMMANDS = (
    ("demo",), ("status",), ("import", "markdown"), ("search",), ("similar",), ("undo",), ("history",), ("restore",),
    ("calls",), ("doctor",), ("files",), ("files", "get"), ("files", "add"), ("models",), ("models", "add"),
    *((noun.group, verb) for noun in NOUNS for verb in noun.verbs if verb != "list"),
    *((noun.group,) for noun in NOUNS),
    *(("tags", *verb) for verb in ((), ("show",), ("rename",), ("delete",))), ("trash",), ("trash", "show"),
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_examples(run: Command, command: tuple[str, ...]) -> None:
    result = run(*command, "--help")

    assert result.code == 0
    assert "Examples" in result.out
    assert f"panorama {' '.join(command)}" in result.out.partition("Examples")[2]


def test_the_exit_codes_stand_in_the_help(run: Command) -> None:
    result = run("--help").out.partition("Exit codes")[2]

    assert all(f" {code} " in result for code in (0, 1, 2, 3, 130))


@pytest.mark.parametrize(
    ("group", "option"), [("tasks", "--view"), ("notes", "--project"), ("journal", "--since"), ("models", "--json")]
)
def test_the_help_of_a_group_shows_the_options_of_its_list(run: Command, group: str, option: str) -> None:
    result = run(group, "--help").out

    assert option in result
    assert "list" in result


def test_the_first_panel_of_the_help_is_that_of_every_day(run: Command) -> None:
    panels = re.findall(r"╭─ ([A-Za-z ]+?) ─", run("--help").out)

    assert panels == ["Everyday", "Scripts", "History and undo", "Maintenance"]


def test_the_version_is_told_wherever_it_is_asked_for(run: Command) -> None:
    assert run("-V").out == run("--version").out == run("--version", "status").out


def test_the_help_of_models_add_names_the_extra(run: Command) -> None:
    result = run("models", "add", "--help")

    assert "'panorama-mcp[multilingual]'" in result.out
