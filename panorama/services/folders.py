"""A person's folder of Markdown on disk: finds and reads its files, and never writes."""

import hashlib
import os
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from panorama.domain.items import TITLE_CHARS, optional_line
from panorama.domain.notes import CONTENT_BYTES
from panorama.errors import InvalidInputError

SUFFIXES = (".md", ".markdown")
SKIPPED = frozenset({"node_modules"})
"""Folders that are left out beside hidden ones (`.obsidian`, `.git`, `.trash`)."""

NOT_FOLLOWED = "a link that leads out of the folder is not followed"
SHOWN_CHARS = 200


class UnreadableError(Exception):
    """A file cannot be taken; the message says why, as the end of «it was skipped: …»."""


@dataclass(slots=True)
class Folder:
    """A folder and its Markdown files by their path below it; `unread` are subfolders that could not be listed."""

    root: str
    files: dict[str, str] = field(default_factory=dict[str, str])
    unread: list[str] = field(default_factory=list[str])
    problems: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def may_hold(self, path: str) -> bool:
        """Tell whether a file that was not found may still be there, in a subfolder that could not be listed."""
        return any(path.startswith(folder) for folder in self.unread)


def found(text: str, *, avoid: Path) -> Folder:
    """Return the folder that a person means, with its Markdown files sorted by path.

    Hidden files and folders are left out, and so is `avoid`; links are not followed, since what they lead to inside
    the folder is found under its own path.

    Raises:
        InvalidInputError: It is no folder that can be read, or it is `avoid` or lies in it.
    """
    root, home = _root(text), os.path.realpath(avoid)
    if root.is_relative_to(home):
        hint = "Choose the folder that holds your Markdown files."
        raise InvalidInputError(f"{root} belongs to Panorama's own data directory.", hint=hint)
    folder = Folder(str(root))
    waiting = [""]  # paths below the root, each with a slash at its end
    while waiting:
        waiting += _listed(folder, waiting.pop(), home)
    folder.files = dict(sorted(folder.files.items()))
    folder.problems.sort()
    return folder


def _listed(folder: Folder, below: str, home: str) -> list[str]:
    """Take in what lies in one subfolder; return its own subfolders."""
    try:
        with os.scandir(os.path.join(folder.root, below)) as listing:
            entries = [entry for entry in listing if not entry.name.startswith(".") and entry.name not in SKIPPED]
    except OSError as error:
        folder.unread.append(below)
        folder.problems.append((_shown(below), f"the folder cannot be listed: {error.strerror}"))
        return []
    inner: list[str] = []
    for entry in entries:
        path = f"{below}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            inner += [f"{path}/"] if entry.path != home else []
        elif why := _obstacle(entry, folder.root):
            folder.problems.append((_shown(path), why))
        elif entry.is_file(follow_symlinks=False) and _is_markdown(entry.name):
            folder.files[path] = entry.path
    return inner


def _root(text: str) -> Path:
    if not text.strip():
        raise InvalidInputError("folder is empty.", hint="Give the path of a folder, such as ~/Notes.")
    shown = text[:SHOWN_CHARS]
    try:
        root = Path(text).expanduser().resolve()
        os.scandir(root).close()
    except FileNotFoundError as error:
        raise InvalidInputError(f"There is no folder {shown!r}.", hint=_nearest(text)) from error
    except NotADirectoryError as error:
        raise InvalidInputError(f"{shown!r} is not a folder.", hint="Give the folder that holds it.") from error
    except PermissionError as error:
        raise InvalidInputError(f"The folder {shown!r} cannot be read.", hint="Check its owner and rights.") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidInputError(f"{shown!r} cannot be the path of a folder.", hint="Give one as ~/Notes.") from error
    return root


def _nearest(text: str) -> str:
    above = (parent for parent in Path(text).expanduser().absolute().parents if os.path.isdir(parent))
    return f"The nearest folder that exists is {next(above, Path('/'))}."


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode()


def _is_markdown(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def _obstacle(entry: os.DirEntry[str], root: str) -> str:
    """Return why a file or link that would be read cannot be; "" if it can, or nobody would read it."""
    if entry.is_symlink():
        target = Path(os.path.realpath(entry.path))
        leads_out = not target.is_relative_to(root) and (_is_markdown(entry.name) or target.is_dir())
        return NOT_FOLLOWED if leads_out else ""
    if _is_markdown(entry.name) and _shown(entry.path) != entry.path:
        return "its name is not valid Unicode"
    if _is_markdown(entry.name) and not entry.is_file(follow_symlinks=False):
        return "it is no plain file"  # a pipe, a socket, a device: whoever reads one may wait for ever
    return ""


def read(path: str) -> bytes:
    """Return the bytes of a file.

    Raises:
        UnreadableError: It is over 10 MB, or cannot be read.
    """
    try:
        with open(path, "rb") as file:
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
