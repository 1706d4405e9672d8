"""`panorama install` and `uninstall`: a client learns how to start Panorama, and nothing else in its file changes."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from panorama.cli.clients import clients, configurations
from panorama.cli.clients.clients import CLIENT_NAMES
from tests.cli.installing import (
    OTHERS,
    Given,
    command,
    each_client,
    entry_of,
    files_in,
    given,
    person,
    value_of,
)

from .conftest import Command

__all__ = ["command", "given", "person"]

SHAPES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "claude-code": ("mcpServers", {"type": "stdio"}),
    "claude-desktop": ("mcpServers", {}),
    "cursor": ("mcpServers", {"type": "stdio"}),
    "vscode": ("servers", {"type": "stdio"}),
    "codex": ("mcp_servers", {"startup_timeout_sec": 30}),
    "gemini": ("mcpServers", {}),
}


# What is written


@each_client
def test_each_client_gets_its_own_shape(run: Command, name: str, command: str) -> None:
    servers, more = SHAPES[name]

    installed = run("install", name)

    client = configurations.all_clients()[name]
    assert installed.code == 0
    assert value_of(client) == {servers: {"panorama": {"command": command, "args": [], **more}}}


@each_client
def test_all_else_in_the_file_stays_as_it_is(run: Command, given: Given, name: str) -> None:
    client = given(name)
    before = client.file.read_text()

    run("install", name)

    after = client.file.read_text()
    rest = iter(after)
    assert all(letter in rest for letter in before), "letters were taken away or moved"
    assert value_of(client)[client.servers].keys() == {"other", "panorama"}


def test_the_comments_and_spare_commas_of_vs_code_stay(run: Command, given: Given, command: str) -> None:
    client = given("vscode")

    run("install", "vscode")

    assert client.file.read_text() == (
        '{\n    // servers\n    "servers": {\n        "other": {"command": "/x"}, // mine\n'
        '        "panorama": {\n            "type": "stdio",\n'
        f'            "command": "{command}",\n            "args": []\n        }},\n'
        '    },\n    "n": [1,],\n}'
    )


def test_in_toml_the_entry_comes_last(run: Command, given: Given, command: str) -> None:
    client = given("codex")
    before = client.file.read_text()

    run("install", "codex")

    entry = f'[mcp_servers.panorama]\ncommand = "{command}"\nargs = []\nstartup_timeout_sec = 30\n'
    assert client.file.read_text() == f"{before}\n{entry}"


@pytest.mark.parametrize(
    "content",
    [
        b'mcp_servers = {other = {command = "/x"}} # mine\n\n[a]\nb = 1\n',
        b'mcp_servers.other.command = "/x"\n\n# mine\n[a]\nb = 1\n',
        b'[mcp_servers]\nother = {command = "/x"}\n\n# mine\n[a]\nb = 1',
        b'[mcp_servers.other]\ncommand = "/x"\n[a] # mine\nb = 1\n[mcp_servers."third one"]\ncommand = "/y"\n',
    ],
)
def test_every_way_to_write_servers_in_toml_is_understood(run: Command, given: Given, content: bytes) -> None:
    client = given("codex", content)
    before = value_of(client)

    run("install", "codex")

    after = value_of(client)
    assert after["mcp_servers"].pop("panorama")["startup_timeout_sec"] == 30
    assert after == before
    assert "# mine" in client.file.read_text()


@each_client
def test_the_ends_of_lines_and_the_mark_at_the_beginning_stay(run: Command, given: Given, name: str) -> None:
    client = configurations.all_clients()[name]
    content = b"\xef\xbb\xbf" + (OTHERS[client.format] % client.servers).replace("\n", "\r\n").encode()
    given(name, content)

    run("install", name)

    written = client.file.read_bytes()
    assert "panorama" in value_of(client)[client.servers]
    assert written.startswith((b"\xef\xbb\xbf{", b"\xef\xbb\xbfmodel"))
    assert written.count(b"\n") == written.count(b"\r\n") > content.count(b"\n")


@pytest.mark.parametrize("content", [b"", b"\n", b"{}", b'{"mcpServers": {}}', b'{"a":1,"mcpServers":{"x":{}}}'])
def test_a_file_with_little_in_it_will_do(run: Command, given: Given, content: bytes) -> None:
    client = given("claude-desktop", content)

    run("install", "claude-desktop")

    assert json.loads(client.file.read_text())["mcpServers"]["panorama"]


# Again


@each_client
def test_the_second_time_it_is_already_there(run: Command, given: Given, name: str) -> None:
    client = given(name)
    run("install", name)
    before = files_in(client.file.parent)

    again = run("install", name)

    assert again.code == 0
    assert "already set up" in again.out
    assert again.err == ""
    assert files_in(client.file.parent) == before


@each_client
def test_an_entry_that_starts_something_else_is_brought_up_to_date(
    run: Command, given: Given, name: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = given(name)
    monkeypatch.setenv("PANORAMA_HOME", "/old")
    run("install", name)
    client.file.write_text(client.file.read_text().replace(command, "/gone/panorama"))
    monkeypatch.delenv("PANORAMA_HOME")

    again = run("install", name)

    assert "is updated" in again.out
    assert entry_of(client)["command"] == command
    assert "PANORAMA_HOME" not in entry_of(client).get("env", {})


@pytest.mark.parametrize(
    ("name", "content", "kept"),
    [
        (
            "cursor",
            '{"mcpServers": {"panorama": {"command": "/gone", "env": {"PANORAMA_TIMEZONE": "UTC"}, "x": [1]}}} // mine',
            {"type": "stdio", "env": {"PANORAMA_TIMEZONE": "UTC", "PANORAMA_HOME": "/data"}, "x": [1]},
        ),
        (
            "codex",
            '[mcp_servers.panorama]\nstartup_timeout_sec = 99 # mine\ncommand = "/gone"\n\n'
            '[mcp_servers.panorama.env]\nPANORAMA_TIMEZONE = "UTC"\n\n# slow\n[profiles.slow]\n',
            {"startup_timeout_sec": 99, "env": {"PANORAMA_TIMEZONE": "UTC", "PANORAMA_HOME": "/data"}},
        ),
    ],
)
def test_what_a_person_put_into_the_entry_stays(
    run: Command, given: Given, command: str, monkeypatch: pytest.MonkeyPatch, name: str, content: str, kept: Any
) -> None:
    client = given(name, content.encode())
    monkeypatch.setenv("PANORAMA_HOME", "/data")

    run("install", name)

    assert entry_of(client) == {"command": command, **kept}
    assert "// mine" in client.file.read_text() or "# mine" in client.file.read_text()
    assert name != "codex" or client.file.read_text().endswith("\n\n# slow\n[profiles.slow]\n")


def test_an_entry_written_by_hand_that_says_the_same_is_already_there(run: Command, given: Given, command: str) -> None:
    given("gemini", json.dumps({"mcpServers": {"panorama": {"timeout": 5, "command": command}}}).encode())

    assert "already set up" in run("install", "gemini").out


def test_a_server_on_the_network_makes_room(run: Command, given: Given, command: str) -> None:
    client = given("gemini", b'{"mcpServers": {"panorama": {"httpUrl": "http://x", "headers": {}}}}')

    run("install", "gemini")

    assert entry_of(client) == {"command": command, "args": []}


# How it is started


def test_the_data_directory_goes_with_it(run: Command, person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANORAMA_HOME", "~/data")

    for name in CLIENT_NAMES:
        run("install", name)

    entries = [entry_of(client) for client in configurations.all_clients().values()]
    assert [entry["env"] for entry in entries] == [{"PANORAMA_HOME": str(person / "data")}] * len(CLIENT_NAMES)


def test_a_script_is_named_by_the_link_that_was_called(
    run: Command, person: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = person / "panorama"
    link.symlink_to(command)
    monkeypatch.chdir(person)
    monkeypatch.setattr(sys, "argv", ["./panorama"])

    run("install", "cursor")

    assert entry_of(configurations.all_clients()["cursor"])["command"] == str(link)


def test_without_a_script_it_is_started_as_a_module(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/panorama/__main__.py"])
    monkeypatch.setattr(sys, "executable", "/somewhere/python")

    run("install", "codex")

    entry = entry_of(configurations.all_clients()["codex"])
    assert (entry["command"], entry["args"]) == ("/somewhere/python", ["-m", "panorama"])


# What is said


@each_client
def test_print_changes_nothing_and_shows_what_would_be_there(run: Command, person: Path, name: str) -> None:
    shown = run("install", name, "--print")
    nothing = files_in(person), list(person.iterdir())

    run("install", name)

    client = configurations.all_clients()[name]
    assert nothing == ({}, [])
    assert shown.out == client.file.read_text()
    assert str(client.file) in shown.err


def test_print_works_where_the_file_is_damaged(run: Command, given: Given, command: str) -> None:
    given("cursor", b"{{")

    assert command in run("install", "cursor", "--print", "--json").answer["data"]["text"]


@each_client
def test_the_next_step_is_told(run: Command, given: Given, name: str) -> None:
    client = given(name)

    installed = run("install", name)

    assert f"→ {client.next_step}" in installed.err
    assert client.title in client.next_step
    assert "not seem to be installed" not in installed.err


def test_a_client_that_is_not_there_is_told(run: Command) -> None:
    assert "Cursor does not seem to be installed" in run("install", "cursor").err


def test_the_clients_are_listed_with_where_they_stand(run: Command, given: Given) -> None:
    given("cursor", b"{}")
    run("install", "codex")
    given("gemini", b'{"mcpServers": {"panorama": {"command": "/gone"}}}')

    listed, table = run("install", "--json").answer, run("install")

    rows = {row["client"]: row for row in listed["data"]}
    assert tuple(rows) == CLIENT_NAMES
    assert [rows[name]["set_up"] for name in ("cursor", "codex", "gemini")] == [False, True, False]
    assert [rows[name]["found"] for name in ("cursor", "codex", "vscode")] == [True, True, False]
    assert "/gone" in rows["gemini"]["problem"]
    assert listed["summary"] == "Panorama is set up in 1 of 6 clients."
    assert all(row["file"] in table.out for row in rows.values())


@pytest.mark.parametrize(
    "words", [("install", "emacs"), ("uninstall", "emacs"), ("uninstall",), ("install", "--print")]
)
def test_another_client_is_wrong_usage(run: Command, person: Path, words: tuple[str, ...]) -> None:
    refused = run(*words)

    assert refused.code == 2
    assert "emacs" not in words or "claude-desktop" in refused.err
    assert list(person.iterdir()) == []


@pytest.mark.parametrize("command_", ["install", "uninstall"])
def test_the_help_has_examples(run: Command, command_: str) -> None:
    assert f"panorama {command_} " in run(command_, "--help").out.partition("Examples")[2]


# Where the files are


@pytest.mark.parametrize(
    ("system", "environment", "files"),
    [
        ("linux", {}, (
            ".claude.json", ".config/Claude/claude_desktop_config.json", ".cursor/mcp.json",
            ".config/Code/User/mcp.json", ".codex/config.toml", ".gemini/settings.json",
        )),
        ("darwin", {}, (
            ".claude.json", "Library/Application Support/Claude/claude_desktop_config.json", ".cursor/mcp.json",
            "Library/Application Support/Code/User/mcp.json", ".codex/config.toml", ".gemini/settings.json",
        )),
        ("win32", {"APPDATA": "/h/Roaming"}, (
            ".claude.json", "Roaming/Claude/claude_desktop_config.json", ".cursor/mcp.json",
            "Roaming/Code/User/mcp.json", ".codex/config.toml", ".gemini/settings.json",
        )),
        ("linux", {
            "CLAUDE_CONFIG_DIR": "/h/c", "XDG_CONFIG_HOME": "/h/x", "CODEX_HOME": "/h/o", "GEMINI_CLI_HOME": "/h/g",
        }, (
            "c/.claude.json", "x/Claude/claude_desktop_config.json", ".cursor/mcp.json",
            "x/Code/User/mcp.json", "o/config.toml", "g/.gemini/settings.json",
        )),
    ],
)  # fmt: skip
def test_each_client_has_its_place(system: str, environment: Mapping[str, str], files: tuple[str, ...]) -> None:
    every = clients.build_clients(system, Path("/h"), environment)

    assert tuple(every) == CLIENT_NAMES
    assert [client.file for client in every.values()] == [Path("/h", file) for file in files]


def test_claude_desktop_as_a_package_has_a_place_of_its_own(tmp_path: Path) -> None:
    package = tmp_path / "Packages" / "Claude_pzs8sxrjxfjjc"
    package.mkdir(parents=True)

    desktop = clients.build_clients("win32", Path("/h"), {"LOCALAPPDATA": str(tmp_path)})["claude-desktop"]

    assert desktop.file == package / "LocalCache" / "Roaming" / "Claude" / "claude_desktop_config.json"
