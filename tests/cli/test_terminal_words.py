"""Hints at the terminal name commands, never tools."""

import json
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from panorama.cli.commands.root import app
from panorama.cli.console.terminal_words import COMMANDS, to_terminal

from .conftest import Command

SURFACE = json.loads((Path(__file__).parents[1] / "honesty" / "public_surface.json").read_text("utf-8"))


@pytest.mark.parametrize("tool", [name for name in SURFACE["tools"] if "_" in name])
def test_every_tool_has_a_command(tool: str) -> None:
    assert to_terminal(f"Use {tool}.") == f"Use `panorama {COMMANDS[tool]}`."


@pytest.mark.parametrize("words", sorted(set(COMMANDS.values())))
def test_every_command_that_a_hint_names_is_there(words: str) -> None:
    command = get_command(app)
    for word in shlex.split(words):
        command = getattr(command, "commands", {}).get(word, command)

    assert command.name != app.info.name


def test_what_stands_in_quotes_is_left_as_it_is() -> None:
    assert to_terminal("Like “Fix list_tasks”; see list_tasks.") == "Like “Fix list_tasks”; see `panorama tasks`."


def test_a_refusal_names_the_command(run: Command) -> None:
    assert "`panorama schedule add`" in run("schedule", "pause", "Nightly").err
    assert "`panorama scripts`" in run("scripts", "show", "zzzzzz").err
    assert "`panorama jobs`" in run("jobs", "show", "w_0000000000").err
    assert "`panorama recent`" in run("undo").err
