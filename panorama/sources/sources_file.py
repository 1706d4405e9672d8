"""Changes `<data>/sources.json`.

Commands that a user types add and remove sources. The page changes rules, by an operation that only the user can call.
"""

import json
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from panorama.domain.sources.policy import DECISIONS, Decision
from panorama.domain.text.json_types import is_object
from panorama.errors import InvalidInputError, NotFoundError, UnavailableError
from panorama.sources.config import CONFIG_FILE, load_sources, parse_sources

PRIVATE_MODE = 0o600

Entries = dict[str, dict[str, Any]]
"""The entries of the file by name."""


def read_entries(home: Path) -> Entries:
    """Return the entries as they are in the file.

    Raises:
        InvalidInputError: The file cannot be used.
    """
    load_sources(home)  # checks every entry
    file = home / CONFIG_FILE
    return dict(json.loads(file.read_bytes())["mcpServers"]) if file.exists() else {}


@contextmanager
def edit_entries(home: Path) -> Generator[Entries]:
    """Yield the entries for changes, and write them if the block ends without an error.

    Raises:
        InvalidInputError: The file or a changed entry cannot be used.
        UnavailableError: The file cannot be written; it is as before.
    """
    entries = read_entries(home)
    yield entries
    parse_sources({"mcpServers": entries})
    file = home / CONFIG_FILE
    others: dict[str, Any] = json.loads(file.read_bytes()) if file.exists() else {}
    write_private_json(file, {**others, "mcpServers": entries})


def get_entry(entries: Entries, name: str) -> dict[str, Any]:
    """Return the entry of a source.

    Raises:
        NotFoundError: There is none.
    """
    if name not in entries:
        raise NotFoundError(f"There is no source {name!r}.", hint="`panorama sources list` shows them.")
    return entries[name]


def parse_pattern(pattern: str) -> tuple[str, str]:
    """Return the source and the function names of SOURCE.FUNCTION; all functions without the latter.

    Raises:
        InvalidInputError: It is not a valid pattern.
    """
    name, _, functions = pattern.partition(".")
    functions = functions or "*"
    if not functions.replace("*", "_").replace("?", "_").isidentifier():
        raise InvalidInputError(
            f"{pattern[:80]!r} is not a valid pattern.", hint="Write SOURCE.FUNCTION, such as 'lemlist.add_*'."
        )
    return name, functions


def set_rule(entries: Entries, name: str, functions: str, decision: Decision | None) -> None:
    """Write a rule of a source, and remove the same pattern from other decisions; None only removes it.

    Raises:
        NotFoundError: There is no such source.
    """
    entry = get_entry(entries, name)
    for key in DECISIONS:
        patterns = [other for other in entry.get(key, []) if other != functions]
        patterns += [functions] if key == decision else []
        if patterns:
            entry[key] = patterns
        else:
            entry.pop(key, None)


def read_private_json(file: Path) -> dict[str, Any]:
    """Return the object in a file, {} if there is no file.

    Raises:
        InvalidInputError: It does not contain a JSON object.
    """
    try:
        data: object = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{file.name} cannot be read.", hint=f"Correct or remove {file}.") from error
    if not is_object(data):
        raise InvalidInputError(f"{file.name} does not contain a JSON object.", hint=f"Correct or remove {file}.")
    return dict(data)


def write_private_json(file: Path, data: dict[str, Any]) -> None:
    """Replace a file by one that only its owner can read.

    Raises:
        UnavailableError: It cannot be written; it is as before.
    """
    content = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    temporary = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)  # mode 0600
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(handle)
        os.replace(temporary, file)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise UnavailableError(f"{file} cannot be written: {error.strerror}.", hint="Check the folder.") from error
