"""Rows of files: how they are listed without the text that search reads, and found by their name."""

from dataclasses import fields

from sqlalchemy import ColumnElement, select

from panorama.domain.files import File
from panorama.domain.results import Page, Slice
from panorama.store.engine import Session
from panorama.store.pages import page
from panorama.store.projects import escaped, tagged
from panorama.store.tables import files

_NAMES = tuple(field.name for field in fields(File))
_HEADER = tuple(files.c[name] for name in _NAMES)


def listed(
    session: Session, part: Slice, *, project: str | None = None, tag: str | None = None, name: str = ""
) -> Page[File]:
    """Return living files whose name holds a text, the last written first; `project=""` means no project."""
    where: list[ColumnElement[bool]] = [files.c.deleted_at.is_(None)]
    if project is not None:
        where.append(_of(project))
    if tag:
        where.append(tagged(files.c.tags, tag))
    if name:
        where.append(files.c.name.ilike(f"%{escaped(name)}%", escape="\\"))
    order = [(files.c.updated_at, True), (files.c.id, True)]
    statement = select(*_HEADER).where(*where)
    return page(session, statement, order, part, lambda row: File(**dict(zip(_NAMES, row, strict=False))))


def named(session: Session, key: str, project: str) -> list[str]:
    """Return the ids of the living files with this folded name in a project, "" for none."""
    where = (files.c.key == key, files.c.deleted_at.is_(None), _of(project))
    return [row[0] for row in session.connection.execute(select(files.c.id).where(*where).order_by(files.c.id))]


def _of(project: str) -> ColumnElement[bool]:
    return files.c.project == project if project else files.c.project.is_(None)


_NAMED = """
SELECT sha256 FROM files UNION
SELECT json_extract("before", '$.sha256') FROM changes WHERE kind = 'file' AND id > ? UNION
SELECT json_extract("after", '$.sha256') FROM changes WHERE kind = 'file' AND id > ?
"""


def contents(session: Session, *, after: int = 0) -> set[str]:
    """Return the digests of the contents that a file holds, or held before a change that can be undone.

    With `after`, of the changes only those behind that one are looked at.
    """
    found = session.connection.exec_driver_sql(_NAMED, (after, after)).scalars().all()
    return {name for name in found if name}
