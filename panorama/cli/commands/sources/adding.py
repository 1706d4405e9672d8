"""Builds entries of `sources.json` from what the user typed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from panorama.cli.console import console
from panorama.errors import ConflictError, InvalidInputError, PanoramaError
from panorama.sdk import SURFACE
from panorama.sources.config import SourceConfig, parse_entry
from panorama.sources.options import check_options, list_options
from panorama.sources.secret_store import move_secrets, store_secret
from panorama.sources.secrets import is_reference, open_secrets
from panorama.sources.sources_file import edit_entries, read_entries


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRequest:
    """The arguments of `panorama sources add` as the user typed them."""

    name: str
    kind: str
    command: tuple[str, ...] = ()
    url: str = ""
    transport: str = ""
    env: Mapping[str, str]
    headers: Mapping[str, str]
    options: Mapping[str, str]
    local: bool = False

    def to_entry(self) -> dict[str, Any]:
        """Return the entry for `sources.json`, without empty keys."""
        fields = {
            "kind": "" if self.kind == "mcp" else self.kind,
            "command": self.command[0] if self.command else "",
            "args": list(self.command[1:]),
            "url": self.url,
            "type": self.transport,
            "env": dict(self.env),
            "headers": dict(self.headers),
            "local": self.local,
        }
        return {key: value for key, value in fields.items() if value}


def parse_pairs(pairs: Iterable[str] | None) -> dict[str, str]:
    """Return `NAME=VALUE` pairs by name.

    Raises:
        InvalidInputError: A pair has no equals sign.
    """
    values: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InvalidInputError("An option is not NAME=VALUE.", hint="Write --env NAME=VALUE.")
        values[name] = value
    return values


def store_entry(home: Path, request: AddRequest, *, in_file: bool) -> SourceConfig:
    """Add a source; the keys of a service are asked for at the terminal.

    Raises:
        ConflictError: The name is in use, here or in the SDK.
        InvalidInputError: The entry cannot be used.
    """
    check_name(home, request.name)
    entry = request.to_entry()
    parse_entry(request.name, entry)
    if request.kind != "mcp":
        entry["options"] = _read_options(request)
        check_options(parse_entry(request.name, entry), list_options(request.kind))
        entry["options"] = _move_options(home, request, entry["options"], in_file=in_file)
    elif request.options:
        raise InvalidInputError("MCP servers have no options.", hint="Use --env or --header.")
    with edit_entries(home) as entries:
        entries[request.name] = move_secrets(home, request.name, entry, in_file=in_file)
        return parse_entry(request.name, entries[request.name])


def check_name(home: Path, name: str) -> None:
    """Check that a name is free.

    Raises:
        ConflictError: It is in use, here or in the SDK.
    """
    if name in SURFACE or name in ("state", "me"):
        raise ConflictError(f"sdk.{name} belongs to Panorama.", hint="Choose another name for the source.")
    if name in read_entries(home):
        raise ConflictError(
            f"A source {name} already exists.",
            hint=f"Choose another name, or `panorama sources remove {name}` first.",
        )


def choose_secret(config: SourceConfig, key: str) -> tuple[str, str]:
    """Return where a secret of a source belongs in its entry (`options`, `env` or `headers`), and its name.

    Raises:
        InvalidInputError: No name is given and the kind has not exactly one secret, or it has no such secret.
    """
    if config.kind != "mcp":
        names = [option.name for option in list_options(config.kind) if option.is_secret]
        if not key and len(names) == 1:
            return "options", names[0]
        if key in names:
            return "options", key
        raise InvalidInputError(
            f"{config.name} has no such secret." if key else "No secret was given.",
            hint=f"Name one of {', '.join(names)}." if names else f"The kind {config.kind} has no secrets.",
        )
    if not key:
        raise InvalidInputError("No secret was given.", hint="Name the variable or the header that holds it.")
    return ("env" if config.command else "headers"), key


def describe_secrets(home: Path, config: SourceConfig) -> dict[str, str]:
    """Return the secrets that a source refers to, and whether each is there: `set` or `missing`."""
    look_up = open_secrets(home)
    values = {**config.env, **config.headers, **config.options}
    states: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, str) and is_reference(value):
            try:
                states[name] = "set" if look_up(value) else "missing"
            except PanoramaError:
                states[name] = "missing"
    return states


def _read_options(request: AddRequest) -> dict[str, Any]:
    """Return the options of a kind; its keys are asked for unless they were given."""
    options: dict[str, Any] = dict(request.options)
    for option in list_options(request.kind):
        if option.is_flag and option.name in options:
            options[option.name] = options[option.name].lower() in ("true", "yes", "1")
        elif option.is_secret and option.name not in options:
            options[option.name] = console.read_secret(f"{option.description.rstrip('.')}:")
    return options


def _move_options(home: Path, request: AddRequest, options: Mapping[str, Any], *, in_file: bool) -> dict[str, Any]:
    secrets = {option.name for option in list_options(request.kind) if option.is_secret}
    return {
        name: store_secret(home, request.name, name, value, in_file=in_file)
        if name in secrets and not is_reference(value)
        else value
        for name, value in options.items()
    }
