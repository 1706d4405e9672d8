"""Manifests of backups and exports, and their validation.

A manifest may come from anywhere. Its digest shows that it is complete, not who wrote it, so everything read from it
is
checked before use: paths stay inside the folder, contents are named by their digest, numbers and dates are valid, and
every required file is listed.
"""

import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeVar

from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.visible_text import escape_name
from panorama.errors import InvalidInputError
from panorama.store import migrate
from panorama.store.archive.safe_files import UnreadableError, open_plain_file

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
DATABASE = "panorama.db"
Kind = Literal["backup", "export"]
V = TypeVar("V")

MAX_INTEGER = (1 << 63) - 1
"""The largest integer that databases and file systems support."""

MAX_SEQUENCE = 1 << 53
"""The largest sequence number of a table; it leaves room for new rows."""

MAX_SHOWN_CHARS, MAX_SHOWN_ENTRIES, MAX_VERSION_CHARS = 200, 50, 40

MAX_MANIFEST_BYTES = 64 << 20
"""About 300,000 files."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_REVISION = re.compile(r"[0-9]{4}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A listed file: its size in bytes and its digest."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The contents of a backup or export as listed in it.

    `origin` names the source machine and data directory. `rows` counts the rows of each table, `files` lists all other
    files by path, `contents` maps digests to paths. For exports, `columns` has the encoding of each column and
    `sequences` the last number of each table. `missing` are contents that could not be read, `withheld` secret
    settings that were left out. `digest` covers all of that, and `seal` shows which data directory made it.
    """

    kind: Kind
    version: str
    revision: str
    made_at: str
    origin: str
    rows: Mapping[str, int]
    format: int = FORMAT_VERSION
    files: Mapping[str, Entry] = field(default_factory=dict[str, Entry])
    contents: Mapping[str, str] = field(default_factory=dict[str, str])
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, dict[str, str]])
    sequences: Mapping[str, int] = field(default_factory=dict[str, int])
    missing: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    digest: str = ""
    seal: str = ""

    def is_sealed_by(self, key: bytes | None) -> bool:
        """Return whether the data directory with a key made this."""
        return key is not None and hmac.compare_digest(self.seal.encode(), compute_seal(self.digest, key).encode())

    @property
    def shown_missing(self) -> tuple[str, ...]:
        """The first missing contents, escaped for display, each on one line."""
        return tuple(escape_name(path, limit=MAX_SHOWN_CHARS) for path in self.missing[:MAX_SHOWN_ENTRIES])

    @property
    def shown_withheld(self) -> tuple[str, ...]:
        """The first withheld settings, escaped for display."""
        return tuple(escape_name(path, limit=MAX_SHOWN_CHARS) for path in self.withheld[:MAX_SHOWN_ENTRIES])

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(file.size for file in self.files.values())


def read(folder: Path) -> Manifest:
    """Read and validate the manifest of a folder.

    Raises:
        InvalidInputError: It is not a backup or export, is damaged, or was made by a newer version.
    """
    try:
        return _parse(folder, json.loads(_read_bytes(folder / MANIFEST)))
    except UnreadableError as error:
        if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            raise InvalidInputError(
                f"{folder} is not a Panorama backup or export: it has no {MANIFEST}."
                if folder.exists()
                else f"There is no file or folder {folder}.",
                hint="Give the folder that `panorama backup` or `panorama export` made.",
            ) from error
        raise InvalidInputError(f"{folder} cannot be read: {MANIFEST} {error}.", hint="Check its owner.") from error
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise damage_error(folder, f"{MANIFEST} was changed") from error


def damage_error(folder: Path, why: str) -> InvalidInputError:
    """Return the error for a damaged folder."""
    return InvalidInputError(
        f"{folder} is damaged: {why}.", hint="Use another one; check it with `panorama backup check FOLDER`."
    )


def with_digest(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return manifest data with its own digest, which reveals damage to the manifest itself."""
    bare = {name: value for name, value in data.items() if name not in ("digest", "seal")}
    return {**data, "digest": sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()}


def with_seal(data: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """Return manifest data with its digest, sealed with the key of the data directory that makes it."""
    digested = with_digest(data)
    return {**digested, "seal": compute_seal(digested["digest"], key)}


def compute_seal(digest: str, key: bytes) -> str:
    """Return the seal of a manifest's digest, which only the data directory with the key can make."""
    return hmac.new(key, digest.encode(), sha256).hexdigest()


def validate_path(path: object) -> str:
    """Check that a path stays inside the folder, and return it.

    Raises:
        ValueError: The path leads out of the folder, is not in its shortest form, or contains a backslash or NUL.
    """
    checked = validate_text(path)
    pure = PurePosixPath(checked)
    if (
        pure.is_absolute()
        or ".." in pure.parts
        or "\\" in checked
        or "\0" in checked
        or str(pure) != checked
        or checked == "."
    ):
        raise ValueError(f"a path that leads elsewhere: {checked}")
    return checked


def is_digest(name: object) -> bool:
    """Return whether a value is a sha256 of 64 lower-case hexadecimal digits."""
    return isinstance(name, str) and _DIGEST.fullmatch(name) is not None


def validate_text(value: object) -> str:
    """Check that a value is valid text, and return it.

    Raises:
        ValueError: The value is not text, or contains invalid characters.
    """
    if not isinstance(value, str):
        raise ValueError(f"not a text: {value!r}")
    value.encode()  # a lone surrogate raises ValueError
    return value


def _read_bytes(path: Path) -> bytes:
    with open_plain_file(path) as read_:
        parts: list[bytes] = []
        left = MAX_MANIFEST_BYTES + 1
        while left and (part := read_(min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
    if not left:
        raise ValueError(f"over {MAX_MANIFEST_BYTES >> 20} MB")
    return b"".join(parts)


def _parse(folder: Path, data: Any) -> Manifest:
    if not is_object(data) or data.get("kind") not in ("backup", "export"):
        raise InvalidInputError(
            f"{folder} is not a Panorama backup or export.", hint="Give the folder that Panorama made."
        )
    if _validate_number(data["format"]) > FORMAT_VERSION or validate_text(data["revision"]) > migrate.HEAD:
        version = escape_name(str(data.get("version")), limit=MAX_VERSION_CHARS)
        raise InvalidInputError(
            f"{folder} was made by a newer Panorama ({version}).",
            hint="Upgrade Panorama first.",
        )
    if with_digest(data)["digest"] != data["digest"]:
        raise damage_error(folder, f"{MANIFEST} was changed")
    manifest = Manifest(
        kind=data["kind"],
        format=data["format"],
        version=validate_text(data["version"]),
        origin=validate_text(data["origin"]),
        revision=_validate_revision(data["revision"]),
        made_at=_validate_time(data["made_at"]),
        files=_parse_object(data["files"], _validate_listed_path, _parse_entry),
        contents=_parse_object(data["contents"], _validate_digest, validate_path),
        rows=_parse_object(data["rows"], _validate_name, _validate_number),
        columns=_parse_object(data["columns"], _validate_name, _parse_forms),
        sequences=_parse_object(data["sequences"], _validate_name, _validate_sequence),
        missing=_parse_texts(data["missing"]),
        withheld=_parse_texts(data["withheld"]),
        digest=data["digest"],
        seal=validate_text(data.get("seal", "")),
    )
    _check_consistency(manifest)
    return manifest


def _check_consistency(manifest: Manifest) -> None:
    """Check that the parts of a manifest are consistent: it lists every file that it refers to."""
    for name, path in manifest.contents.items():
        if path not in manifest.files or manifest.files[path].sha256 != name:
            raise ValueError(f"content does not match the name: {path}")
    tables = set(manifest.columns)
    needed = {DATABASE} if manifest.kind == "backup" else {f"data/{name}.jsonl" for name in tables}
    if unlisted := needed - set(manifest.files):
        raise ValueError(f"not listed: {unlisted}")
    if manifest.kind == "export" and tables != set(manifest.rows):
        raise ValueError("not every table is counted")


def _parse_object(data: Any, name: Callable[[object], str], value: Callable[[Any], V]) -> dict[str, V]:
    if not is_object(data):
        raise ValueError("no object")
    return {name(key): value(entry) for key, entry in data.items()}


def _parse_forms(data: Any) -> dict[str, str]:
    return _parse_object(data, _validate_name, validate_text)


def _parse_texts(data: Any) -> tuple[str, ...]:
    if not is_list(data):
        raise ValueError("no list")
    return tuple(validate_text(entry) for entry in data)


def _parse_entry(data: Any) -> Entry:
    return Entry(_validate_number(data["size"]), _validate_digest(data["sha256"]))


def _validate_listed_path(path: object) -> str:
    if path == MANIFEST:
        raise ValueError("it lists itself")
    return validate_path(path)


def _validate_digest(name: object) -> str:
    if not is_digest(name):
        raise ValueError(f"not a digest: {name!r}")
    return str(name)


def _validate_name(name: object) -> str:
    if not validate_text(name).isidentifier():
        raise ValueError(f"not the name of a table or column: {name!r}")
    return str(name)


def _validate_number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_INTEGER:
        raise ValueError(f"not a number: {value!r}")
    return value


def _validate_sequence(value: object) -> int:
    number = _validate_number(value)
    if number > MAX_SEQUENCE:
        raise ValueError(f"a number beyond {MAX_SEQUENCE}: {number}")
    return number


def _validate_revision(value: object) -> str:
    if not _REVISION.fullmatch(validate_text(value)):
        raise ValueError(f"not a revision: {value!r}")
    return str(value)


def _validate_time(value: object) -> str:
    """Parse a date-time with a zone that is valid in every zone."""
    at = datetime.fromisoformat(validate_text(value))
    if at.tzinfo is None or not 1970 <= at.astimezone(UTC).year <= 9000:
        raise ValueError(f"not a time with a zone: {value!r}")
    return str(value)
