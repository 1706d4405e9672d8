"""A person's folder of Markdown on disk: finds and reads its files, and never writes."""

import hashlib
import os
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from panorama.domain.items import TITLE_CHARS, optional_line
from panorama.domain.notes import CONTENT_BYTES
from panorama.errors import InvalidInputError

SUFFIXES = (".md", ".markdown")
SKIPPED = frozenset({"node_modules"})
"""Folders that are left out beside hidden ones (`.obsidian`, `.git`, `.trash`)."""

SHOWN_CHARS = 200


class UnreadableError(Exception):
    """A file cannot be taken; the message says why, as the end of «it was skipped: …»."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder and its Markdown files by their path below it; `unread` are subfolders that could not be listed."""

    root: Path
    files: Mapping[str, Path]
    unread: tuple[str, ...]
    problems: tuple[tuple[str, str], ...]

    def may_hold(self, path: str) -> bool:
        """Tell whether a file that was not found may still be there, in a subfolder that could not be listed."""
        return any(path.startswith(f"{folder}/") for folder in self.unread)


def found(text: str, *, avoid: Path) -> Folder:
    """Return the folder that a person means, with its Markdown files sorted by path.

    Hidden files and folders are left out, and so is `avoid`; links are not followed, since what they lead to inside
    the folder is found under its own path.

    Raises:
        InvalidInputError: It is no folder that can be read, or it is `avoid` or lies in it.
    """
    root = _root(text)
    home = Path(os.path.realpath(avoid))
    if root.is_relative_to(home):
        hint = "Choose the folder that holds your Markdown files."
        raise InvalidInputError(f"{root} belongs to Panorama's own data directory.", hint=hint)
    files: dict[str, Path] = {}
    unread: list[str] = []
    problems: list[tuple[str, str]] = []
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name, reverse=True)
        except OSError as error:
            unread.append(_below(root, folder))
            problems.append((_shown(_below(root, folder)), f"the folder cannot be listed: {error.strerror}"))
            continue
        for entry in entries:
            path = Path(entry.path)
            if entry.name.startswith(".") or entry.name in SKIPPED or path == home:
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif why := _obstacle(entry, root):
                problems.append((_shown(_below(root, path)), why))
            elif entry.is_file(follow_symlinks=False) and _is_markdown(entry.name):
                files[_below(root, path)] = path
    return Folder(root, dict(sorted(files.items())), tuple(unread), tuple(sorted(problems)))


def _root(text: str) -> Path:
    if not text.strip():
        raise InvalidInputError("folder is empty.", hint="Give the path of a folder, such as ~/Notes.")
    shown = text[:SHOWN_CHARS]
    try:
        root = Path(text).expanduser().resolve()
        os.scandir(root).close()
    except FileNotFoundError as error:
        raise InvalidInputError(f"There is no folder {shown}.", hint=_nearest(text)) from error
    except NotADirectoryError as error:
        raise InvalidInputError(f"{shown} is not a folder.", hint="Give the folder that holds it.") from error
    except PermissionError as error:
        raise InvalidInputError(f"The folder {shown} cannot be read.", hint="Check its owner and rights.") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidInputError(f"{shown!r} cannot be the path of a folder.", hint="Give one as ~/Notes.") from error
    return root


def _nearest(text: str) -> str:
    above = (parent for parent in Path(text).expanduser().absolute().parents if os.path.isdir(parent))
    return f"The nearest folder that exists is {next(above, Path('/'))}."


def _below(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode()


def _is_markdown(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def _obstacle(entry: os.DirEntry[str], root: Path) -> str:
    """Return why a file or link that would be read cannot be; "" if it can, or nobody would read it."""
    if entry.is_symlink():
        target = Path(os.path.realpath(entry.path))
        wanted = _is_markdown(entry.name) or target.is_dir()
        return (
            "a link that leads out of the folder is not followed" if wanted and not target.is_relative_to(root) else ""
        )
    if _is_markdown(entry.name) and _shown(entry.path) != entry.path:
        return "its name is not valid Unicode"
    return ""


def read(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        UnreadableError: It is over 10 MB, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(CONTENT_BYTES + 1)
    except OSError as error:
        raise UnreadableError(f"it cannot be read: {error.strerror}") from error
    if len(raw) > CONTENT_BYTES:
        raise UnreadableError(f"it is over {CONTENT_BYTES >> 20} MB; split it into several files")
    return raw


def decoded(raw: bytes) -> str:
    """Return the text of a file.

    Raises:
        UnreadableError: It is not UTF-8, or holds NUL bytes.
    """
    if b"\x00" in raw:
        raise UnreadableError("it holds NUL bytes, so it is not text in UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"it is not UTF-8 (byte {error.start:,}); save it as UTF-8") from error


def digest(raw: bytes) -> str:
    """Return the sha256 of a file, as 32 hexadecimal digits."""
    return hashlib.sha256(raw).hexdigest()[:32]


def title(path: str) -> str:
    """Return what a file is called if it gives no title itself; names from macOS are composed."""
    return unicodedata.normalize("NFC", path.rpartition("/")[2].rpartition(".")[0])


def project(path: str) -> str:
    """Return the name of the folder under the root that a file lies in, as a project's name; "" if it lies in none."""
    top = path.partition("/")[0] if "/" in path else ""
    return optional_line(unicodedata.normalize("NFC", top)[:TITLE_CHARS], "project")
