"""Rows of links, reminders and journal entries: how they are listed."""

from datetime import datetime

from sqlalchemy import ColumnElement, select

from panorama.domain.journal import JournalEntry
from panorama.domain.links import Link
from panorama.domain.reminders import Reminder
from panorama.domain.results import Page, Slice
from panorama.store import rows
from panorama.store.engine import Session
from panorama.store.pages import ascending, page
from panorama.store.projects import tagged
from panorama.store.tables import journal, links, reminders


def listed_links(session: Session, part: Slice, *, project: str | None = None, tag: str | None = None) -> Page[Link]:
    """Return living links, the newest first; `project=""` means no project."""
    where: list[ColumnElement[bool]] = [links.c.deleted_at.is_(None)]
    if project is not None:
        where.append(links.c.project == project if project else links.c.project.is_(None))
    if tag:
        where.append(tagged(links.c.tags, tag))
    order = [(links.c.created_at, True), (links.c.id, True)]
    return page(session, select(*rows.columns("link")).where(*where), order, part, lambda row: rows.value("link", row))


def listed_reminders(
    session: Session, part: Slice, *, enabled: bool | None = None, item: str | None = None
) -> Page[Reminder]:
    """Return living reminders, the earliest first."""
    where: list[ColumnElement[bool]] = [reminders.c.deleted_at.is_(None)]
    if enabled is not None:
        where.append(reminders.c.enabled == enabled)
    if item:
        where.append(reminders.c.item == item)
    statement = select(*rows.columns("reminder")).where(*where)
    order = ascending(reminders.c.at, reminders.c.id)
    return page(session, statement, order, part, lambda row: rows.value("reminder", row))


def listed_entries(
    session: Session, part: Slice, *, since: datetime | None = None, until: datetime | None = None
) -> Page[JournalEntry]:
    """Return living journal entries from `since` to before `until`, the newest first."""
    where: list[ColumnElement[bool]] = [journal.c.deleted_at.is_(None)]
    if since:
        where.append(journal.c.at >= since)
    if until:
        where.append(journal.c.at < until)
    statement = select(*rows.columns("journal")).where(*where)
    order = [(journal.c.at, True), (journal.c.id, True)]
    return page(session, statement, order, part, lambda row: rows.value("journal", row))
