"""Options of kinds that are not MCP servers: what an entry of `sources.json` may say, checked by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from panorama.domain.sources.functions import SourceFunction
from panorama.errors import InvalidInputError, UnavailableError
from panorama.sources.config import CONFIG_FILE, SourceConfig
from panorama.sources.kinds import KINDS
from panorama.sources.secrets import SecretLookup
from panorama.sources.source import Deadline, Source

LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")
_LOCAL_SUFFIXES = (".localhost", ".local", ".test")


Probe = tuple[str, Mapping[str, Any]]
"""The function that shows whether the key of a source works, and its arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindOption:
    """An option of a kind; a secret one is kept in the keyring or the key file."""

    name: str
    description: str
    is_secret: bool = False
    is_required: bool = True
    is_flag: bool = False


def list_options(kind: str) -> Sequence[KindOption]:
    """Return the options of a kind; MCP servers have none."""
    return getattr(import_module(KINDS[kind]), "OPTIONS", ())


def probe_source(kind: str, source: Source, functions: Sequence[SourceFunction], deadline: Deadline) -> None:
    """Make the call that shows whether the key of a source works, if its kind has one.

    Raises:
        PanoramaError: The call failed.
    """
    probe: Probe | None = getattr(import_module(KINDS[kind]), "PROBE", None)
    for function in functions:
        if probe and function.name == probe[0]:
            source.call(function, probe[1], deadline)


def check_options(config: SourceConfig, options: Sequence[KindOption]) -> None:
    """Check that an entry has the options of its kind, and no others.

    Raises:
        InvalidInputError: An option is unknown, missing, or has a value of the wrong type.
    """
    known = {option.name: option for option in options}
    place = f"The source {config.name} in {CONFIG_FILE}"
    for name, value in config.options.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"Did you mean {near[0]}?" if near else f"Use {', '.join(known) or 'no options'}."
            raise InvalidInputError(f"{place} has the unknown option {name[:40]!r}.", hint=hint)
        expected = bool if known[name].is_flag else str
        if not isinstance(value, expected):
            words = "true or false" if known[name].is_flag else "text"
            raise InvalidInputError(f"{place} needs {words} as the option {name}.", hint="Correct the value.")
    for option in options:
        if option.is_required and not config.options.get(option.name):
            raise InvalidInputError(f"{place} needs the option {option.name}.", hint=_missing_hint(config, option))


def read_secret(config: SourceConfig, name: str, secrets: SecretLookup) -> str:
    """Return the value of a secret option.

    Raises:
        UnavailableError: The secret is not set.
        InvalidInputError: It contains an invalid character.
    """
    value = secrets(str(config.options[name])).strip()
    if value and value.isascii() and value.isprintable():
        return value
    hint = f"Set it with `panorama sources secret {config.name} {name}`."
    if not value:
        raise UnavailableError(f"The secret {name} of the source {config.name} is empty.", hint=hint)
    raise InvalidInputError(
        f"The secret {name} of the source {config.name} contains an invalid character, such as an accent.",
        hint=hint,
    )


def read_address(config: SourceConfig, default: str = "") -> str:
    """Return the address of a service, without a slash at its end.

    Raises:
        InvalidInputError: There is none, it contains a password, or a key would be sent without encryption.
    """
    address = (config.url or default).rstrip("/")
    place = f"The source {config.name} in {CONFIG_FILE}"
    hint = "Write the whole address, such as https://example.org."
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError as error:
        raise InvalidInputError(f"{place} has a url that cannot be read.", hint=hint) from error
    if not host:
        raise InvalidInputError(f"{place} needs a url.", hint=hint)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidInputError(f"{place} has a url with more than an address.", hint="Remove passwords and queries.")
    is_local = host in LOCAL_HOSTS or host.endswith(_LOCAL_SUFFIXES)
    if parts.scheme != "https" and not is_local:
        raise InvalidInputError(f"{place} would send a key without encryption.", hint="Use an https address.")
    return address


def _missing_hint(config: SourceConfig, option: KindOption) -> str:
    if option.is_secret:
        return f"Set it with `panorama sources secret {config.name} {option.name}`."
    return f"Add {option.name} to its options: {option.description}"
