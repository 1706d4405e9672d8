"""Manifests: what a backup or an export says it holds, and how much of that is believed.

A manifest may come from anywhere. Its digest tells that it is as somebody wrote it, not who that was; so whatever is
read of it is looked at before it is used: paths lead into the folder, contents are called by their digest, numbers and
dates are such, and every file that is needed is listed.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeVar

from panorama.domain.plain import is_list, is_object
from panorama.errors import InvalidInputError
from panorama.store import migrate
from panorama.store.plain_files import UnreadableError, reading

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "panorama.db"
Kind = Literal["backup", "export"]
V = TypeVar("V")

LARGEST = (1 << 63) - 1
"""The largest number that a database or a disk knows."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_REVISION = re.compile(r"[0-9]{4}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a parcel: its size in bytes and its digest."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a parcel says it holds.

    `origin` names the machine and data directory it was made of. `rows` counts each table's, `files` are all files but
    this one by their path, `contents` says where the content with a digest lies. `columns` says of an export how each
    value is written, `sequences` which number each table gives next. `missing` are contents that were not to be had,
    `withheld` settings that were left out because they are secret.
    """

    kind: Kind
    version: str
    revision: str
    made_at: str
    origin: str
    rows: Mapping[str, int]
    format: int = FORMAT
    files: Mapping[str, Entry] = field(default_factory=dict[str, Entry])
    contents: Mapping[str, str] = field(default_factory=dict[str, str])
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, dict[str, str]])
    sequences: Mapping[str, int] = field(default_factory=dict[str, int])
    missing: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(each.size for each in self.files.values())


def read(folder: Path) -> Manifest:
    """Return what a parcel says it holds.

    Raises:
        InvalidInputError: It is no parcel, is damaged, or was made by a newer program.
    """
    try:
        return _understood(folder, json.loads(_written(folder / MANIFEST)))
    except UnreadableError as error:
        if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            raise InvalidInputError(
                f"{folder} is no backup or export of Panorama: there is no {MANIFEST} in it.",
                hint="Give the folder that `panorama backup` or `panorama export` made.",
            ) from error
        raise InvalidInputError(f"{folder} cannot be read: {MANIFEST} {error}.", hint="Check its owner.") from error
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise damaged(folder, f"{MANIFEST} is not what was written") from error


def damaged(folder: Path, why: str) -> InvalidInputError:
    """Return the error that tells of a damaged parcel."""
    return InvalidInputError(
        f"{folder} is damaged: {why}.", hint="Use another one; `panorama backup check FOLDER` tells which are sound."
    )


def sealed(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return a list of what is in a parcel with its own digest, by which damage to the list itself is seen."""
    bare = {name: value for name, value in told.items() if name != "digest"}
    return {**bare, "digest": sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()}


def inside(path: object) -> str:
    """Return a path that leads into the parcel and nowhere else.

    Raises:
        ValueError: It does not.
    """
    said = text(path)
    pure = PurePosixPath(said)
    if pure.is_absolute() or ".." in pure.parts or "\\" in said or "\0" in said or str(pure) != said or said == ".":
        raise ValueError(f"a path that leads elsewhere: {said}")
    return said


def is_digest(name: object) -> bool:
    """Tell whether something is a sha256, as 64 lower-case hexadecimal digits."""
    return isinstance(name, str) and _DIGEST.fullmatch(name) is not None


def text(value: object) -> str:
    """Return a text that can be written.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(value, str):
        raise ValueError(f"no text: {value!r}")
    value.encode()  # a half character is a ValueError
    return value


def _written(path: Path) -> bytes:
    with reading(path) as read_:
        return b"".join(iter(lambda: read_(1 << 20), b""))


def _understood(folder: Path, told: Any) -> Manifest:
    if not is_object(told) or told.get("kind") not in ("backup", "export"):
        raise InvalidInputError(
            f"{folder} is no backup or export of Panorama.", hint="Give the folder that Panorama made."
        )
    if _number(told["format"]) > FORMAT or text(told["revision"]) > migrate.HEAD:
        raise InvalidInputError(
            f"{folder} was made by a newer Panorama ({told.get('version')}).", hint="Upgrade Panorama first."
        )
    if sealed(told)["digest"] != told["digest"]:
        raise damaged(folder, f"{MANIFEST} is not what was written")
    manifest = Manifest(
        kind=told["kind"], format=told["format"], version=text(told["version"]), origin=text(told["origin"]),
        revision=_revision(told["revision"]), made_at=_moment(told["made_at"]),
        files=_each(told["files"], _listed, _entry), contents=_each(told["contents"], _digest, inside),
        rows=_each(told["rows"], _name, _number), columns=_each(told["columns"], _name, _forms),
        sequences=_each(told["sequences"], _name, _number), missing=_texts(told["missing"]),
        withheld=_texts(told["withheld"]),
    )  # fmt: skip
    _agree(manifest)
    return manifest


def _agree(manifest: Manifest) -> None:
    """Look whether the parts of a manifest fit each other: what it needs it lists."""
    for name, path in manifest.contents.items():
        if path not in manifest.files or manifest.files[path].sha256 != name:
            raise ValueError(f"not the content it is called: {path}")
    tables = set(manifest.columns)
    needed = {DATABASE} if manifest.kind == "backup" else {f"data/{name}.jsonl" for name in tables}
    if unlisted := needed - set(manifest.files):
        raise ValueError(f"not listed: {unlisted}")
    if manifest.kind == "export" and tables != set(manifest.rows):
        raise ValueError("not every table is counted")


def _each(told: Any, name: Callable[[object], str], value: Callable[[Any], V]) -> dict[str, V]:
    if not is_object(told):
        raise ValueError("no object")
    return {name(key): value(each) for key, each in told.items()}


def _forms(told: Any) -> dict[str, str]:
    return _each(told, _name, text)


def _texts(told: Any) -> tuple[str, ...]:
    if not is_list(told):
        raise ValueError("no list")
    return tuple(text(each) for each in told)


def _entry(told: Any) -> Entry:
    return Entry(_number(told["size"]), _digest(told["sha256"]))


def _listed(path: object) -> str:
    if path == MANIFEST:
        raise ValueError("it lists itself")
    return inside(path)


def _digest(name: object) -> str:
    if not is_digest(name):
        raise ValueError(f"no digest: {name!r}")
    return str(name)


def _name(name: object) -> str:
    if not text(name).isidentifier():
        raise ValueError(f"no name of a table or column: {name!r}")
    return str(name)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise ValueError(f"no number: {value!r}")
    return value


def _revision(value: object) -> str:
    if not _REVISION.fullmatch(text(value)):
        raise ValueError(f"no revision: {value!r}")
    return str(value)


def _moment(value: object) -> str:
    """Return a moment with its zone, which any zone can show."""
    at = datetime.fromisoformat(text(value))
    if at.tzinfo is None or not 1970 <= at.astimezone(UTC).year <= 9000:
        raise ValueError(f"no moment: {value!r}")
    return str(value)
