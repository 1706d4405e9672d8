"""Rows of notes: lists them without their content."""

from collections.abc import Callable
from functools import lru_cache

from sqlalchemy import func, select

from panorama.domain.items.notes import NoteHeader
from panorama.domain.paging import Page, PageRequest
from panorama.store.backend import Session
from panorama.store.items.listing import list_conditions
from panorama.store.paging import MAX_CACHED_STATEMENTS, PageStatements, ask_page, build_page_statements
from panorama.store.tables import notes

_HEADER = (
    notes.c.id, notes.c.title, notes.c.type, notes.c.project, notes.c.tags, notes.c.pinned,
    func.length(notes.c.content), notes.c.version, notes.c.created_at, notes.c.updated_at, notes.c.source_ref,
    notes.c.deleted_at,
)  # fmt: skip
_NAMES = (
    "id",
    "title",
    "type",
    "project",
    "tags",
    "pinned",
    "chars",
    "version",
    "created_at",
    "updated_at",
    "source_ref",
    "deleted_at",
)


def list_notes(
    session: Session,
    part: PageRequest,
    *,
    project: str | None = None,
    tag: str | None = None,
    pinned: bool | None = None,
) -> Page[NoteHeader]:
    """Return living notes, as `ask_notes` asks for them."""
    return ask_notes(session, part, project=project, tag=tag, pinned=pinned)()


def ask_notes(
    session: Session,
    part: PageRequest,
    *,
    project: str | None = None,
    tag: str | None = None,
    pinned: bool | None = None,
) -> Callable[[], Page[NoteHeader]]:
    """Ask for living notes: pinned first, then the last changed first; `project=""` means no project."""
    statements = _build_statements(project, tag, pinned)
    return ask_page(session, statements, part, lambda row: NoteHeader(**dict(zip(_NAMES, row, strict=False))))


@lru_cache(MAX_CACHED_STATEMENTS)
def _build_statements(project: str | None, tag: str | None, pinned: bool | None) -> PageStatements:
    where = list_conditions(notes, project=project, tag=tag, pinned=pinned)
    order = [(notes.c.pinned, True), (notes.c.updated_at, True), (notes.c.id, True)]
    return build_page_statements(select(*_HEADER).where(*where), order)
