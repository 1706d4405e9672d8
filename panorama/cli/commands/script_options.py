"""Options of saved scripts: converts `--project Alpha --days 3 --apply` to arguments by the script's parameters."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from panorama.errors import InvalidInputError


def parse_options(words: Sequence[str], properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Parse words of the command line to arguments; the host validates their types.

    Raises:
        InvalidInputError: A word is not an option of the script, or its value is missing.
    """
    values: dict[str, Any] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        known = properties.get(name)
        if known is None and word.startswith("--no-") and _is_flag(properties.get(name.removeprefix("no_"), {})):
            values[name.removeprefix("no_")] = False
            continue
        if known is None or not word.startswith("--"):
            options = ", ".join(f"--{name.replace('_', '-')}" for name in properties)
            hint = f"Its options are {options}; its name comes first." if options else "It takes none."
            raise InvalidInputError(f"The script has no option {word[:60]!r}.", hint=hint)
        if _is_flag(known) and not equals:
            values[name] = True
            continue
        if not equals:
            if not left:
                raise InvalidInputError(f"{word} needs a value.", hint=f"Write {word} VALUE.")
            value = left.pop(0)
        if known.get("type") == "array":
            values.setdefault(name, []).append(_parse_value(value, known.get("items", {})))
        else:
            values[name] = _parse_value(value, known)
    return values


def _is_flag(known: Mapping[str, Any]) -> bool:
    return known.get("type") == "boolean"


def _parse_value(text: str, known: Mapping[str, Any]) -> Any:
    if known.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
