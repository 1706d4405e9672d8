"""Clients' configuration files: the only module that reads and writes them.

A file is replaced only if the new one means the same apart from Panorama's entry; a dated copy is put beside it first.
"""

import json
import os
import shutil
import sys
import tempfile
from codecs import BOM_UTF8
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from errno import EACCES
from itertools import chain, count
from pathlib import Path
from stat import S_IMODE
from typing import Any, Literal, NamedTuple, cast

from panorama.address import default_directory
from panorama.cli import clients, jsonc, toml
from panorama.cli.clients import KEY, Client
from panorama.errors import ConflictError, UnavailableError

Did = Literal["added", "changed", "kept", "removed", "absent"]
State = Literal["ok", "warn", "fail"]

HOME = "PANORAMA_HOME"
PRIVATE = 0o600
"""The mode of a file that is made here: clients keep tokens in theirs."""

_ELSEWHERE = frozenset({"url", "httpUrl", "serverUrl"})
"""Keys of a server that a client reaches over the network instead of starting it."""

_OUT_BY_HAND = f"Mend it and run this again, or take “{KEY}” out by hand."


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was done to a client's file, and `copy`, the file as it was."""

    did: Did
    copy: Path | None = None


class Configuration(NamedTuple):
    """A client's file in which Panorama stands: what is wrong with it, and the next step."""

    client: str
    file: Path
    state: State
    problem: str = ""
    mend: str = ""


class _Content(NamedTuple):
    """A file as bytes, None if there is none, and as text."""

    raw: bytes | None
    text: str


def all_clients() -> dict[str, Client]:
    """Return every client by its name, with its places on this machine, installed or not."""
    return clients.known(sys.platform, Path.home(), os.environ)


def entry(client: Client) -> dict[str, Any]:
    """Return what a client has to know: how this program is started, and `PANORAMA_HOME` if it is set."""
    command, *arguments = started_by()
    home = os.environ.get(HOME, "").strip()
    env = {"env": {HOME: str(Path(home).expanduser().absolute())}} if home else {}
    return {**client.fixed, "command": command, "args": arguments, **client.suggested, **env}


def started_by() -> list[str]:
    """Return the words that start this program, the first an absolute path."""
    called = shutil.which(sys.argv[0]) if Path(sys.argv[0]).stem == "panorama" else None
    script = called or shutil.which(str(Path(sys.executable).with_name("panorama")))
    # A link such as ~/.local/bin/panorama is not followed: it outlives the environment that it leads to.
    return [str(Path(script).absolute())] if script else [sys.executable, "-m", "panorama"]


def snippet(client: Client) -> str:
    """Return Panorama's entry as it stands in a file that holds nothing else."""
    return _put(client, "", client.path, entry(client))


def install(client: Client) -> Outcome:
    """Put Panorama's entry into a client's file, or bring the one that is there up to date.

    Raises:
        UnavailableError: The file cannot be understood or written; it is as it was.
        ConflictError: Another program wrote it meanwhile.
    """
    with _left_alone(client, _by_hand(client)):
        before = _read(client)
        old = _entry(client, before.text)
        new = entry(client) if old is None else _renewed(client, old)
        if new == old:
            return Outcome(did="kept")
        after = _with(client, before.text, old, new)
        _check(client, before.text, after, new)
        return Outcome(did="added" if old is None else "changed", copy=_replace(client, before, after))


def uninstall(client: Client) -> Outcome:
    """Take Panorama's entry, and nothing else, out of a client's file.

    Raises:
        UnavailableError: The file cannot be understood or written; it is as it was.
        ConflictError: Another program wrote it meanwhile.
    """
    with _left_alone(client, _OUT_BY_HAND):
        before = _read(client)
        if _entry(client, before.text) is None:
            return Outcome(did="absent")
        after = _taken_out(client, before.text, client.path)
        _check(client, before.text, after, None)
        return Outcome(did="removed", copy=_replace(client, before, after))


def configurations() -> list[Configuration]:
    """Return what there is to say about every client's file in which Panorama stands; changes nothing."""
    return [found for client in all_clients().values() if (found := examined(client))]


def examined(client: Client) -> Configuration | None:
    """Return whether a client can start Panorama, and with the data used here; None if it does not try to."""
    try:
        with _left_alone(client, "Mend it, or put back one of the copies beside it."):
            found = _entry(client, _read(client).text) if _is_mentioned(client) else None
    except UnavailableError as error:
        return Configuration(client.name, client.file, "fail", error.message, error.hint)
    return None if found is None else Configuration(client.name, client.file, *_judged(client, found))


def _is_mentioned(client: Client) -> bool:
    """Tell whether Panorama may stand in a file; one that cannot be understood is ours to report only then."""
    word = KEY if client.format == "toml" else json.dumps(KEY)
    return os.path.exists(client.file) and word.encode() in client.file.read_bytes()


def _judged(client: Client, found: Mapping[str, Any]) -> tuple[State, str, str]:
    again = f"panorama install {client.name}"
    if _ELSEWHERE & set(found):
        return "ok", "", ""
    command = str(found.get("command", ""))
    if not shutil.which(command):
        return "fail", f"{client.title} starts {command or 'nothing'}, which is no program here", again
    there, here = _home(found), _home(entry(client))
    if os.path.realpath(there) != os.path.realpath(here):
        return "warn", f"{client.title} keeps its data in {there}, not in {here} as you do here", again
    return "ok", "", ""


def _home(found: Mapping[str, Any]) -> Path:
    """Return where a server keeps its data."""
    chosen = str(_mapping(found.get("env")).get(HOME, "")).strip()
    return Path(chosen).expanduser() if chosen else Path(default_directory())


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _renewed(client: Client, old: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry as it has to be now, with all else that a person put into it."""
    fresh = entry(client)
    if _ELSEWHERE & set(old):
        return fresh
    env = {key: value for key, value in _mapping(old.get("env")).items() if key != HOME} | fresh.pop("env", {})
    chosen = {key: old[key] for key in client.suggested if key in old}
    needless = {"args"} if not fresh["args"] and "args" not in old else set[str]()
    new = {key: value for key, value in {**old, **fresh, **chosen}.items() if key not in needless}
    return {**new, "env": env} if env or "env" in old else new


def _parsed(client: Client, text: str) -> dict[str, Any]:
    value: object = toml.parsed(text) if client.format == "toml" else _json(client, text)
    if not isinstance(value, dict):
        raise ValueError("line 1: there is no object")
    return cast("dict[str, Any]", value)


def _json(client: Client, text: str) -> object:
    return jsonc.parsed(text, strict=client.format == "json")


def _put(client: Client, text: str, path: Sequence[str], value: object) -> str:
    return (toml if client.format == "toml" else jsonc).put(text, path, value)


def _taken_out(client: Client, text: str, path: Sequence[str]) -> str:
    return (toml if client.format == "toml" else jsonc).taken_out(text, path)


def _entry(client: Client, text: str) -> dict[str, Any] | None:
    """Return Panorama's entry, None if there is none; what cannot be one is empty."""
    servers = _mapping(_parsed(client, text).get(client.servers))
    return _mapping(servers[KEY]) if KEY in servers else None


def _with(client: Client, text: str, old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> str:
    if not old or _ELSEWHERE & set(old):
        return _put(client, text, client.path, new)
    for path, value in _differences(client.path, old, new):
        text = _taken_out(client, text, path) if value is None else _put(client, text, path, value)
    return text


def _differences(
    path: tuple[str, ...], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield where two entries differ and what the new one has there, None for nothing."""
    for key in dict.fromkeys((*old, *new)):
        if isinstance(old.get(key), dict) and isinstance(new.get(key), dict):
            yield from _differences((*path, key), old[key], new[key])
        elif key not in old or key not in new or old[key] != new[key]:
            yield (*path, key), new.get(key)


def _check(client: Client, before: str, after: str, new: Mapping[str, Any] | None) -> None:
    if _others(client, before) != _others(client, after) or _entry(client, after) != new:
        raise ValueError("its form is unusual, and something else would change too")


def _others(client: Client, text: str) -> dict[str, Any]:
    """Return what a file means without Panorama's entry, and without servers if there are no others."""
    value = _parsed(client, text)
    others = {key: each for key, each in _mapping(value.get(client.servers)).items() if key != KEY}
    if isinstance(value.get(client.servers, {}), dict):
        value = {key: each for key, each in value.items() if key != client.servers}
    return {**value, client.servers: others} if others else value


@contextmanager
def _left_alone(client: Client, hint: str) -> Generator[None]:
    """Turn what can be wrong with a file into an error that says so."""
    try:
        yield
    except OSError as error:
        raise _unusable(client, error.strerror or str(error), hint) from error
    except RecursionError as error:
        raise _unusable(client, "it is nested too deeply", hint) from error
    except ValueError as error:
        raise _unusable(client, str(error), hint) from error


def _unusable(client: Client, why: str, hint: str) -> UnavailableError:
    return UnavailableError(f"{client.file} cannot be used ({why}); it stays as it is.", hint=hint)


def _by_hand(client: Client) -> str:
    """Return the next step where a file cannot be changed, in one line."""
    if client.format == "toml":
        header, *lines = snippet(client).splitlines()
        return f"Mend it and run this again, or add by hand, below a line {header}: {'; '.join(lines)}"
    words = json.dumps({KEY: entry(client)}, ensure_ascii=False)[1:-1]
    return f"Mend it and run this again, or add by hand to “{client.servers}”: {words}"


def _read(client: Client) -> _Content:
    try:
        raw = client.file.read_bytes()
    except FileNotFoundError:
        return _Content(None, "")
    try:
        return _Content(raw, raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"line {raw.count(10, 0, error.start) + 1}: this is not UTF-8") from error


def _replace(client: Client, before: _Content, after: str) -> Path | None:
    """Put a new file in place of the old one at once, and return where the old one was copied to.

    A link stays a link: what it leads to is replaced, and the copy stands beside the link.
    """
    made = (BOM_UTF8 if (before.raw or b"").startswith(BOM_UTF8) else b"") + after.encode()
    target = Path(os.path.realpath(client.file))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(EACCES, "it may not be written")
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = S_IMODE(target.stat().st_mode) if target.exists() else PRIVATE
    with _beside(target, made, mode) as new:
        if _read(client).raw != before.raw:
            raise ConflictError(f"Another program has just changed {client.file}.", hint="Run this again.")
        copy = None if before.raw is None else _copied(client.file, before.raw, mode)
        new.replace(target)
    return copy


@contextmanager
def _beside(target: Path, content: bytes, mode: int) -> Generator[Path]:
    """Write a file beside another; it is gone at the end unless it was moved."""
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


def _copied(path: Path, content: bytes, mode: int) -> Path:
    """Write a copy beside a file, under a name with the time, and return it."""
    stamp = f"{path.name}.{datetime.now().astimezone():%Y-%m-%d-%H%M%S}"
    names = chain((f"{stamp}.bak",), (f"{stamp}-{number}.bak" for number in count(2)))
    copy = next(each for each in map(path.with_name, names) if not os.path.lexists(each))
    with open(copy, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(content)
    copy.chmod(mode)
    return copy
