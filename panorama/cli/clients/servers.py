"""Reads the MCP servers of clients' configuration files, entry by entry, as entries of `sources.json`. Pure.

Clients differ in keys, in what `url` means, and in how they name variables. An entry that cannot be taken over is
refused by name; the others are read.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from panorama.domain.sources.names import to_identifier
from panorama.domain.text.json_types import is_list, is_object

_VARIABLE = re.compile(r"\$\{env:(\w+)\}|\$(\w+)")
_BRACED = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"\w+(?::-.*)?", re.DOTALL)
_CLIENT_VARIABLES = frozenset({
    "workspaceFolder", "workspaceFolderBasename", "workspaceRoot", "pathSeparator", "extensionPath", "__dirname",
})  # fmt: skip
_TRANSPORTS = {
    "http": "http", "streamable-http": "http", "streamablehttp": "http", "streamable_http": "http", "sse": "sse",
    "stdio": "stdio", "local": "stdio", "remote": "http",
}  # fmt: skip
_READ_KEYS = frozenset({
    "command", "args", "env", "cwd", "url", "httpUrl", "serverUrl", "type", "transport", "headers", "http_headers",
    "env_http_headers", "env_vars", "bearer_token_env_var", "timeout", "tool_timeout_sec", "enabled", "disabled",
    "enabled_tools", "disabled_tools", "includeTools", "excludeTools",
})  # fmt: skip
_IGNORED_KEYS = frozenset({
    "alwaysAllow", "autoApprove", "description", "dev", "gallery", "icon", "name", "required", "sandboxEnabled",
    "startup_timeout_ms", "startup_timeout_sec", "trust", "version",
})  # fmt: skip
"""Keys that say how a client treats a server, not how it is reached."""

MAX_CALL_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientServer:
    """A server in a client's file: its entry for `sources.json`, or the problem why it has none."""

    name: str
    entry: Mapping[str, Any]
    problem: str = ""


def read_servers(client: str, servers_key: str, data: Mapping[str, Any]) -> list[ClientServer]:
    """Return the servers of a parsed file.

    Args:
        client: The client's name, such as `gemini`.
        servers_key: The key of its servers.
        data: The file's content.
    """
    found: dict[str, Any] = {}
    if client == "claude-code":  # servers of one folder are below its path
        projects = data.get("projects")
        for project in projects.values() if is_object(projects) else ():
            found |= _as_mapping(_as_mapping(project).get("mcpServers"))
    found |= _as_mapping(data.get(servers_key))
    return [_read_server(client, name, entry) for name, entry in found.items()]


def _read_server(client: str, name: str, entry: object) -> ClientServer:
    try:
        return ClientServer(name=name, entry=_convert_entry(client, entry))
    except ValueError as error:
        return ClientServer(name=name, entry={}, problem=str(error))


def _convert_entry(client: str, entry: object) -> dict[str, Any]:
    """Return the entry for `sources.json`.

    Raises:
        ValueError: It cannot be taken over; says why.
    """
    if not is_object(entry):
        raise ValueError("it is not an object")
    if unknown := sorted(entry.keys() - _READ_KEYS - _IGNORED_KEYS):
        raise ValueError(f"it has {unknown[0]}, which Panorama cannot read")
    _check_variables(entry)
    url = _read_text(entry, "url") or _read_text(entry, "httpUrl") or _read_text(entry, "serverUrl")
    command = _read_text(entry, "command")
    if bool(url) == bool(command):
        raise ValueError("it has neither a command nor an address" if not url else "it has a command and an address")
    place = _read_command(entry, command) if command else _read_address(client, entry, url)
    policy = _read_tools(entry)
    is_off = entry.get("enabled") is False or entry.get("disabled") is True
    return {**place, **_read_timeout(client, entry), **policy, **({"disabled": True} if is_off else {})}


def _check_variables(entry: Mapping[str, Any]) -> None:
    text = json.dumps(entry)
    if "${input:" in text:
        raise ValueError("its client asks for a value when it starts; add it with `panorama sources add`")
    for name in _BRACED.findall(text.replace("${env:", "${")):
        if name in _CLIENT_VARIABLES or not _NAME.fullmatch(name):
            raise ValueError(f"it uses ${{{name}}}, which only its client knows")


def _read_command(entry: Mapping[str, Any], command: str) -> dict[str, Any]:
    env = _read_texts_by_name(entry, "env")
    names = entry.get("env_vars")
    env |= {name: f"${{{name}}}" for name in (names if is_list(names) else []) if isinstance(name, str)}
    cwd = _read_text(entry, "cwd")
    if "$" in command or "$" in cwd:
        raise ValueError("its command or folder contains a variable")
    args = entry.get("args", [])
    if not is_list(args):
        raise ValueError("its args are not a list")
    values = {"args": [_convert_variables(str(arg)) for arg in args], "env": env, "cwd": cwd}
    return {"command": command, **{key: value for key, value in values.items() if value}}


def _read_address(client: str, entry: Mapping[str, Any], url: str) -> dict[str, Any]:
    headers = _read_texts_by_name(entry, "headers") | _read_texts_by_name(entry, "http_headers")
    headers |= {name: f"${{{variable}}}" for name, variable in _read_texts_by_name(entry, "env_http_headers").items()}
    if variable := _read_text(entry, "bearer_token_env_var"):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    transport = _read_transport(client, entry, url)
    return {
        "url": _convert_variables(url),
        **({"type": transport} if transport == "sse" else {}),
        **({"headers": headers} if headers else {}),
    }


def _read_transport(client: str, entry: Mapping[str, Any], url: str) -> str:
    name = (_read_text(entry, "type") or _read_text(entry, "transport")).lower()
    if name:
        if name not in _TRANSPORTS:
            raise ValueError(f"its type {name!r} is unknown")
        return _TRANSPORTS[name]
    is_old = client == "gemini" and bool(entry.get("url"))  # Gemini CLI calls HTTP servers httpUrl
    return "sse" if is_old or re.search(r"/sse(/|\?|$)", url) else "http"


def _read_timeout(client: str, entry: Mapping[str, Any]) -> dict[str, float]:
    seconds = entry.get("tool_timeout_sec")
    if seconds is None and isinstance(entry.get("timeout"), int | float):
        seconds = entry["timeout"] / 1000 if client == "gemini" else entry["timeout"]
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds <= 0:
        return {}
    return {"timeout": min(float(seconds), MAX_CALL_SECONDS)}


def _read_tools(entry: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the rules for the tools that a client shows or hides."""
    shown = [*_read_list(entry, "enabled_tools"), *_read_list(entry, "includeTools")]
    hidden = [*_read_list(entry, "disabled_tools"), *_read_list(entry, "excludeTools")]
    deny = [*(["*"] if shown else []), *map(to_identifier, hidden)]
    ask = [name for name in map(to_identifier, shown) if name not in deny]
    return {**({"deny": deny} if deny else {}), **({"ask": ask} if ask else {})}


def _read_text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key) or ""
    if not isinstance(value, str):
        raise ValueError(f"its {key} is not text")
    return value


def _read_list(entry: Mapping[str, Any], key: str) -> list[str]:
    value: object = entry.get(key) or []
    if not is_list(value):
        raise ValueError(f"its {key} is not a list")
    return [str(part).partition("(")[0] for part in value]  # Gemini CLI allows `tool(arguments)`


def _read_texts_by_name(entry: Mapping[str, Any], key: str) -> dict[str, str]:
    values: object = entry.get(key) or {}
    if not is_object(values):
        raise ValueError(f"its {key} is not an object")
    return {name: _convert_variables(_format_value(value)) for name, value in values.items()}


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _convert_variables(text: str) -> str:
    """Return a text with `${env:NAME}`, `$NAME` and `${userHome}` as `${NAME}`."""
    return _VARIABLE.sub(lambda match: f"${{{match[1] or match[2]}}}", text).replace("${userHome}", "${HOME}")


def _as_mapping(value: object) -> Mapping[str, Any]:
    return value if is_object(value) else {}
