"""Rows of notes: how they are listed without their content."""

from sqlalchemy import ColumnElement, func, select

from panorama.domain.notes import NoteHeader
from panorama.domain.results import Page, Slice
from panorama.store.engine import Session
from panorama.store.pages import page
from panorama.store.projects import tagged
from panorama.store.tables import notes

_HEADER = (
    notes.c.id, notes.c.title, notes.c.project, notes.c.tags, notes.c.pinned, func.length(notes.c.content),
    notes.c.version, notes.c.created_at, notes.c.updated_at, notes.c.deleted_at,
)  # fmt: skip
_NAMES = ("id", "title", "project", "tags", "pinned", "chars", "version", "created_at", "updated_at", "deleted_at")


def listed(
    session: Session, part: Slice, *, project: str | None = None, tag: str | None = None, pinned: bool | None = None
) -> Page[NoteHeader]:
    """Return living notes: pinned first, then the last changed first; `project=""` means no project."""
    where: list[ColumnElement[bool]] = [notes.c.deleted_at.is_(None)]
    if project is not None:
        where.append(notes.c.project == project if project else notes.c.project.is_(None))
    if tag:
        where.append(tagged(notes.c.tags, tag))
    if pinned is not None:
        where.append(notes.c.pinned == pinned)
    order = [(notes.c.pinned, True), (notes.c.updated_at, True), (notes.c.id, True)]
    statement = select(*_HEADER).where(*where)
    return page(session, statement, order, part, lambda row: NoteHeader(**dict(zip(_NAMES, row, strict=False))))
