"""A person whose clients can be set up, and what stands in their files."""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from panorama.cli.clients import configurations, jsonc
from panorama.cli.clients.clients import CLIENT_NAMES, McpClient

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

each_client = pytest.mark.parametrize("name", CLIENT_NAMES)
Given = Callable[..., McpClient]


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

    def made(name: str, content: bytes | None = None, mode: int = 0o600) -> McpClient:
        client = configurations.all_clients()[name]
        client.file.parent.mkdir(parents=True, exist_ok=True)
        client.file.write_bytes((OTHERS[client.format] % client.servers).encode() if content is None else content)
        client.file.chmod(mode)
        return client

    return made


def value_of(client: McpClient) -> Any:
    """Return what the file of a client says."""
    text = client.file.read_text("utf-8-sig")
    return tomllib.loads(text) if client.format == "toml" else jsonc.parse(text)


def entry_of(client: McpClient) -> Any:
    """Return what it says of Panorama."""
    return value_of(client)[client.servers]["panorama"]


def copies_of(client: McpClient) -> list[Path]:
    """Return the copies beside it."""
    return sorted(client.file.parent.glob(f"{client.file.name}.*.bak"))


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder, with what they hold."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
