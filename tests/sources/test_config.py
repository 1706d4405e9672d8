"""Reading `sources.json`."""

import json
from pathlib import Path
from typing import Any

import pytest

from panorama.domain.sources.policy import SourcePolicy
from panorama.errors import InvalidInputError
from panorama.sources.config import load_sources


def _write(home: Path, entries: Any) -> None:
    (home / "sources.json").write_text(json.dumps({"mcpServers": entries}))


def test_without_a_file_there_are_no_sources(tmp_path: Path) -> None:
    assert load_sources(tmp_path) == []


def test_an_entry_of_a_client_is_read_as_it_is(tmp_path: Path) -> None:
    _write(tmp_path, {"clock": {"command": "uvx", "args": ["mcp-server-time"], "env": {"TZ": "UTC"}, "type": "stdio"}})

    [source] = load_sources(tmp_path)

    assert (source.name, source.kind, source.command, source.args) == ("clock", "mcp", "uvx", ("mcp-server-time",))
    assert (source.env, source.transport) == ({"TZ": "UTC"}, "stdio")


def test_an_entry_says_what_the_user_allowed_and_denied(tmp_path: Path) -> None:
    _write(tmp_path, {"crm": {"url": "https://crm.example/mcp", "allow": ["get_*"], "deny": ["delete_*"]}})

    [source] = load_sources(tmp_path)

    assert source.policy == SourcePolicy(allow=("get_*",), deny=("delete_*",))


@pytest.mark.parametrize(
    ("name", "entry", "problem"),
    [
        ("My Notes", {"command": "x"}, "'My Notes' cannot be the name of a source."),
        ("class", {"command": "x"}, "'class' cannot be the name of a source."),
        ("a", [], "is not an object"),
        ("a", {}, "needs either a command or a url"),
        ("a", {"command": "x", "url": "https://y"}, "needs either a command or a url"),
        ("a", {"command": 1}, "needs text as command"),
        ("a", {"command": "x", "args": "y"}, "needs a list of texts as args"),
        ("a", {"command": "x", "env": {"N": 1}}, "needs an object of texts as env"),
        ("a", {"comand": "x"}, "has the unknown key 'comand'"),
        ("a", {"command": "x", "type": "http"}, "has a command and the type http"),
        ("a", {"url": "file:///etc/passwd"}, "has a url that is not http or https"),
        ("a", {"command": "x", "kind": "mpc"}, "has the unknown kind 'mpc'"),
        ("a", {"command": "x", "timeout": 0}, "has a timeout that cannot be used"),
        ("a", {"command": "x", "local": "yes"}, "needs true or false as local"),
    ],
)
def test_an_entry_that_cannot_be_used_is_refused_by_name(tmp_path: Path, name: str, entry: Any, problem: str) -> None:
    _write(tmp_path, {name: entry})

    with pytest.raises(InvalidInputError) as refused:
        load_sources(tmp_path)

    assert problem in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"mcpServers": []}', '{"servers": {}}'])
def test_a_file_without_sources_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "sources.json").write_text(text)

    with pytest.raises(InvalidInputError, match=r"sources\.json"):
        load_sources(tmp_path)
