"""Rows of projects: how they are listed, and what hangs on one."""

from typing import Any

from sqlalchemy import ColumnElement, func, select

from panorama.domain.projects import Project
from panorama.domain.results import Page, Slice
from panorama.store import rows
from panorama.store.engine import Session
from panorama.store.pages import ascending, page
from panorama.store.tables import files, links, notes, projects, tasks

BELONGING = {"task": tasks, "note": notes, "link": links, "file": files}
"""The kinds that can have a project, and their tables."""


def listed(session: Session, part: Slice, *, status: str | None, tag: str | None) -> Page[Project]:
    """Return living projects: favourites first, then by rank and name."""
    where: list[ColumnElement[bool]] = [projects.c.deleted_at.is_(None)]
    if status:
        where.append(projects.c.status == status)
    if tag:
        where.append(tagged(projects.c.tags, tag))
    order = [(projects.c.favorite, True), *ascending(projects.c.rank, projects.c.key, projects.c.id)]
    return page(
        session, select(*rows.columns("project")).where(*where), order, part, lambda row: rows.value("project", row)
    )


def tagged(column: ColumnElement[Any], tag: str) -> ColumnElement[bool]:
    """Tell whether a column of words holds a word, in any case."""
    return column.ilike("%\n" + escaped(tag) + "\n%", escape="\\")


def escaped(text: str) -> str:
    r"""Return text with LIKE's signs taken literally (escape `\`)."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def named(session: Session, key: str) -> str | None:
    """Return the id of the living project with this folded name."""
    found = session.connection.execute(
        select(projects.c.id).where(projects.c.key == key, projects.c.deleted_at.is_(None))
    )
    return found.scalar_one_or_none()


def names(session: Session) -> dict[str, str]:
    """Return the names of all living projects by id."""
    found = session.connection.execute(select(projects.c.id, projects.c.name).where(projects.c.deleted_at.is_(None)))
    return {row[0]: row[1] for row in found}


def belonging(session: Session, project: str) -> list[tuple[str, str]]:
    """Return kind and id of every living item of a project."""
    found: list[tuple[str, str]] = []
    for kind, table in BELONGING.items():
        where = (table.c.project == project, table.c.deleted_at.is_(None))
        found += [
            (kind, row[0]) for row in session.connection.execute(select(table.c.id).where(*where).order_by(table.c.id))
        ]
    return found


def counts(session: Session, project: str) -> dict[str, int]:
    """Return how many living items of each kind a project has."""
    return {
        kind: session.connection.execute(
            select(func.count()).where(table.c.project == project, table.c.deleted_at.is_(None))
        ).scalar_one()
        for kind, table in BELONGING.items()
    }
