"""Attachments: files that notes embed or link, and how link targets are resolved."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any
from urllib.parse import unquote

from panorama.domain.items import files as rules
from panorama.domain.items.files import StoredFile
from panorama.domain.items.item import normalize_name
from panorama.errors import NotFoundError
from panorama.services.importing.folder import compute_digest, read_file
from panorama.store.backend import Session
from panorama.store.contents.contents import Contents
from panorama.store.items import files, rows
from panorama.store.log.imports import ATTACHMENT, ImportedPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that a note refers to: its relative path, and the fields of its item."""

    path: str
    digest: str
    fields: Mapping[str, Any]


class AttachmentFinder:
    """Resolves link targets to files: relative to the note, to the root, or by the shortest unique name."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_path = {_fold(path): path for path in paths}
        self._by_name: dict[str, list[str]] = {}
        for folded, path in self._by_path.items():
            self._by_name.setdefault(folded.rpartition("/")[2], []).append(path)

    def find(self, note: str, target: str) -> str:
        """Return the path of the file that a target refers to; "" if there is none."""
        for written in dict.fromkeys((target, unquote(target))):
            key = _fold(written.partition("#")[0].strip())
            beside = _fold(normpath(str(PurePosixPath(note).parent / key)))
            for path in (beside, _fold(normpath(key))):
                if path in self._by_path:
                    return self._by_path[path]
            named = self._by_name.get(key.rpartition("/")[2], [])
            if len(named) == 1:
                return named[0]
        return ""


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def read_attachment(root: str, path: str, contents: Contents | None) -> Attachment:
    """Read a file and store its content, if there is a store.

    Raises:
        UnreadableError: It cannot be read, or is too large.
        InvalidInputError: Its name is not a valid file name.
    """
    content = read_file(root, path, limit=rules.CONTENT_BYTES)
    name = rules.validate_file_name(unicodedata.normalize("NFC", path.rpartition("/")[2]))
    media_type = rules.resolve_media_type("", name, content)
    digest = compute_digest(content)
    fields = {
        "name": name, "media_type": media_type, "size": len(content),
        "sha256": contents.put(content) if contents else digest, "body": rules.extract_text(name, media_type, content),
    }  # fmt: skip
    return Attachment(path=path, digest=digest, fields=fields)


def load_known(session: Session, entry: ImportedPart | None) -> StoredFile | None:
    """Return the living file of an attachment."""
    if entry is None or entry.part != ATTACHMENT:
        return None
    try:
        file: StoredFile = rows.load(session, "file", entry.item)
    except NotFoundError:
        return None
    return file


def free_name(session: Session, name: str, project: str | None) -> str:
    """Return a file name that is unused in a project."""
    stem, dot, ending = name.rpartition(".") if "." in name else (name, "", "")
    number, free = 1, name
    while files.list_by_name(session, normalize_name(free), project or ""):
        number += 1
        free = f"{stem} ({number}){dot}{ending}"
    return free
