"""Secrets of sources: values in `sources.json` that refer to the environment, the keyring or the key file.

A value may contain `${NAME}`, or be `keyring:<source>/<NAME>` or `file:<source>/<NAME>`. The key file is
`<data>/sources.keys`: JSON of {"<source>/<NAME>": value}, readable by its owner alone.
"""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from panorama.domain.text.secrets import is_secret_name
from panorama.errors import UnavailableError
from panorama.system_keyring import read_secret

KEYRING_SERVICE = "panorama-sources"
KEY_FILE = "sources.keys"
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")

_SECRET_SETTING = re.compile(r"(?:^|[^a-z])(?:key|o?auth)(?:$|[^a-z])|key$|authori[sz]ation|cookie")
"""Words such as `X-API-Key` and `BASIC_AUTH`, but not `keyword` or `author`."""

SecretLookup = Callable[[str], str]
"""Replaces references in a configured value; raises UnavailableError if a secret is missing."""


def open_secrets(home: Path) -> SecretLookup:
    """Return the lookup of a data directory."""

    def look_up(value: str) -> str:
        if value.startswith("keyring:"):
            name = value.removeprefix("keyring:")
            return _require(read_secret(KEYRING_SERVICE, name), name, "keyring")
        if value.startswith("file:"):
            return _read_key_file(home / KEY_FILE, value.removeprefix("file:"))
        return _VARIABLE.sub(_read_variable, value)

    return look_up


def is_reference(value: str) -> bool:
    """Return whether a configured value refers to a secret."""
    return value.startswith(("keyring:", "file:")) or bool(_VARIABLE.search(value))


def is_secret_setting(name: str) -> bool:
    """Return whether a variable, header or option of this name usually holds a secret."""
    return is_secret_name(name) or bool(_SECRET_SETTING.search(name.lower()))


def _read_variable(match: "re.Match[str]") -> str:
    name, default = match[1], cast("str | None", match[2])
    value = os.environ.get(name) or default
    if value is None:
        raise UnavailableError(
            f"The variable {name} is not set in the environment of Panorama.",
            hint="Store the secret with `panorama sources secret`, or start Panorama with the variable.",
        )
    return value


def _read_key_file(file: Path, name: str) -> str:
    try:
        data: dict[str, Any] = json.loads(file.read_bytes())
    except (OSError, ValueError):
        data = {}
    return _require(data.get(name), name, f"file {KEY_FILE}")


def _require(value: object, name: str, place: str) -> str:
    if isinstance(value, str) and value:
        return value
    source, _, secret = name.partition("/")
    raise UnavailableError(
        f"The secret {name} is not in the {place}.", hint=f"Run `panorama sources secret {source} {secret}`."
    )
