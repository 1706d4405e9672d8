"""Clients' configuration files: the only module that reads and writes them.

A file is replaced only if the new one is equivalent apart from Panorama's entry; a dated copy is written first.
"""

import json
import os
import shutil
import sys
import tempfile
from codecs import BOM_UTF8
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from errno import EACCES
from itertools import chain, count
from pathlib import Path
from stat import S_IMODE
from typing import Any, Literal, NamedTuple, cast

from panorama.cli.clients import clients, jsonc
from panorama.cli.clients.clients import SERVER_KEY, McpClient
from panorama.domain.text import toml
from panorama.errors import ConflictError, UnavailableError
from panorama.transport.address import default_directory

Did = Literal["added", "changed", "kept", "removed", "absent"]
State = Literal["ok", "warn", "fail"]

HOME_VARIABLE = "PANORAMA_HOME"
PRIVATE_MODE = 0o600
"""The mode of new files: clients store tokens in theirs."""

_REMOTE_KEYS = frozenset({"url", "httpUrl", "serverUrl"})
"""Keys of a server that a client reaches over the network."""

_REMOVE_HINT = f"Fix it and run this again, or remove “{SERVER_KEY}” by hand."


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The change to a client's file, and `copy`, the previous file."""

    did: Did
    copy: Path | None = None


class ConfigCheck(NamedTuple):
    """A client's file with Panorama's entry: its problem, and the next step."""

    client: str
    file: Path
    state: State
    problem: str = ""
    mend: str = ""


class _Content(NamedTuple):
    """A file as bytes (None if missing) and as text."""

    raw: bytes | None
    text: str


def all_clients() -> dict[str, McpClient]:
    """Return all clients by name, with their paths on this machine, installed or not."""
    return clients.build_clients(sys.platform, Path.home(), os.environ)


def build_entry(client: McpClient) -> dict[str, Any]:
    """Return the entry for a client: the command of this program, and `PANORAMA_HOME` if it is set."""
    command, *arguments = launch_command()
    home = os.environ.get(HOME_VARIABLE, "").strip()
    env = {"env": {HOME_VARIABLE: str(Path(home).expanduser().absolute())}} if home else {}
    return {**client.fixed, "command": command, "args": arguments, **client.suggested, **env}


def launch_command() -> list[str]:
    """Return the command that starts this program, with an absolute path."""
    called = shutil.which(sys.argv[0]) if Path(sys.argv[0]).stem == "panorama" else None
    script = called or shutil.which(str(Path(sys.executable).with_name("panorama")))
    # A link such as ~/.local/bin/panorama is not resolved: it outlives the environment behind it.
    return [str(Path(script).absolute())] if script else [sys.executable, "-m", "panorama"]


def render_snippet(client: McpClient) -> str:
    """Return a file that contains only Panorama's entry."""
    return _set_value(client, "", client.path, build_entry(client))


def install(client: McpClient) -> Outcome:
    """Add Panorama's entry to a client's file, or update it.

    Raises:
        UnavailableError: The file cannot be parsed or written; it is unchanged.
        ConflictError: Another program changed it meanwhile.
    """
    with _translate_errors(client, _manual_hint(client)):
        before = _read(client)
        old = _find_entry(client, before.text)
        new = build_entry(client) if old is None else _update_entry(client, old)
        if new == old:
            return Outcome(did="kept")
        after = _apply_entry(client, before.text, old, new)
        _check(client, before.text, after, new)
        return Outcome(did="added" if old is None else "changed", copy=_replace(client, before, after))


def uninstall(client: McpClient) -> Outcome:
    """Remove Panorama's entry, and nothing else, from a client's file.

    Raises:
        UnavailableError: The file cannot be parsed or written; it is unchanged.
        ConflictError: Another program changed it meanwhile.
    """
    with _translate_errors(client, _REMOVE_HINT):
        before = _read(client)
        if _find_entry(client, before.text) is None:
            return Outcome(did="absent")
        after = _delete_value(client, before.text, client.path)
        _check(client, before.text, after, None)
        return Outcome(did="removed", copy=_replace(client, before, after))


def read_config(client: McpClient, file: Path | None = None) -> dict[str, Any]:
    """Return the content of a client's file, or of another file in its form; {} if there is none.

    Raises:
        UnavailableError: The file cannot be parsed.
    """
    chosen = replace(client, file=file) if file else client
    with _translate_errors(chosen, "Fix it and run this again."):
        return _parse(chosen, _read(chosen).text)


def is_own_entry(name: str, entry: Mapping[str, Any]) -> bool:
    """Return whether an entry starts Panorama itself."""
    parts = [Path(str(entry.get("command", ""))).stem, *map(str, entry.get("args", ()))]
    return name == SERVER_KEY or "panorama" in parts or "panorama-mcp" in parts


def check_configs() -> list[ConfigCheck]:
    """Check every client's file with Panorama's entry, without changing any."""
    return [config for client in all_clients().values() if (config := check_config(client))]


def check_config(client: McpClient) -> ConfigCheck | None:
    """Check that a client can start Panorama with the current data directory; None if it has no entry."""
    try:
        with _translate_errors(client, "Fix it, or restore one of the copies beside it."):
            entry = _find_entry(client, _read(client).text) if _is_mentioned(client) else None
    except UnavailableError as error:
        return ConfigCheck(client.name, client.file, "fail", error.message, error.hint)
    return None if entry is None else ConfigCheck(client.name, client.file, *_check_entry(client, entry))


def _is_mentioned(client: McpClient) -> bool:
    """Return whether a file may contain our entry; only then is a parse error reported."""
    word = SERVER_KEY if client.format == "toml" else json.dumps(SERVER_KEY)
    return os.path.exists(client.file) and word.encode() in client.file.read_bytes()


def _check_entry(client: McpClient, entry: Mapping[str, Any]) -> tuple[State, str, str]:
    again = f"panorama install {client.name}"
    if _REMOTE_KEYS & set(entry):
        return "ok", "", ""
    command = str(entry.get("command", ""))
    if not shutil.which(command):
        return "fail", f"{client.title} starts {command or 'nothing'}, which is not a program on this machine", again
    there, here = _home(entry), _home(build_entry(client))
    if os.path.realpath(there) != os.path.realpath(here):
        return "warn", f"{client.title} uses the data in {there}, not in {here} as this shell does", again
    return "ok", "", ""


def _home(entry: Mapping[str, Any]) -> Path:
    """Return the data directory of a server's entry."""
    chosen = str(_as_mapping(entry.get("env")).get(HOME_VARIABLE, "")).strip()
    return Path(chosen).expanduser() if chosen else Path(default_directory())


def _as_mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _update_entry(client: McpClient, old: Mapping[str, Any]) -> dict[str, Any]:
    """Return an updated entry, keeping the user's other settings."""
    fresh = build_entry(client)
    if _REMOTE_KEYS & set(old):
        return fresh
    env = {key: value for key, value in _as_mapping(old.get("env")).items() if key != HOME_VARIABLE} | fresh.pop(
        "env", {}
    )
    chosen = {key: old[key] for key in client.suggested if key in old}
    needless = {"args"} if not fresh["args"] and "args" not in old else set[str]()
    new = {key: value for key, value in {**old, **fresh, **chosen}.items() if key not in needless}
    return {**new, "env": env} if env or "env" in old else new


def _parse(client: McpClient, text: str) -> dict[str, Any]:
    value: object = toml.parse(text) if client.format == "toml" else _parse_json(client, text)
    if not isinstance(value, dict):
        raise ValueError("line 1: an object is expected")
    return cast("dict[str, Any]", value)


def _parse_json(client: McpClient, text: str) -> object:
    return jsonc.parse(text, strict=client.format == "json")


def _set_value(client: McpClient, text: str, path: Sequence[str], value: object) -> str:
    return (toml if client.format == "toml" else jsonc).set_value(text, path, value)


def _delete_value(client: McpClient, text: str, path: Sequence[str]) -> str:
    return (toml if client.format == "toml" else jsonc).delete_value(text, path)


def _find_entry(client: McpClient, text: str) -> dict[str, Any] | None:
    """Return Panorama's entry, None if there is none; an invalid one is empty."""
    servers = _as_mapping(_parse(client, text).get(client.servers))
    return _as_mapping(servers[SERVER_KEY]) if SERVER_KEY in servers else None


def _apply_entry(client: McpClient, text: str, old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> str:
    if not old or _REMOTE_KEYS & set(old):
        return _set_value(client, text, client.path, new)
    for path, value in _iter_differences(client.path, old, new):
        text = _delete_value(client, text, path) if value is None else _set_value(client, text, path, value)
    return text


def _iter_differences(
    path: tuple[str, ...], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the differences of two entries with the new values, None for removed ones."""
    for key in dict.fromkeys((*old, *new)):
        if isinstance(old.get(key), dict) and isinstance(new.get(key), dict):
            yield from _iter_differences((*path, key), old[key], new[key])
        elif key not in old or key not in new or old[key] != new[key]:
            yield (*path, key), new.get(key)


def _check(client: McpClient, before: str, after: str, new: Mapping[str, Any] | None) -> None:
    if _other_settings(client, before) != _other_settings(client, after) or _find_entry(client, after) != new:
        raise ValueError("its format is unusual, and other parts would change too")


def _other_settings(client: McpClient, text: str) -> dict[str, Any]:
    """Return a file's content without Panorama's entry, and without servers if there are no others."""
    value = _parse(client, text)
    others = {key: setting for key, setting in _as_mapping(value.get(client.servers)).items() if key != SERVER_KEY}
    if isinstance(value.get(client.servers, {}), dict):
        value = {key: entry for key, entry in value.items() if key != client.servers}
    return {**value, client.servers: others} if others else value


@contextmanager
def _translate_errors(client: McpClient, hint: str) -> Generator[None]:
    """Translate problems of a file to our errors."""
    try:
        yield
    except OSError as error:
        raise _unusable_error(client, error.strerror or str(error), hint) from error
    except RecursionError as error:
        raise _unusable_error(client, "it is nested too deeply", hint) from error
    except ValueError as error:
        raise _unusable_error(client, str(error), hint) from error


def _unusable_error(client: McpClient, why: str, hint: str) -> UnavailableError:
    return UnavailableError(f"{client.file} cannot be used ({why}); it was not changed.", hint=hint)


def _manual_hint(client: McpClient) -> str:
    """Return the next step for a file that cannot be changed, in one line."""
    if client.format == "toml":
        header, *lines = render_snippet(client).splitlines()
        return f"Fix it and run this again, or add by hand, below a line {header}: {'; '.join(lines)}"
    words = json.dumps({SERVER_KEY: build_entry(client)}, ensure_ascii=False)[1:-1]
    return f"Fix it and run this again, or add by hand to “{client.servers}”: {words}"


def _read(client: McpClient) -> _Content:
    try:
        raw = client.file.read_bytes()
    except FileNotFoundError:
        return _Content(None, "")
    try:
        return _Content(raw, raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"line {raw.count(10, 0, error.start) + 1}: this is not UTF-8") from error


def _replace(client: McpClient, before: _Content, after: str) -> Path | None:
    """Replace a file atomically, and return the path of the copy of the old one.

    A symbolic link is kept: its target is replaced, and the copy is written beside the link.
    """
    data = (BOM_UTF8 if (before.raw or b"").startswith(BOM_UTF8) else b"") + after.encode()
    target = Path(os.path.realpath(client.file))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(EACCES, "it is not writable")
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = S_IMODE(target.stat().st_mode) if target.exists() else PRIVATE_MODE
    with _temporary_file(target, data, mode) as new:
        if _read(client).raw != before.raw:
            raise ConflictError(f"Another program has just changed {client.file}.", hint="Run this again.")
        copy = None if before.raw is None else _write_backup(client.file, before.raw, mode)
        new.replace(target)
    return copy


@contextmanager
def _temporary_file(target: Path, content: bytes, mode: int) -> Generator[Path]:
    """Write a temporary file beside another; it is deleted at the end unless it was moved."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        yield Path(name)
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()


def _write_backup(path: Path, content: bytes, mode: int) -> Path:
    """Write a copy beside a file, under a name with the time, and return it."""
    stamp = f"{path.name}.{datetime.now().astimezone():%Y-%m-%d-%H%M%S}"
    names = chain((f"{stamp}.bak",), (f"{stamp}-{number}.bak" for number in count(2)))
    copy = next(candidate for candidate in map(path.with_name, names) if not os.path.lexists(candidate))
    with open(copy, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(content)
    copy.chmod(mode)
    return copy
