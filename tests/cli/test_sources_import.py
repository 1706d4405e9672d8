"""`panorama sources import`: the servers of other clients, entry by entry."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.cli.clients.servers import read_servers
from panorama.sources.config import load_sources, parse_entry
from tests.cli.conftest import Command
from tests.cli.terminals import Terminal

TOKEN = "ghp_0123456789abcdefghij"


def _read(client: str, entry: dict[str, Any]) -> Any:
    [server] = read_servers(client, "mcpServers", {"mcpServers": {"a": entry}})
    return server.problem or dict(server.entry)


@pytest.mark.parametrize(
    ("client", "entry", "expected"),
    [
        ("claude-desktop", {"command": "npx", "args": ["-y", "x"]}, {"command": "npx", "args": ["-y", "x"]}),
        (
            "claude-desktop",
            {"command": "x", "env": {"N": 1, "B": True}},
            {"command": "x", "env": {"N": "1", "B": "true"}},
        ),
        (
            "claude-code",
            {"type": "http", "url": "${BASE:-https://x}/mcp", "headers": {"X-Key": "${K}"}},
            {"url": "${BASE:-https://x}/mcp", "headers": {"X-Key": "${K}"}},
        ),
        ("claude-code", {"type": "sse", "url": "https://x/mcp"}, {"url": "https://x/mcp", "type": "sse"}),
        (
            "cursor",
            {"url": "https://x/sse", "headers": {"Authorization": "Bearer ${env:T}"}},
            {"url": "https://x/sse", "type": "sse", "headers": {"Authorization": "Bearer ${T}"}},
        ),
        ("vscode", {"type": "stdio", "command": "x", "gallery": True}, {"command": "x"}),
        ("gemini", {"url": "https://x/mcp"}, {"url": "https://x/mcp", "type": "sse"}),
        (
            "gemini",
            {"httpUrl": "https://x/mcp", "timeout": 5000, "excludeTools": ["rmAll"], "trust": True},
            {"url": "https://x/mcp", "timeout": 5.0, "deny": ["rm_all"]},
        ),
        ("gemini", {"command": "x", "env": {"K": "$MY_KEY"}}, {"command": "x", "env": {"K": "${MY_KEY}"}}),
        (
            "codex",
            {"command": "x", "env_vars": ["K"], "enabled": False},
            {"command": "x", "env": {"K": "${K}"}, "disabled": True},
        ),
        (
            "codex",
            {"url": "https://x", "bearer_token_env_var": "T", "tool_timeout_sec": 30, "enabled_tools": ["a-b"]},
            {
                "url": "https://x",
                "headers": {"Authorization": "Bearer ${T}"},
                "timeout": 30.0,
                "deny": ["*"],
                "ask": ["a_b"],
            },
        ),
        (
            "codex",
            {"url": "https://x", "env_http_headers": {"X-K": "K"}},
            {"url": "https://x", "headers": {"X-K": "${K}"}},
        ),
        ("claude-code", {"serverUrl": "https://x/mcp"}, {"url": "https://x/mcp"}),
        ("vscode", {"url": "${input:address}"}, "its client asks for a value"),
        (
            "cursor",
            {"command": "x", "cwd": "${workspaceFolder}/y"},
            "it uses ${workspaceFolder}, which only its client knows",
        ),
        ("cursor", {"command": "x", "envFile": ".env"}, "it has envFile, which Panorama cannot read"),
        ("cursor", {}, "it has neither a command nor an address"),
        ("cursor", {"command": "x", "url": "https://y"}, "it has a command and an address"),
        ("cursor", {"url": "https://y", "type": "carrier-pigeon"}, "its type 'carrier-pigeon' is unknown"),
        ("cursor", {"command": ["x"]}, "its command is not text"),
        ("cursor", {"command": "x", "args": "y"}, "its args are not a list"),
        ("cursor", {"command": "x", "env": []}, None),
        ("cursor", "x", "it is not an object"),
    ],
)
def test_an_entry_is_read_as_its_client_means_it(client: str, entry: dict[str, Any], expected: Any) -> None:
    found = _read(client, entry)

    if isinstance(expected, str):
        assert expected in found
    else:
        assert found == (expected or {"command": "x"})
        assert parse_entry("a", found).name == "a"


def test_servers_of_single_folders_are_found_too() -> None:
    data = {"projects": {"/p": {"mcpServers": {"a": {"command": "x"}}}}, "mcpServers": {"b": {"command": "y"}}}

    assert [server.name for server in read_servers("claude-code", "mcpServers", data)] == ["a", "b"]


@pytest.fixture
def clients(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Writes a client's file below the home directory."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("HOME", str(tmp_path))

    def put(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return put


def test_all_clients_are_read_and_bad_entries_are_named(run: Command, clients: Callable[[str, str], None]) -> None:
    clients(
        ".cursor/mcp.json", '{"mcpServers": {"My-Notes": {"command": "x"}, "bad": {"envFile": "y"}, "panorama": {}}}'
    )
    clients(".codex/config.toml", '[mcp_servers.h]\nurl = "https://x"\n')
    clients(".gemini/settings.json", '{ // settings\n"mcpServers": {"h": {"httpUrl": "https://x"}},}')
    clients(".claude.json", "{")

    done = run("sources", "import", "--dry-run", "--json")

    states = [(row["name"], row["client"], row["state"]) for row in done.answer["data"]]
    assert states == [
        ("", "claude-code", "refused"), ("my_notes", "cursor", "new"), ("bad", "cursor", "refused"),
        ("h", "codex", "new"), ("h", "gemini", "known"),
    ]  # fmt: skip
    assert done.answer["summary"] == "2 of 5 servers can be added"


def test_importing_moves_secrets_and_leaves_the_clients_file(
    home: Path, tmp_path: Path, clients: Callable[[str, str], None]
) -> None:
    text = json.dumps({"mcpServers": {"github": {"command": "x", "env": {"GITHUB_TOKEN": TOKEN, "LOG": "info"}}}})
    clients(".cursor/mcp.json", text)

    with Terminal(("sources", "import", "cursor")) as terminal:
        terminal.until("Add 1 as sources?")
        terminal.types("y")
        assert terminal.ends() == 0

    [source] = load_sources(home)
    assert dict(source.env) == {"GITHUB_TOKEN": "file:github/GITHUB_TOKEN", "LOG": "info"}
    assert json.loads((home / "sources.keys").read_text()) == {"github/GITHUB_TOKEN": TOKEN}
    assert TOKEN not in (home / "sources.json").read_text() + terminal.seen
    assert (tmp_path / ".cursor" / "mcp.json").read_text() == text


def test_a_second_import_adds_nothing(run: Command, home: Path, clients: Callable[[str, str], None]) -> None:
    clients(".cursor/mcp.json", '{"mcpServers": {"a": {"command": "x"}}}')
    (home / "sources.json").write_text('{"mcpServers": {"a": {"command": "mine"}}}')

    answer = run("sources", "import", "--dry-run", "--json").answer

    assert [(row["state"], row["reason"]) for row in answer["data"]] == [("known", "A source a already exists.")]


@pytest.mark.parametrize("words", [("chatgpt",), ("--file", "x.json")])
def test_an_import_needs_a_client_that_is_known(run: Command, words: tuple[str, ...]) -> None:
    assert run("sources", "import", *words, "--dry-run").code == 2
