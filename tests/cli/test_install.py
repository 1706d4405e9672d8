"""`panorama install` and `uninstall`: a client learns how to start Panorama, and nothing else in its file changes."""

import json
import os
import stat
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from panorama.cli import clients, configurations, jsonc
from panorama.cli.clients import NAMES, Client

from .conftest import Command

OTHERS = {
    "json": '{\n  "theme": "dark",\n  "%s": {\n    "other": {"command": "/x", "args": []}\n  },\n  "n": 1e3\n}\n',
    "jsonc": '{\n    // servers\n    "%s": {\n        "other": {"command": "/x"}, // mine\n    },\n    "n": [1,],\n}',
    "toml": 'model = "o9"  # fast\n\n[%s.other]\ncommand = "/x"\n\n# how I work\n[profiles.slow]\nmodel = "o9-slow"\n',
}
"""A file with another server, for each format."""

DAMAGED = {
    "json": b'{\n  "mcpServers": {"panorama": {}}\n  "theme": "dark"\n}\n',
    "jsonc": b'{\n  // {0}\n  "servers": {"panorama": }\n}\n',
    "toml": b'model = "o9"\n[mcp_servers.panorama]\ncommand = \n',
}

SHAPES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "claude-code": ("mcpServers", {"type": "stdio"}),
    "claude-desktop": ("mcpServers", {}),
    "cursor": ("mcpServers", {"type": "stdio"}),
    "vscode": ("servers", {"type": "stdio"}),
    "codex": ("mcp_servers", {"startup_timeout_sec": 30}),
    "gemini": ("mcpServers", {}),
}

each_client = pytest.mark.parametrize("name", NAMES)
Given = Callable[..., Client]


@pytest.fixture(autouse=True)
def person(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whose home directory it is: a new one, in which no client has been."""
    made = tmp_path / "person"
    made.mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.delenv("PANORAMA_HOME")
    assert all(client.file.is_relative_to(made) for client in configurations.all_clients().values())
    return made


@pytest.fixture(autouse=True)
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The console script that is running."""
    script = tmp_path / "bin" / "panorama"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script), "install"])
    return str(script)


@pytest.fixture
def given() -> Given:
    """A client whose file is as given: `given("cursor", b"{}")`; else with another server in it."""

    def made(name: str, content: bytes | None = None, mode: int = 0o600) -> Client:
        client = configurations.all_clients()[name]
        client.file.parent.mkdir(parents=True, exist_ok=True)
        client.file.write_bytes((OTHERS[client.format] % client.servers).encode() if content is None else content)
        client.file.chmod(mode)
        return client

    return made


def _value(client: Client) -> Any:
    text = client.file.read_text("utf-8-sig")
    return tomllib.loads(text) if client.format == "toml" else jsonc.parsed(text)


def _entry(client: Client) -> Any:
    return _value(client)[client.servers]["panorama"]


def _copies(client: Client) -> list[Path]:
    return sorted(client.file.parent.glob(f"{client.file.name}.*.bak"))


def _files(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


# What is written


@each_client
def test_each_client_gets_its_own_shape(run: Command, name: str, command: str) -> None:
    servers, more = SHAPES[name]

    installed = run("install", name)

    client = configurations.all_clients()[name]
    assert installed.code == 0
    assert _value(client) == {servers: {"panorama": {"command": command, "args": [], **more}}}


@each_client
def test_all_else_in_the_file_stays_as_it_is(run: Command, given: Given, name: str) -> None:
    client = given(name)
    before = client.file.read_text()

    run("install", name)

    after = client.file.read_text()
    rest = iter(after)
    assert all(letter in rest for letter in before), "letters were taken away or moved"
    assert _value(client)[client.servers].keys() == {"other", "panorama"}


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
    before = _value(client)

    run("install", "codex")

    after = _value(client)
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
    assert "panorama" in _value(client)[client.servers]
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
    before = _files(client.file.parent)

    again = run("install", name)

    assert again.code == 0
    assert "already there" in again.out
    assert again.err == ""
    assert _files(client.file.parent) == before


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

    assert "set up anew" in again.out
    assert _entry(client)["command"] == command
    assert "PANORAMA_HOME" not in _entry(client).get("env", {})


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

    assert _entry(client) == {"command": command, **kept}
    assert "// mine" in client.file.read_text() or "# mine" in client.file.read_text()
    assert name != "codex" or client.file.read_text().endswith("\n\n# slow\n[profiles.slow]\n")


def test_an_entry_written_by_hand_that_says_the_same_is_already_there(run: Command, given: Given, command: str) -> None:
    given("gemini", json.dumps({"mcpServers": {"panorama": {"timeout": 5, "command": command}}}).encode())

    assert "already there" in run("install", "gemini").out


def test_a_server_on_the_network_makes_room(run: Command, given: Given, command: str) -> None:
    client = given("gemini", b'{"mcpServers": {"panorama": {"httpUrl": "http://x", "headers": {}}}}')

    run("install", "gemini")

    assert _entry(client) == {"command": command, "args": []}


# How it is started


def test_the_data_directory_goes_with_it(run: Command, person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANORAMA_HOME", "~/data")

    for name in NAMES:
        run("install", name)

    entries = [_entry(client) for client in configurations.all_clients().values()]
    assert [entry["env"] for entry in entries] == [{"PANORAMA_HOME": str(person / "data")}] * len(NAMES)


def test_a_script_is_named_by_the_link_that_was_called(
    run: Command, person: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = person / "panorama"
    link.symlink_to(command)
    monkeypatch.chdir(person)
    monkeypatch.setattr(sys, "argv", ["./panorama"])

    run("install", "cursor")

    assert _entry(configurations.all_clients()["cursor"])["command"] == str(link)


def test_without_a_script_it_is_started_as_a_module(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/panorama/__main__.py"])
    monkeypatch.setattr(sys, "executable", "/somewhere/python")

    run("install", "codex")

    entry = _entry(configurations.all_clients()["codex"])
    assert (entry["command"], entry["args"]) == ("/somewhere/python", ["-m", "panorama"])


# The file


@each_client
def test_a_dated_copy_of_what_was_there_is_put_beside_it(run: Command, given: Given, name: str) -> None:
    client = given(name, mode=0o664)
    before = client.file.read_bytes()

    installed = run("install", name, "--json").answer
    removed = run("uninstall", name, "--json").answer

    first, second = sorted((Path(installed["data"]["copy"]), Path(removed["data"]["copy"])), key=os.path.getmtime)
    assert _copies(client) == sorted((first, second))
    assert first.read_bytes() == before
    assert stat.S_IMODE(first.stat().st_mode) == 0o664


@each_client
def test_a_new_file_needs_no_copy_and_is_private(run: Command, name: str) -> None:
    installed = run("install", name, "--json").answer

    client = configurations.all_clients()[name]
    assert "copy" not in installed["data"]
    assert [each.name for each in client.file.parent.iterdir()] == [client.file.name]
    assert stat.S_IMODE(client.file.stat().st_mode) == 0o600


@each_client
def test_the_mode_of_the_file_is_kept(run: Command, given: Given, name: str) -> None:
    client = given(name, mode=0o664)

    run("install", name)

    assert stat.S_IMODE(client.file.stat().st_mode) == 0o664


@each_client
def test_a_link_stays_a_link(run: Command, given: Given, name: str, person: Path) -> None:
    client = given(name)
    kept = person / "dotfiles" / "kept"
    kept.parent.mkdir()
    client.file.rename(kept)
    client.file.symlink_to(kept)

    run("install", name)

    assert client.file.readlink() == kept
    assert b"panorama" in kept.read_bytes()
    assert (len(_copies(client)), [each.name for each in kept.parent.iterdir()]) == (1, ["kept"])


@each_client
def test_a_file_that_cannot_be_understood_is_not_touched(run: Command, given: Given, name: str, command: str) -> None:
    client = given(name, DAMAGED[configurations.all_clients()[name].format])
    before = _files(client.file.parent)

    installed, removed = run("install", name), run("uninstall", name)

    assert (installed.code, removed.code) == (3, 3)
    assert str(client.file) in installed.err
    assert "line 3" in installed.err
    assert command in installed.err
    assert _files(client.file.parent) == before


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("claude-code", b'{\n  "a": 1 // one\n}'),
        ("claude-desktop", b'{\n  "a": 1,\n}'),
        ("cursor", b"[]"),
        ("cursor", b'{"mcpServers": []}'),
        ("cursor", b'{"a": "\xff"}'),
        ("vscode", '{"a": 1}'.encode("utf-16")),
        ("gemini", b"[" * 100_000),
        ("codex", b"mcp_servers = 3\n"),
        ("codex", b"[[mcp_servers]]\n"),
    ],
)
def test_a_file_of_another_kind_is_not_touched(run: Command, given: Given, name: str, content: bytes) -> None:
    client = given(name, content)

    installed = run("install", name)

    assert (installed.code, client.file.read_bytes(), _copies(client)) == (3, content, [])
    assert "Panorama itself failed" not in installed.err


def test_a_file_that_may_not_be_written_is_not_replaced(
    run: Command, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = given("cursor")
    before = _files(client.file.parent)
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)

    installed = run("install", "cursor")

    assert installed.code == 3
    assert "may not be written" in installed.err
    assert _files(client.file.parent) == before


def test_what_another_program_writes_meanwhile_is_not_lost(
    run: Command, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = given("claude-code")
    monkeypatch.setattr(os, "fsync", lambda _: client.file.write_text('{"mine": 1}'))

    installed = run("install", "claude-code")

    assert installed.code == 1
    assert "Run this again" in installed.err
    assert _files(client.file.parent) == {".claude.json": b'{"mine": 1}'}


def test_on_a_full_disk_the_file_stays_and_nothing_is_left(
    run: Command, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = given("cursor")
    before = _files(client.file.parent)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    installed = run("install", "cursor")

    assert installed.code == 3
    assert "No space left" in installed.err
    assert _files(client.file.parent) == before


# Taking it out


@each_client
def test_taking_it_out_brings_the_file_back_as_it_was(run: Command, given: Given, name: str) -> None:
    client = given(name)
    before = client.file.read_bytes()
    run("install", name)

    removed = run("uninstall", name)

    assert removed.code == 0
    assert client.title in removed.err
    assert client.file.read_bytes() == before


def test_comments_around_the_entry_stay(run: Command, given: Given) -> None:
    client = given(
        "codex",
        b'# servers\n[mcp_servers.panorama]\ncommand = "/x" # mine\n\n[mcp_servers.panorama.env]\nA = "1"\n\n'
        b"# how I work\n[profiles.slow]\nb = 1\n",
    )

    run("uninstall", "codex")

    assert client.file.read_text() == "# servers\n\n# how I work\n[profiles.slow]\nb = 1\n"


@pytest.mark.parametrize(
    "content",
    [b'mcp_servers = {panorama = {command = "/x"}, a = {}} # b\n', b"mcp_servers.panorama.command = '/x' # b\n"],
)
def test_an_entry_within_one_line_is_taken_out(run: Command, given: Given, content: bytes) -> None:
    client = given("codex", content)

    removed = run("uninstall", "codex")

    assert removed.code == 0
    assert "panorama" not in client.file.read_text()


@each_client
def test_where_it_is_not_there_is_nothing_to_take_out(run: Command, given: Given, name: str) -> None:
    missing = run("uninstall", name)
    client = given(name)
    before = _files(client.file.parent)

    removed = run("uninstall", name)

    assert (missing.code, removed.code) == (0, 0)
    assert "was not set up" in missing.out
    assert "was not set up" in removed.out
    assert _files(client.file.parent) == before


# What is said


@each_client
def test_print_changes_nothing_and_shows_what_would_be_there(run: Command, person: Path, name: str) -> None:
    shown = run("install", name, "--print")
    nothing = _files(person), list(person.iterdir())

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
    assert tuple(rows) == NAMES
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
    every = clients.known(system, Path("/h"), environment)

    assert tuple(every) == NAMES
    assert [client.file for client in every.values()] == [Path("/h", file) for file in files]


def test_claude_desktop_as_a_package_has_a_place_of_its_own(tmp_path: Path) -> None:
    package = tmp_path / "Packages" / "Claude_pzs8sxrjxfjjc"
    package.mkdir(parents=True)

    desktop = clients.known("win32", Path("/h"), {"LOCALAPPDATA": str(tmp_path)})["claude-desktop"]

    assert desktop.file == package / "LocalCache" / "Roaming" / "Claude" / "claude_desktop_config.json"


# The doctor


def _checks(run: Command) -> dict[str, dict[str, str]]:
    return {row["check"]: row for row in run("doctor", "--json").answer["data"] if row["check"].startswith("client")}


def test_that_no_client_is_set_up_is_no_fault(run: Command, given: Given) -> None:
    given("cursor")
    given("claude-code", b'{"projects": {"/src/panorama": ')

    assert {name: row["state"] for name, row in _checks(run).items()} == {"clients": "ok"}


@each_client
def test_a_client_that_can_start_panorama_is_well(run: Command, given: Given, name: str) -> None:
    given(name)
    run("install", name)

    assert {check: row["state"] for check, row in _checks(run).items()} == {f"client {name}": "ok"}


@each_client
def test_a_program_that_is_gone_is_found(run: Command, name: str, command: str) -> None:
    run("install", name)
    Path(command).chmod(0o644)

    found = _checks(run)[f"client {name}"]

    assert (found["state"], found["mend"]) == ("fail", f"panorama install {name}")
    assert command in found["found"]


def test_data_in_another_place_are_told(run: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run("install", "vscode")
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "other"))

    found = _checks(run)["client vscode"]

    assert (found["state"], found["mend"]) == ("warn", "panorama install vscode")
    assert str(tmp_path / "other") in found["found"]


@each_client
def test_a_damaged_file_in_which_panorama_stands_is_found(run: Command, given: Given, name: str) -> None:
    client = given(name, DAMAGED[configurations.all_clients()[name].format])

    found = _checks(run)[f"client {name}"]

    assert found["state"] == "fail"
    assert f"{client.file} cannot be used (" in found["found"]
    assert "line 3" in found["found"]
