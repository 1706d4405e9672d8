"""Operations on files."""

from base64 import b64encode
from typing import Any

from panorama.domain.items import files as rules
from panorama.domain.items.files import File, StoredFile
from panorama.domain.items.item import normalize_name, normalize_tags
from panorama.domain.items.references import FileRef, ProjectRef
from panorama.domain.paging import Page, PageRequest, Result
from panorama.errors import ConflictError, InvalidInputError
from panorama.services.base import LargeCall, Service, ServiceContext
from panorama.services.items.results import FilePart, FileText
from panorama.store.backend import Session
from panorama.store.contents.contents import Contents
from panorama.store.items import files, rows

DEFAULT_READ_CHARS = 7000
"""The default length of a shown text."""

MAX_READ_CHARS = 35_000
LARGE_CHARS = 100_000
"""From here on a content is decoded and stored before the transaction of its row."""

PART_BYTES = 24_000
"""The bytes of one part of a content; in base64 it fits into an answer."""


class Files(Service):
    """Files: contents of any kind under a name."""

    def __init__(self, context: ServiceContext, contents: Contents) -> None:
        super().__init__(context)
        self._contents = contents

    def list(
        self, page: PageRequest, project: ProjectRef | None = None, tag: str | None = None, name: str = ""
    ) -> Page[File]:
        """List files without their content, the last written first.

        To find one by its content use search; to read one, get_file.

        Args:
            project: "@last" for the one read last.
            name: Only those whose name contains this, such as .csv.
        """
        with self._reading() as session:
            return files.list_files(session, page, project=project or None, tag=tag, name=name)

    def get(self, file: FileRef, start: int = 0, chars: int = DEFAULT_READ_CHARS) -> FileText:
        """Read a file: its text, or a range of it; only type and size if it is not text.

        A long text is cut; the answer says how to read on.

        Args:
            start: First character.
            chars: At most 35000.
        """
        if start < 0 or not 1 <= chars <= MAX_READ_CHARS:
            raise InvalidInputError(
                f"start is {start}, chars is {chars}.", hint=f"Give start 0 or more, chars 1 to {MAX_READ_CHARS:,}."
            )
        with self._reading() as session:
            stored: StoredFile = rows.load(session, "file", file)
        text = rules.decode_text(self._contents.get(stored.sha256))
        begin = min(start, len(text or ""))
        return FileText.of(stored.public_view(), text, begin, min(begin + chars, len(text or "")))

    def find_image(self, file: FileRef, *, max_bytes: int) -> tuple[File, bytes] | None:
        """Return an image and its content, None if the file is missing, too large or no image."""
        with self._reading() as session:
            stored = rows.find(session, "file", file)
        if not isinstance(stored, StoredFile) or stored.deleted_at or stored.size > max_bytes:
            return None
        if not stored.media_type.startswith("image/"):
            return None
        return stored.public_view(), self._contents.get(stored.sha256)

    def get_content(self, file: FileRef, start: int = 0) -> FilePart:
        """Return the next 24,000 bytes of a file's content, from a byte on."""
        with self._reading() as session:
            stored: StoredFile = rows.load(session, "file", file)
        begin = max(0, start)
        part = self._contents.read_range(stored.sha256, begin, PART_BYTES)
        return FilePart(
            id=stored.id, name=stored.name, sha256=stored.sha256, size=stored.size, start=begin,
            base64=b64encode(part).decode(),
        )  # fmt: skip

    def write(
        self,
        name: str,
        text: str | None = None,
        base64: str | None = None,
        media_type: str = "",
        project: ProjectRef | None = None,
        tags: tuple[str, ...] = (),
    ) -> Result[File]:
        """Write a file for use elsewhere, such as report.csv.

        If the project has a file of that name, this becomes its next version; undo restores the old content. For a text
        to read and edit here use create_note.

        Args:
            name: Such as report.csv; no path.
            text: Up to 10 MB.
            base64: Instead of text.
            media_type: By default as the name says.
        """
        called, content = rules.validate_file_name(name), rules.decode_content(text, base64)
        type_, tagged = rules.resolve_media_type(media_type, called, content), normalize_tags(tags)
        with self._writing() as session:
            session.spend_bytes(len(content))  # first: the content of a refused write would stay for a day
        sha256 = self._contents.put(content)  # before the row: without one it is harmless
        fields = _content_fields(called, type_, sha256, content)
        with self._writing() as session:
            old = self._find_existing(session, called, project or "")
            if old is None:
                place = {"name": called, "project": project or None, "tags": tagged}
                created = StoredFile(**self._new_item_fields("file", self._now()), **place, **fields)
                rows.add(session, created)
                return Result(created.public_view())
            if not (media_type.strip() or rules.is_generic_type(old.media_type) or old.media_type == type_):
                fields = _content_fields(called, old.media_type, sha256, content)
            new = old.with_changes(self._now(), tags=tagged or old.tags, **fields)
            rows.save(session, old, new)
            return Result(new.public_view(), hint=_change_hint(old, new), wrote=new is not old)

    def split_write(
        self,
        name: str,
        text: str | None = None,
        base64: str | None = None,
        media_type: str = "",
        project: ProjectRef | None = None,
        tags: tuple[str, ...] = (),
    ) -> LargeCall | None:
        """Return the write of a large content, which is stored before the transaction of its row."""
        if len(text or base64 or "") < LARGE_CHARS:
            return None
        given = {
            "name": name,
            "text": text,
            "base64": base64,
            "media_type": media_type,
            "project": project,
            "tags": tags,
        }
        return LargeCall(given, is_long=False, fits_others=True)

    def update(
        self,
        file: FileRef,
        name: str | None = None,
        project: ProjectRef | None = None,
        tags: tuple[str, ...] | None = None,
        media_type: str | None = None,
    ) -> Result[File]:
        """Rename a file, or change its project, tags or media type; omitted fields stay, "" or [] clears.

        To change its content use write_file with the same name and project. To remove it use delete_item.
        """
        with self._writing() as session:
            old: StoredFile = rows.load(session, "file", file)
            values: dict[str, Any] = {}
            if name is not None:
                values["name"] = rules.validate_file_name(name)
            if project is not None:
                values["project"] = project or None
            if tags is not None:
                values["tags"] = normalize_tags(tags)
            called = values.get("name", old.name)
            if media_type is not None or rules.is_result_name(called) != rules.is_result_name(old.name):
                content = self._contents.get(old.sha256)
                type_ = old.media_type if media_type is None else rules.resolve_media_type(media_type, called, content)
                values |= _content_fields(called, type_, old.sha256, content)
            new = old.with_changes(self._now(), **values)
            _check_name_is_free(session, old, new)
            rows.save(session, old, new)
            return Result(new.public_view(), wrote=new is not old)

    def _find_existing(self, session: Session, name: str, project: str) -> StoredFile | None:
        """Return the file that a write to a name in a project replaces."""
        known = files.list_by_name(session, normalize_name(name), project)
        if len(known) > 1:
            raise ConflictError(
                f"{len(known)} files are called “{name}” there.",
                hint="Rename or delete all but one of them first, or write to another name.",
                candidates=[{"id": id_, "kind": "file", "name": name} for id_ in known[:5]],
            )
        return rows.load(session, "file", known[0]) if known else None


def _content_fields(name: str, media_type: str, sha256: str, content: bytes) -> dict[str, Any]:
    """Return the fields that describe a content."""
    body = rules.extract_text(name, media_type, content)
    return {"media_type": media_type, "sha256": sha256, "size": len(content), "body": body}


def _change_hint(old: StoredFile, new: StoredFile) -> str:
    if new is old:
        return "Nothing was changed: the file already has this content."
    return f"It had {old.size:,} bytes before; undo restores them." if new.sha256 != old.sha256 else ""


def _check_name_is_free(session: Session, old: File, new: File) -> None:
    """Reject a name that another file of the project has, because writes by name would be ambiguous."""
    if (normalize_name(new.name), new.project) == (normalize_name(old.name), old.project):
        return
    if others := files.list_by_name(session, normalize_name(new.name), new.project or ""):
        raise ConflictError(
            f"Another file there is called “{new.name}” ({others[0]}).",
            hint="Choose another name, or delete that file first.",
        )
