"""Files that a user drops onto the imports view: stored in a private folder until they are imported, for a day at most.

The folder is outside the data directory, which imports do not read.
"""

import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from panorama.errors import InvalidInputError, UnavailableError
from panorama.services.importing.folder import SUFFIXES
from panorama.web.access import digest
from panorama.web.attachments import Upload
from panorama.web.texts import Texts

MAX_FILES = 100
MEMORY_SUFFIXES = (".jsonl", ".json")
"""The files of the MCP server "memory"."""

AGE_SECONDS = 86_400
MAX_NAME_BYTES = 255


def store_dropped(home: Path, uploads: Sequence[Upload], texts: Texts) -> Path:
    """Store files and return what to import: the folder of Markdown files, or the one file of a memory server.

    The folder is named after the names and contents, so that the same files are not imported twice.

    Raises:
        InvalidInputError: The files are none that can be imported, or one has an unusable name.
        UnavailableError: They cannot be stored.
    """
    names = [upload.name for upload in uploads]
    is_memory = len(names) == 1 and is_memory_file(names[0])
    if not is_memory and not any(name.lower().endswith(SUFFIXES) for name in names):
        raise InvalidInputError(
            texts("There is no Markdown file among them."), hint=texts("Choose .md files, or one memory.jsonl.")
        )
    for name in names:
        if name.startswith(".") or not name.isprintable() or len(name.encode()) > MAX_NAME_BYTES:
            raise InvalidInputError(texts("{name} cannot be imported.", name=name[:60]), hint=texts("Rename it."))
    try:
        folder = _write_files(_create_root(home), uploads)
    except OSError as error:
        raise UnavailableError(
            f"The files cannot be stored: {error.strerror}.", hint="Make room in the folder for temporary files."
        ) from error
    return folder / names[0] if is_memory else folder


def list_dropped(home: Path, path: str) -> list[str]:
    """Return the names of the stored files that a path means, none if it is a path of the user's own."""
    place = Path(path)
    folder = place.parent if is_memory_file(path) else place
    if folder.parent != _get_root(home):
        return []
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []


def is_memory_file(name: str) -> bool:
    """Return whether a name is that of a file of the MCP server "memory"."""
    return name.lower().endswith(MEMORY_SUFFIXES)


def _get_root(home: Path) -> Path:
    shared = Path(tempfile.gettempdir()) / f"panorama-{os.getuid()}"
    return shared / f"imports-{digest(str(home))[:10]}"


def _create_root(home: Path) -> Path:
    """Create the folder, which only this user may enter, and remove what is old."""
    root = _get_root(home)
    for folder in (root.parent, root):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
            raise UnavailableError(f"{folder} is not private.", hint="Remove it.")
    for entry in root.iterdir():
        if time.time() - entry.stat().st_mtime > AGE_SECONDS:
            shutil.rmtree(entry, ignore_errors=True)
    return root


def _write_files(root: Path, uploads: Sequence[Upload]) -> Path:
    contents = hashlib.sha256()
    for upload in sorted(uploads, key=lambda upload: upload.name):
        contents.update(hashlib.sha256(upload.name.encode()).digest() + hashlib.sha256(upload.content).digest())
    folder = root / contents.hexdigest()[:24]
    if folder.exists():
        os.utime(folder)
        return folder
    draft = Path(tempfile.mkdtemp(dir=root))
    for upload in uploads:
        (draft / upload.name).write_bytes(upload.content)
    return draft.rename(folder)
