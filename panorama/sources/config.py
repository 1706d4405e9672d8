"""Reads `<data>/sources.json`: the configured sources, in the `mcpServers` form of MCP clients."""

import json
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

from panorama.domain.sources.policy import SourcePolicy
from panorama.domain.text.json_types import is_object
from panorama.errors import InvalidInputError
from panorama.sources.kinds import KINDS

CONFIG_FILE = "sources.json"
MAX_SOURCES = 200
MAX_NAME_CHARS = 40
DEFAULT_CALL_SECONDS = 30.0
MAX_CALL_SECONDS = 3600.0
_NAME = re.compile(r"[a-z][a-z0-9_]*")

Transport = Literal["stdio", "http", "sse", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConfig:
    """One entry of `sources.json`.

    A source of kind `mcp` has a `command` with `args`, `env` and `cwd`, or a `url` with `headers`; `oauth` means that
    the user signs in. Other kinds have `options`. Values of `env`, `headers` and `options` may refer to secrets
    (`secrets.py`). `local` means that the user vouches that the source has no network. `call_seconds` is the longest
    that one call takes.
    """

    name: str
    kind: str = "mcp"
    transport: Transport = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    oauth: bool = False
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    policy: SourcePolicy = field(default_factory=SourcePolicy)
    local: bool = False
    disabled: bool = False
    call_seconds: float = DEFAULT_CALL_SECONDS

    @property
    def texts(self) -> tuple[str, ...]:
        """The values that may refer to secrets."""
        values = (self.url, *self.args, *self.env.values(), *self.headers.values(), *self.options.values())
        return tuple(value for value in values if isinstance(value, str))


_KEYS = {
    "kind", "type", "command", "args", "env", "cwd", "url", "headers", "auth", "options",
    "allow", "ask", "deny", "local", "disabled", "timeout",
}  # fmt: skip
_TRANSPORTS: dict[str, Transport] = {
    "stdio": "stdio", "http": "http", "streamable-http": "http", "streamableHttp": "http", "sse": "sse",
}  # fmt: skip


def load_sources(home: Path) -> list[SourceConfig]:
    """Return the configured sources of a data directory, in the file's order; none if there is no file.

    Raises:
        InvalidInputError: The file is not JSON, or an entry of it cannot be used.
    """
    file = home / CONFIG_FILE
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{CONFIG_FILE} cannot be read: {error}.", hint=f"Check {file}.") from error
    try:
        data: object = json.loads(text)
    except ValueError as error:
        raise InvalidInputError(f"{CONFIG_FILE} is not valid JSON: {error}.", hint=f"Correct {file}.") from error
    return parse_sources(data)


def parse_sources(data: object) -> list[SourceConfig]:
    """Return the sources of the parsed file.

    Raises:
        InvalidInputError: An entry cannot be used.
    """
    if not is_object(data) or not is_object(entries := data.get("mcpServers")):
        raise InvalidInputError(f"{CONFIG_FILE} has no object mcpServers.", hint='Write {"mcpServers": {…}}.')
    if len(entries) > MAX_SOURCES:
        raise InvalidInputError(
            f"{CONFIG_FILE} has {len(entries)} sources; the limit is {MAX_SOURCES}.", hint="Remove some."
        )
    return [parse_entry(name, entry) for name, entry in entries.items()]


def parse_entry(name: str, entry: object) -> SourceConfig:
    """Return the source of one entry.

    Raises:
        InvalidInputError: The name or the entry cannot be used.
    """
    check_source_name(name)
    if not is_object(entry):
        _refuse(name, "is not an object", 'Write {"command": …} or {"url": …}.')
    for key in entry:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            _refuse(name, f"has the unknown key {key[:40]!r}", f"Did you mean {near[0]}?" if near else "Remove it.")
    return _check_kind(_EntryReader(name, entry).read())


def check_source_name(name: str) -> None:
    """Check that scripts can use a name as `sdk.<name>`; names of the SDK are refused where sources are added.

    Raises:
        InvalidInputError: The name is no identifier, is a keyword, or is too long.
    """
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS or keyword.iskeyword(name):
        raise InvalidInputError(
            f"{name[:60]!r} cannot be the name of a source.",
            hint=f"Use small letters, digits and _, a letter first, at most {MAX_NAME_CHARS} characters.",
        )


class _EntryReader:
    """Reads the typed values of one entry."""

    def __init__(self, name: str, entry: Mapping[str, Any]) -> None:
        self._name = name
        self._entry = entry

    def read(self) -> SourceConfig:
        return SourceConfig(
            name=self._name,
            kind=self._read_text("kind") or "mcp",
            transport=self._read_transport(),
            command=self._read_text("command"),
            args=self._read_texts("args"),
            env=self._read_mapping("env"),
            cwd=self._read_text("cwd"),
            url=self._read_text("url"),
            headers=self._read_mapping("headers"),
            oauth=self._read_auth(),
            options=self._read_options(),
            policy=SourcePolicy(
                allow=self._read_texts("allow"), ask=self._read_texts("ask"), deny=self._read_texts("deny")
            ),
            local=self._read_flag("local"),
            disabled=self._read_flag("disabled"),
            call_seconds=self._read_seconds(),
        )

    def _read_text(self, key: str) -> str:
        value = self._entry.get(key, "")
        if not isinstance(value, str) or "\0" in value:
            _refuse(self._name, f"needs text as {key}", "Write it in quotes.")
        return value

    def _read_texts(self, key: str) -> tuple[str, ...]:
        value: object = self._entry.get(key, [])
        if not isinstance(value, list) or not all(isinstance(part, str) for part in cast("list[object]", value)):
            _refuse(self._name, f"needs a list of texts as {key}", 'Write it as ["…", "…"].')
        return tuple(cast("list[str]", value))

    def _read_mapping(self, key: str) -> Mapping[str, str]:
        value: object = self._entry.get(key, {})
        if not is_object(value) or not all(isinstance(part, str) for part in value.values()):
            _refuse(self._name, f"needs an object of texts as {key}", 'Write each value in quotes: {"NAME": "1"}.')
        return dict(value)

    def _read_options(self) -> Mapping[str, Any]:
        value: object = self._entry.get("options", {})
        if not is_object(value):
            _refuse(self._name, "needs an object as options", 'Write {"name": value}.')
        return dict(value)

    def _read_flag(self, key: str) -> bool:
        value = self._entry.get(key, False)
        if not isinstance(value, bool):
            _refuse(self._name, f"needs true or false as {key}", "Write it without quotes.")
        return value

    def _read_transport(self) -> Transport:
        value = self._read_text("type")
        if value and value not in _TRANSPORTS:
            _refuse(self._name, f"has the unknown type {value[:40]!r}", "Use stdio, http or sse.")
        return _TRANSPORTS.get(value, "")

    def _read_auth(self) -> bool:
        value = self._read_text("auth")
        if value not in ("", "oauth"):
            _refuse(self._name, f"has the unknown auth {value[:40]!r}", "Use oauth, or send a key in headers.")
        return value == "oauth"

    def _read_seconds(self) -> float:
        value = self._entry.get("timeout", DEFAULT_CALL_SECONDS)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_CALL_SECONDS:
            _refuse(self._name, "has a timeout that cannot be used", f"Use seconds, at most {MAX_CALL_SECONDS:,.0f}.")
        return float(value)


def _check_kind(config: SourceConfig) -> SourceConfig:
    """Check that the keys of an entry fit its kind and transport."""
    name = config.name
    if config.kind not in KINDS:
        near = get_close_matches(config.kind, KINDS, 1)
        _refuse(name, f"has the unknown kind {config.kind[:40]!r}", f"Use {', '.join(near or KINDS)}.")
    if config.kind != "mcp":
        if config.command or config.headers or config.env:
            _refuse(name, f"is of kind {config.kind} and has keys of an MCP server", "Use options.")
        return config
    if bool(config.command) == bool(config.url):
        _refuse(name, "needs either a command or a url", "Give one of them.")
    if config.command and config.transport not in ("", "stdio"):
        _refuse(name, f"has a command and the type {config.transport}", "Use url for a server on the network.")
    if config.url and config.transport == "stdio":
        _refuse(name, "has a url and the type stdio", "Use http or sse.")
    if config.url and not config.url.startswith(("http://", "https://", "${")):
        _refuse(name, "has a url that is not http or https", "Write the whole address.")
    return config


def _refuse(name: str, problem: str, hint: str) -> NoReturn:
    raise InvalidInputError(f"The source {name} in {CONFIG_FILE} {problem}.", hint=hint)
