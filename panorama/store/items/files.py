"""Rows of files: lists them without their text and finds them by name."""

from dataclasses import fields

from sqlalchemy import select, text

from panorama.domain.items.files import File
from panorama.domain.paging import Page, PageRequest
from panorama.store.backend import Session
from panorama.store.items.listing import list_conditions
from panorama.store.items.projects import escape_like, in_project
from panorama.store.paging import fetch_page
from panorama.store.tables import files

_NAMES = tuple(field.name for field in fields(File))
_HEADER = tuple(files.c[name] for name in _NAMES)


def list_files(
    session: Session, part: PageRequest, *, project: str | None = None, tag: str | None = None, name: str = ""
) -> Page[File]:
    """Return living files whose name contains a text, the last written first; `project=""` means no project."""
    where = list_conditions(files, project=project, tag=tag)
    if name:
        where.append(files.c.name.ilike(f"%{escape_like(name)}%", escape="\\"))
    order = [(files.c.updated_at, True), (files.c.id, True)]
    statement = select(*_HEADER).where(*where)
    return fetch_page(session, statement, order, part, lambda row: File(**dict(zip(_NAMES, row, strict=False))))


def list_by_name(session: Session, key: str, project: str) -> list[str]:
    """Return the ids of the living files with this normalised name in a project, "" for none."""
    where = (files.c.key == key, files.c.deleted_at.is_(None), in_project(files, project))
    return [row[0] for row in session.connection.execute(select(files.c.id).where(*where).order_by(files.c.id))]


_NAMED = text("""
SELECT sha256 FROM files UNION
SELECT json_extract(CAST("before" AS TEXT), '$.sha256') FROM changes WHERE kind = 'file' AND id > :after UNION
SELECT json_extract(CAST("after" AS TEXT), '$.sha256') FROM changes WHERE kind = 'file' AND id > :after
""")


def list_digests(session: Session, *, after: int = 0) -> set[str]:
    """Return the digests of contents used by a file, or by a change that can be undone.

    With `after`, only changes after that one are examined.
    """
    digests = session.connection.execute(_NAMED, {"after": after}).scalars()
    return {name for name in digests if name}
