"""Lists living items of a kind, filtered and sorted by columns, and measures the texts of items."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Table, func, select

from panorama.domain.items.item import kind_of
from panorama.domain.paging import Page, PageRequest
from panorama.store.backend import Session
from panorama.store.items import rows
from panorama.store.items.projects import has_tag, in_project
from panorama.store.paging import MAX_CACHED_STATEMENTS, PageStatements, ask_page, build_page_statements

_CHUNK = 400


def measure_texts(session: Session, ids: Sequence[str]) -> dict[str, int]:
    """Return how many characters the long texts of some items have, also of deleted ones."""
    found: dict[str, int] = {}
    for kind in {kind_of(id_) for id_ in ids}:
        noun = rows.NOUNS.get(kind or "")
        if noun is None or not noun.value.LINKED:
            continue
        named = [id_ for id_ in ids if kind_of(id_) == kind]
        for start in range(0, len(named), _CHUNK):
            part = noun.table.c.id.in_(named[start : start + _CHUNK])
            lengths = select(noun.table.c.id, func.length(noun.table.c[noun.value.LINKED])).where(part)
            found |= {row[0]: row[1] or 0 for row in session.connection.execute(lengths)}
    return found


def list_items(
    session: Session,
    kind: str,
    part: PageRequest,
    *,
    order: Sequence[str] = ("-created_at",),
    since: datetime | None = None,
    until: datetime | None = None,
    **conditions: Any,
) -> Page[Any]:
    """Return living items of a kind, as `ask_items` asks for them."""
    return ask_items(session, kind, part, order=order, since=since, until=until, **conditions)()


def ask_items(
    session: Session,
    kind: str,
    part: PageRequest,
    *,
    order: Sequence[str] = ("-created_at",),
    since: datetime | None = None,
    until: datetime | None = None,
    **conditions: Any,
) -> Callable[[], Page[Any]]:
    """Ask for living items of a kind.

    Args:
        order: Column names; `-name` sorts descending. The id comes last, in the direction of the last column.
        since: Only those whose `at` is not before it.
        until: Only those whose `at` is before it.
        conditions: What `list_conditions` takes.
    """
    statements = _build_statements(kind, tuple(order), since, until, tuple(conditions.items()))
    return ask_page(session, statements, part, lambda row: rows.to_item(kind, row))


@lru_cache(MAX_CACHED_STATEMENTS)
def _build_statements(
    kind: str, order: tuple[str, ...], since: datetime | None, until: datetime | None, conditions: tuple[Any, ...]
) -> PageStatements:
    table = rows.NOUNS[kind].table
    where = list_conditions(table, **dict(conditions))
    if since:
        where.append(table.c.at >= since)
    if until:
        where.append(table.c.at < until)
    keys = [(table.c[name.removeprefix("-")], name.startswith("-")) for name in order]
    statement = select(*rows.columns(kind)).where(*where)
    return build_page_statements(statement, [*keys, (table.c.id, keys[-1][1])])


def list_conditions(
    table: Table, *, project: str | None = None, tag: str | None = None, **values: Any
) -> list[ColumnElement[bool]]:
    """Return the condition for the living items with some values.

    Args:
        project: An id, or "" for those without a project.
        values: Values by column; None for any.
    """
    where: list[ColumnElement[bool]] = [table.c.deleted_at.is_(None)]
    where += [table.c[name] == value for name, value in values.items() if value is not None]
    if project is not None:
        where.append(in_project(table, project))
    if tag:
        where.append(has_tag(table.c.tags, tag))
    return where
