"""Copies of `sources.json` in backups and exports: without secrets, checked, and trusted only if this home made them.

A source runs a command or sends data elsewhere, so a restore brings sources back only after the user has seen them and
agreed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from panorama.domain.sources.names import SOURCES_PREFIX
from panorama.domain.text.json_types import is_object
from panorama.domain.text.visible_text import escape_json_line, escape_name
from panorama.errors import InvalidInputError
from panorama.sdk import SURFACE
from panorama.services.archive.paths import MAX_SHOWN_CHARS
from panorama.services.archive.source_secrets import VALUE_KEYS, remove_secrets
from panorama.sources.config import CONFIG_FILE, MAX_NAME_CHARS, MAX_SOURCES, load_sources, parse_entry
from panorama.sources.secrets import is_reference
from panorama.sources.sources_file import Entries
from panorama.store.archive.manifests import Entry, Manifest, damage_error
from panorama.store.archive.safe_files import UnreadableError, open_plain_file

MAX_COPY_BYTES = 1 << 20

MAX_FOREIGN_CHARS = 2_000
"""The longest description of another data directory's source: the user is asked about all of it, and has to read it."""

_FIRST_KEYS = ("kind", "command", "args", "cwd", "url")
"""The keys of an entry that are shown before all others."""

_REFERENCE_MARKS = ("${", '"keyring:', '"file:')
"""What every entry contains that refers to a secret, as JSON."""


@dataclass(frozen=True, slots=True)
class SourcesCopy:
    """The sources of a backup or an export.

    `entries` are the sources by name, `removed` what was left out of them, such as `crm.TOKEN`, and `left_out` the
    escaped names of those that were left out as a whole.
    """

    entries: Entries = field(default_factory=dict[str, dict[str, Any]])
    removed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def encode(self) -> bytes:
        """Return the file."""
        return (json.dumps({"mcpServers": self.entries}, ensure_ascii=False, indent=2) + "\n").encode()

    def describe(self) -> tuple[str, ...]:
        """Return each source as JSON on one line, for the question before they are restored; nothing is hidden."""
        return tuple(_describe(name, entry) for name, entry in self.entries.items())

    @property
    def withheld(self) -> tuple[str, ...]:
        """The names of what was left out of sources, for display."""
        return tuple(f"{SOURCES_PREFIX}{escape_name(name, limit=MAX_SHOWN_CHARS)}" for name in self.removed)


def copy_sources(home: Path) -> SourcesCopy:
    """Return the sources of a data directory without secrets: references to the keyring and to variables stay.

    A secret that the file contains in clear text is replaced by a reference, under which it can be entered again.

    Raises:
        InvalidInputError: The file cannot be used, or is too large.
    """
    if not (home / CONFIG_FILE).exists():
        return SourcesCopy()
    load_sources(home)
    entries: Entries = json.loads((home / CONFIG_FILE).read_text("utf-8"))["mcpServers"]
    removed: list[str] = []
    copied = SourcesCopy({name: remove_secrets(name, entry, removed) for name, entry in entries.items()})
    try:
        _parse(copied.encode())
    except ValueError as error:
        raise InvalidInputError(f"{CONFIG_FILE} {error}.", hint=f"Correct {home / CONFIG_FILE}.") from error
    return SourcesCopy(copied.entries, tuple(removed))


def read_copy(folder: Path, manifest: Manifest, *, is_own: bool) -> SourcesCopy:
    """Read and check the sources of a backup or an export; there are none in an older one.

    Args:
        is_own: Whether this data directory made it. Otherwise no source of it gets more than one that is newly added:
            calls that its rules allow, `local`, and references to stored secrets and variables are removed. A source
            that still contains one, or is longer than a person reads, is left out.

    Raises:
        InvalidInputError: The file is damaged, too large, or one that Panorama does not write.
    """
    if not (entry := manifest.files.get(CONFIG_FILE)):
        return SourcesCopy()
    try:
        copy = _drop_unusable(_parse(_read_bytes(folder, entry)))
        return copy if is_own else _remove_trust(copy)
    except (UnreadableError, ValueError, RecursionError) as error:
        why = "is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise damage_error(folder, f"{CONFIG_FILE} {why}") from error


def _read_bytes(folder: Path, entry: Entry) -> bytes:
    if entry.size > MAX_COPY_BYTES:
        raise ValueError(f"is over {MAX_COPY_BYTES >> 20} MB")
    parts: list[bytes] = []
    with open_plain_file(folder / CONFIG_FILE, folder) as read_:
        while sum(map(len, parts)) <= MAX_COPY_BYTES and (part := read_(MAX_COPY_BYTES + 1)):
            parts.append(part)
    content = b"".join(parts)
    if (len(content), sha256(content).hexdigest()) != (entry.size, entry.sha256):
        raise ValueError("differs from what was written")
    return content


def _parse(content: bytes) -> dict[str, object]:
    """Return the entries of a copy, which are not yet checked.

    Raises:
        ValueError: It is not what Panorama writes; the message is the predicate of a sentence about the file.
        RecursionError: It is nested too deeply.
    """
    if len(content) > MAX_COPY_BYTES:
        raise ValueError(f"is over {MAX_COPY_BYTES >> 20} MB")
    try:
        data: object = json.loads(content.decode())
        json.dumps(data, ensure_ascii=False).encode()  # a lone surrogate raises ValueError
    except ValueError as error:
        raise ValueError("is not valid JSON") from error
    if not is_object(data) or not is_object(entries := data.get("mcpServers")):
        raise ValueError("has no object mcpServers")
    if unknown := sorted(data.keys() - {"mcpServers"}):
        raise ValueError(f"has the unknown key {unknown[0][:40]!r}")
    if len(entries) > MAX_SOURCES:
        raise ValueError(f"has {len(entries)} sources; the limit is {MAX_SOURCES}")
    return dict(entries)


def _drop_unusable(entries: Mapping[str, object]) -> SourcesCopy:
    """Return the entries that this version can use, such as those whose name does not belong to the SDK by now."""
    usable = {name: cast("dict[str, Any]", entry) for name, entry in entries.items() if _is_usable(name, entry)}
    left_out = tuple(escape_name(name, limit=MAX_NAME_CHARS) for name in entries if name not in usable)
    return SourcesCopy(usable, left_out=left_out)


def _is_usable(name: str, entry: object) -> bool:
    try:
        parse_entry(name, entry)
    except InvalidInputError:
        return False
    return name not in SURFACE and name not in ("state", "me")


def _remove_trust(copy: SourcesCopy) -> SourcesCopy:
    """Return another data directory's sources with no more than a newly added source has."""
    entries: Entries = {}
    removed: list[str] = []
    left_out = list(copy.left_out)
    for name, entry in copy.entries.items():
        untrusted_entry, removed_keys = _remove_trust_of(entry)
        if _is_referring(untrusted_entry) or len(_describe(name, untrusted_entry)) > MAX_FOREIGN_CHARS:
            left_out.append(name)
            continue
        entries[name] = untrusted_entry
        removed += [f"{name}.{key}" for key in removed_keys]
    return SourcesCopy(entries, tuple(removed), tuple(left_out))


def _remove_trust_of(entry: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return an entry without what only its owner may grant, and the names of what was removed."""
    removed_keys = [key for key in ("allow", "local") if entry.get(key)]
    untrusted_entry = {key: value for key, value in entry.items() if key not in ("allow", "local")}
    for key in VALUE_KEYS:
        if values := cast("dict[str, Any]", entry.get(key)):
            removed_keys += [name for name, value in values.items() if _is_text_reference(value)]
            untrusted_entry[key] = {name: value for name, value in values.items() if not _is_text_reference(value)}
    if args := cast("list[str]", entry.get("args")):
        removed_keys += [f"argument_{at}" for at, arg in enumerate(args, start=1) if is_reference(arg)]
        untrusted_entry["args"] = ["" if is_reference(arg) else arg for arg in args]
    return untrusted_entry, removed_keys


def _is_text_reference(value: object) -> bool:
    return isinstance(value, str) and is_reference(value)


def _is_referring(entry: Mapping[str, Any]) -> bool:
    """Return whether anything in an entry, at any depth, could refer to a secret or a variable."""
    text = json.dumps(entry)
    return any(mark in text for mark in _REFERENCE_MARKS)


def _describe(name: str, entry: Mapping[str, Any]) -> str:
    ordered = {key: entry[key] for key in _FIRST_KEYS if key in entry} | dict(entry)
    return f"{name}: {escape_json_line(json.dumps(ordered, ensure_ascii=False))}"
