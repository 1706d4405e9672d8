"""The MCP clients: the paths and the form of their configuration. A table; it reads no file.

Checked against the clients' documentation of late 2026. The paths for Windows are untested.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

SERVER_KEY = "panorama"
"""Panorama's name among a client's servers."""

CLIENT_NAMES = ("claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini")

STDIO: Mapping[str, Any] = {"type": "stdio"}

CODEX_TIMEOUT: Mapping[str, Any] = {"startup_timeout_sec": 30}
"""Codex waits 10 seconds, then ignores the server until its next session. A start takes 2 seconds; the first one after
an upgrade also copies and migrates the data. A longer limit costs nothing.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpClient:
    """A client: `folder` exists if it is installed, `servers` is the key of the servers in its `file`."""

    name: str
    title: str
    folder: Path
    file: Path
    format: Literal["json", "jsonc", "toml"]
    next_step: str
    servers: str = "mcpServers"
    fixed: Mapping[str, Any]
    suggested: Mapping[str, Any]

    @property
    def path(self) -> tuple[str, ...]:
        """The keys of Panorama's entry."""
        return self.servers, SERVER_KEY

    def is_found(self) -> bool:
        """Return whether the client seems to be installed."""
        return os.path.isdir(self.folder) or os.path.exists(
            self.file
        )  # pathlib's functions raise if a folder is locked


def build_clients(system: str, home: Path, environment: Mapping[str, str]) -> dict[str, McpClient]:
    """Return all clients by name.

    Args:
        system: The platform, as in `sys.platform`.
        home: The user's home directory.
    """
    every = (
        _claude_code(home, environment),
        _claude_desktop(system, home, environment),
        _cursor(home),
        _vscode(system, home, environment),
        _codex(home, environment),
        _gemini(home, environment),
    )
    return {client.name: client for client in every}


def _claude_code(home: Path, environment: Mapping[str, str]) -> McpClient:
    folder = _folder_from_env(environment, "CLAUDE_CONFIG_DIR", home / ".claude")
    return McpClient(
        name="claude-code",
        title="Claude Code",
        folder=folder,
        file=(folder if environment.get("CLAUDE_CONFIG_DIR") else home) / ".claude.json",
        format="json",
        fixed=STDIO,
        suggested={},
        # An open session may write the whole file from memory (github.com/anthropics/claude-code/issues/27941).
        next_step="Restart Claude Code: /mcp lists panorama. If it does not, end every session and run this again.",
    )


def _claude_desktop(system: str, home: Path, environment: Mapping[str, str]) -> McpClient:
    folder = _msix_folder(environment) if system == "win32" else None
    folder = folder or _app_data_folder(system, home, environment) / "Claude"
    return McpClient(
        name="claude-desktop",
        title="Claude Desktop",
        folder=folder,
        file=folder / "claude_desktop_config.json",
        format="json",
        fixed={},
        suggested={},
        next_step="Quit Claude Desktop (closing its window is not enough) and start it again.",
    )


def _cursor(home: Path) -> McpClient:
    return McpClient(
        name="cursor",
        title="Cursor",
        folder=home / ".cursor",
        file=home / ".cursor" / "mcp.json",
        format="jsonc",
        fixed=STDIO,
        suggested={},
        next_step="Restart Cursor.",
    )


def _vscode(system: str, home: Path, environment: Mapping[str, str]) -> McpClient:
    folder = _app_data_folder(system, home, environment) / "Code"
    return McpClient(
        name="vscode",
        title="VS Code",
        folder=folder,
        file=folder / "User" / "mcp.json",
        format="jsonc",
        servers="servers",
        fixed=STDIO,
        suggested={},
        next_step="Restart VS Code; it asks once whether you trust panorama.",
    )


def _codex(home: Path, environment: Mapping[str, str]) -> McpClient:
    folder = _folder_from_env(environment, "CODEX_HOME", home / ".codex")
    return McpClient(
        name="codex",
        title="Codex",
        folder=folder,
        file=folder / "config.toml",
        format="toml",
        servers="mcp_servers",
        fixed={},
        suggested=CODEX_TIMEOUT,
        next_step="Restart Codex: /mcp lists panorama.",
    )


def _gemini(home: Path, environment: Mapping[str, str]) -> McpClient:
    folder = _folder_from_env(environment, "GEMINI_CLI_HOME", home) / ".gemini"
    return McpClient(
        name="gemini",
        title="Gemini CLI",
        folder=folder,
        file=folder / "settings.json",
        format="jsonc",
        fixed={},
        suggested={},
        next_step="Restart Gemini CLI: /mcp lists panorama.",
    )


def _folder_from_env(environment: Mapping[str, str], name: str, default: Path) -> Path:
    chosen = environment.get(name, "")
    return Path(chosen).expanduser().absolute() if chosen else default


def _app_data_folder(system: str, home: Path, environment: Mapping[str, str]) -> Path:
    """Return the data folder of Electron programs."""
    if system == "darwin":
        return home / "Library" / "Application Support"
    if system == "win32":
        return _folder_from_env(environment, "APPDATA", home / "AppData" / "Roaming")
    return _folder_from_env(environment, "XDG_CONFIG_HOME", home / ".config")


def _msix_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the replacement of %APPDATA%\\Claude for Claude Desktop as an MSIX package, its form since 2026.

    Windows redirects the folder of packaged programs (github.com/anthropics/claude-code/issues/26073).
    """
    packages = Path(environment.get("LOCALAPPDATA", "")) / "Packages"
    folders = sorted(packages.glob("Claude_*"))
    return folders[0] / "LocalCache" / "Roaming" / "Claude" if folders else None
