"""Stores secrets of sources in the system's keyring, or in the key file if there is none."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from panorama import system_keyring
from panorama.domain.text.secrets import redact_text
from panorama.errors import InvalidInputError
from panorama.sources.secrets import KEY_FILE, KEYRING_SERVICE, is_reference, is_secret_setting
from panorama.sources.sources_file import read_private_json, write_private_json

MAX_SECRET_CHARS = 8_000


def store_secret(home: Path, source: str, name: str, value: str, *, in_file: bool = False) -> str:
    """Store a secret and return the reference to it for `sources.json`.

    Args:
        in_file: Use the key file also if there is a keyring, such as for a daemon that cannot reach it.

    Raises:
        InvalidInputError: The value is empty or too long.
        UnavailableError: The key file cannot be written.
    """
    value = value.strip()
    if not value or len(value) > MAX_SECRET_CHARS or not value.isprintable():
        raise InvalidInputError(
            "Invalid key: it is empty, too long, or has invisible characters.", hint="Copy it again."
        )
    place = f"{source}/{name}"
    if not in_file and system_keyring.store_secret(KEYRING_SERVICE, place, value):
        return f"keyring:{place}"
    file = home / KEY_FILE
    write_private_json(file, {**read_private_json(file), place: value})
    return f"file:{place}"


def delete_secrets(home: Path, references: Iterable[str]) -> None:
    """Delete the secrets that references point to; others are passed over."""
    places = list(references)
    in_file = {place.removeprefix("file:") for place in places if place.startswith("file:")}
    file = home / KEY_FILE
    if in_file and file.exists():
        stored = read_private_json(file)
        write_private_json(file, {place: value for place, value in stored.items() if place not in in_file})
    for place in places:
        if place.startswith("keyring:"):
            system_keyring.delete_secret(KEYRING_SERVICE, place.removeprefix("keyring:"))


def move_secrets(home: Path, source: str, entry: Mapping[str, Any], *, in_file: bool = False) -> dict[str, Any]:
    """Store the secrets in an entry, and return the entry with references in their place.

    Values of variables and headers whose names or forms are those of secrets are moved, and such arguments of a
    command. Values that refer to variables stay.

    Raises:
        InvalidInputError: A value cannot be stored.
        UnavailableError: The key file cannot be written.
    """

    def move(name: str, value: str) -> str:
        return store_secret(home, source, name, value, in_file=in_file)

    moved = dict(entry)
    for key in ("env", "headers"):
        if values := cast("dict[str, str]", entry.get(key)):
            moved[key] = {
                name: move(name, value) if _is_secret(name, value) else value for name, value in values.items()
            }
    if args := cast("list[str]", entry.get("args")):
        flags = ["", *args[:-1]]
        moved["args"] = [
            move(f"argument_{at}", arg) if is_secret_argument(flag, arg) else arg
            for at, (flag, arg) in enumerate(zip(flags, args, strict=True), start=1)
        ]
    return moved


def list_references(entry: Mapping[str, Any]) -> list[str]:
    """Return the references to stored secrets in an entry."""
    values: list[Any] = [*entry.get("args", ())]
    for key in ("env", "headers", "options"):
        values += entry.get(key, {}).values()
    return [value for value in values if isinstance(value, str) and value.startswith(("keyring:", "file:"))]


def _is_secret(name: str, value: str) -> bool:
    if not value.strip() or is_reference(value):
        return False
    return is_secret_setting(name) or redact_text(value) != value


def is_secret_argument(flag: str, argument: str) -> bool:
    """Return whether an argument is a secret: `--api-key=…`, `Authorization: …`, or what follows `--api-key`."""
    if is_reference(argument) or not argument.strip():
        return False
    name, separator, value = argument.partition("=" if argument.startswith("-") else ":")
    if separator and value.strip() and is_secret_setting(name.lstrip("-").strip()) and " " not in name:
        return not value.startswith("//")
    is_value = flag.startswith("-") and "=" not in flag and not argument.startswith("-")
    return (is_value and is_secret_setting(flag.lstrip("-"))) or redact_text(argument) != argument
