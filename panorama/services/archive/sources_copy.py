"""Copies of `sources.json` in backups and exports: without secrets, checked, and trusted only if this home made them.

A source runs a command or sends data elsewhere, so a restore brings sources back only after the user has seen them and
agreed.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from panorama.domain.sources.names import SOURCES_PREFIX
from panorama.domain.text.json_types import is_object
from panorama.domain.text.visible_text import escape_name
from panorama.errors import InvalidInputError
from panorama.sdk import SURFACE
from panorama.services.archive.paths import MAX_SHOWN_CHARS, quote_long_text
from panorama.services.archive.source_secrets import VALUE_KEYS, remove_secrets
from panorama.sources.config import CONFIG_FILE, SourceConfig, load_sources, parse_entry, parse_sources
from panorama.sources.descriptions import describe_source, format_place
from panorama.sources.secrets import is_reference
from panorama.sources.sources_file import Entries
from panorama.store.archive.manifests import Entry, Manifest, damage_error
from panorama.store.archive.safe_files import UnreadableError, open_plain_file

MAX_COPY_BYTES = 1 << 20

_VARIABLE = re.compile(r"\$\{\w+(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class SourcesCopy:
    """The sources of a backup or an export: the entries by name, and what was left out of them, such as `crm.TOKEN`."""

    entries: Entries = field(default_factory=dict[str, dict[str, Any]])
    removed: tuple[str, ...] = ()

    def encode(self) -> bytes:
        """Return the file."""
        return (json.dumps({"mcpServers": self.entries}, ensure_ascii=False, indent=2) + "\n").encode()

    def describe(self) -> tuple[str, ...]:
        """Return what each source runs or calls, for the question before they are restored."""
        return tuple(_describe(parse_entry(name, entry)) for name, entry in self.entries.items())

    @property
    def withheld(self) -> tuple[str, ...]:
        """The names of what was left out, for display."""
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
            calls that its rules allow, `local`, and references to stored secrets and variables are removed.

    Raises:
        InvalidInputError: The file is damaged, too large, or one that Panorama does not write.
    """
    if not (entry := manifest.files.get(CONFIG_FILE)):
        return SourcesCopy()
    try:
        entries = _parse(_read_bytes(folder, entry))
    except (UnreadableError, ValueError, RecursionError) as error:
        why = "is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise damage_error(folder, f"{CONFIG_FILE} {why}") from error
    return SourcesCopy(entries) if is_own else _remove_trust(entries)


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


def _parse(content: bytes) -> Entries:
    """Return the entries of a copy.

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
    try:
        names = [config.name for config in parse_sources(data)]
    except InvalidInputError as error:
        raise ValueError(f"cannot be used: {error.message.rstrip('.')}") from error
    assert is_object(data)
    if unknown := sorted(data.keys() - {"mcpServers"}):
        raise ValueError(f"has the unknown key {unknown[0][:40]!r}")
    if reserved := [name for name in names if name in SURFACE or name in ("state", "me")]:
        raise ValueError(f"has a source {reserved[0]}, a name that belongs to Panorama")
    return cast("Entries", data["mcpServers"])


def _remove_trust(entries: Entries) -> SourcesCopy:
    """Return another data directory's sources with no more than a newly added source has."""
    removed: list[str] = []
    kept: Entries = {}
    for name, entry in entries.items():
        bare, lost = _remove_trust_of(entry)
        try:
            parse_entry(name, bare)
        except InvalidInputError:  # nothing is left of its address
            removed.append(name)
            continue
        kept[name] = bare
        removed += [f"{name}.{key}" for key in lost]
    return SourcesCopy(kept, tuple(removed))


def _remove_trust_of(entry: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    lost = [key for key in ("allow", "local") if entry.get(key)]
    bare = {key: value for key, value in entry.items() if key not in ("allow", "local")}
    for key in VALUE_KEYS:
        if values := cast("dict[str, Any]", entry.get(key)):
            lost += [name for name, value in values.items() if _is_referring(value)]
            bare[key] = {name: value for name, value in values.items() if not _is_referring(value)}
    if args := cast("list[str]", entry.get("args")):
        lost += [f"argument_{at}" for at, arg in enumerate(args, start=1) if is_reference(arg)]
        bare["args"] = ["" if is_reference(arg) else arg for arg in args]
    if (url := cast("str", entry.get("url", ""))) and is_reference(url):
        lost.append("url")
        bare["url"] = _VARIABLE.sub(lambda match: match[1] or "", url)
    return bare, lost


def _is_referring(value: object) -> bool:
    return isinstance(value, str) and is_reference(value)


def _describe(config: SourceConfig) -> str:
    """Return what a source runs or calls, with its values but without secrets, on one line."""
    data = describe_source(config)
    place = " ".join(filter(None, ("" if config.kind == "mcp" else config.kind, format_place(data))))
    values = {"cwd": config.cwd} if config.cwd else {}
    for key in VALUE_KEYS:
        values |= {name: value for name, value in data.get(key, {}).items() if name != "path"}
    extras = ", ".join(f"{name}={value}" for name, value in values.items())
    text = f"{place} ({extras})" if extras else place
    length = f" ({len(text):,} characters)" if len(text) > MAX_SHOWN_CHARS else ""
    return f"{config.name} = {quote_long_text(text)}{length}"
