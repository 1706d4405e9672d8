"""The configuration as copies hold it: which of its values are secret, and how they are left out."""

import re
import tomllib
from collections.abc import Iterator, MutableMapping
from typing import Any

from pydantic import SecretStr

from panorama.config import Settings
from panorama.domain.plain import is_list, is_object

FILE = "config.toml"

_NAME = re.compile(
    r"(?i)pass(word|wd|phrase)?$|secret|token$|(api|access|private)_?key|_key$|^key$|authorization|credential"
)
_VALUE = re.compile(r"://[^\s/:@]+:[^\s/@]+@")
_COMMENT = re.compile(r"(?im)^[ \t]*#[ \t]*[\w.\"-]*(?:key|token|secret|password|credential)[\w\"-]*[ \t]*=.*$\n?")
_SETTINGS = frozenset(name for name, field in Settings.model_fields.items() if field.annotation is SecretStr)


def without_secrets(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of a configuration without its secret values, and the names of those.

    Secret are settings that hold a key, whatever is named like one (`token`, `password`, `api_key` …), and addresses
    with a password in them. All else stays, comments too, unless they hold such a setting.

    Raises:
        ValueError: It is no TOML; nobody can tell then what is secret.
    """
    import tomlkit  # 30 ms

    found = tuple(".".join(path) for path in _secret(tomllib.loads(text)))
    if found:
        document: Any = tomlkit.parse(text)
        for path in _secret(tomllib.loads(text)):
            _take_out(document, path)
        text = tomlkit.dumps(document)
    return _COMMENT.sub("", text), found


def _secret(table: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    items = table.items() if is_object(table) else enumerate(table) if is_list(table) else ()
    for name, value in items:
        here = (*path, str(name))
        if value in ("", None):
            continue
        if isinstance(name, str) and (name in _SETTINGS or _NAME.search(name)):
            yield here
        elif isinstance(value, str):
            yield from [here] if _VALUE.search(value) else []
        else:
            yield from _secret(value, here)


def _take_out(document: MutableMapping[str, Any], path: tuple[str, ...]) -> None:
    at: Any = document
    for name in path[:-1]:
        at = at[int(name)] if is_list(at) else at[name]
    if is_list(at):
        at[int(path[-1])] = ""
    else:
        del at[path[-1]]
