"""Rows of projects, and the items that belong to one."""

from typing import Any

from sqlalchemy import ColumnElement, Table, func, select, union_all

from panorama.errors import InvalidInputError
from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.tables import projects

MAX_PATTERN_CHARS = 10_000
"""The longest text for LIKE; SQLite accepts patterns of up to 50,000 bytes."""

PROJECT_TABLES = {kind: noun.table for kind, noun in rows.NOUNS.items() if "project" in noun.table.c}
"""The kinds that can have a project, and their tables."""


def has_tag(column: ColumnElement[Any], tag: str) -> ColumnElement[bool]:
    """Return the condition that a column of words contains a word, ignoring case."""
    return column.ilike("%\n" + escape_like(tag) + "\n%", escape="\\")


def in_project(table: Table, project: str) -> ColumnElement[bool]:
    """Return the condition that rows belong to a project; "" for none."""
    return table.c.project == project if project else table.c.project.is_(None)


def escape_like(text: str) -> str:
    r"""Escape the wildcards of LIKE in a text (escape `\`).

    Raises:
        InvalidInputError: It is too long for a pattern.
    """
    if len(text) > MAX_PATTERN_CHARS:
        raise InvalidInputError(
            f"The text to look for has {len(text):,} characters; {MAX_PATTERN_CHARS:,} are allowed.",
            hint="Give a short, distinctive part of it.",
        )
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def find_by_name(session: Session, key: str) -> str | None:
    """Return the id of the living project with this normalised name."""
    rows = session.connection.execute(
        select(projects.c.id).where(projects.c.key == key, projects.c.deleted_at.is_(None))
    )
    return rows.scalar_one_or_none()


def get_names(session: Session) -> dict[str, str]:
    """Return the names of all living projects by id."""
    rows = session.connection.execute(select(projects.c.id, projects.c.name).where(projects.c.deleted_at.is_(None)))
    return {row[0]: row[1] for row in rows}


def list_items(session: Session, project: str) -> list[tuple[str, str]]:
    """Return kind and id of every living item of a project."""
    results: list[tuple[str, str]] = []
    for kind, table in PROJECT_TABLES.items():
        where = (table.c.project == project, table.c.deleted_at.is_(None))
        results += [
            (kind, row[0]) for row in session.connection.execute(select(table.c.id).where(*where).order_by(table.c.id))
        ]
    return results


def count_items(session: Session, project: str) -> dict[str, int]:
    """Count a project's living items of each kind."""
    return {
        kind: session.connection.execute(
            select(func.count()).where(table.c.project == project, table.c.deleted_at.is_(None))
        ).scalar_one()
        for kind, table in PROJECT_TABLES.items()
    }


def list_recent_items(session: Session, project: str, limit: int) -> list[str]:
    """Return the items of a project that were changed last, also those in the trash, and the project itself."""
    selects = [
        select(table.c.id, table.c.updated_at).where(table.c.project == project) for table in PROJECT_TABLES.values()
    ]
    items = union_all(*selects).subquery()
    statement = select(items.c.id).order_by(items.c.updated_at.desc(), items.c.id).limit(limit)
    return [project, *session.connection.execute(statement).scalars()]
