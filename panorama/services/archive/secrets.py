"""Finds and removes secret values in copies of the configuration."""

import re
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import SecretStr

from panorama.config import Settings
from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.visible_text import quote_name
from panorama.store.archive.safe_files import UnreadableError, open_plain_file

CONFIG_FILE = "config.toml"
MAX_CONFIG_BYTES = 1 << 20
MAX_SHOWN_CHARS = 200
SENDING_SETTINGS = ("embedder", "qdrant_url", "database_url", "files_url", "files_endpoint", "home")
"""Settings that send texts, or data derived from them, to another machine, program or folder."""

_SECRET_NAME = re.compile(
    r"(?i)pass(word|wd|phrase)?$|secret|token$|(api|access|private)_?key|_key$|^key$|authorization|credential"
)
_SECRET_VALUE = re.compile(r"://[^\s/:@]+:[^\s/@]+@")
_SECRET_COMMENT = re.compile(
    r"(?im)^[ \t]*#[ \t]*[\w.\"-]*(?:key|token|secret|password|credential)[\w\"-]*[ \t]*=.*$\n?"
)
_SECRET_SETTINGS = frozenset(name for name, field in Settings.model_fields.items() if field.annotation is SecretStr)


class SendingSettings(NamedTuple):
    """The settings of a configuration that send texts elsewhere, as they are shown.

    `sha256` is the digest of the whole file, "" if the file cannot be read or a value is too long to be shown whole.
    """

    shown: tuple[str, ...]
    sha256: str = ""


def remove_secrets(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a configuration without its secret values, and their names.

    Secrets are settings for keys, anything named like one (`token`, `password`, `api_key` …), and addresses with a
    password. Everything else is kept, including comments without such a setting.

    Raises:
        ValueError: It is not TOML, so its secrets are unknown.
    """
    import tomlkit  # 30 ms

    names = tuple(".".join(path) for path in _find_secrets(tomllib.loads(text)))
    if names:
        document: Any = tomlkit.parse(text)
        for path in _find_secrets(tomllib.loads(text)):
            _delete_value(document, path)
        text = tomlkit.dumps(document)
    return _SECRET_COMMENT.sub("", text), names


def list_sending_settings(folder: Path) -> SendingSettings:
    """Return the settings in a folder's configuration that send texts elsewhere, such as `qdrant_url = …`."""
    try:
        with open_plain_file(folder / CONFIG_FILE, folder) as read_:
            content = read_(MAX_CONFIG_BYTES + 1)
        if len(content) > MAX_CONFIG_BYTES:
            raise ValueError("a configuration without end")
        values = tomllib.loads(content.decode())
    except (UnreadableError, ValueError, RecursionError):
        return SendingSettings((f"{CONFIG_FILE}, which cannot be read",))
    quoted = {name: quote_name(str(values[name]), limit=MAX_SHOWN_CHARS) for name in _sending_names(values)}
    is_whole = not any(value.endswith("…”") for value in quoted.values())
    shown = tuple(f"{name} = {value}" for name, value in quoted.items())
    return SendingSettings(shown, sha256(content).hexdigest() if is_whole else "")


def remove_sending_settings(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a configuration without the settings that send texts elsewhere, and their names.

    A text that is not TOML is removed completely.
    """
    import tomlkit  # 30 ms

    try:
        names = _sending_names(tomllib.loads(text))
    except (ValueError, RecursionError):
        return "", (CONFIG_FILE,)
    document: Any = tomlkit.parse(text)
    for name in names:
        del document[name]
    return tomlkit.dumps(document), names


def _sending_names(values: Mapping[str, Any]) -> tuple[str, ...]:
    local = {"", "duo", "minilm", "static", "none"}
    return tuple(name for name in SENDING_SETTINGS if name in values and str(values[name]) not in local)


def _find_secrets(table: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    items = table.items() if is_object(table) else enumerate(table) if is_list(table) else ()
    for name, value in items:
        here = (*path, str(name))
        if value in ("", None):
            continue
        if isinstance(name, str) and (name in _SECRET_SETTINGS or _SECRET_NAME.search(name)):
            yield here
        elif isinstance(value, str):
            yield from [here] if _SECRET_VALUE.search(value) else []
        else:
            yield from _find_secrets(value, here)


def _delete_value(document: MutableMapping[str, Any], path: tuple[str, ...]) -> None:
    at: Any = document
    for name in path[:-1]:
        at = at[int(name)] if is_list(at) else at[name]
    if is_list(at):
        at[int(path[-1])] = ""
    else:
        del at[path[-1]]
