"""Python names of the functions of sources, and names of parts of the configuration. Pure."""

import keyword
import re
from collections.abc import Iterable, Mapping

MAX_NAME_CHARS = 80
SOURCES_PREFIX = "sources.json: "
"""The start of the names of what a backup left out of sources, among those of settings."""

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def to_identifier(name: str) -> str:
    """Return a name as Python writes it: `API-get-user` becomes `api_get_user`, `2fa` `n2fa`."""
    spaced = _WORD_START.sub("_", name)
    identifier = re.sub(r"\W+|_+", "_", spaced, flags=re.ASCII).strip("_").lower()[:MAX_NAME_CHARS] or "function"
    if identifier[0].isdigit():
        identifier = f"n{identifier}"
    return f"{identifier}_" if keyword.iskeyword(identifier) else identifier


def assign_names(own_names: Iterable[str], stored: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the Python name of each own name.

    A stored name never moves to another function, also if its function is gone. Of new ones that collide, the one that
    is spelt so gets the name and others are numbered, in an order that does not depend on the source's.
    """
    names = dict(stored or {})
    used = set(names.values())
    for own_name in sorted(set(own_names) - names.keys(), key=lambda name: (to_identifier(name) != name, name)):
        identifier = name = to_identifier(own_name)
        number = 1
        while name in used:
            number += 1
            name = f"{identifier}_{number}"
        names[own_name] = name
        used.add(name)
    return names
