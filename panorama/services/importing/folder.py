"""Finds and reads the files of a Markdown folder; never writes to it."""

import hashlib
import json
import os
import unicodedata
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

from panorama.domain.items.item import TITLE_CHARS, single_line_or_empty
from panorama.domain.items.notes import CONTENT_BYTES
from panorama.domain.text.json_types import is_object
from panorama.domain.time.times import MIN_DATE
from panorama.errors import InvalidInputError
from panorama.store.archive import safe_files
from panorama.store.archive.safe_files import open_plain_file

SUFFIXES = (".md", ".markdown")
SKIPPED_FOLDERS = frozenset({"node_modules"})
"""Folders that are skipped besides hidden ones (`.obsidian`, `.git`, `.trash`)."""

TASKS_SETTINGS = ".obsidian/plugins/obsidian-tasks-plugin/data.json"
HIDDEN = "hidden files, and folders of programs, are not read"
NOT_FOLLOWED = "a link that leads out of the folder is not followed"
FOLDER_NOT_FOLLOWED = (
    "a link to a folder is not followed; the folder itself is read under its own path, unless it is skipped"
)
UNFOLLOWED = frozenset({NOT_FOLLOWED, FOLDER_NOT_FOLLOWED})
MAX_SHOWN_CHARS = 200
READ_SECONDS = 30.0
"""The time limit for reading one file, because a disconnected disk would block forever."""

_EARLIEST = datetime(MIN_DATE.year, MIN_DATE.month, MIN_DATE.day, tzinfo=UTC).timestamp()
"""The earliest time of a file that is used; a damaged disk may have any, which a restore would refuse."""


class UnreadableError(Exception):
    """A file cannot be imported; the message completes «it was skipped: …»."""


@dataclass(frozen=True, slots=True)
class FileTimes:
    """A file's creation and modification times from its disk."""

    created: datetime
    modified: datetime


@dataclass(slots=True)
class Folder:
    """A folder and its Markdown files by relative path; `unread` are subfolders that could not be listed.

    `others` are regular files that are not Markdown, `omitted` are skipped paths with the reason.
    `task_filter` is the global filter from the settings of the Tasks plug-in in the folder.
    """

    root: str
    task_filter: str = ""
    files: dict[str, FileTimes] = field(default_factory=dict[str, FileTimes])
    others: list[str] = field(default_factory=list[str])
    omitted: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    unread: list[str] = field(default_factory=list[str])
    problems: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def can_contain(self, path: str) -> bool:
        """Return whether a missing file may be in a subfolder that could not be listed."""
        return any(path.startswith(folder) for folder in self.unread)


def scan(text: str, *, avoid: Path) -> Folder:
    """Scan a folder; its Markdown files are sorted by path.

    Hidden files and folders and `avoid` are skipped. Symbolic links are not followed, because targets inside the
    folder are found under their own path, unless they are skipped.

    Raises:
        InvalidInputError: It is not a readable folder, or it is `avoid` or inside it.
    """
    root, home = _resolve_root(text), os.path.realpath(avoid)
    if root.is_relative_to(home):
        hint = "Choose the folder that holds your Markdown files."
        raise InvalidInputError(f"{root} belongs to Panorama's own data directory.", hint=hint)
    folder = Folder(str(root), _read_task_filter(str(root)))
    waiting = [""]  # paths below the root, each with a slash at its end
    while waiting:
        waiting += _scan_subfolder(folder, waiting.pop(), home)
    folder.files = dict(sorted(folder.files.items()))
    folder.others.sort()
    folder.omitted.sort()
    folder.problems.sort()
    return folder


def _read_task_filter(root: str) -> str:
    with suppress(UnreadableError, ValueError, RecursionError):
        settings = json.loads(read_file(root, TASKS_SETTINGS, limit=1 << 20))
        if is_object(settings) and isinstance(word := settings.get("globalFilter"), str):
            return word.strip()
    return ""


def _scan_subfolder(folder: Folder, below: str, home: str) -> list[str]:
    """Scan one subfolder; return its subfolders."""
    try:
        with os.scandir(os.path.join(folder.root, below)) as listing:
            entries = list(listing)
    except OSError as error:
        folder.unread.append(below)
        folder.problems.append((_printable(below), f"the folder cannot be listed: {error.strerror}"))
        return []
    inner: list[str] = []
    for entry in entries:
        path = f"{below}{entry.name}"
        if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
            folder.omitted.append((_printable(path), HIDDEN))
        elif entry.is_dir(follow_symlinks=False):
            inner += [f"{path}/"] if entry.path != home else []
        elif why := _skip_reason(entry, folder.root):
            folder.problems.append((_printable(path), why))
        elif entry.is_file(follow_symlinks=False) and _is_markdown(entry.name):
            folder.files[path] = _read_times(entry)
        elif entry.is_file(follow_symlinks=False):
            folder.others.append(path)
    return inner


def _read_times(entry: os.DirEntry[str]) -> FileTimes:
    """Return the times of a file; without a creation time, the modification time is used."""
    with suppress(OSError, ValueError, OverflowError):
        status = entry.stat(follow_symlinks=False)
        modified = max(status.st_mtime, _EARLIEST)
        created = min(max(getattr(status, "st_birthtime", modified), _EARLIEST), modified)
        return FileTimes(datetime.fromtimestamp(created, UTC), datetime.fromtimestamp(modified, UTC))
    return FileTimes(datetime.max.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


def _resolve_root(text: str) -> Path:
    if not text.strip():
        raise InvalidInputError("folder is empty.", hint="Give the path of a folder, such as ~/Notes.")
    shown = text[:MAX_SHOWN_CHARS]
    try:
        root = Path(text).expanduser().resolve()
        os.scandir(root).close()
    except FileNotFoundError as error:
        raise InvalidInputError(f"There is no folder {shown!r}.", hint=_nearest_folder_hint(text)) from error
    except NotADirectoryError as error:
        raise InvalidInputError(f"{shown!r} is not a folder.", hint="Give its folder.") from error
    except PermissionError as error:
        raise InvalidInputError(
            f"The folder {shown!r} cannot be read.", hint="Check its owner and permissions."
        ) from error
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidInputError(
            f"{shown!r} is not a valid folder path.", hint="Give a path such as ~/Notes."
        ) from error
    return root


def _nearest_folder_hint(text: str) -> str:
    above = (parent for parent in Path(text).expanduser().absolute().parents if os.path.isdir(parent))
    return f"The nearest folder that exists is {next(above, Path('/'))}."


def _printable(path: str) -> str:
    return path.encode("utf-8", "replace").decode()


def _is_markdown(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def _skip_reason(entry: os.DirEntry[str], root: str) -> str:
    """Return why a file cannot be read; "" if it can, or would be skipped anyway."""
    if entry.is_symlink():
        try:
            target = Path(os.path.realpath(entry.path))
            is_folder = target.is_dir()
        except OSError:  # its target is gone by now, has an impossible name, or may not be looked at
            return "the target of this link cannot be read"
        if not target.is_relative_to(root):
            return NOT_FOLLOWED if is_folder or _is_markdown(entry.name) else ""
        return FOLDER_NOT_FOLLOWED if is_folder else ""
    if _is_markdown(entry.name) and _printable(entry.path) != entry.path:
        return "its name is not valid Unicode"
    if _is_markdown(entry.name) and not entry.is_file(follow_symlinks=False):
        return "it is not a regular file"  # a pipe, a socket, a device: reading it may block forever
    return ""


def read_file(root: str, path: str, *, limit: int = CONTENT_BYTES, timeout_seconds: float = READ_SECONDS) -> bytes:
    """Return the bytes of a file below a folder; no component of its path may be a link.

    Raises:
        UnreadableError: It is over the limit, cannot be read, or its disk does not answer in time.
    """
    raw = call_with_deadline(lambda: _read(Path(root), path, limit + 1), timeout_seconds)
    if len(raw) > limit:
        raise UnreadableError(f"it is over {limit >> 20} MB; split it into several files")
    return raw


def _read(root: Path, path: str, count: int) -> bytes:
    parts: list[bytes] = []
    with open_plain_file(root / path, root) as read_:
        while count and (part := read_(count)):
            parts.append(part)
            count -= len(part)
    return b"".join(parts)


def call_with_deadline(read_: Callable[[], bytes], timeout_seconds: float) -> bytes:
    """Call in a thread that is abandoned after the time limit, because a read from a hanging disk cannot be
    interrupted.
    """
    result: Future[bytes] = Future()

    def work() -> None:
        try:
            result.set_result(read_())
        except BaseException as error:  # raised in the thread that waits for the result
            result.set_exception(error)

    Thread(target=work, name="import-read", daemon=True).start()
    try:
        return result.result(timeout_seconds)
    except TimeoutError as error:
        raise UnreadableError(f"it could not be read within {timeout_seconds:g} seconds") from error
    except safe_files.UnreadableError as error:
        raise UnreadableError(f"it {error}") from error


def decode(raw: bytes) -> str:
    """Return the text of a file.

    Raises:
        UnreadableError: It is not UTF-8, or holds NUL bytes.
    """
    if b"\x00" in raw:
        raise UnreadableError("it contains NUL bytes, so it is not UTF-8 text")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"it is not UTF-8 (byte {error.start:,}); save it as UTF-8") from error


def compute_digest(raw: bytes) -> str:
    """Return the sha256 of a file, as 32 hexadecimal digits."""
    return hashlib.sha256(raw).hexdigest()[:32]


def title_from_path(path: str) -> str:
    """Return the default title of a file; decomposed names from macOS are composed."""
    return unicodedata.normalize("NFC", path.rpartition("/")[2].rpartition(".")[0])


def project_from_path(path: str) -> str:
    """Return the name of a file's top-level folder, as a project name; "" if it is in the root."""
    top = path.partition("/")[0] if "/" in path else ""
    return single_line_or_empty(unicodedata.normalize("NFC", top)[:TITLE_CHARS], "project")
